// golden_test.c - the archives of tests/golden, which this version has written: good ones open, hold and answer as the
// text beside them says; bad ones are refused with the message beside them. `make golden` writes them anew.
#include "support/golden.h"

#include "base/system.h"
#include "format/holo.h"
#include "runtime/model.h"

#define FOLDER "tests/golden"

static const char *path_of(const char *folder, const char *name, const char *suffix)
{
    static char path[2][512];
    static int  turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%.*s%s", folder, (int)strcspn(name, "."), name, suffix);
    return path[turn];
}

static char *text_beside(const char *folder, const char *name)
{
    size_t   size;
    uint8_t *bytes = file_read(path_of(folder, name, ".txt"), &size);
    char    *text  = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = 0;
    free(bytes);
    return text;
}

// Calls `work` for each archive of the folder; returns how many there are.
static int each(const char *folder, void (*work)(const char *folder, const char *name))
{
    HoloFolder list;
    int        count = 0;
    EXPECT_OK(holo_folder_list(folder, &list, &error));
    for (int i = 0; i < list.count; i++) {
        size_t size = strlen(list.name[i]);
        if (size < 5 || strcmp(list.name[i] + size - 5, ".holo")) continue;
        work(folder, list.name[i]);
        count++;
    }
    holo_folder_free(&list);
    return count;
}

// ---- good ones

static void expect_good(const char *folder, const char *name)
{
    HoloModel   *model;
    HoloSession *session;
    char         have[2048], *want = text_beside(folder, name);
    EXPECT_OK(holo_model_open(path_of(folder, name, ".holo"), &model, &error));
    EXPECT_OK(holo_model_verify(model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    golden_answer(model, session, have, sizeof have);
    if (strcmp(have, want)) fail_msg("%s answers\n%sand not\n%s", name, have, want);
    holo_session_destroy(session);
    holo_model_close(model);
    free(want);
}

static void test_good(void **state)
{
    (void)state;
    assert_int_equal(each(FOLDER, expect_good), 8);
}

// ---- each kind is there

static bool has_step(const HoloModel *model, const char *op)
{
    const HoloArchive *a = &model->archive;
    for (size_t i = 0; i < a->STEPS_count; i++)
        if (!strcmp(a->STRINGS_at + a->OPS_at[a->STEPS_at[i].op].name, op)) return true;
    return false;
}
static bool is_static(const HoloModel *model)
{
    return model->archive.PLANS_at[0].flags & HOLO_PLAN_STATIC;
}
static bool is_open(const HoloModel *model)
{
    return !is_static(model) && model->archive.DIMS_count;
}
static bool has_control_flow(const HoloModel *model)
{
    return model->archive.PLANS_count > 1 && has_step(model, "Loop");
}
static bool has_bytes(const HoloModel *model)
{
    for (size_t i = 0; i < model->archive.CONSTANTS_count; i++)
        if (model->archive.CONSTANTS_at[i].dtype == HOLO_I8) return true;
    return false;
}
static bool has_kernel(const HoloModel *model)
{
    return has_step(model, "Kernel");
}
static bool has_memo(const HoloModel *model)
{
    return model->archive.MEMO_ENTRIES_count == 1;
}
static bool has_parts(const HoloModel *model)
{
    return model->archive.header->flags_must & HOLO_FLAG_PARTS;
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool (*is)(const HoloModel *model);
    } kinds[] = {
        {"static", is_static},    {"open", is_open},      {"add", is_open},   {"control", has_control_flow},
        {"quantized", has_bytes}, {"kernel", has_kernel}, {"memo", has_memo}, {"parts", has_parts},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        HoloModel *model;
        EXPECT_OK(holo_model_open(path_of(FOLDER, kinds[i].name, ".holo"), &model, &error));
        if (!kinds[i].is(model)) fail_msg("%s is not of its kind", kinds[i].name);
        holo_model_close(model);
    }
}

// ---- bad ones

static void expect_bad(const char *folder, const char *name)
{
    HoloModel   *model   = NULL;
    HoloSession *session = NULL;
    HoloError    error   = {0};
    char        *want    = text_beside(folder, name);
    HoloStatus   status  = holo_model_open(path_of(folder, name, ".holo"), &model, &error);
    if (!status) status = holo_model_verify(model, &error);
    if (!status) status = holo_session_create(model, NULL, &session, &error);
    if (!status) fail_msg("%s is not refused", name);
    if (!*want || !strstr(error.text, want)) fail_msg("%s: \"%s\" is not in \"%s\"", name, want, error.text);
    holo_session_destroy(session);
    holo_model_close(model);
    free(want);
}

static void test_bad(void **state)
{
    (void)state;
    assert_true(each(FOLDER "/bad", expect_bad) >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
