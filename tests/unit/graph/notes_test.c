// notes_test.c - what the compiler writes down of its decisions: each reason where it is the reason, in archives that
// are copied as in those that are new, and never a text outside of the file.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/hash.h"
#include "format/holo.h"
#include "graph/notes.h"

#include <stdlib.h>
#include <string.h>

// u8[rows, 16] x -> u8 y: DequantizeLinear, Softplus, QuantizeLinear; f32[4,32] r: rows of a table times a matrix.
static const char *model_few(const char *name, const char *shape)
{
    OnnxModel     m     = {0};
    const float   scale = 0.1f;
    const uint8_t zero  = 128;
    onnx_input(&m.graph, "x", HOLO_U8, shape);
    onnx_input(&m.graph, "i", HOLO_U8, "4");
    onnx_output(&m.graph, "y", HOLO_U8, shape);
    onnx_output(&m.graph, "r", HOLO_F32, "4,32");
    onnx_constant(&m.graph, "s", HOLO_F32, "", &scale, sizeof scale);
    onnx_constant(&m.graph, "z", HOLO_U8, "", &zero, sizeof zero);
    onnx_weights(&m.graph, "t", "20,8", 1, 1);
    onnx_weights(&m.graph, "w", "8,32", 2, 1);
    onnx_node(&m.graph, "DequantizeLinear", "x,s,z", "d", "");
    onnx_node(&m.graph, "Softplus", "d", "p", "");
    onnx_node(&m.graph, "QuantizeLinear", "p,s,z", "y", "");
    onnx_node(&m.graph, "Cast", "i", "at", "to=7");
    onnx_node(&m.graph, "Gather", "t,at", "g", "");
    onnx_node(&m.graph, "MatMul", "g,w", "r", "");
    onnx_save(&m, temp_path(name));
    return temp_path(name);
}

static HoloModel *compiled_with(const char *path, bool tables, uint64_t budget)
{
    HoloCompiler *compiler;
    HoloModel    *model;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_tables(compiler, tables, budget);
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

static void expect_note(const HoloModel *model, const char *pass, HoloVerdict verdict, const char *place,
                        const char *what, const char *why, uint64_t bytes)
{
    HoloNote n;
    for (int i = 0; holo_model_note(model, i, &n); i++)
        if (!strcmp(n.pass, pass) && n.verdict == verdict && !strcmp(n.place, place) && !strcmp(n.what, what) &&
            strstr(n.why, why) && n.bytes == bytes && n.count == 1)
            return;
    for (int i = 0; holo_model_note(model, i, &n); i++)
        print_message("%s, %s: %s at %s, %llu bytes: %s\n", n.pass, holo_verdict_text(n.verdict), n.what, n.place,
                      (unsigned long long)n.bytes, n.why);
    fail_msg("there is no note of %s, %s at %s", pass, holo_verdict_text(verdict), place);
}

static void test_reasons(void **state)
{
    (void)state;
    const char *large = model_few("large.onnx", "64,16"), *small = model_few("small.onnx", "2,16");
    const char *chain = "DequantizeLinear, Softplus, QuantizeLinear";
    const struct {
        const char *path;
        bool        tables;
        uint64_t    budget;
        const char *pass;
        HoloVerdict verdict;
        const char *place, *what, *why;
        uint64_t    bytes;
    } rows[] = {
        {large, true, 0, "tables", HOLO_VERDICT_MADE, "y", chain, "256 entries of u8", 256},
        {large, true, 0, "rows", HOLO_VERDICT_MADE, "g", "MatMul", "all 20 rows", 20 * 32 * 4},
        {large, true, 0, "few", HOLO_VERDICT_NOT_FINITE, "x", "", "1024 elements of u8", 0},
        {large, true, 100, "tables", HOLO_VERDICT_OVER_BUDGET, "y", chain, "--memory-budget", 256},
        {large, true, 300, "rows", HOLO_VERDICT_OVER_BUDGET, "g", "MatMul", "--memory-budget", 20 * 32 * 4},
        {large, false, 0, "tables", HOLO_VERDICT_TURNED_OFF, "y", chain, "--no-tables", 256},
        {small, true, 0, "tables", HOLO_VERDICT_NOT_FASTER, "y", chain, "fewer than 256 elements", 0},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        HoloModel *model = compiled_with(rows[i].path, rows[i].tables, rows[i].budget);
        expect_note(model, rows[i].pass, rows[i].verdict, rows[i].place, rows[i].what, rows[i].why, rows[i].bytes);
        holo_model_close(model);
    }
}

// Tables change no bit: models with default choices, and with --no-tables.
static void test_the_same_bits(void **state)
{
    (void)state;
    const char *paths[] = {model_few("bits.onnx", "64,16"), model_conv(), model_mlp(), model_dynamic(), model_loop(3)};
    for (int i = 0; i < (int)(sizeof paths / sizeof *paths); i++) {
        size_t   size[2];
        uint8_t *bytes[2];
        for (int tables = 0; tables < 2; tables++) {
            HoloModel *model = compiled_with(paths[i], tables, 0);
            bytes[tables]    = answer(model, NULL, 7, 3, &size[tables]);
            holo_model_close(model);
        }
        expect_same_bytes(bytes[0], size[0], bytes[1], size[1]);
        free(bytes[0]);
        free(bytes[1]);
    }
}

// An archive that is written once more, with a memo, says the same.
static void test_notes_are_kept(void **state)
{
    (void)state;
    HoloModel   *model, *again;
    HoloSession *session;
    const char  *path = archived(model_few("kept.onnx", "64,16"), HOLO_FUSED, 1), *other = temp_path("again.holo");
    EXPECT_OK(holo_model_open(path, &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_memo(session, 1 << 20, &error));
    EXPECT_OK(holo_session_save_memo(session, other, &error));
    EXPECT_OK(holo_model_open(other, &again, &error));
    assert_true(holo_model_note_count(model) >= 3);
    assert_int_equal(holo_model_note_count(again), holo_model_note_count(model));
    HoloNote a, b;
    for (int i = 0; holo_model_note(model, i, &a); i++) {
        assert_true(holo_model_note(again, i, &b));
        assert_string_equal(a.why, b.why);
        assert_int_equal(a.bytes, b.bytes);
    }
    assert_false(holo_model_note(model, -1, &a));
    assert_string_equal(holo_verdict_text(HOLO_VERDICT_OVER_BUDGET), "over budget");
    assert_string_equal(holo_verdict_text(12345), "not made");
    holo_session_destroy(session);
    holo_model_close(again);
    holo_model_close(model);
}

// The section of notes of an archive, in its own bytes.
static HoloSectionRecord *notes_find(uint8_t *file)
{
    HoloHeader        *h     = (void *)file;
    HoloSectionRecord *table = (void *)(file + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++)
        if (table[i].id == HOLO_SECTION_NOTES) return &table[i];
    fail_msg("there are no notes");
    return NULL;
}

static void hashes_mend(uint8_t *file, HoloSectionRecord *s)
{
    HoloHash hash = holo_hash(file + s->offset, s->size);
    memcpy(s->hash, hash.word, sizeof s->hash);
    hash = holo_archive_front_hash(file);
    memcpy(((HoloHeader *)(void *)file)->hash, hash.word, sizeof hash.word);
}

static void test_hostile_notes(void **state)
{
    (void)state;
    size_t             size;
    HoloModel         *model;
    uint8_t           *file = file_read(archived(model_few("hostile.onnx", "64,16"), HOLO_FUSED, 1), &size);
    HoloSectionRecord *s    = notes_find(file);
    HoloNoteRecord    *note = (void *)(file + s->offset), before = *note;
    for (int field = 0; field < 4; field++) {
        uint32_t *text = (uint32_t *[]){&note->pass, &note->place, &note->what, &note->why}[field];
        *text          = UINT32_MAX;
        hashes_mend(file, s);
        EXPECT_FAIL(holo_model_open_memory(file, size, &model, &error), HOLO_BAD_ARCHIVE, "note 0");
        *note = before;
    }
    note->verdict = 77; // of a later version
    hashes_mend(file, s);
    EXPECT_OK(holo_model_open_memory(file, size, &model, &error));
    holo_model_close(model);
    s->id = 1000; // nobody knows it: it is ignored
    hashes_mend(file, s);
    EXPECT_OK(holo_model_open_memory(file, size, &model, &error));
    assert_int_equal(holo_model_note_count(model), 0);
    holo_model_close(model);
    free(file);
}

// The list itself: equal things once, what is renewed forgotten, no more than its room, nothing late.
static void test_list(void **state)
{
    (void)state;
    HoloNotes notes = {0};
    HoloNote  made  = {.pass = "a", .place = "p", .what = "w", .bytes = 5};
    HoloNote not    = {.pass = "a", .place = "p", .why = "x", .verdict = HOLO_VERDICT_NOT_FASTER};
    holo_notes_add(NULL, &made);
    for (int i = 0; i < 3; i++) holo_notes_add(&notes, &made);
    holo_notes_add(&notes, &not );
    not .place = "q"; // another place, the same reason
    holo_notes_add(&notes, &not );
    assert_int_equal(notes.count, 2);
    assert_int_equal(notes.list[0].count, 3);
    assert_int_equal(notes.list[0].bytes, 15);
    assert_int_equal(notes.list[1].count, 2);
    assert_string_equal(notes.list[1].place, "p");
    holo_notes_renew(&notes, "b");
    assert_int_equal(notes.count, 2);
    holo_notes_renew(&notes, "a");
    assert_int_equal(notes.count, 1);
    notes.is_late = true;
    holo_notes_add(&notes, &not );
    assert_int_equal(notes.count, 1);
    for (int i = 0; i < 2 * HOLO_NOTES_MAX; i++) {
        char text[HOLO_NOTE_TEXT];
        made.place = holo_note_text(text, "place %d", i);
        holo_notes_add(&notes, &made);
    }
    assert_int_equal(notes.count, HOLO_NOTES_MAX);
    holo_notes_deinit(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),        cmocka_unit_test(test_the_same_bits),
        cmocka_unit_test(test_notes_are_kept), cmocka_unit_test(test_hostile_notes),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
