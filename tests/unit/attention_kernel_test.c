// attention_kernel_test.c - attention_f32 as the compiler chooses it, on every table, against the operator's own eval.
#include "support/kernel_case.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID };

typedef struct Shape {
    int64_t batch, heads, kv_heads, queries, keys, size, v_size;
} Shape;

static Case attention(const Shape *s, bool inner)
{
    Case c = {.op = "Attention", .version = 24, .in_count = 3};
    if (inner) {
        c.in[Q] = TENSOR(s->batch, s->queries, s->heads * s->size);
        c.in[K] = TENSOR(s->batch, s->keys, s->kv_heads * s->size);
        c.in[V] = TENSOR(s->batch, s->keys, s->kv_heads * s->v_size);
        attr_int(&c, "q_num_heads", s->heads);
        attr_int(&c, "kv_num_heads", s->kv_heads);
    } else {
        c.in[Q] = TENSOR(s->batch, s->heads, s->queries, s->size);
        c.in[K] = TENSOR(s->batch, s->kv_heads, s->keys, s->size);
        c.in[V] = TENSOR(s->batch, s->kv_heads, s->keys, s->v_size);
    }
    return c;
}

static void attr_float(Case *c, const char *name, double f)
{
    c->attr[c->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_FLOAT, .count = 1, .f = f};
}

static void check(Case *c)
{
    check_lowered(c, HOLO_KERNEL_attention_f32);
}

static float *data(Case *c, int input)
{
    return c->in[input].data;
}

// Bytes that are 0 or 1, mostly 1.
static HoloTensor truths(int rank, const int64_t *dim)
{
    HoloTensor t = tensor(rank, dim);
    t.dtype      = HOLO_BOOL;
    for (int64_t i = 0; i < holo_product(rank, dim); i++)
        ((uint8_t *)t.data)[i] = holo_random_unit(&random_state) < 0.7;
    return t;
}

// ---- sizes

static void every_length(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 15, 16, 17, 144, 145};
    for (int i = 0; i < HOLO_COUNT(lengths); i++)
        for (int k = 0; k < HOLO_COUNT(lengths); k++) {
            Shape s = {1, 2, 2, lengths[i], lengths[k], 16, 16};
            Case  c = attention(&s, (i + k) % 2);
            check(&c);
        }
}

static void every_size(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 15, 16, 17, 40, 64, 80, 160, 300};
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int queries = 1; queries < 60; queries += 19) {
            Shape s = {2, 1, 1, queries, 33, sizes[i], sizes[HOLO_COUNT(sizes) - 1 - i]};
            Case  c = attention(&s, queries % 2);
            check(&c);
        }
}

static void many_keys(void **state) // more than one block of them
{
    (void)state;
    const int64_t keys[] = {255, 256, 257, 512, 700};
    for (int i = 0; i < HOLO_COUNT(keys); i++)
        for (int queries = 1; queries < 40; queries += 16) {
            Shape s = {1, 2, 1, queries, keys[i], 24, 40};
            Case  c = attention(&s, i % 2);
            for (int64_t n = 0; n < holo_tensor_count(&c.in[Q]); n++) data(&c, Q)[n] *= 20; // tops move a lot
            check(&c);
        }
}

static void grouped_heads(void **state)
{
    (void)state;
    for (int queries = 1; queries < 20; queries += 9)
        for (int inner = 0; inner < 2; inner++) {
            Shape s    = {2, 6, 2, queries, 19, 32, 16};
            Case  c    = attention(&s, inner);
            c.in_count = 4;
            c.in[MASK] = TENSOR(2, 6, queries, 19);
            attr_int(&c, "is_causal", 1);
            check(&c);
        }
    Shape s = {1, 320, 1, 1, 40, 16, 16}; // more heads in a group than rows in a block
    Case  c = attention(&s, true);
    check(&c);
}

static void nothing(void **state)
{
    (void)state;
    const Shape shapes[] = {{1, 2, 2, 0, 5, 8, 8}, {0, 2, 2, 3, 5, 8, 8}, {1, 2, 2, 3, 0, 8, 8}};
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        Case c = attention(&shapes[i], false);
        check(&c);
    }
}

// ---- masks

static void every_mask(void **state)
{
    (void)state;
    const struct {
        int     rank;
        int64_t dim[4];
    } shapes[] = {
        {1, {37}},          {2, {21, 37}},       {2, {1, 37}},       {3, {3, 21, 37}},
        {3, {3, 1, 37}},    {4, {2, 3, 21, 37}}, {4, {2, 1, 1, 37}}, {4, {1, 1, 21, 37}},
        {4, {2, 1, 21, 1}}, {4, {1, 3, 21, 30}}, // shorter than the keys
        {4, {1, 1, 21, 3}},
    };
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        for (int truth = 0; truth < 2; truth++) {
            Shape s    = {2, 3, 3, 21, 37, 20, 20};
            Case  c    = attention(&s, i % 2);
            bool  one  = shapes[i].dim[shapes[i].rank - 1] == 1;
            c.version  = one ? 23 : 24;
            c.in_count = 4;
            c.in[MASK] = truth ? truths(shapes[i].rank, shapes[i].dim) : tensor(shapes[i].rank, shapes[i].dim);
            for (int64_t n = 0; n < holo_tensor_count(&c.in[MASK]) && !truth; n += 7) data(&c, MASK)[n] = -INFINITY;
            check(&c);
        }
}

static void masked_rows(void **state) // by -inf: no weights; by the lowest number: all alike
{
    (void)state;
    const float hidden[] = {-INFINITY, -3.402823466e38f};
    for (int i = 0; i < HOLO_COUNT(hidden); i++)
        for (int nan = 0; nan < 2; nan++) {
            Shape s    = {1, 1, 1, 18, 300, 16, 17};
            Case  c    = attention(&s, false);
            c.in_count = 4;
            c.in[MASK] = TENSOR(18, 300);
            for (int64_t n = 0; n < 4 * 300; n++) data(&c, MASK)[n] = hidden[i]; // rows 0 to 3
            for (int64_t n = 4 * 300; n < 18 * 300; n++) data(&c, MASK)[n] = n % 300 < 256 ? hidden[i] : 0;
            if (nan) data(&c, K)[290 * 16] = NAN;
            check(&c);
        }
    Shape s    = {1, 2, 1, 1, 20, 16, 16};
    Case  c    = attention(&s, false);
    c.in_count = 4;
    c.in[MASK] = truths(1, (int64_t[]){20});
    memset(c.in[MASK].data, 0, 20);
    check(&c);
}

static void windows(void **state)
{
    (void)state;
    const int64_t queries[] = {1, 20, 300}, keys[] = {20, 1, 270};
    for (int i = 0; i < HOLO_COUNT(queries); i++)
        for (int k = 0; k < HOLO_COUNT(keys); k++)
            for (int kind = 0; kind < 4; kind++) {
                Shape s = {1, 1, 1, queries[i], keys[k], 16, 16};
                Case  c = attention(&s, false);
                if (kind != 1) attr_int(&c, "is_causal", 1);
                if (kind == 1) attr_int(&c, "right_window_size", 3);
                if (kind >= 1) attr_int(&c, "left_window_size", kind == 3 ? INT64_MAX : 5);
                check(&c);
            }
}

static void lengths(void **state) // of the keys, one for each batch
{
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        Shape   s          = {4, 2, 2, 7, 30, 16, 16};
        Case    c          = attention(&s, false);
        int64_t valid[4]   = {0, 5, 17, 30};
        c.in_count         = 7;
        c.in[VALID]        = TENSOR(8);
        c.in[VALID].dtype  = HOLO_I64;
        c.in[VALID].dim[0] = 4;
        memcpy(c.in[VALID].data, valid, sizeof valid);
        attr_int(&c, "is_causal", causal);
        check(&c);
    }
}

// ---- numbers

static void scale_and_cap(void **state)
{
    (void)state;
    for (int queries = 1; queries < 20; queries += 9) {
        Shape s = {1, 2, 2, queries, 50, 48, 16};
        Case  c = attention(&s, false);
        for (int64_t n = 0; n < holo_tensor_count(&c.in[Q]); n++) data(&c, Q)[n] *= 10;
        attr_float(&c, "scale", 0.5);
        attr_float(&c, "softcap", 3);
        check(&c);
    }
}

static void special_numbers(void **state)
{
    (void)state;
    const float numbers[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    for (int i = 0; i < HOLO_COUNT(numbers); i++)
        for (int input = Q; input <= V; input++)
            for (int queries = 1; queries < 20; queries += 18) {
                Shape s                                              = {1, 2, 2, queries, 290, 16, 16};
                Case  c                                              = attention(&s, false);
                data(&c, input)[5]                                   = numbers[i];
                data(&c, input)[holo_tensor_count(&c.in[input]) - 3] = numbers[i];
                check(&c);
            }
}

// ---- old keys and values

static void past(void **state)
{
    (void)state;
    const int64_t queries = 3, old = 20, all = queries + old, heads = 2, size = 16;
    for (int inner = 0; inner < 2; inner++) {
        Shape s          = {1, 4, heads, queries, queries, size, size};
        Case  c          = attention(&s, inner);
        c.in_count       = 6;
        c.in[PAST_KEY]   = TENSOR(1, heads, old, size);
        c.in[PAST_VALUE] = TENSOR(1, heads, old, size);
        attr_int(&c, "is_causal", 1);
        float *want = run_eval(&c);
        for (int t = 0; holo_kernels_at(t); t++) {
            HoloError           error = {0};
            Host                host  = host_make(holo_kernels_at(t), 2);
            const HoloTensor   *in[IN_MAX];
            HoloTensor         *first[1], key = TENSOR(1, heads, all, size), value = TENSOR(1, heads, all, size);
            HoloCall            call = call_init(&c, &host, in, first, &error);
            HoloTensor          y = c.out, *out[3] = {&y, &key, &value};
            const HoloKernel   *kernel = holo_kernel_find(HOLO_KERNEL_attention_f32);
            size_t              scratch;
            HoloAttentionParams params = {.size = sizeof params};
            y.data                     = blank(holo_tensor_count(&y));
            call.out                   = out;
            call.out_count             = 3;
            call.params                = &params;
            call.params_size           = sizeof params;
            if (kernel->check(&call, &scratch)) fail_msg("%s", error.text);
            host.host.scratch_stride = holo_align(scratch, 64);
            host.host.scratch        = aligned_alloc(64, host.host.scratch_stride * 2);
            assert_int_equal(kernel->run(&call), HOLO_OK);
            for (int64_t i = 0; i < holo_tensor_count(&y); i++)
                expect_near((double)((float *)y.data)[i], (double)want[i], 2e-5);
            for (int64_t h = 0; h < heads; h++) {
                const float *from = (const float *)c.in[PAST_KEY].data + h * old * size;
                expect_same((float *)key.data + h * all * size, from, old * size);
                from = data(&c, V) + (inner ? h * size : h * queries * size);
                expect_same((float *)value.data + (h * all + old) * size, from, size);
            }
            out[1] = NULL; // the joined keys have no place to be
            assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
            free(y.data), free(key.data), free(value.data), free(host.host.scratch);
        }
        free(want);
        for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),  cmocka_unit_test(every_size),      cmocka_unit_test(many_keys),
        cmocka_unit_test(grouped_heads), cmocka_unit_test(nothing),         cmocka_unit_test(every_mask),
        cmocka_unit_test(masked_rows),   cmocka_unit_test(windows),         cmocka_unit_test(lengths),
        cmocka_unit_test(scale_and_cap), cmocka_unit_test(special_numbers), cmocka_unit_test(past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
