// memory_test.c - limits of memory: of the process, of a compile and of a session; what is asked for past one is
// refused, in words, and all that was counted is given back.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/files.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void unlimited(void)
{
    holo_memory_set_limit(0);
}

static void test_process(void **state)
{
    (void)state;
    uint64_t before = holo_memory_held();
    holo_memory_set_limit(before + (1 << 20));
    assert_int_equal(holo_memory_limit(), before + (1 << 20));
    void *small = holo_realloc(NULL, 1000);
    assert_non_null(small);
    assert_true(holo_memory_held() >= before + 1000);
    assert_null(holo_realloc(NULL, 2 << 20));
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, "out of memory"); // what was noted is the refusal
    assert_null(holo_memory_take(2 << 20, 0));
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, ": 2.0 MiB were asked for; the memory limit is 1.0 MiB");
    EXPECT_FAIL(holo_fail(&error, HOLO_NO_MEMORY, "too long"), HOLO_NO_MEMORY, "too long");
    small = holo_realloc(small, 100000);
    assert_non_null(small);
    assert_null(holo_realloc(small, 4 << 20)); // and the block is as it was
    memset(small, 1, 100000);
    small = holo_realloc(small, 10);
    assert_true(holo_memory_held() < before + 1000);
    holo_free(small);
    assert_int_equal(holo_memory_held(), before);
    unlimited();
    void *pages = holo_memory_take(3 << 20, 0);
    assert_non_null(pages);
    memset(pages, 1, 3 << 20);
    assert_true(holo_memory_held() >= before + (3 << 20));
    holo_memory_free(pages, 3 << 20);
    assert_int_equal(holo_memory_held(), before);
}

static void test_arena(void **state)
{
    (void)state;
    HoloArena arena = {0};
    HoloScope pass = {.what = "pass", .name = "fold"}, node = {.what = "node", .name = "conv1"};
    holo_memory_set_limit(holo_memory_held() + (1 << 20));
    holo_scope_enter(&pass);
    holo_scope_enter(&node);
    assert_null(holo_arena_take(&arena, 64 << 20));
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, "out of memory for node conv1 in pass fold: 64.0 MiB were");
    assert_null(holo_arena_take_array(&arena, SIZE_MAX / 2, 4));
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, "than can be counted");
    holo_scope_leave(&node);
    holo_scope_leave(&pass);
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, "out of memory");
    unlimited();
    holo_arena_deinit(&arena);
}

// An account lives as long as its memory, and counts only what was asked for inside of it.
static void test_account(void **state)
{
    (void)state;
    uint64_t     before  = holo_memory_held();
    HoloAccount *account = holo_account_open();
    HoloScope    scope   = {.account = account};
    holo_account_limit(account, 1 << 20);
    void *outside = holo_realloc(NULL, 2 << 20);
    holo_scope_enter(&scope);
    void *inside = holo_realloc(NULL, 500000);
    assert_null(holo_realloc(NULL, 600000));
    holo_scope_leave(&scope);
    assert_non_null(outside);
    assert_non_null(inside);
    EXPECT_FAIL(holo_fail_memory(&error), HOLO_NO_MEMORY, "the limit set for this is 1.0 MiB, and 488.3 KiB of that");
    assert_true(holo_account_held(account) >= 500000 && holo_account_held(account) < 501000);
    holo_account_close(account);
    inside = holo_realloc(inside, 700000);
    assert_non_null(inside);
    holo_free(inside);
    holo_free(outside);
    assert_int_equal(holo_memory_held(), before);
}

static HoloStatus run_with(HoloSession *session, int64_t rows, HoloError *error)
{
    HoloTensor x = {.dtype = HOLO_F32, .rank = 2, .dim = {rows, 6}};
    x.data       = calloc((size_t)rows * 6, 4);
    for (int i = 0; i < 2; i++)
        if (holo_session_set_input(session, i, &x, error)) return HOLO_BAD_INPUT;
    HoloStatus status = holo_session_run(session, error);
    free(x.data);
    return status;
}

static void test_session(void **state)
{
    (void)state;
    HoloModel   *model = compiled(model_dynamic(), HOLO_FUSED);
    HoloSession *session, *other;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_create(model, NULL, &other, &error));
    EXPECT_OK(holo_session_set_memory_limit(session, 4 << 20, &error));
    EXPECT_OK(run_with(session, 2, &error));
    EXPECT_FAIL(run_with(session, 1000000, &error), HOLO_NO_MEMORY, "the limit set for this is 4.0 MiB");
    EXPECT_OK(run_with(session, 3, &error));
    EXPECT_OK(run_with(other, 1000000, &error)); // the limit is that of one session alone
    EXPECT_FAIL(holo_session_set_memory_limit(other, 1 << 20, &error), HOLO_NO_MEMORY, "its limit is 1.0 MiB");
    holo_session_destroy(session);
    holo_session_destroy(other);
    holo_model_close(model);
}

static const char *model_wide(void) // y = x + a constant of 16 MiB that is computed while compiling
{
    OnnxModel     model   = {0};
    const int64_t shape[] = {2048, 2048};
    onnx_input(&model.graph, "x", HOLO_F32, "2048,2048");
    onnx_ints(&model.graph, "shape", "2", shape);
    onnx_node(&model.graph, "ConstantOfShape", "shape", "zeros", "");
    onnx_node(&model.graph, "Cos", "zeros", "ones", "");
    onnx_node(&model.graph, "Add", "x,ones", "y", "");
    onnx_output(&model.graph, "y", HOLO_F32, "2048,2048");
    onnx_save(&model, temp_path("wide.onnx"));
    return temp_path("wide.onnx");
}

static void test_compile(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloModel    *model;
    uint64_t      before = holo_memory_held();
    assert_int_equal(holo_compiler_create(&compiler), HOLO_OK);
    holo_compiler_set_threads(compiler, 2);
    holo_compiler_set_memory_limit(compiler, 64 << 10);
    EXPECT_FAIL(holo_compile_model(compiler, model_wide(), &model, NULL, &error), HOLO_NO_MEMORY,
                "the limit set for this is 64.0 KiB");
    holo_compiler_set_memory_limit(compiler, 64 << 20);
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, NULL, &error));
    holo_compiler_destroy(compiler);
    holo_model_close(model); // whose memory outlives the account that it was counted in
    assert_int_equal(holo_memory_held(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process), cmocka_unit_test(test_arena),   cmocka_unit_test(test_account),
        cmocka_unit_test(test_session), cmocka_unit_test(test_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
