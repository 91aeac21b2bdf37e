// lstm_i8_test.c - DynamicQuantizeLSTM: as the compiler chooses it, on every table, against the operator's own eval;
// packed weights against plain ones.
//
// Of one step results are near. Behind it a state that rounds the other way is a whole step of its 256: all that
// follows is a little off, which the bound of longer sequences allows for.
#include "support/kernel_case.h"

static HoloTensor bytes(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t     = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    int64_t    count = holo_product(rank, dim);
    uint8_t   *data  = malloc((size_t)count + !count);
    assert_non_null(data);
    for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
    for (int64_t i = 0; i < count; i++) data[i] = (uint8_t)(holo_random_unit(&random_state) * 256);
    t.data = data;
    return t;
}

// Scales, of each direction or of each column, that give weights within `top`.
static HoloTensor scales(bool by_column, int64_t directions, int64_t sums, float top)
{
    HoloTensor t = by_column ? TENSOR(directions, sums) : TENSOR(directions);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        ((float *)t.data)[i] = top / 256 * (1.5f + ((float *)t.data)[i]);
    return t;
}

static HoloTensor zeros(HoloDtype dtype, bool by_column, int64_t directions, int64_t sums)
{
    HoloTensor t = bytes(dtype, by_column ? 2 : 1, (int64_t[]){directions, sums});
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        ((uint8_t *)t.data)[i] = (uint8_t)((dtype == HOLO_I8 ? -8 : 120) + ((uint8_t *)t.data)[i] / 16);
    return t;
}

static Case layer(int v, int64_t times)
{
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};

    int64_t     batch = v == 8 ? 150 : v % 2 ? 3 : 1, inputs = v == 4 ? 300 : v == 5 ? 1 : 21;
    int64_t     hidden = v % 4 == 1 ? 80 : v % 4 == 2 ? 7 : v % 4 == 3 ? 300 : 16, d = v % 3 == 2 ? 2 : 1;
    HoloDtype   w = v & 1 ? HOLO_I8 : HOLO_U8, r = v & 2 ? HOLO_I8 : HOLO_U8;
    const char *name = directions[v % 3];
    Case c    = {.op = "DynamicQuantizeLSTM", .domain = "com.microsoft", .version = 1, .in_count = 12, .attr_count = 1};
    c.kernel  = HOLO_KERNEL_lstm_i8;
    c.attr[0] = (HoloAttr){.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {name, strlen(name)}};
    attr_int(&c, "hidden_size", hidden);
    c.in[0] = TENSOR(times, batch, inputs);
    c.in[1] = bytes(w, 3, (int64_t[]){d, inputs, 4 * hidden});
    c.in[2] = bytes(r, 3, (int64_t[]){d, hidden, 4 * hidden});
    if (v % 5) c.in[3] = TENSOR(d, 8 * hidden);
    if (v % 4 > 1 && v % 3 == 0) c.in[4] = lengths(times, batch);
    if (v % 4 != 2) c.in[5] = TENSOR(d, batch, hidden);
    if (v % 3 != 1) c.in[6] = TENSOR(d, batch, hidden);
    c.in[8]  = scales(v & 2, d, 4 * hidden, 0.2f);
    c.in[9]  = zeros(w, v & 2, d, 4 * hidden);
    c.in[10] = scales(v & 4, d, 4 * hidden, 0.1f);
    c.in[11] = zeros(r, v & 4, d, 4 * hidden);
    return c;
}

static void one_step(void **state)
{
    (void)state;
    for (int v = 0; v < 12; v++) {
        Case c = layer(v, 1);
        check_lowered(&c, HOLO_KERNEL_lstm_i8);
    }
}

static void *pack(const Case *c, int input)
{
    return packed_weights(&(HoloLowering){.kernel = c->kernel, .pack_input = input}, &c->in[input]);
}

// Packed and plain weights, on every table and by several workers: the same bits, near those of eval.
static void sequences(void **state)
{
    (void)state;
    for (int v = 0; v < 12; v++) {
        Case                c      = layer(v, v == 6 ? 300 : 7);
        HoloRecurrentParams params = {.size = sizeof params};
        memcpy(&c.params, &params, sizeof params);
        float                 *want  = run_eval(&c);
        int64_t                count = holo_tensor_count(&c.out);
        void                  *w = pack(&c, 1), *r = pack(&c, 2), *plain_w = c.in[1].data, *plain_r = c.in[2].data;
        const HoloKernelTable *kernels;
        for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
            params.flags = 0;
            memcpy(&c.params, &params, sizeof params);
            float *got   = run_kernel(&c, kernels, 1);
            params.flags = HOLO_RECURRENT_PACKED_W | HOLO_RECURRENT_PACKED_R;
            memcpy(&c.params, &params, sizeof params);
            c.in[1].data = w, c.in[2].data = r;
            float *packed = run_kernel(&c, kernels, 3);
            c.in[1].data = plain_w, c.in[2].data = plain_r;
            expect_same(got, packed, count);
            for (int64_t i = 0; i < count; i++) expect_near((double)got[i], (double)want[i], 2e-3);
            free(got), free(packed);
        }
        free(want), free(w), free(r);
        for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
    }
}

static void expect_eval(Case *c)
{
    assert_int_equal(case_lowering(c, false).kernel, HOLO_KERNEL_EVAL);
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

// What the kernel does not do is left to eval.
static void left(void **state)
{
    (void)state;
    Case c  = layer(1, 5); // backwards, of several lengths
    c.in[4] = lengths(5, 3);
    expect_eval(&c);
    c       = layer(0, 5);
    c.in[7] = TENSOR(1, 3 * 16); // peepholes
    expect_eval(&c);
    c = layer(0, 5);
    attr_int(&c, "input_forget", 1);
    expect_eval(&c);
}

#define REFUSED(change)                                                                 \
    do {                                                                                \
        Case              c_ = right, *w = &c_;                                         \
        HoloError         error_ = {0};                                                 \
        Host              host_  = host_make(holo_kernels_at(0), 1);                    \
        const HoloTensor *in_[IN_MAX];                                                  \
        HoloTensor       *out_[1];                                                      \
        size_t            scratch_;                                                     \
        change;                                                                         \
        HoloCall call_ = call_init(&c_, &host_, in_, out_, &error_);                    \
        assert_int_equal(kernel_check(c_.kernel, &call_, &scratch_), HOLO_BAD_ARCHIVE); \
    } while (0)

// What an archive may say wrongly.
static void refused(void **state)
{
    (void)state;
    Case                right  = layer(3, 5);
    HoloRecurrentParams params = {.size = sizeof params};
    memcpy(&right.params, &params, sizeof params);
    free(run_eval(&right));
    free(run_kernel(&right, holo_kernels_at(0), 1));
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) REFUSED(w->in[i].dim[d]++);
    for (int i = 1; i < 12; i++)
        if (i != 7 && right.in[i].dtype) REFUSED(w->in[i].dtype = HOLO_F64);
    for (int i = 8; i < 12; i++) {
        REFUSED(w->in[i].dim[0]++);
        REFUSED(w->in[i].rank = 0);
        REFUSED(w->in[i].dtype = 0);
    }
    REFUSED(w->in[8].dim[1]++);
    REFUSED(w->in[1].dtype = HOLO_U8); // not that of its zero points
    REFUSED(w->out.dim[3]++);
    REFUSED(w->in[0].dim[2] = w->in[1].dim[1] = 32769);
    params.flags = 4;
    REFUSED(memcpy(&w->params, &params, sizeof params));
    for (int i = 0; i < right.in_count; i++) free(right.in[i].data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_step), cmocka_unit_test(sequences), cmocka_unit_test(left),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
