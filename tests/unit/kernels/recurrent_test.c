// recurrent_test.c - LSTM, GRU and RNN: as the compiler chooses them, on every table, against the operators' own
// eval; packed weights against plain ones.
#include "support/kernel_case.h"
#include "support/watched.h"

typedef struct Kind {
    const char *op;
    int         gates;
    uint32_t    kernel;
    bool        is_linear_before_reset;
} Kind;

static const Kind kinds[] = {{"LSTM", 4, HOLO_KERNEL_lstm_f32, false},
                             {"GRU", 3, HOLO_KERNEL_gru_f32, true},
                             {"GRU", 3, HOLO_KERNEL_gru_reset_f32, false},
                             {"RNN", 1, HOLO_KERNEL_rnn_f32, false}};

static const char *const directions[] = {"forward", "reverse", "bidirectional"};

static Case recurrent(const Kind *kind, int v)
{
    int64_t     times = v == 7 ? 300 : 5, batch = v == 8 ? 150 : v % 2 ? 3 : 1, inputs = v == 4 ? 300 : 21;
    int64_t     hidden = v % 4 == 1 ? 80 : v % 4 == 2 ? 7 : v % 4 == 3 ? 300 : 16, gates = kind->gates;
    int         d = v % 3 == 2 ? 2 : 1;
    Case        c = {.op = kind->op, .version = 14, .in_count = v % 5 ? 6 : 3, .attr_count = 1, .kernel = kind->kernel};
    const char *name = directions[v % 3];
    c.attr[0]        = (HoloAttr){.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {name, strlen(name)}};
    attr_int(&c, "hidden_size", hidden);
    if (kind->is_linear_before_reset) attr_int(&c, "linear_before_reset", 1);
    if (gates == 4 && c.in_count > 3) c.in_count = 7;
    c.in[0] = TENSOR(times, batch, inputs);
    c.in[1] = TENSOR(d, gates * hidden, inputs);
    c.in[2] = TENSOR(d, gates * hidden, hidden);
    if (c.in_count > 3) c.in[3] = TENSOR(d, 2 * gates * hidden);
    if (c.in_count > 3 && v % 4 > 1) c.in[4] = lengths(times, batch);
    if (c.in_count > 3 && v & 1) c.in[5] = TENSOR(d, batch, hidden);
    if (c.in_count > 6 && v & 1) c.in[6] = TENSOR(d, batch, hidden);
    for (int64_t i = 0; i < d * gates * hidden * inputs; i++) ((float *)c.in[1].data)[i] *= 0.2f;
    for (int64_t i = 0; i < d * gates * hidden * hidden; i++) ((float *)c.in[2].data)[i] *= 0.1f;
    return c;
}

static void plain(void **state)
{
    (void)state;
    int step = watched_step("the variants", 5);
    for (int k = 0; k < HOLO_COUNT(kinds); k++)
        for (int v = k % step; v < 12; v += step) {
            Case c = recurrent(&kinds[k], v);
            check_lowered(&c, kinds[k].kernel);
        }
}

static void *pack(const Case *c, int input)
{
    return packed_weights(&(HoloLowering){.kernel = c->kernel, .pack_input = input}, &c->in[input]);
}

static void packed(void **state)
{
    (void)state;
    const HoloKernelTable *kernels = holo_kernels_at(0);
    for (int k = 0; k < HOLO_COUNT(kinds); k++)
        for (int v = 0; v < 6; v++) {
            Case                c      = recurrent(&kinds[k], v);
            HoloRecurrentParams params = {.size = sizeof params};
            memcpy(&c.params, &params, sizeof params);
            float *eval = run_eval(&c), *want = run_kernel(&c, kernels, 1);
            void  *w = pack(&c, 1), *r = pack(&c, 2), *plain_w = c.in[1].data, *plain_r = c.in[2].data;
            params.flags = HOLO_RECURRENT_PACKED_W | HOLO_RECURRENT_PACKED_R;
            memcpy(&c.params, &params, sizeof params);
            c.in[1].data = w, c.in[2].data = r;
            float *got = run_kernel(&c, kernels, 3);
            expect_same(got, want, holo_tensor_count(&c.out));
            c.in[1].data = plain_w, c.in[2].data = plain_r;
            free(eval), free(want), free(got), free(w), free(r);
            for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
        }
}

// Of no times at all the last states are the first ones, or 0.
static void no_times(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(kinds); k++)
        for (int given = 0; given < 2; given++) {
            float               first[3] = {1, 2, 3}, h[3] = {9, 9, 9}, c[3] = {9, 9, 9};
            HoloRecurrentParams params = {.size = sizeof params};
            HoloTensor          x      = {.dtype = HOLO_F32, .rank = 3, .dim = {0, 3, 2}};
            HoloTensor          w      = {.dtype = HOLO_F32, .rank = 3, .dim = {1, kinds[k].gates, 2}};
            HoloTensor          r      = {.dtype = HOLO_F32, .rank = 3, .dim = {1, kinds[k].gates, 1}};
            HoloTensor          before = {.dtype = HOLO_F32, .rank = 3, .dim = {1, 3, 1}, .data = first};
            HoloTensor          y      = {.dtype = HOLO_F32, .rank = 4, .dim = {0, 1, 3, 1}};
            HoloTensor          last_h = before, last_c = before;
            last_h.data = h, last_c.data = c;
            const HoloTensor    *in[]   = {&x, &w, &r, NULL, NULL, given ? &before : NULL, given ? &before : NULL};
            HoloTensor          *out[]  = {&y, &last_h, &last_c};
            Host                 host   = host_make(holo_kernels_at(0), 1);
            const HoloCpuKernel *kernel = holo_cpu_kernel_find(kinds[k].kernel);
            size_t               scratch;
            bool                 cells = kinds[k].gates == 4;
            HoloCall             call  = {.op          = holo_op_find("", kinds[k].op, 14),
                                          .node        = "n",
                                          .version     = 14,
                                          .in_count    = cells ? 7 : 6,
                                          .out_count   = cells ? 3 : 2,
                                          .in          = in,
                                          .out         = out,
                                          .params      = &params,
                                          .params_size = sizeof params,
                                          .host        = &host.host};
            assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
            assert_int_equal(kernel_run(kernel->id, &call), HOLO_OK);
            for (int i = 0; i < 3; i++) {
                assert_true(h[i] == (given ? first[i] : 0));
                if (cells) assert_true(c[i] == (given ? first[i] : 0));
            }
        }
}

// All outputs against eval's: with Y and without it.
static void outputs(void **state)
{
    (void)state;
    enum { OUTPUTS = 3 };
    int step = watched_step("the outputs", 5);
    for (int k = 0; k < HOLO_COUNT(kinds); k++)
        for (int v = k % step; v < 24; v += step) {
            Case                c             = recurrent(&kinds[k], v / 2);
            HoloRecurrentParams params        = {.size = sizeof params};
            HoloError           error         = {0};
            HoloTensor          eval[OUTPUTS] = {0}, fast[OUTPUTS], *out[OUTPUTS];
            const HoloTensor   *in[IN_MAX];
            Host                host = host_make(holo_kernels_at(0), 2);
            memcpy(&c.params, &params, sizeof params);
            HoloCall call  = call_init(&c, &host, in, out, &error);
            call.out       = out;
            call.out_count = kinds[k].gates == 4 ? OUTPUTS : OUTPUTS - 1;
            for (int i = 0; i < OUTPUTS; i++) out[i] = i < v % 2 ? NULL : &eval[i];
            assert_int_equal(holo_op_infer(&call), HOLO_OK);
            for (int i = v % 2; i < call.out_count; i++) eval[i].data = floats(holo_tensor_count(&eval[i]));
            assert_int_equal(call.op->eval(&call), HOLO_OK);
            for (int i = v % 2; i < call.out_count; i++) {
                fast[i]      = eval[i];
                fast[i].data = floats(holo_tensor_count(&eval[i]));
                out[i]       = &fast[i];
            }
            const HoloCpuKernel *kernel = holo_cpu_kernel_find(kinds[k].kernel);
            size_t               scratch;
            if (kernel_check(kernel->id, &call, &scratch)) fail_msg("%s", error.text);
            host.host.scratch_stride = holo_align(scratch + 1, 64);
            host.host.scratch        = aligned_alloc(64, host.host.scratch_stride * 2);
            assert_non_null(host.host.scratch);
            assert_int_equal(kernel_run(kernel->id, &call), HOLO_OK);
            for (int i = v % 2; i < call.out_count; i++) {
                for (int64_t j = 0; j < holo_tensor_count(&eval[i]); j++)
                    expect_near(((float *)fast[i].data)[j], ((float *)eval[i].data)[j], 3e-5);
                free(fast[i].data), free(eval[i].data);
            }
            free(host.host.scratch);
            holo_arena_deinit(&host.arena);
            for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
        }
}

// Lengths that no sequence can have are found when it runs.
static void lengths_refused(void **state)
{
    (void)state;
    for (int wrong = -1; wrong <= 6; wrong += 7) {
        Case                c      = recurrent(&kinds[3], 3);
        HoloRecurrentParams params = {.size = sizeof params};
        HoloError           error  = {0};
        Host                host   = host_make(holo_kernels_at(0), 1);
        const HoloTensor   *in[IN_MAX];
        HoloTensor         *out[1];
        size_t              scratch;
        memcpy(&c.params, &params, sizeof params);
        HoloCall call = call_init(&c, &host, in, out, &error);
        assert_int_equal(holo_op_infer(&call), HOLO_OK);
        assert_int_equal(kernel_check(c.kernel, &call, &scratch), HOLO_OK);
        ((int32_t *)c.in[4].data)[1] = wrong;
        assert_int_equal(kernel_run(c.kernel, &call), HOLO_BAD_INPUT);
        assert_non_null(strstr(error.text, "expected 0 to 5"));
        for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
    }
}

// What an archive may say wrongly.
static void refused(void **state)
{
    (void)state;
    Case                 c      = recurrent(&kinds[0], 1);
    HoloRecurrentParams  params = {.size = sizeof params, .flags = 4};
    HoloError            error  = {0};
    Host                 host   = host_make(holo_kernels_at(0), 1);
    const HoloTensor    *in[IN_MAX];
    HoloTensor          *out[1];
    size_t               scratch;
    HoloCall             call   = call_init(&c, &host, in, out, &error);
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_lstm_f32);
    assert_int_equal(holo_op_infer(&call), HOLO_OK);
    memcpy(&c.params, &params, sizeof params); // a flag that there is not
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    params.flags = 0;
    memcpy(&c.params, &params, sizeof params);
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
    c.in[2].dim[1]--; // R is not of four gates
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    c.in[2].dim[1]++;
    c.out.dim[3]++;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain),           cmocka_unit_test(packed),
                                       cmocka_unit_test(no_times),        cmocka_unit_test(outputs),
                                       cmocka_unit_test(lengths_refused), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
