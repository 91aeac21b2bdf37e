// grid_kernel_test.c - grid_sample_f32 against the operator's own eval, on every table of kernels.
#include "support/kernel_case.h"

// Places inside, at the borders, beyond them, far away and nowhere.
static void set_places(float *at, int64_t count)
{
    static const float some[] = {-1, 1, 0, -1.001f, 1.001f, 1.5f, -2.75f, 7.25f, -60, 3e9f, -1e30f, INFINITY, NAN};
    for (int64_t i = 0; i < count; i++) at[i] = i % 3 ? 1.3f * at[i] : some[i / 3 % HOLO_COUNT(some)];
}

static void grids(void **state)
{
    (void)state;
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const struct {
        int64_t batch, channels, height, width, rows, columns;
    } rows[] = {
        {1, 1, 1, 1, 1, 1},    {2, 3, 7, 9, 5, 3},    {1, 2, 1, 20, 1, 16},   {1, 2, 20, 1, 17, 1},
        {2, 1, 16, 16, 15, 1}, {1, 3, 33, 5, 31, 33}, {2, 2, 40, 41, 1, 600}, {1, 0, 3, 3, 2, 2},
        {1, 2, 3, 3, 0, 2},    {1, 2, 0, 3, 2, 2},    {0, 2, 3, 3, 2, 2},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        for (int p = 0; p < HOLO_COUNT(paddings); p++)
            for (int align = 0; align < 2; align++) {
                Case c  = {.op = "GridSample", .version = 20, .in_count = 2};
                c.in[0] = TENSOR(rows[i].batch, rows[i].channels, rows[i].height, rows[i].width);
                c.in[1] = TENSOR(rows[i].batch, rows[i].rows, rows[i].columns, 2);
                set_places(c.in[1].data, holo_tensor_count(&c.in[1]));
                if (p == 0 && holo_tensor_count(&c.in[0]) > 50) ((float *)c.in[0].data)[17] = NAN;
                attr_text(&c, "padding_mode", paddings[p]);
                attr_text(&c, "mode", align ? "linear" : "bilinear");
                attr_int(&c, "align_corners", align);
                check_lowered(&c, HOLO_KERNEL_grid_sample_f32);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
