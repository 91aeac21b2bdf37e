// archive_test.c - the file: the same bytes from every compile, weights untouched by opening and stored once.
#include "support/onnx_writer.h"
#include "support/sections.h"

#include "base/hash.h"
#include "hologram_atlas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- writing

static void expect_one_archive(const char *path, HoloNumeric numeric)
{
    size_t   size, other_size;
    uint8_t *bytes = file_read(archived(path, numeric, 1), &size);
    for (int threads = 1; threads <= 4; threads += 3) { // 1 again, and 4
        uint8_t *other = file_read(archived(path, numeric, threads), &other_size);
        expect_same_bytes(other, other_size, bytes, size);
        free(other);
    }
    free(bytes);
}

static void test_the_same_bytes_every_time(void **state)
{
    (void)state;
    for (int numeric = HOLO_FUSED; numeric <= HOLO_EXACT; numeric++) {
        expect_one_archive(model_conv(), (HoloNumeric)numeric);
        expect_one_archive(model_mlp(), (HoloNumeric)numeric);
        expect_one_archive(model_dynamic(), (HoloNumeric)numeric);
        expect_one_archive(model_loop(5), (HoloNumeric)numeric);
    }
}

// Where the model lies and what its file is called leaves no trace.
static void test_the_same_bytes_from_another_place(void **state)
{
    (void)state;
    size_t   size, a_size, b_size;
    uint8_t *model = file_read(model_conv(), &size);
    assert_int_equal(mkdir(temp_path("elsewhere"), 0777), 0);
    file_write(temp_path("elsewhere/another.name"), model, size);
    uint8_t *a = file_read(archived(model_conv(), HOLO_FUSED, 1), &a_size);
    uint8_t *b = file_read(archived(temp_path("elsewhere/another.name"), HOLO_FUSED, 1), &b_size);
    expect_same_bytes(b, b_size, a, a_size);
    free(model);
    free(a);
    free(b);
}

static void test_layout(void **state)
{
    (void)state;
    size_t            size;
    uint8_t          *bytes = file_read(archived(model_conv(), HOLO_EXACT, 1), &size);
    const HoloHeader *h     = (const void *)bytes;
    uint64_t          end   = 0;
    assert_memory_equal(h->magic, "\x89HOLO\r\n\x1a", 8);
    assert_int_equal(h->file_size, size);
    assert_int_equal(h->flags_must, HOLO_FLAG_EXACT);
    assert_int_equal(h->section_count, 16); // those of every file, notes and programs
    const HoloSectionRecord *table = (const void *)(bytes + h->header_size);
    int                      row   = 0;
    for (uint32_t k = 0; k < h->section_count; k++) {
        const HoloSectionRecord *s = &table[k];
        while (row < HOLO_SECTION_COUNT && holo_section_kinds[row].id != s->id) row++;
        assert_true(row < HOLO_SECTION_COUNT); // in the order of the table
        assert_int_equal(s->flags, s->id == HOLO_SECTION_NOTES ? 0 : HOLO_SECTION_MUST);
        assert_int_equal(s->offset % 64, 0);
        assert_true(s->offset >= end);
        for (uint64_t i = end > sizeof *h ? end : s->offset; i < s->offset; i++)
            assert_int_equal(bytes[i], 0); // padding
        end = s->offset + s->size;
    }
    assert_int_equal(end, size);
    assert_int_equal(section_find(bytes, HOLO_SECTION_WEIGHTS)->offset % 4096, 0);
    free(bytes);
}

// Equal bytes under several names are there once; equal numbers of another type are not the same.
static void test_constants_are_stored_once(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const char   *path = temp_path("twice.onnx");
    HoloReport   *report;
    HoloModel    *model;
    HoloModelInfo info;
    onnx_input(&m.graph, "x", HOLO_F32, "4,32");
    onnx_output(&m.graph, "y", HOLO_F32, "4,32");
    onnx_output(&m.graph, "z", HOLO_F32, "32,4");
    for (int i = 0; i < 3; i++) onnx_weights(&m.graph, (const char *[]){"a", "b", "c"}[i], "4,32", 9, 1);
    onnx_weights(&m.graph, "d", "32,4", 9, 1); // the same bytes again, in another shape
    onnx_node(&m.graph, "Add", "x,a", "s", "");
    onnx_node(&m.graph, "Mul", "s,b", "t", "");
    onnx_node(&m.graph, "Sub", "t,c", "y", "");
    onnx_node(&m.graph, "Transpose", "y", "yt", "perm=[1,0]");
    onnx_node(&m.graph, "Mul", "yt,d", "z", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_model(NULL, path, &model, &report, &error));
    holo_model_info(model, &info);
    assert_int_equal(info.constants, 1);
    assert_int_equal(info.constant_bytes, 4 * 32 * 4);
    assert_int_equal(report->constants, 1);
    assert_true(report->deduplicated >= 1);
    HoloConstant constant;
    HoloNote     note;
    uint64_t     once = 0;
    assert_true(holo_model_constant(model, 0, &constant));
    assert_int_equal(constant.uses, 2); // in two shapes
    assert_int_equal(constant.count, 4 * 32);
    assert_int_equal(constant.bytes, 4 * 32 * 4);
    for (int i = 0; holo_model_note(model, i, &note); i++)
        if (!strcmp(note.pass, "cse") || !strcmp(note.pass, "plan")) once += note.bytes;
    assert_int_equal(once, 3 * 4 * 32 * 4); // three more of the same bytes
    holo_report_destroy(report);
    holo_model_close(model);
}

// Constants can be looked at, with the names and shapes of the model; what is packed, as bytes.
static void test_constants_are_shown(void **state)
{
    (void)state;
    float         data[32];
    const char   *path = temp_path("shown.onnx");
    OnnxModel     m    = {0};
    HoloModel    *model;
    HoloModelInfo info;
    HoloConstant  constant;
    int           plain = 0, packed = 0;
    for (int i = 0; i < 32; i++) data[i] = (float)i / 3;
    onnx_input(&m.graph, "x", HOLO_F32, "4,64");
    onnx_output(&m.graph, "y", HOLO_F32, "4,32");
    onnx_weights(&m.graph, "w", "64,32", 9, 1);
    onnx_constant(&m.graph, "c", HOLO_F32, "1,32", data, sizeof data);
    onnx_node(&m.graph, "MatMul", "x,w", "s", "");
    onnx_node(&m.graph, "Max", "s,c", "y", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_model(NULL, path, &model, NULL, &error));
    holo_model_info(model, &info);
    for (int i = 0; i < (int)info.constants; i++) {
        assert_true(holo_model_constant(model, i, &constant));
        const HoloTensor *t = &constant.tensor;
        packed += constant.is_packed;
        if (constant.is_packed) {
            assert_string_equal(constant.name, "w");
            assert_int_equal(t->dtype, HOLO_U8);
            assert_true(t->dim[0] >= 64 * 32 * 2);
        } else if (!strcmp(constant.name, "c")) {
            plain++;
            assert_int_equal(t->dtype, HOLO_F32);
            assert_int_equal(t->rank, 2);
            assert_int_equal(t->dim[0], 1);
            assert_int_equal(t->dim[1], 32);
            assert_memory_equal(t->data, data, sizeof data);
        }
    }
    assert_int_equal(plain, 1);
    assert_int_equal(packed, 1);
    assert_false(holo_model_constant(model, -1, &constant));
    assert_false(holo_model_constant(model, (int)info.constants, &constant));
    holo_model_close(model);
}

// ---- opening

// The weights are there, but reading any of them would end the program.
static void expect_weights_untouched(const char *path)
{
    struct stat  st;
    HoloModel   *model;
    HoloSession *session;
    FILE        *file = fopen(archived(path, HOLO_FUSED, 1), "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    uint8_t *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    fclose(file);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    const HoloSectionRecord *weights = section_find(bytes, HOLO_SECTION_WEIGHTS);
    assert_true(weights->size > 0);
    assert_int_equal(mprotect(bytes + weights->offset, weights->size, PROT_NONE), 0);
    EXPECT_OK(holo_model_open_memory(bytes, (size_t)st.st_size, &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error)); // nor does binding sizes look at them
    holo_session_destroy(session);
    holo_model_close(model);
    munmap(bytes, (size_t)st.st_size);
}

static void test_opening_touches_no_weight(void **state)
{
    (void)state;
    expect_weights_untouched(model_conv());
    expect_weights_untouched(model_mlp());
    expect_weights_untouched(model_dynamic());
}

// Prefaulting and large pages change how memory is had, and no answer.
static void test_open_with(void **state)
{
    (void)state;
    const char *path = archived(model_conv(), HOLO_FUSED, 1);
    size_t      sizes[4];
    uint8_t    *answers[4];
    HoloModel  *model;
    for (uint32_t flags = 0; flags < 4; flags++) {
        EXPECT_OK(holo_model_open_with(path, flags, &model, &error));
        EXPECT_OK(holo_model_verify(model, &error));
        answers[flags] = answer(model, NULL, 1, 1, &sizes[flags]);
        expect_same_bytes(answers[flags], sizes[flags], answers[0], sizes[0]);
        holo_model_close(model);
    }
    for (int i = 0; i < 4; i++) free(answers[i]);
    EXPECT_FAIL(holo_model_open_with(path, 4, &model, &error), HOLO_BAD_ARGUMENT, "unknown flags");
    EXPECT_FAIL(holo_model_open_with(temp_path("no such file"), HOLO_OPEN_HUGE, &model, &error), HOLO_NO_FILE,
                "no such file");
}

static void test_three_ways_to_open(void **state)
{
    (void)state;
    const char *path = archived(model_conv(), HOLO_FUSED, 1);
    size_t      size, sizes[3];
    uint8_t    *bytes = file_read(path, &size), *answers[3];
    HoloModel  *models[3];
    EXPECT_OK(holo_model_open(path, &models[0], &error));
    EXPECT_OK(holo_model_open_memory(bytes, size, &models[1], &error));
    // A pipe that is open already, as a shell's <(command) is, cannot be mapped: it is read.
    char command[512], pipe_path[32];
    int  ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(command, sizeof command, "cat '%s' >&%d &", path, ends[1]);
    assert_int_equal(system(command), 0);
    close(ends[1]);
    snprintf(pipe_path, sizeof pipe_path, "/dev/fd/%d", ends[0]);
    EXPECT_OK(holo_model_open(pipe_path, &models[2], &error));
    close(ends[0]);
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(holo_model_verify(models[i], &error));
        answers[i] = answer(models[i], NULL, 1, 1, &sizes[i]);
        expect_same_bytes(answers[i], sizes[i], answers[0], sizes[0]);
    }
    for (int i = 0; i < 3; i++) {
        free(answers[i]);
        holo_model_close(models[i]);
    }
    uint8_t *odd = aligned_alloc(64, 64 * (size / 64 + 2));
    memcpy(odd + 1, bytes, size);
    EXPECT_FAIL(holo_model_open_memory(odd + 1, size, &models[0], &error), HOLO_BAD_ARGUMENT, "aligned");
    assert_null(models[0]);
    free(odd);
    free(bytes);
}

static void test_metadata(void **state)
{
    (void)state;
    HoloModel *model = compiled(model_conv(), HOLO_EXACT);
    for (int i = 0; i < holo_model_meta_count(model); i++) {
        const char *key, *value = holo_model_meta(model, i, &key);
        assert_non_null(value);
        assert_ptr_equal(holo_model_meta_find(model, key), value);
    }
    assert_null(holo_model_meta(model, holo_model_meta_count(model), NULL));
    assert_null(holo_model_meta_find(model, "no such key"));
    assert_string_equal(holo_model_meta_find(model, "compiler.version"), holo_version());
    assert_string_equal(holo_model_meta_find(model, "source.producer"), "hologram tests");
    assert_string_equal(holo_model_meta_find(model, "source.opset"), "ai.onnx 17");
    assert_string_equal(holo_model_meta_find(model, "numeric"), "exact");
    assert_string_equal(holo_model_meta_find(model, "verify.status"), "passed");
    assert_true(atoll(holo_model_meta_find(model, "verify.checked")) >= 10);
    assert_true(atof(holo_model_meta_find(model, "verify.worst_relative")) < 1e-3);
    assert_int_equal(strlen(holo_model_meta_find(model, "source.hash")), 32);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bytes_every_time),
        cmocka_unit_test(test_the_same_bytes_from_another_place),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_constants_are_stored_once),
        cmocka_unit_test(test_constants_are_shown),
        cmocka_unit_test(test_opening_touches_no_weight),
        cmocka_unit_test(test_open_with),
        cmocka_unit_test(test_three_ways_to_open),
        cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
