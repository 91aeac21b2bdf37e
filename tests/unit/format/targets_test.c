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

// ---- a plan for the CPU, and one for all targets

// Appends the records of a section once more, and returns how many there were.
static uint32_t doubled(EditFile *file, HoloSectionId id, size_t record)
{
    EditSection *s    = edit_section(file, id);
    size_t       size = s->size;
    uint8_t     *copy = malloc(size + 1);
    memcpy(copy, s->data, size);
    edit_append(file, id, copy, size);
    free(copy);
    return (uint32_t)(size / record);
}

static void plan_add(EditFile *file)
{
    uint32_t       values   = doubled(file, HOLO_SECTION_VALUES, sizeof(HoloValueRecord));
    uint32_t       operands = doubled(file, HOLO_SECTION_OPERANDS, sizeof(uint32_t));
    uint32_t       attrs    = doubled(file, HOLO_SECTION_ATTRS, sizeof(HoloAttrRecord));
    uint32_t       steps    = doubled(file, HOLO_SECTION_STEPS, sizeof(HoloStepRecord));
    HoloPlanRecord plan     = RECORDS(*file, PLANS, HoloPlanRecord)[0];
    edit_append(file, HOLO_SECTION_BYTES, "\0\0\0\0\0\0\0",
                (8 - edit_section(file, HOLO_SECTION_BYTES)->size % 8) % 8); // parameters are aligned
    uint32_t bytes = doubled(file, HOLO_SECTION_BYTES, 1);
    plan.value_first += values;
    plan.step_first += steps;
    plan.input_first += operands;
    plan.output_first += operands;
    edit_append(file, HOLO_SECTION_PLANS, &plan, sizeof plan);
    for (uint32_t i = 0; i < steps; i++) {
        HoloStepRecord *s = step_at(file, (int)(steps + i));
        s->operand_first += operands;
        s->attr_first += attrs;
        s->params += bytes;
    }
}

enum { STEPS = 3 }; // of each plan

static HoloValueRecord *second_named(EditFile *file, const char *name)
{
    size_t count = edit_count(file, HOLO_SECTION_VALUES, sizeof(HoloValueRecord));
    return value_named(file, name) + count / 2;
}

// Plan 0 is for the CPU alone; plan 1 is as that of on_two_targets.
static EditFile on_both(void)
{
    EditFile file;
    size_t   size;
    uint32_t second = 1;
    uint8_t *bytes  = file_read(archived(model_three(), HOLO_FUSED, 1), &size);
    assert_true(edit_open(bytes, size, 1, &file));
    free(bytes);
    plan_add(&file);
    edit_add(&file, HOLO_SECTION_TARGETS, HOLO_SECTION_MUST);
    target_add(&file, "cpu");
    target_add(&file, "toy");
    edit_add(&file, HOLO_SECTION_DEVICE_PLANS, HOLO_SECTION_MUST);
    edit_append(&file, HOLO_SECTION_DEVICE_PLANS, &second, sizeof second);
    HoloOpRecord op       = {.domain = text_add(&file, "hologram"), .name = text_add(&file, "Transfer"), .version = 1};
    uint32_t     transfer = (uint32_t)(edit_append(&file, HOLO_SECTION_OPS, &op, sizeof op) / sizeof op);
    to_transfer(step_at(&file, STEPS), transfer);
    to_transfer(step_at(&file, STEPS + 2), transfer);
    step_at(&file, STEPS + 1)->target = 1;
    second_named(&file, "a")->space   = 1;
    second_named(&file, "b")->space   = 1;
    return file;
}

// A program that lacks the device runs the plan for the CPU, and says what it cannot.
static void test_both(void **state)
{
    (void)state;
    EditFile     file  = on_both();
    size_t       room  = 1 << 20;
    uint8_t     *bytes = aligned_alloc(64, room);
    size_t       size  = edit_close(&file, bytes, room);
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   x = made(&(HoloTensor){.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}}, 1, 1), y;
    EXPECT_OK(holo_model_open_memory(bytes, size, &model, &error));
    assert_string_equal(holo_model_device(model, 0), "cpu");
    assert_null(holo_model_device(model, 1));
    EXPECT_FAIL(holo_model_set_device(model, "toy", &error), HOLO_UNSUPPORTED, "it lacks a device");
    EXPECT_OK(holo_model_set_device(model, "cpu", &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    holo_session_destroy(session);
    holo_model_close(model);
    edit_free(&file);
    free(bytes);
    free(x.data);
}

static uint32_t *second_plan(EditFile *file)
{
    return RECORDS(*file, DEVICE_PLANS, uint32_t);
}
static void second_is_first(EditFile *file)
{
    *second_plan(file) = 0;
}
static void second_is_none(EditFile *file)
{
    *second_plan(file) = 2;
}
static void second_is_many(EditFile *file)
{
    uint32_t more = 2;
    edit_append(file, HOLO_SECTION_DEVICE_PLANS, &more, sizeof more);
}
static void second_is_empty(EditFile *file)
{
    edit_section(file, HOLO_SECTION_DEVICE_PLANS)->size = 0;
}
static void one_target(EditFile *file)
{
    edit_section(file, HOLO_SECTION_TARGETS)->size = sizeof(HoloTargetRecord);
}
static void host_step_elsewhere(EditFile *file)
{
    step_at(file, 1)->target = 1;
}
static void host_value_elsewhere(EditFile *file)
{
    value_named(file, "a")->space = 1;
}
static void other_name(EditFile *file)
{
    second_named(file, "y")->name = text_add(file, "z");
}
static void other_type(EditFile *file)
{
    second_named(file, "x")->dtype = HOLO_I32;
}
static void other_count(EditFile *file)
{
    RECORDS(*file, PLANS, HoloPlanRecord)[1].output_count = 0;
}
// A step of the plan for the CPU holds the second plan, or one behind it.
static void held_by_host(EditFile *file, uint64_t plan)
{
    HoloAttrRecord attr          = {.name = text_add(file, "body"), .kind = 5, .value = plan};
    uint32_t       at            = (uint32_t)(edit_append(file, HOLO_SECTION_ATTRS, &attr, sizeof attr) / sizeof attr);
    step_at(file, 0)->attr_first = at;
    step_at(file, 0)->attr_count = 1;
}
static void second_is_held(EditFile *file)
{
    held_by_host(file, 1);
}
static void host_holds_another(EditFile *file)
{
    HoloPlanRecord empty = {0};
    edit_append(file, HOLO_SECTION_PLANS, &empty, sizeof empty);
    held_by_host(file, 2);
}

static void test_what_both_refuse(void **state)
{
    (void)state;
    static const struct {
        void (*change)(EditFile *file);
        const char *words;
    } cases[] = {
        {second_is_first, "plan 0 for devices is broken"},
        {second_is_none, "plan 0 for devices is broken"},
        {second_is_many, "there are 2 plans for devices, but 1 entries"},
        {second_is_empty, "there are 0 plans for devices"},
        {one_target, "but 1 entries and 1 targets"},
        {host_step_elsewhere, "runs on target 1, but there are 1 targets"},
        {host_value_elsewhere, "is in the memory of target 1, but there are 1 targets"},
        {other_name, "the two plans of entry 0 differ in their inputs or outputs"},
        {other_type, "the two plans of entry 0 differ"},
        {other_count, "the two plans of entry 0 differ"},
        {second_is_held, "plan 0 for devices is broken"},
        {host_holds_another, "step 0 of plan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EditFile file = on_both();
        cases[i].change(&file);
        EXPECT_FAIL(opened(&file, false, &error), HOLO_BAD_ARCHIVE, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_targets),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_what_both_refuse),
    };
    return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
