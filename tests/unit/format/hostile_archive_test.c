// hostile_archive_test.c - archives that claim what is not so, with all hashes right: each is refused in words.
#include "support/archive_edit.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/dim/dim.h"

// ---- archives taken apart

static EditFile edited(const char *onnx)
{
    EditFile file;
    size_t   size;
    uint8_t *bytes = file_read(archived(onnx, HOLO_FUSED, 1), &size);
    assert_true(edit_open(bytes, size, 1, &file));
    free(bytes);
    return file;
}

#define RECORDS(file, id, type) ((type *)(void *)edit_section(&(file), HOLO_SECTION_##id)->data)

// Opens the archive and makes a session: one of them fails.
static void expect_refused(EditFile *file, const char *words)
{
    size_t       room  = 1 << 24;
    uint8_t     *bytes = aligned_alloc(64, room);
    size_t       size  = edit_close(file, bytes, room);
    HoloModel   *model;
    HoloSession *session = NULL;
    HoloError    error   = {0};
    assert_true(size > 0);
    HoloStatus status = holo_model_open_memory(bytes, size, &model, &error);
    if (!status) status = holo_session_create(model, NULL, &session, &error);
    if (status != HOLO_BAD_MODEL) assert_int_equal(status, HOLO_BAD_ARCHIVE); // the first: an operator says so
    expect_message("opening", status, status, error.text, words);
    holo_session_destroy(session);
    holo_model_close(model);
    edit_free(file);
    free(bytes);
}

static size_t step_of(EditFile *file, const char *op)
{
    const HoloStepRecord *step    = RECORDS(*file, STEPS, HoloStepRecord);
    const HoloOpRecord   *ops     = RECORDS(*file, OPS, HoloOpRecord);
    const char           *strings = RECORDS(*file, STRINGS, char);
    for (size_t i = 0; i < edit_count(file, HOLO_SECTION_STEPS, sizeof *step); i++)
        if (!strcmp(strings + ops[step[i].op].name, op)) return i;
    fail_msg("there is no step of %s", op);
    return 0;
}

// ---- captures

// Forty inputs of an operator that takes two: those behind them are no captures.
static void test_captures_of_no_subgraph(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("add.onnx");
    onnx_input(&m.graph, "x", HOLO_I32, "4");
    onnx_input(&m.graph, "z", HOLO_I32, "4");
    onnx_output(&m.graph, "y", HOLO_I32, "4");
    onnx_node(&m.graph, "Mod", "x,z", "y", "");
    onnx_save(&m, path);
    EditFile        file = edited(path);
    HoloStepRecord *step = RECORDS(file, STEPS, HoloStepRecord);
    uint32_t        list[41];
    for (int i = 0; i < 40; i++) list[i] = RECORDS(file, OPERANDS, uint32_t)[step->operand_first];
    list[40]            = RECORDS(file, OPERANDS, uint32_t)[step->operand_first + 2];
    step->in_count      = 40;
    step->capture_count = 38;
    step->operand_first = (uint32_t)(edit_append(&file, HOLO_SECTION_OPERANDS, list, sizeof list) / 4);
    expect_refused(&file, "values for subgraphs");
}

// ---- control flow

static const char *model_if(void)
{
    OnnxModel   m    = {0};
    OnnxGraph   body = {{0}};
    const char *path = temp_path("planned.onnx");
    onnx_input(&body, "i", HOLO_I64, "");
    onnx_input(&body, "go", HOLO_BOOL, "");
    onnx_input(&body, "a", HOLO_F32, "8");
    onnx_output(&body, "go_on", HOLO_BOOL, "");
    onnx_output(&body, "b", HOLO_F32, "8");
    onnx_node(&body, "Identity", "go", "go_on", "");
    onnx_node(&body, "Sin", "a", "s", "");
    onnx_node(&body, "Add", "s,x", "b", "");
    onnx_input(&m.graph, "x", HOLO_F32, "8");
    onnx_input(&m.graph, "rounds", HOLO_I64, "");
    onnx_output(&m.graph, "y", HOLO_F32, "8");
    onnx_node_with(&m.graph, "Loop", "rounds,,x", "l", "", "body", &body);
    onnx_node(&m.graph, "Softmax", "l", "y", "");
    onnx_save(&m, path);
    return path;
}

// What a subgraph gives has no planned place.
static void test_planned_output_of_control_flow(void **state)
{
    (void)state;
    EditFile         file  = edited(model_if());
    HoloStepRecord  *step  = RECORDS(file, STEPS, HoloStepRecord) + step_of(&file, "Loop");
    HoloPlanRecord  *plan  = RECORDS(file, PLANS, HoloPlanRecord);
    uint32_t         value = RECORDS(file, OPERANDS, uint32_t)[step->operand_first + step->in_count];
    HoloValueRecord *v     = RECORDS(file, VALUES, HoloValueRecord) + plan->value_first + value;
    assert_int_equal(v->storage, HOLO_STORE_HEAP);
    v->storage = HOLO_STORE_ARENA;
    v->at      = 0;
    expect_refused(&file, "has a planned place");
}

static void test_capture_left_out(void **state)
{
    (void)state;
    EditFile        file = edited(model_if());
    HoloStepRecord *step = RECORDS(file, STEPS, HoloStepRecord) + step_of(&file, "Loop");
    assert_true(step->capture_count > 0);
    RECORDS(file, OPERANDS, uint32_t)[step->operand_first + step->in_count - 1] = HOLO_NO_VALUE;
    expect_refused(&file, "is missing");
}

// ---- constants

static void test_packed_output(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("packed_output.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "2,10");
    onnx_output(&m.graph, "y", HOLO_F32, "2,17");
    onnx_weights(&m.graph, "w", "10,17", 1, 1);
    onnx_node(&m.graph, "MatMul", "x,w", "y", "");
    onnx_save(&m, path);
    EditFile               file  = edited(path);
    const HoloPlanRecord  *plan  = RECORDS(file, PLANS, HoloPlanRecord);
    const HoloValueRecord *value = RECORDS(file, VALUES, HoloValueRecord);
    uint32_t               i     = 0;
    while (value[i].storage != HOLO_STORE_CONSTANT) i++;
    assert_true(RECORDS(file, CONSTANTS, HoloConstantRecord)[value[i].at].packed);
    RECORDS(file, OPERANDS, uint32_t)[plan->output_first] = i;
    expect_refused(&file, "packed constant");
}

static void test_tensor_attribute_without_elements(void **state)
{
    (void)state;
    EditFile         file = edited(model_conv());
    HoloAttrRecord  *attr = RECORDS(file, ATTRS, HoloAttrRecord);
    HoloTensorRecord none = {.dtype = HOLO_F32, .rank = 1, .dim = {3}, .constant = HOLO_NO_VALUE};
    uint64_t         zero = 0;
    assert_true(edit_count(&file, HOLO_SECTION_ATTRS, sizeof *attr) > 0);
    edit_append(&file, HOLO_SECTION_BYTES, &zero, 8 - edit_section(&file, HOLO_SECTION_BYTES)->size % 8);
    attr->kind  = 4;
    attr->value = edit_append(&file, HOLO_SECTION_BYTES, &none, sizeof none);
    expect_refused(&file, "attribute 0");
}

// ---- values and operands

static void test_input_of_no_plan(void **state)
{
    (void)state;
    EditFile              file = edited(model_dynamic());
    const HoloPlanRecord *plan = RECORDS(file, PLANS, HoloPlanRecord);
    uint32_t             *in   = RECORDS(file, OPERANDS, uint32_t) + plan->input_first;
    in[1]                      = in[0]; // and the second is none
    expect_refused(&file, "inputs or outputs");
}

static void test_step_without_outputs(void **state)
{
    (void)state;
    EditFile        file                                                    = edited(model_tiny());
    HoloStepRecord *step                                                    = RECORDS(file, STEPS, HoloStepRecord);
    RECORDS(file, OPERANDS, uint32_t)[step->operand_first + step->in_count] = HOLO_NO_VALUE;
    expect_refused(&file, "step 0");
}

static void test_value_written_twice(void **state)
{
    (void)state;
    EditFile        file  = edited(model_data());
    HoloStepRecord *first = RECORDS(file, STEPS, HoloStepRecord), *second = first + 1;
    uint32_t       *list                           = RECORDS(file, OPERANDS, uint32_t);
    list[second->operand_first + second->in_count] = list[first->operand_first + first->in_count];
    expect_refused(&file, "step 1");
}

// A list as long as a size, which grows when sizes are bound again: its memory does, too (red zones see where it does
// not).
static void test_contents_that_grow(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("grows.onnx");
    int64_t     numbers[16], symbol = 0;
    onnx_input(&m.graph, "x", HOLO_F32, "n,6");
    onnx_output(&m.graph, "y", HOLO_I64, "2");
    onnx_node(&m.graph, "Shape", "x", "y", "");
    onnx_save(&m, path);
    EditFile         file  = edited(path);
    HoloPlanRecord  *plan  = RECORDS(file, PLANS, HoloPlanRecord);
    HoloValueRecord *value = RECORDS(file, VALUES, HoloValueRecord) + plan->value_first;
    while (value->storage != HOLO_STORE_EXPRESSION) value++;
    for (int i = 0; i < 16; i++) numbers[i] = 100 + i;
    memcpy(&symbol, RECORDS(file, SIZES, int64_t) + value->at, sizeof symbol); // n
    assert_true(holo_dim_is_symbolic(symbol));
    RECORDS(file, SIZES, int64_t)[value->size_first] = symbol;
    value->at          = edit_append(&file, HOLO_SECTION_SIZES, numbers, sizeof numbers) / sizeof *numbers;
    size_t       room  = 1 << 20;
    uint8_t     *bytes = aligned_alloc(64, room);
    size_t       size  = edit_close(&file, bytes, room);
    HoloModel   *model;
    HoloSession *session;
    EXPECT_OK(holo_model_open_memory(bytes, size, &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int64_t n = 1; n <= 16; n += 5) {
        HoloTensor x = made(&holo_model_input(model, 0)->type, 1, n), view;
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &view, &error));
        assert_int_equal(view.dim[0], n);
        assert_memory_equal(view.data, numbers, (size_t)n * sizeof *numbers);
        free(x.data);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    edit_free(&file);
    free(bytes);
}

// ---- sizes of files

// A chain of aliases takes no longer than as many values of another kind.
static void test_long_chain_of_aliases(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    EditFile         file  = edited(model_tiny());
    HoloPlanRecord  *plan  = RECORDS(file, PLANS, HoloPlanRecord);
    HoloStepRecord   step  = *RECORDS(file, STEPS, HoloStepRecord);
    HoloValueRecord *first = RECORDS(file, VALUES, HoloValueRecord), *more;
    uint32_t         count = plan->value_count, written;
    written                = RECORDS(file, OPERANDS, uint32_t)[step.operand_first + step.in_count];
    more                   = calloc(MANY, sizeof *more);
    for (uint32_t i = 0; i < MANY; i++) {
        more[i]         = first[written];
        more[i].storage = HOLO_STORE_ALIAS;
        more[i].at      = i ? count + i - 1 : written;
    }
    edit_append(&file, HOLO_SECTION_VALUES, more, MANY * sizeof *more);
    free(more);
    RECORDS(file, PLANS, HoloPlanRecord)->value_count += MANY;
    uint32_t *list = calloc(MANY, sizeof *list); // each of which is an output
    for (uint32_t i = 0; i < MANY; i++) list[i] = count + i;
    plan               = RECORDS(file, PLANS, HoloPlanRecord);
    plan->output_first = (uint32_t)(edit_append(&file, HOLO_SECTION_OPERANDS, list, MANY * sizeof *list) / 4);
    plan->output_count = MANY;
    free(list);
    size_t     room  = 1 << 24;
    uint8_t   *bytes = aligned_alloc(64, room);
    size_t     size  = edit_close(&file, bytes, room);
    HoloModel *model;
    HoloTensor x, view;
    assert_true(size > 0);
    EXPECT_OK(holo_model_open_memory(bytes, size, &model, &error));
    HoloSession *session;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    x = made(&holo_model_input(model, 0)->type, 1, 1);
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, MANY - 1, &view, &error));
    holo_session_destroy(session);
    holo_model_close(model);
    edit_free(&file);
    free(x.data);
    free(bytes);
}

// Attributes that all name the same bytes.
static void test_records_over_each_other(void **state)
{
    (void)state;
    EditFile       file = edited(model_tiny());
    HoloPlanRecord plan = *RECORDS(file, PLANS, HoloPlanRecord);
    edit_append(&file, HOLO_SECTION_PLANS, &plan, sizeof plan);
    expect_refused(&file, "overlaps another");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_of_no_subgraph),
        cmocka_unit_test(test_planned_output_of_control_flow),
        cmocka_unit_test(test_capture_left_out),
        cmocka_unit_test(test_packed_output),
        cmocka_unit_test(test_tensor_attribute_without_elements),
        cmocka_unit_test(test_input_of_no_plan),
        cmocka_unit_test(test_step_without_outputs),
        cmocka_unit_test(test_value_written_twice),
        cmocka_unit_test(test_contents_that_grow),
        cmocka_unit_test(test_long_chain_of_aliases),
        cmocka_unit_test(test_records_over_each_other),
    };
    return cmocka_run_group_tests_name("hostile_archive", tests, NULL, NULL);
}
