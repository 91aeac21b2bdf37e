// entries_test.c - archives of several entries: plans that run by themselves and share constants.
#include "support/archive_edit.h"
#include "support/models.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS(file, id, type) ((type *)(void *)edit_section(&(file), HOLO_SECTION_##id)->data)

// Two entries with a constant of the same contents. The second has a state, a symbol and a subgraph of its own.
static const char *const texts[] = {
    "graph a(x: f32[n,2]) -> (y) {\n"
    "    const w: f32[2] = {3, 5}\n"
    "    y = Mul@14(x, w)\n"
    "}\n",
    "graph b(z: f32[B,S,2], flag: bool[], rows: i64[B] = index, lengths: i64[B] = 0,\n"
    "        keys: f32[slots,context,2] = state[B,S,2]) -> (all, q) {\n"
    "    const v: f32[2] = {3, 5}\n"
    "    p = Add@14(z, v)\n"
    "    q = If@16(flag | p) {then_branch=graph t(p: f32[B,S,2]) -> (r) { r = Neg@13(p) },\n"
    "        else_branch=graph e(p: f32[B,S,2]) -> (s) { s = Abs@13(p) }}\n"
    "    all = hologram::CacheWrite@1(keys, p, rows, lengths)\n"
    "}\n",
};
enum { ENTRIES = 2 };

static const char *written(void)
{
    uint32_t    deduplicated;
    const char *path = text_archive("entries.holo", texts, ENTRIES, &deduplicated);
    assert_int_equal(deduplicated, 1);
    return path;
}

static void test_names(void **state)
{
    (void)state;
    HoloModel    *model;
    HoloModelInfo info;
    EXPECT_OK(holo_model_open(written(), &model, &error));
    assert_int_equal(holo_model_entry_count(model), 2);
    assert_string_equal(holo_model_entry_name(model, 0), "");
    assert_string_equal(holo_model_entry_name(model, 1), "second");
    assert_null(holo_model_entry_name(model, 2));
    assert_null(holo_model_entry_name(model, -1));
    assert_ptr_equal(holo_model_entry(model, ""), model);
    assert_null(holo_model_entry(model, "third"));
    const HoloModel *second = holo_model_entry(model, "second");
    assert_int_equal(holo_model_input_count(model), 1);
    assert_int_equal(holo_model_state_count(model), 0);
    assert_int_equal(holo_model_input_count(second), 4);
    assert_int_equal(holo_model_output_count(second), 2);
    assert_int_equal(holo_model_state_count(second), 1);
    assert_string_equal(holo_model_input(second, 0)->name, "z");
    assert_string_equal(holo_model_input(second, 0)->symbol[1], "S");
    assert_int_equal(holo_model_entry_count(second), 1);
    holo_model_info(model, &info);
    assert_int_equal(info.constants, 1);
    assert_int_equal(info.plans, 4);
    holo_model_close((HoloModel *)(uintptr_t)second); // nothing happens
    assert_string_equal(holo_model_input(second, 1)->name, "flag");
    holo_model_close(model);
}

static HoloTensor floats(int rank, int64_t first, int64_t second, float *data)
{
    return (HoloTensor){.dtype = HOLO_F32, .rank = (int8_t)rank, .dim = {first, second, 2}, .data = data};
}

static float result(HoloSession *session, int output, int at)
{
    HoloTensor t;
    EXPECT_OK(holo_session_output(session, output, &t, &error));
    return ((const float *)t.data)[at];
}

// Sessions of both run side by side, and each has sizes of its own.
static void test_runs(void **state)
{
    (void)state;
    HoloModel   *model;
    HoloSession *first, *second;
    float        x[] = {1, 2, 3, 4, 5, 6}, z[] = {-10, 1, 2, 3};
    uint8_t      flag = 1;
    HoloTensor   tx = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 2}, .data = x}, tz = floats(3, 1, 2, z),
               tf = {.dtype = HOLO_BOOL, .data = &flag};
    EXPECT_OK(holo_model_open(written(), &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &first, &error));
    EXPECT_OK(holo_session_create(holo_model_entry(model, "second"), NULL, &second, &error));
    EXPECT_OK(holo_session_set_input(first, 0, &tx, &error));
    EXPECT_OK(holo_session_set_input(second, 0, &tz, &error));
    EXPECT_OK(holo_session_set_input(second, 1, &tf, &error));
    EXPECT_OK(holo_session_set_size(second, "context", 4, &error));
    EXPECT_OK(holo_session_run(first, &error));
    EXPECT_OK(holo_session_run(second, &error));
    assert_true(result(first, 0, 5) == 30);
    assert_true(result(second, 0, 0) == -7 && result(second, 1, 0) == 7);
    flag = 0;
    EXPECT_OK(holo_session_run(second, &error));
    assert_true(result(second, 1, 1) == 6);
    EXPECT_FAIL(holo_session_set_memo(second, 1 << 20, &error), HOLO_UNSUPPORTED, "state");
    holo_session_destroy(first);
    holo_session_destroy(second);
    HoloRunInput  inputs[]  = {{.name = "z", .tensor = tz}, {.name = "flag", .tensor = tf}};
    HoloRunOutput outputs[] = {{.name = "q"}};
    EXPECT_OK(holo_model_run(holo_model_entry(model, "second"), inputs, 2, outputs, 1, NULL, &error));
    assert_true(((const float *)outputs[0].tensor.data)[3] == 8);
    holo_run_outputs_free(outputs, 1);
    holo_model_close(model);
}

// ---- what is wrong

static uint32_t text_add(EditFile *file, const char *text)
{
    return (uint32_t)edit_append(file, HOLO_SECTION_STRINGS, text, strlen(text) + 1);
}
static HoloEntryRecord *entry_at(EditFile *file, int i)
{
    return RECORDS(*file, ENTRIES, HoloEntryRecord) + i;
}
static void none(EditFile *file)
{
    edit_section(file, HOLO_SECTION_ENTRIES)->size = 0;
}
static void first_is_another(EditFile *file)
{
    entry_at(file, 0)->plan = 1;
}
static void backwards(EditFile *file)
{
    entry_at(file, 1)->plan = 0;
}
static void of_no_plan(EditFile *file)
{
    entry_at(file, 1)->plan = 4;
}
static void of_a_subgraph(EditFile *file)
{
    entry_at(file, 1)->plan = 2;
}
static void twice_a_name(EditFile *file)
{
    entry_at(file, 1)->name = text_add(file, "");
}
static void name_outside(EditFile *file)
{
    entry_at(file, 1)->name = UINT32_MAX;
}
static void too_many(EditFile *file)
{
    HoloEntryRecord entry = *entry_at(file, 1);
    for (int i = 0; i < HOLO_ENTRIES_MAX; i++) edit_append(file, HOLO_SECTION_ENTRIES, &entry, sizeof entry);
}
static void state_of_none(EditFile *file) // only plans that callers run have states
{
    edit_section(file, HOLO_SECTION_ENTRIES)->size = sizeof(HoloEntryRecord);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        void (*change)(EditFile *file);
        const char *words;
    } cases[] = {
        {none, "there are 0 entries"},          {first_is_another, "entry 0 is broken"},
        {backwards, "entry 1 is broken"},       {of_no_plan, "entry 1 is broken"},
        {of_a_subgraph, "entry 1 is broken"},   {twice_a_name, "entries 0 and 1 are both named ''"},
        {name_outside, "entry 1 is broken"},    {too_many, "there are 258 entries"},
        {state_of_none, "of plan b is broken"},
    };
    size_t   size;
    uint8_t *bytes = file_read(written(), &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum { ROOM = 1 << 20 };
        EditFile    file;
        uint8_t    *changed = aligned_alloc(64, ROOM);
        HoloArchive archive;
        assert_true(edit_open(bytes, size, 1, &file));
        cases[i].change(&file);
        size_t now = edit_close(&file, changed, ROOM);
        assert_true(now > 0);
        EXPECT_FAIL(holo_archive_open(changed, now, &archive, &error), HOLO_BAD_ARCHIVE, cases[i].words);
        edit_free(&file);
        free(changed);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
