// memo_damage_test.c - archives with a memo that lies: no answer is another, and nothing is read outside of the file.
#include "unit/runtime/memo_case.h"

// ---- files that lie

static void seal(uint8_t *file)
{
    HoloHeader        *h     = (void *)file;
    HoloSectionRecord *table = (void *)(file + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++) {
        HoloSectionRecord *s = &table[i];
        if (s->id < HOLO_SECTION_MEMO_SLOTS || s->size > h->file_size || s->offset > h->file_size - s->size) continue;
        HoloHash hash = holo_hash(file + s->offset, s->size);
        memcpy(s->hash, hash.word, sizeof s->hash);
    }
    HoloHash hash = holo_archive_front_hash(file);
    memcpy(h->hash, hash.word, sizeof h->hash);
}

// An entry whose hash is that of an input, but whose key is another input, and whose answer is wrong.
static void test_a_forged_entry(void **state)
{
    (void)state;
    size_t          size;
    uint8_t        *file    = file_read(memorized(model_conv(), "forged.holo", 1, 1), &size);
    uint8_t        *data    = file + section_find(file, HOLO_SECTION_MEMO_DATA)->offset;
    HoloMemoTensor *tensors = (void *)(file + section_find(file, HOLO_SECTION_MEMO_TENSORS)->offset);
    HoloModel      *model;
    memset(data + tensors[1].offset, 0x3F, tensors[1].size);
    EXPECT_OK(holo_model_open_memory(file, size, &model, &error));
    EXPECT_FAIL(holo_model_verify(model, &error), HOLO_BAD_ARCHIVE, "tensor 1 of the memo is damaged");
    holo_model_close(model);
    for (size_t at = 0; at < tensors[0].size; at += tensors[0].size - 1) { // its first byte, and its last
        data[tensors[0].offset + at] ^= 1;
        EXPECT_OK(holo_model_open_memory(file, size, &model, &error));
        Run      r = begin(model);
        HoloHash key;
        inputs_set(&r, 1, 1);
        assert_true(holo_memo_key(r.inputs, 1, &key));
        assert_non_null(holo_memo_lookup(&model->archive, key)); // the hash is there
        run_and_compare(&r, model_conv());
        expect_counts(&r, 0, 1);
        end(&r);
        data[tensors[0].offset + at] ^= 1;
    }
    free(file);
}

static void exercise(const uint8_t *file, size_t size)
{
    static volatile uint8_t sum;
    HoloModel              *model;
    if (holo_model_open_memory(file, size, &model, NULL)) return;
    Run r = begin(model);
    inputs_set(&r, 1, 3);
    if (!holo_session_run(r.session, NULL))
        for (int i = 0; i < holo_model_output_count(model); i++) {
            const HoloPort *port = holo_model_output(model, i);
            HoloTensor      view;
            EXPECT_OK(holo_session_output(r.session, i, &view, &error));
            assert_int_equal(view.dtype, port->type.dtype); // what a port promises holds
            assert_int_equal(view.rank, port->type.rank);
            for (int d = 0; d < view.rank; d++)
                if (port->type.dim[d] >= 0) assert_int_equal(view.dim[d], port->type.dim[d]);
            for (size_t k = 0; k < holo_tensor_bytes(&view); k++)
                sum = (uint8_t)(sum + ((const uint8_t *)view.data)[k]);
        }
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 16, &error));
    EXPECT_OK(holo_session_save_memo(r.session, temp_path("saved.holo"), &error));
    end(&r);
}

// Every byte of the memo's records changed, with checksums made right: refused, or without harm.
static void test_malice(void **state)
{
    (void)state;
    size_t   size;
    uint8_t *file = file_read(memorized(model_dynamic(), "malice.holo", 2, 3), &size),
            *copy = aligned_alloc(64, 64 * (size / 64 + 1));
    for (uint32_t id = HOLO_SECTION_MEMO_SLOTS; id <= HOLO_SECTION_MEMO_TENSORS; id++) {
        const HoloSectionRecord *s = section_find(file, id);
        for (size_t at = 0; at < s->size; at++) {
            const uint8_t old = file[s->offset + at], values[] = {old ^ 1, old ^ 0x80, 0xFF, 0, 64};
            for (int v = 0; v < HOLO_COUNT(values); v++) {
                memcpy(copy, file, size);
                copy[s->offset + at] = values[v];
                seal(copy);
                exercise(copy, size);
            }
        }
    }
    // Sections that are there twice, or not all.
    HoloModel *model;
    for (uint32_t id = HOLO_SECTION_MEMO_SLOTS; id <= HOLO_SECTION_MEMO_DATA; id++) {
        memcpy(copy, file, size);
        section_find(copy, id)->id = 1000; // of a later version
        seal(copy);
        EXPECT_FAIL(holo_model_open_memory(copy, size, &model, &error), HOLO_BAD_ARCHIVE, "the memo is incomplete");
        section_find(copy, 1000)->id = id == HOLO_SECTION_MEMO_SLOTS ? HOLO_SECTION_MEMO_DATA : id - 1;
        seal(copy);
        EXPECT_FAIL(holo_model_open_memory(copy, size, &model, &error), HOLO_BAD_ARCHIVE, "");
    }
    free(copy);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_forged_entry),
        cmocka_unit_test(test_malice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
