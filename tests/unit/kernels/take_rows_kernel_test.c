// take_rows_kernel_test.c - TakeRows by its kernel, from plain and from packed tables of every type, against eval.
#include "support/block_case.h"

#include "ops/hologram/rows_op.h"

enum { ROWS = 37, COUNT = 512, TAKEN = 9 };

static void *table_make(HoloDtype dtype, const HoloBlockType *type, size_t bytes)
{
    uint8_t *data = malloc(bytes);
    assert_non_null(data);
    for (size_t at = 0; type && at < bytes; at += (size_t)type->bytes) block_make(type, data + at);
    for (size_t i = 0; !type && i < bytes; i += 2) { // numbers from 2 to 4 in any of the types
        data[i]     = (uint8_t)(holo_random_unit(&random_state) * 256);
        data[i + 1] = dtype == HOLO_F32 && i % 4 == 0 ? data[i] : 0x40;
    }
    return data;
}

static Case rows_case(HoloDtype dtype, const HoloBlockType *type)
{
    Case     c       = {.op = "TakeRows", .domain = "hologram", .version = 1, .in_count = 2};
    int64_t  columns = type ? COUNT / type->count * type->bytes : COUNT;
    int64_t *at      = malloc(TAKEN * sizeof *at);
    assert_non_null(at);
    for (int i = 0; i < TAKEN; i++) at[i] = (int64_t)(holo_random_unit(&random_state) * ROWS);
    at[0] = ROWS - 1, at[1] = 0, at[2] = -1, at[3] = 16;
    if (type) attr_text(&c, "type", type->name);
    if (type) attr_int(&c, "count", COUNT);
    c.in[HOLO_ROWS_TABLE]      = (HoloTensor){.dtype = (uint8_t)dtype, .rank = 2, .dim = {ROWS, columns}};
    c.in[HOLO_ROWS_TABLE].data = table_make(dtype, type, holo_tensor_bytes(&c.in[HOLO_ROWS_TABLE]));
    c.in[HOLO_ROWS_AT]         = (HoloTensor){.dtype = HOLO_I64, .rank = 2, .dim = {3, TAKEN / 3}, .data = at};
    return c;
}

// Plain, then packed: the same bits as eval.
static void expect_rows(Case *c)
{
    float  *want  = run_eval(c);
    int64_t count = holo_tensor_count(&c->out);
    for (int packed = 0; packed < 2; packed++) {
        HoloLowering lowering = case_lowering(c, packed);
        void        *plain    = c->in[HOLO_ROWS_TABLE].data;
        assert_int_equal(lowering.kernel, HOLO_KERNEL_take_rows);
        assert_int_equal(lowering.pack_input, packed ? HOLO_ROWS_TABLE : -1);
        c->kernel = lowering.kernel;
        memcpy(&c->params, lowering.params, sizeof lowering.params);
        if (packed) c->in[HOLO_ROWS_TABLE].data = packed_weights(&lowering, &c->in[HOLO_ROWS_TABLE]);
        float *one = run_kernel(c, holo_kernels(0), 1), *three = run_kernel(c, holo_kernels(0), 3);
        assert_memory_equal(one, want, (size_t)count * sizeof *want);
        assert_memory_equal(three, want, (size_t)count * sizeof *want);
        free(one), free(three);
        if (packed) free(plain);
    }
    free(want);
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

static void tables_of_floats(void **state)
{
    static const HoloDtype types[] = {HOLO_F32, HOLO_F16, HOLO_BF16};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(types); i++) {
        Case c = rows_case(types[i], NULL);
        expect_rows(&c);
    }
}

static void tables_of_blocks(void **state)
{
    const HoloBlockType *type;
    (void)state;
    for (int t = 0; (type = holo_block_type_at(t)); t++) {
        Case c = rows_case(HOLO_U8, type);
        expect_rows(&c);
    }
}

static void refused(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        Case              c        = rows_case(HOLO_F16, NULL);
        HoloLowering      lowering = case_lowering(&c, true);
        Host              host     = host_make(holo_kernels(0), 1);
        HoloError         error    = {0};
        const HoloTensor *in[IN_MAX];
        HoloTensor       *out[1];
        size_t            scratch;
        memcpy(&c.params, lowering.params, sizeof lowering.params);
        HoloTakeRowsParams *params = (void *)&c.params;
        HoloCall            call   = call_init(&c, &host, in, out, &error);
        assert_int_equal(kernel_check(HOLO_KERNEL_take_rows, &call, &scratch), HOLO_OK);
        if (i == 0) params->flags |= 1 << 20;
        if (i == 1) params->size = 4;
        if (i == 2) params->flags |= HOLO_WEIGHTS_CODES;
        if (i == 3) params->flags |= HOLO_WEIGHTS_BF16 | HOLO_WEIGHTS_F16;
        if (i == 4) c.in[HOLO_ROWS_AT].dtype = HOLO_F32;
        if (i == 5) c.in[HOLO_ROWS_TABLE].dim[1]--;
        assert_true(kernel_check(HOLO_KERNEL_take_rows, &call, &scratch));
        for (int k = 0; k < c.in_count; k++) free(c.in[k].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_of_floats), cmocka_unit_test(tables_of_blocks),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
