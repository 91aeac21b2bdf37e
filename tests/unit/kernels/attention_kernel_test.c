// attention_kernel_test.c - attention_f32 and rotary_f32 as the compiler chooses them, on every table, against the
// operators' own eval.
#include "support/kernel_case.h"
#include "support/watched.h"

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

static void masked_rows(void **state) // by -inf: no weights, or NaN; by the lowest number: all alike
{
    (void)state;
    const float hidden[] = {-INFINITY, -3.402823466e38f};
    for (int i = 0; i < HOLO_COUNT(hidden); i++)
        for (int kind = 0; kind < 4; kind++) {
            Shape s    = {1, 1, 1, 18, 300, 16, 17};
            Case  c    = attention(&s, false);
            c.in_count = 4;
            if (kind > 1) attr_int(&c, "masked_nan", 1);
            c.in[MASK] = TENSOR(18, 300);
            for (int64_t n = 0; n < 4 * 300; n++) data(&c, MASK)[n] = hidden[i]; // rows 0 to 3
            for (int64_t n = 4 * 300; n < 18 * 300; n++) data(&c, MASK)[n] = n % 300 < 256 ? hidden[i] : 0;
            if (kind % 2) data(&c, K)[290 * 16] = NAN;
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

// Heads enough for tasks of several strips of rows, some of which do not see a block that others see.
static void strips(void **state)
{
    (void)state;
    const int64_t queries[] = {160, 300, 600};
    int           step      = watched_step("the strips", 3);
    for (int i = 0; i < HOLO_COUNT(queries); i++)
        for (int kind = i % step; kind < 4; kind += step) {
            Shape s = {1, 8, 8, queries[i], 530, 8, 24};
            Case  c = attention(&s, kind % 2);
            if (kind == 1) attr_int(&c, "is_causal", 1);
            if (kind == 2) attr_int(&c, "left_window_size", 5), attr_int(&c, "right_window_size", 3);
            if (kind == 3) c.in_count = 4, c.in[MASK] = truths(1, (int64_t[]){530});
            check(&c);
        }
}

static void key_lengths(void **state) // of the keys, one for each batch
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
            HoloError            error = {0};
            Host                 host  = host_make(holo_kernels_at(t), 2);
            const HoloTensor    *in[IN_MAX];
            HoloTensor          *first[1], key = TENSOR(1, heads, all, size), value = TENSOR(1, heads, all, size);
            HoloCall             call = call_init(&c, &host, in, first, &error);
            HoloTensor           y = c.out, *out[3] = {&y, &key, &value};
            const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_attention_f32);
            size_t               scratch;
            HoloAttentionParams  params = {.size = sizeof params};
            y.data                      = blank(holo_tensor_count(&y));
            call.out                    = out;
            call.out_count              = 3;
            call.params                 = &params;
            call.params_size            = sizeof params;
            if (kernel_check(kernel->id, &call, &scratch)) fail_msg("%s", error.text);
            host.host.scratch_stride = holo_align(scratch, 64);
            host.host.scratch        = aligned_alloc(64, host.host.scratch_stride * 2);
            assert_int_equal(kernel_run(kernel->id, &call), HOLO_OK);
            for (int64_t i = 0; i < holo_tensor_count(&y); i++)
                expect_near((double)((float *)y.data)[i], (double)want[i], 2e-5);
            for (int64_t h = 0; h < heads; h++) {
                const float *from = (const float *)c.in[PAST_KEY].data + h * old * size;
                expect_same((float *)key.data + h * all * size, from, old * size);
                from = data(&c, V) + (inner ? h * size : h * queries * size);
                expect_same((float *)value.data + (h * all + old) * size, from, size);
            }
            out[1] = NULL; // the joined keys have no place to be
            assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
            free(y.data), free(key.data), free(value.data), free(host.host.scratch);
        }
        free(want);
        for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
    }
}

// ---- operators of com.microsoft

enum { GROUP_PAST_KEY = 3, GROUP_PAST_VALUE, GROUP_LENGTHS, GROUP_TOTAL, GROUP_COS, GROUP_SIN, GROUP_BIAS = 10, SINK };
enum { HEADS_BIAS = 3, HEADS_MASK, HEADS_SCORES, HEADS_PAST_KEY, HEADS_PAST_VALUE };

static HoloTensor ints(int rank, const int64_t *dim, const int32_t *data)
{
    HoloTensor t = tensor(rank, dim);
    t.dtype      = HOLO_I32;
    memcpy(t.data, data, (size_t)holo_product(rank, dim) * sizeof *data);
    return t;
}
#define INTS(count, ...) ints(1, (int64_t[]){count}, (int32_t[]){__VA_ARGS__})

// Two batches; the second has a key less.
static Case grouped(int64_t queries, int64_t past, bool packed)
{
    const int64_t heads = 6, kv = 2, size = 16, total = past + queries;
    Case          c = {.op = "GroupQueryAttention", .domain = "com.microsoft", .version = 1, .in_count = 12};
    c.in[Q]         = TENSOR(2, queries, (packed ? heads + 2 * kv : heads) * size);
    if (!packed) c.in[K] = TENSOR(2, queries, kv * size), c.in[V] = TENSOR(2, queries, kv * size);
    if (past)
        c.in[GROUP_PAST_KEY] = TENSOR(2, kv, total + 3, size), c.in[GROUP_PAST_VALUE] = TENSOR(2, kv, total + 3, size);
    c.in[GROUP_LENGTHS] = INTS(2, (int32_t)total - 1, (int32_t)total - (past ? 2 : 1));
    c.in[GROUP_TOTAL]   = ints(0, NULL, (int32_t[]){(int32_t)total});
    attr_int(&c, "num_heads", heads);
    attr_int(&c, "kv_num_heads", kv);
    return c;
}

static void grouped_queries(void **state)
{
    (void)state;
    random_state            = (HoloRandom){1}; // tests before take as many numbers as the machine has levels
    const int64_t queries[] = {1, 5, 37}, past[] = {0, 20, 300};
    for (int i = 0; i < HOLO_COUNT(queries); i++)
        for (int k = 0; k < HOLO_COUNT(past); k++)
            for (int packed = 0; packed < 2; packed++) {
                Case c = grouped(queries[i], past[k], packed);
                check(&c);
            }
}

static void grouped_options(void **state)
{
    (void)state;
    enum { ROTARY, INTERLEAVED, SINKS, SMOOTH, BIAS, WINDOW, CAP, ALL, NOT_CAUSAL, KINDS };
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t queries = 1; queries < 20; queries += 17) {
            Case c = grouped(queries, 21, kind % 2);
            if (kind == ROTARY || kind == INTERLEAVED || kind == ALL) {
                c.in[GROUP_COS] = TENSOR(64, 4), c.in[GROUP_SIN] = TENSOR(64, 4);
                attr_int(&c, "do_rotary", 1);
                attr_int(&c, "rotary_interleaved", kind == INTERLEAVED);
            }
            if (kind == SINKS || kind == ALL) c.in[SINK] = TENSOR(6);
            if (kind == SMOOTH) attr_int(&c, "smooth_softmax", 1);
            if (kind == BIAS || kind == ALL) c.in[GROUP_BIAS] = TENSOR(1, 6, queries, 21 + queries);
            if (kind == WINDOW || kind == ALL) attr_int(&c, "local_window_size", 5);
            if (kind == CAP || kind == ALL) attr_float(&c, "softcap", 2);
            if (kind == NOT_CAUSAL) attr_int(&c, "causal", 0);
            check(&c);
        }
}

// A cache that goes out where it came in: what is new is written, and nothing else.
static void shared_cache(void **state)
{
    (void)state;
    Case                 c     = grouped(1, 21, false);
    float               *want  = run_eval(&c);
    HoloError            error = {0};
    Host                 host  = host_make(holo_kernels_at(0), 1);
    const HoloTensor    *in[IN_MAX];
    HoloTensor          *first[1], y, key = c.in[GROUP_PAST_KEY], value = c.in[GROUP_PAST_VALUE];
    HoloCall             call   = call_init(&c, &host, in, first, &error);
    HoloTensor          *out[3] = {&y, &key, &value};
    HoloAttentionParams  params = {.size = sizeof params};
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_attention_f32);
    size_t               scratch, bytes = holo_tensor_bytes(&key);
    float               *old = malloc(bytes);
    y                        = c.out;
    y.data                   = floats(holo_tensor_count(&y));
    call.out = out, call.out_count = 3;
    call.params = &params, call.params_size = sizeof params;
    memcpy(old, key.data, bytes);
    if (kernel_check(kernel->id, &call, &scratch)) fail_msg("%s", error.text);
    host.host.scratch_stride = holo_align(scratch, 64);
    host.host.scratch        = aligned_alloc(64, host.host.scratch_stride);
    assert_int_equal(kernel_run(kernel->id, &call), HOLO_OK);
    for (int64_t i = 0; i < holo_tensor_count(&y); i++)
        expect_near((double)((float *)y.data)[i], (double)want[i], 2e-5);
    expect_same((float *)key.data + 21 * 16, data(&c, K), 16); // the first head of the first batch
    memcpy((float *)key.data + 21 * 16, old + 21 * 16, 16 * sizeof(float));
    expect_same(key.data, old, 25 * 16);
    free(y.data), free(want), free(old), free(host.host.scratch);
    holo_arena_deinit(&host.arena);
    for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
}

static void many_heads(void **state)
{
    (void)state;
    enum { PLAIN, PACKED, PACKED_KEYS, MASKED, HIDDEN, LENGTHS, SCORED, BOTH, OLD, CAUSAL, OPEN, KINDS };
    const int64_t heads = 2, size = 16, n = 7, keys = 9;
    for (int kind = 0; kind < KINDS; kind++) {
        int32_t some[2 * 9], none[2 * 9] = {0};
        Case    c = {.op = "MultiHeadAttention", .domain = "com.microsoft", .version = 1, .in_count = 8};
        for (int i = 0; i < 2 * keys; i++) some[i] = i % 3 != 1;
        bool    self  = kind == PACKED || kind == OLD || kind == CAUSAL;
        int64_t fresh = self ? n : keys;
        c.in[Q]       = TENSOR(2, n, heads * size);
        c.in[K]       = TENSOR(2, fresh, heads * size);
        c.in[V]       = TENSOR(2, fresh, heads * 20);
        if (kind == PACKED || kind == PACKED_KEYS) {
            free(c.in[V].data), free(c.in[K].data);
            c.in[K] = c.in[V] = (HoloTensor){0};
        }
        if (kind == PACKED) free(c.in[Q].data), c.in[Q] = TENSOR(2, n, heads, 3, size);
        if (kind == PACKED_KEYS) c.in[K] = TENSOR(2, keys, heads, 2, size);
        if (kind == PLAIN) c.in[HEADS_BIAS] = TENSOR(heads * (2 * size + 20));
        if (kind == MASKED || kind == BOTH) c.in[HEADS_MASK] = ints(2, (int64_t[]){2, keys}, some);
        if (kind == HIDDEN) c.in[HEADS_MASK] = ints(2, (int64_t[]){2, keys}, none);
        if (kind == LENGTHS) c.in[HEADS_MASK] = INTS(2, 4, 9);
        if (kind == SCORED) c.in[HEADS_SCORES] = TENSOR(1, heads, n, keys);
        if (kind == BOTH) c.in[HEADS_SCORES] = TENSOR(2, 1, n, keys);
        if (kind == OLD)
            c.in[HEADS_PAST_KEY] = TENSOR(2, heads, 5, size), c.in[HEADS_PAST_VALUE] = TENSOR(2, heads, 5, 20);
        if (kind >= OLD) attr_int(&c, "unidirectional", 1);
        attr_int(&c, "num_heads", heads);
        check(&c);
    }
}

// ---- RotaryEmbedding

static HoloTensor positions(int64_t batch, int64_t count, int64_t rows)
{
    HoloTensor t = {.dtype = HOLO_I64, .rank = 2, .dim = {batch, count}, .data = floats(2 * batch * count)};
    for (int64_t i = 0; i < batch * count; i++) ((int64_t *)t.data)[i] = i * 7 % rows;
    return t;
}

static void rotary(void **state)
{
    (void)state;
    const int64_t halves[] = {1, 8, 15, 16, 17, 64}, heads = 3, n = 5, rows = 11;
    for (int i = 0; i < HOLO_COUNT(halves); i++)
        for (int kind = 0; kind < 16; kind++) {
            bool    inner = kind & 1, neighbors = kind & 2, chosen = kind & 4, is_onnx = kind & 8;
            int64_t half = halves[i], rest = half % 3 * 2, size = 2 * half + rest,
                    tables = chosen || !is_onnx ? rows : n;
            Case c   = {.op = "RotaryEmbedding", .domain = is_onnx ? "" : "com.microsoft", .version = is_onnx ? 23 : 1};
            int  cos = is_onnx ? 1 : 2, at = is_onnx ? 3 : 1;
            c.in_count = is_onnx && !chosen ? 3 : 4;
            c.in[0]    = inner ? TENSOR(2, n, heads * size) : TENSOR(2, heads, n, size);
            for (int k = cos; k < cos + 2; k++)
                c.in[k] = is_onnx && !chosen ? TENSOR(2, tables, half) : TENSOR(tables, half);
            if (chosen) c.in[at] = positions(2, n, rows);
            if (!chosen && !is_onnx)
                c.in[at] = (HoloTensor){.dtype = HOLO_I64, .rank = 1, .dim = {1}, .data = floats(2)};
            if (!chosen && !is_onnx) *(int64_t *)c.in[at].data = 4; // and on from there
            attr_int(&c, "interleaved", neighbors);
            attr_int(&c, "num_heads", heads);
            if (rest) attr_int(&c, "rotary_embedding_dim", 2 * half);
            check_lowered(&c, HOLO_KERNEL_rotary_f32);
        }
}

// ---- bits

// Scores that are a mask alone, and values that are the unit matrix: what comes out are the weights. Where one block of
// keys is all, they have the bits of a softmax.
static void expect_softmax(const HoloKernelTable *kernels, int64_t rows, int64_t keys)
{
    float *scores = floats(rows * keys), *unit = blank(keys * keys), *zero = floats(keys);
    float *got = blank(rows * keys), *want = blank(rows * keys);
    float *scratch = aligned_alloc(64, holo_align((size_t)holo_attend_scratch(1, keys) * sizeof(float), 64));
    assert_non_null(scratch);
    for (int64_t i = 0; i < rows * keys; i++) scores[i] *= 8;
    for (int64_t i = 0; i < keys * keys; i++) unit[i] = i % (keys + 1) == 0;
    for (int64_t i = 0; i < keys; i++) zero[i] = 0;
    HoloAttend a = {.rows = rows, .keys = keys, .size = 1, .v_size = keys, .q = zero, .k = zero, .v = unit, .k_row = 1};
    a.v_row = a.out_row = a.mask_row = a.mask_keys = a.before = a.after = keys;
    a.out = got, a.scale = 1, a.mask = scores, a.mask_key = 1, a.scratch = scratch;
    kernels->attention_f32(&a);
    kernels->softmax_f32(rows, keys, scores, want);
    expect_same(got, want, rows * keys);
    free(scores), free(unit), free(zero), free(got), free(want), free(scratch);
}

static void weights_are_softmax(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int64_t rows = 1; rows <= 33; rows += 16)
            for (int64_t keys = 1; keys <= HOLO_ATTENTION_KEYS; keys += keys < 15 ? 7 : keys < 17 ? 1 : 239)
                expect_softmax(kernels, rows, keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(every_size),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(grouped_heads),
        cmocka_unit_test(nothing),
        cmocka_unit_test(every_mask),
        cmocka_unit_test(masked_rows),
        cmocka_unit_test(windows),
        cmocka_unit_test(strips),
        cmocka_unit_test(key_lengths),
        cmocka_unit_test(scale_and_cap),
        cmocka_unit_test(special_numbers),
        cmocka_unit_test(past),
        cmocka_unit_test(grouped_queries),
        cmocka_unit_test(grouped_options),
        cmocka_unit_test(shared_cache),
        cmocka_unit_test(many_heads),
        cmocka_unit_test(rotary),
        cmocka_unit_test(weights_are_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
