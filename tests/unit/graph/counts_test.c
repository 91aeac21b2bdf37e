// counts_test.c - nodes with fewer inputs than their operator takes: of every operator, where types are known and where
// not, in the model's own graph and in a branch. They are refused, or never run; nothing is read that is not there.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "ops/op.h"

#include <stdio.h>
#include <string.h>

enum { OPSET = 22, TEXT = 512 };

// `count` inputs; from `given` on they have no name.
static const char *inputs_list(int count, int given)
{
    static char text[TEXT];
    size_t      size = 0;
    text[0]          = 0;
    for (int i = 0; i < count && size < sizeof text - 4; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? "," : "", i < given ? "x" : "");
    return text;
}

static const char *op_name(const HoloOp *op)
{
    static char text[TEXT];
    snprintf(text, sizeof text, "%s%s%s", op->domain ? op->domain : "", op->domain && *op->domain ? "::" : "",
             op->name);
    return text;
}

static void opsets_add(OnnxModel *m, const HoloOp *op)
{
    onnx_opset(m, "", OPSET);
    if (op->domain && *op->domain) onnx_opset(m, op->domain, op->since > 0 ? op->since : 1);
}

static HoloStatus compile(OnnxModel *m, HoloError *error)
{
    const char   *path = temp_path("counts.onnx");
    HoloCompiler *compiler;
    HoloModel    *model = NULL;
    onnx_save(m, path);
    assert_int_equal(holo_compiler_create(&compiler), HOLO_OK);
    holo_compiler_set_verify(compiler, false);
    HoloStatus status = holo_compile_model(compiler, path, &model, NULL, error);
    holo_compiler_destroy(compiler);
    holo_model_close(model);
    return status;
}

// One input too few.
static HoloStatus compile_few(const HoloOp *op, const char *shape, HoloError *error)
{
    OnnxModel m = {0};
    opsets_add(&m, op);
    onnx_input(&m.graph, "x", HOLO_F32, shape);
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_node(&m.graph, op_name(op), inputs_list(op->in_min - 1, op->in_min), "y", "");
    return compile(&m, error);
}

// In one branch of two: the last of `count` inputs has no name.
static HoloStatus compile_branch(const HoloOp *op, int count, HoloError *error)
{
    OnnxModel m         = {0};
    OnnxGraph bodies[2] = {{{0}}, {{0}}};
    opsets_add(&m, op);
    onnx_input(&m.graph, "x", HOLO_F32, NULL);
    onnx_input(&m.graph, "c", HOLO_BOOL, "");
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_output(&bodies[0], "a", HOLO_F32, NULL);
    onnx_node(&bodies[0], op_name(op), inputs_list(count, op->in_min - 1), "a", "");
    onnx_output(&bodies[1], "b", HOLO_F32, NULL);
    onnx_node(&bodies[1], "Relu", "x", "b", "");
    Pb node = {0};
    pb_text(&node, 1, "c");
    pb_text(&node, 2, "y");
    pb_text(&node, 4, "If");
    for (int i = 0; i < 2; i++) {
        Pb attr = {0};
        pb_text(&attr, 1, i ? "else_branch" : "then_branch");
        pb_text(&bodies[i].message, 2, "body");
        pb_message(&attr, 6, &bodies[i].message);
        pb_int(&attr, 20, 5);
        pb_message(&node, 5, &attr);
    }
    pb_message(&m.graph.message, 1, &node);
    return compile(&m, error);
}

static bool is_tried(const HoloOp *op)
{
    return op->in_min >= 1 && op->in_min < 40 && !(op->domain && !strcmp(op->domain, "hologram"));
}

static void test_too_few_inputs(void **state)
{
    (void)state;
    static const char *const shapes[] = {NULL, "2,3"};
    int                      refused  = 0;
    for (const HoloOp *const *family = holo_op_families; *family; family++)
        for (const HoloOp *op = *family; op->name; op++)
            for (int i = 0; i < 2 && is_tried(op); i++) {
                HoloError  error  = {0};
                HoloStatus status = compile_few(op, shapes[i], &error);
                if (status != HOLO_BAD_MODEL && status != HOLO_UNSUPPORTED)
                    fail_msg("%s with %d inputs: %s", op->name, op->in_min - 1, holo_status_text(status));
                refused += status == HOLO_BAD_MODEL;
            }
    assert_true(refused > 400);
}

static void test_inputs_lacking_in_a_branch(void **state)
{
    (void)state;
    int compiled_well = 0;
    for (const HoloOp *const *family = holo_op_families; *family; family++)
        for (const HoloOp *op = *family; op->name; op++)
            for (int fewer = 0; fewer < 2 && is_tried(op); fewer++) {
                HoloError error = {0};
                compiled_well += compile_branch(op, op->in_min - fewer, &error) == HOLO_OK;
            }
    assert_true(compiled_well > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_few_inputs),
        cmocka_unit_test(test_inputs_lacking_in_a_branch),
    };
    return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
