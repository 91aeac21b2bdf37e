// targets_test.c - archives with steps for another target than the CPU: what lies in which memory is checked.
#include "support/archive_edit.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include <stdio.h>

#define RECORDS(file, id, type) ((type *)(void *)edit_section(&(file), HOLO_SECTION_##id)->data)

// Softmax three times, one after the other: values x, a, b, y.
static const char *model_three(void)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("three.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "2,3");
    onnx_output(&m.graph, "y", HOLO_F32, "2,3");
    onnx_node(&m.graph, "Softmax", "x", "a", "axis=1");
    onnx_node(&m.graph, "Softmax", "a", "b", "axis=0");
    onnx_node(&m.graph, "Softmax", "b", "y", "axis=1");
    onnx_save(&m, path);
    return path;
}

static uint32_t text_add(EditFile *file, const char *text)
{
    return (uint32_t)edit_append(file, HOLO_SECTION_STRINGS, text, strlen(text) + 1);
}

static void target_add(EditFile *file, const char *name)
{
    HoloTargetRecord target = {.name = text_add(file, name)};
    edit_append(file, HOLO_SECTION_TARGETS, &target, sizeof target);
}

static HoloStepRecord *step_at(EditFile *file, int i)
{
    return RECORDS(*file, STEPS, HoloStepRecord) + i;
}

static HoloValueRecord *value_named(EditFile *file, const char *name)
{
    HoloValueRecord *value = RECORDS(*file, VALUES, HoloValueRecord);
    for (size_t i = 0; i < edit_count(file, HOLO_SECTION_VALUES, sizeof *value); i++)
        if (!strcmp(RECORDS(*file, STRINGS, char) + value[i].name, name)) return &value[i];
    fail_msg("there is no value %s", name);
    return NULL;
}

static void to_transfer(HoloStepRecord *step, uint32_t op)
{
    step->op     = op;
    step->target = 1;
    step->kernel = 0;
    step->params = step->params_size = step->attr_count = step->program = 0;
}

// The first and the last step become transfers, what is between them runs on the target "toy".
static EditFile on_two_targets(void)
{
    EditFile file;
    size_t   size;
    uint8_t *bytes = file_read(archived(model_three(), HOLO_FUSED, 1), &size);
    assert_true(edit_open(bytes, size, 1, &file));
    free(bytes);
    assert_int_equal(edit_count(&file, HOLO_SECTION_STEPS, sizeof(HoloStepRecord)), 3);
    edit_add(&file, HOLO_SECTION_TARGETS, HOLO_SECTION_MUST);
    target_add(&file, "cpu");
    target_add(&file, "toy");
    HoloOpRecord op       = {.domain = text_add(&file, "hologram"), .name = text_add(&file, "Transfer"), .version = 1};
    uint32_t     transfer = (uint32_t)(edit_append(&file, HOLO_SECTION_OPS, &op, sizeof op) / sizeof op);
    to_transfer(step_at(&file, 0), transfer);
    to_transfer(step_at(&file, 2), transfer);
    step_at(&file, 1)->target      = 1;
    value_named(&file, "a")->space = 1;
    value_named(&file, "b")->space = 1;
    return file;
}

// Opens the archive as the runtime's users do, or only checks it.
static HoloStatus opened(EditFile *file, bool is_run, HoloError *error)
{
    size_t      room  = 1 << 20;
    uint8_t    *bytes = aligned_alloc(64, room);
    size_t      size  = edit_close(file, bytes, room);
    HoloArchive archive;
    HoloModel  *model = NULL;
    assert_true(size > 0);
    HoloStatus status =
        is_run ? holo_model_open_memory(bytes, size, &model, error) : holo_archive_open(bytes, size, &archive, error);
    holo_model_close(model);
    edit_free(file);
    free(bytes);
    return status;
}

static void test_two_targets(void **state)
{
    (void)state;
    EditFile file = on_two_targets();
    EXPECT_OK(opened(&file, false, &error));
    file = on_two_targets();
    EXPECT_FAIL(opened(&file, true, &error), HOLO_UNSUPPORTED, "the target 'toy', which this program does not have");
}

// ---- what is wrong

static void input_elsewhere(EditFile *file)
{
    value_named(file, "x")->space = 1;
}
static void output_elsewhere(EditFile *file)
{
    value_named(file, "y")->space = 1;
}
static void heap_elsewhere(EditFile *file)
{
    value_named(file, "a")->storage = HOLO_STORE_HEAP;
}
static void alias_elsewhere(EditFile *file)
{
    HoloValueRecord *b = value_named(file, "b");
    b->storage         = HOLO_STORE_ALIAS;
    b->at              = (uint64_t)(value_named(file, "a") - RECORDS(*file, VALUES, HoloValueRecord));
    b->space           = 0;
}
static void operand_elsewhere(EditFile *file)
{
    value_named(file, "b")->storage = HOLO_STORE_ARENA;
    value_named(file, "b")->space   = 0;
}
static void step_elsewhere(EditFile *file)
{
    step_at(file, 1)->target = 0;
}
static void transfer_of_another(EditFile *file)
{
    target_add(file, "third");
    step_at(file, 0)->target = 2;
}
static void transfer_inside(EditFile *file)
{
    step_at(file, 1)->op = step_at(file, 0)->op;
}
static void transfer_of_two(EditFile *file)
{
    uint32_t list[3], *operands = RECORDS(*file, OPERANDS, uint32_t) + step_at(file, 0)->operand_first;
    list[0] = list[1]               = operands[0];
    list[2]                         = operands[1];
    step_at(file, 0)->in_count      = 2;
    size_t at                       = edit_append(file, HOLO_SECTION_OPERANDS, list, sizeof list) / sizeof *list;
    step_at(file, 0)->operand_first = (uint32_t)at;
}
static void space_of_none(EditFile *file)
{
    value_named(file, "a")->space = 2;
}
static void target_of_none(EditFile *file)
{
    step_at(file, 1)->target = 2;
}
static void no_targets(EditFile *file)
{
    edit_section(file, HOLO_SECTION_TARGETS)->size = 0;
}
static void first_is_another(EditFile *file)
{
    RECORDS(*file, TARGETS, HoloTargetRecord)[0].name = text_add(file, "gpu");
}
static void twice_the_cpu(EditFile *file)
{
    RECORDS(*file, TARGETS, HoloTargetRecord)[1].name = text_add(file, "cpu");
}
static void twice_the_same(EditFile *file)
{
    target_add(file, "toy");
}
static void too_many(EditFile *file)
{
    char name[16];
    for (int i = 0; i < HOLO_TARGETS_MAX; i++) {
        snprintf(name, sizeof name, "t%d", i);
        target_add(file, name);
    }
}
static void name_outside(EditFile *file)
{
    RECORDS(*file, TARGETS, HoloTargetRecord)[1].name = UINT32_MAX;
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        void (*change)(EditFile *file);
        const char *words;
    } cases[] = {
        {input_elsewhere, "is in the memory of target 1, where it cannot be"},
        {output_elsewhere, "the inputs or outputs of plan 0 are broken"},
        {heap_elsewhere, "is in the memory of target 1, where it cannot be"},
        {alias_elsewhere, "is in the memory of target 0, where it cannot be"},
        {operand_elsewhere, "runs on target 1, but value"},
        {step_elsewhere, "runs on target 0, but value"},
        {transfer_of_another, "does not copy between the host's memory and that of its target"},
        {transfer_inside, "does not copy between"},
        {transfer_of_two, "does not copy between"},
        {space_of_none, "is in the memory of target 2, but there are 2 targets"},
        {target_of_none, "runs on target 2, but there are 2 targets"},
        {no_targets, "there are 0 targets"},
        {first_is_another, "target 0 is named 'gpu'"},
        {twice_the_cpu, "target 1 is named 'cpu'"},
        {twice_the_same, "targets 1 and 2 are both named 'toy'"},
        {too_many, "there are 66 targets, but there must be 1 to 64"},
        {name_outside, "target 1 has no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EditFile file = on_two_targets();
        cases[i].change(&file);
        EXPECT_FAIL(opened(&file, false, &error), HOLO_BAD_ARCHIVE, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_targets),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
