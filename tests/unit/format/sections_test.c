// sections_test.c - the table of sections, and files whose sections are not as it says.
#include "support/archive_edit.h"
#include "support/models.h"
#include "support/sections.h"

#include <stdio.h>
#include <string.h>

static void test_the_table(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_SECTION_COUNT; i++) {
        const HoloSectionKind *kind = &holo_section_kinds[i];
        assert_ptr_equal(holo_section_kind(kind->id), kind); // no id is there twice
        assert_in_range(kind->id, 1, HOLO_SECTION_LIMIT - 1);
        assert_true(kind->record > 0 && kind->align % HOLO_SECTION_ALIGN == 0);
        for (int k = 0; k < i; k++) assert_string_not_equal(holo_section_kinds[k].name, kind->name);
    }
    assert_null(holo_section_kind(0));
    assert_null(holo_section_kind(HOLO_SECTION_LIMIT));
}

static EditFile tiny(void)
{
    EditFile file;
    size_t   size;
    uint8_t *bytes = file_read(archived(model_tiny(), HOLO_FUSED, 1), &size);
    assert_true(edit_open(bytes, size, 1, &file));
    free(bytes);
    return file;
}

static HoloStatus opened(const uint8_t *bytes, size_t size, HoloError *error)
{
    HoloModel *model;
    HoloStatus status = holo_model_open_memory(bytes, size, &model, error);
    holo_model_close(model);
    return status;
}

static HoloStatus closed(EditFile *file, HoloError *error)
{
    size_t     room   = 1 << 20;
    uint8_t   *bytes  = aligned_alloc(64, room);
    size_t     size   = edit_close(file, bytes, room);
    HoloStatus status = opened(bytes, size, error);
    edit_free(file);
    free(bytes);
    return status;
}

// A section of a later version is skipped, unless it says that it must be known.
static void test_unknown_sections(void **state)
{
    (void)state;
    EditFile file = tiny();
    edit_add(&file, EDIT_ID_MAX - 1, 0);
    edit_append(&file, EDIT_ID_MAX - 1, "of a later version", 18);
    EXPECT_OK(closed(&file, &error));
    file = tiny();
    edit_add(&file, EDIT_ID_MAX - 1, HOLO_SECTION_MUST);
    EXPECT_FAIL(closed(&file, &error), HOLO_BAD_ARCHIVE,
                "the file needs its section 31, which this program does not know: use a newer hologram");
    file = tiny();
    edit_add(&file, EDIT_ID_MAX - 1, 6);
    EXPECT_FAIL(closed(&file, &error), HOLO_BAD_ARCHIVE, "section 31 has flags (0x6) that this program does not know");
}

// Each section alone is left out: what is not required may be missing.
static void test_missing_sections(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_SECTION_COUNT; i++) {
        const HoloSectionKind *kind = &holo_section_kinds[i];
        EditFile               file = tiny();
        EditSection           *s    = edit_section(&file, kind->id);
        char                   words[64];
        snprintf(words, sizeof words, "section %s is missing", kind->name);
        if (s) s->id = EDIT_ID_MAX - 1;
        if (s) s->flags = 0;
        if (kind->need == HOLO_NEED_REQUIRED)
            EXPECT_FAIL(closed(&file, &error), HOLO_BAD_ARCHIVE, words);
        else if (kind->id != HOLO_SECTION_PROGRAMS) // a step names one
            EXPECT_OK(closed(&file, &error));
        else
            edit_free(&file);
    }
}

// ---- records of sections that are wrong, the hash of the table made right

static HoloStatus changed(uint32_t id, void (*change)(HoloSectionRecord *s), HoloError *error)
{
    size_t   size;
    uint8_t *bytes = file_read(archived(model_tiny(), HOLO_FUSED, 1), &size);
    change(section_find(bytes, id));
    HoloHash hash = holo_archive_front_hash(bytes);
    memcpy(((HoloHeader *)(void *)bytes)->hash, hash.word, sizeof hash.word);
    HoloStatus status = opened(bytes, size, error);
    free(bytes);
    return status;
}

static void shift_by_64(HoloSectionRecord *s)
{
    s->offset -= 64;
}
static void shift_by_8(HoloSectionRecord *s)
{
    s->offset += 8;
}
static void outside(HoloSectionRecord *s)
{
    s->size = UINT64_MAX - 4;
}
static void to_strings(HoloSectionRecord *s)
{
    s->id = HOLO_SECTION_STRINGS;
}
static void cut(HoloSectionRecord *s)
{
    s->size -= 1;
}

static void test_broken_sections(void **state)
{
    (void)state;
    EXPECT_FAIL(changed(HOLO_SECTION_WEIGHTS, shift_by_64, &error), HOLO_BAD_ARCHIVE, "is not aligned to 4096 bytes");
    EXPECT_FAIL(changed(HOLO_SECTION_STEPS, shift_by_8, &error), HOLO_BAD_ARCHIVE, "is not aligned to 64 bytes");
    EXPECT_FAIL(changed(HOLO_SECTION_STEPS, outside, &error), HOLO_BAD_ARCHIVE, "section STEPS lies outside the file");
    EXPECT_FAIL(changed(HOLO_SECTION_BYTES, to_strings, &error), HOLO_BAD_ARCHIVE, "twice");
    EXPECT_FAIL(changed(HOLO_SECTION_STEPS, cut, &error), HOLO_BAD_ARCHIVE, "section STEPS, at byte");
}

// Files of other versions say what to do.
static void test_other_versions(void **state)
{
    (void)state;
    size_t      size;
    uint8_t    *bytes  = file_read(archived(model_tiny(), HOLO_FUSED, 1), &size);
    HoloHeader *header = (void *)bytes;
    header->major      = HOLO_FORMAT_MAJOR - 1;
    EXPECT_FAIL(opened(bytes, size, &error), HOLO_BAD_ARCHIVE, "compile the model again");
    header->major = HOLO_FORMAT_MAJOR + 1;
    EXPECT_FAIL(opened(bytes, size, &error), HOLO_BAD_ARCHIVE, "use a newer hologram");
    header->major = HOLO_FORMAT_MAJOR;
    EXPECT_OK(opened(bytes, size, &error));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table),        cmocka_unit_test(test_unknown_sections),
        cmocka_unit_test(test_missing_sections), cmocka_unit_test(test_broken_sections),
        cmocka_unit_test(test_other_versions),
    };
    return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}
