// archive_test.c - the file: the same bytes from every compile, weights untouched by opening and stored once, and no byte
// of it that can do harm, damaged by chance or on purpose.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/hash.h"
#include "format/holo.h"
#include "hologram_atlas.h"
#include "isa/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static const HoloSectionRecord *section_find(const uint8_t *file, uint32_t id)
{
    const HoloHeader        *h     = (const void *)file;
    const HoloSectionRecord *table = (const void *)(file + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++)
        if (table[i].id == id) return &table[i];
    fail_msg("there is no section %u", id);
    return NULL;
}

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
    static const uint32_t order[] = {1,
                                     2,
                                     3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     8,
                                     9,
                                     10,
                                     11,
                                     12,
                                     HOLO_SECTION_CONSTANTS,
                                     HOLO_SECTION_NOTES,
                                     HOLO_SECTION_PROGRAMS,
                                     HOLO_SECTION_WEIGHTS};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        const HoloSectionRecord *s = section_find(bytes, order[k]);
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
    EXPECT_FAIL(holo_model_open_with(path, 4, &model, &error), HOLO_BAD_ARGUMENT, "no such way");
    EXPECT_FAIL(holo_model_open_with(temp_path("no such file"), HOLO_OPEN_HUGE, &model, &error), HOLO_NO_FILE,
                "no such file");
}

static void test_three_ways_to_open(void **state)
{
    (void)state;
    const char *path = archived(model_conv(), HOLO_FUSED, 1), *fifo = temp_path("archive.pipe");
    size_t      size, sizes[3];
    uint8_t    *bytes = file_read(path, &size), *answers[3];
    HoloModel  *models[3];
    EXPECT_OK(holo_model_open(path, &models[0], &error));
    EXPECT_OK(holo_model_open_memory(bytes, size, &models[1], &error));
    // A pipe cannot be mapped: it is read.
    char command[512];
    assert_int_equal(mkfifo(fifo, 0600), 0);
    snprintf(command, sizeof command, "cat '%s' > '%s' &", path, fifo);
    assert_int_equal(system(command), 0);
    EXPECT_OK(holo_model_open(fifo, &models[2], &error));
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
    assert_string_equal(holo_model_meta_find(model, "producer"), "hologram tests");
    assert_string_equal(holo_model_meta_find(model, "source.opset"), "ai.onnx 17");
    assert_string_equal(holo_model_meta_find(model, "numeric"), "exact");
    assert_string_equal(holo_model_meta_find(model, "verify.status"), "passed");
    assert_true(atoll(holo_model_meta_find(model, "verify.checked")) >= 10);
    assert_true(atof(holo_model_meta_find(model, "verify.worst_relative")) < 1e-3);
    assert_int_equal(strlen(holo_model_meta_find(model, "source.hash")), 32);
    holo_model_close(model);
}

// ---- damage

// A changed loop may have no end: a run that takes long is cancelled.
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static HoloSession    *watched; // the one that is running
static int             watch_age;

static void *watch(void *arg)
{
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        pthread_mutex_lock(&watch_lock);
        if (watched && watch_age++) holo_session_cancel(watched);
        pthread_mutex_unlock(&watch_lock);
    }
    return arg;
}

static void watch_set(HoloSession *session)
{
    pthread_mutex_lock(&watch_lock);
    watched   = session;
    watch_age = 0;
    pthread_mutex_unlock(&watch_lock);
}

// An input of the type the model asks for; false: it would be large, or no tensor of numbers.
static bool input_make(const HoloPort *port, HoloTensor *out)
{
    HoloTensor type = port->type;
    for (int d = 0; d < type.rank; d++)
        if (type.dim[d] < 0) type.dim[d] = 2;
    if (type.kind != HOLO_TENSOR || type.dtype == HOLO_STRING || holo_tensor_count(&type) < 0) return false;
    if (holo_tensor_bytes(&type) > 1 << 20) return false;
    *out = made(&type, 1, 2);
    return true;
}

// Every byte of the outputs can be read.
static void outputs_read(const HoloModel *model, const HoloSession *session)
{
    static volatile uint8_t sum;
    for (int i = 0; i < holo_model_output_count(model); i++) {
        HoloTensor view;
        assert_int_equal(holo_session_output(session, i, &view, NULL), HOLO_OK);
        if (view.kind != HOLO_TENSOR || view.dtype == HOLO_STRING) continue;
        for (size_t k = 0; k < holo_tensor_bytes(&view); k++) sum = (uint8_t)(sum + ((const uint8_t *)view.data)[k]);
    }
}

// Every byte of the constants can be read.
static void constants_read(const HoloModel *model)
{
    HoloConstant  constant;
    HoloContentId id;
    for (int i = 0; i < 100 && holo_model_constant(model, i, &constant); i++)
        assert_int_equal(holo_content_id(&constant.tensor, &id, NULL), HOLO_OK);
}

// What is shown of steps as programs is text of programs.
static void programs_read(const HoloModel *model)
{
    HoloStepPrograms *programs;
    HoloIsaProgram    program;
    HoloArena         arena = {0};
    if (holo_step_programs_open(model, &programs, NULL)) return;
    for (int i = 0; i < programs->count; i++) {
        const char *text = programs->programs[i].text;
        assert_int_equal(holo_isa_parse(&arena, text, strlen(text), &program, NULL), HOLO_OK);
    }
    holo_arena_deinit(&arena);
    holo_step_programs_close(programs);
}

// Opens the bytes and, where that succeeds, runs what is in them: any status is good, a crash is not.
static void exercise(const uint8_t *bytes, size_t size)
{
    enum { INPUTS = 4 };
    HoloModel   *model;
    HoloSession *session        = NULL;
    HoloTensor   inputs[INPUTS] = {{0}};
    if (holo_model_open_memory(bytes, size, &model, NULL)) return;
    constants_read(model);
    programs_read(model);
    HoloStatus status = holo_session_create(model, NULL, &session, NULL);
    for (int i = 0; i < INPUTS && i < holo_model_input_count(model) && !status; i++)
        if (input_make(holo_model_input(model, i), &inputs[i]))
            status = holo_session_set_input(session, i, &inputs[i], NULL);
    if (!status) {
        watch_set(session);
        status = holo_session_run(session, NULL);
        watch_set(NULL);
        if (!status) outputs_read(model, session);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    for (int i = 0; i < INPUTS; i++) free(inputs[i].data);
}

// Is byte `at` between what the file's records cover?
static bool is_padding(const uint8_t *file, size_t at)
{
    const HoloHeader        *h          = (const void *)file;
    const HoloSectionRecord *table      = (const void *)(file + h->header_size),
                            *weights    = section_find(file, HOLO_SECTION_WEIGHTS),
                            *section    = section_find(file, HOLO_SECTION_CONSTANTS);
    const HoloConstantRecord *constants = (const void *)(file + section->offset);
    if (at < h->header_size + h->section_count * sizeof *table) return false;
    for (uint32_t i = 0; i < h->section_count; i++)
        if (table[i].id != HOLO_SECTION_WEIGHTS && at >= table[i].offset && at - table[i].offset < table[i].size)
            return false;
    for (size_t i = 0; i < section->size / sizeof *constants; i++)
        if (at - weights->offset >= constants[i].offset &&
            at - weights->offset - constants[i].offset < constants[i].size)
            return false;
    return true;
}

// Each bit of the file turned around, one after the other: verification sees it, and running does no harm.
static void test_every_flipped_bit_is_seen(void **state)
{
    (void)state;
    size_t   size, missed = 0, first = 0;
    uint8_t *bytes = file_read(archived(model_tiny(), HOLO_FUSED, 1), &size);
    for (size_t at = 0; at < size; at++) {
        bool padding = is_padding(bytes, at);
        for (int bit = 0; bit < 8; bit += padding ? 8 : 1) {
            HoloModel *model;
            bytes[at] ^= (uint8_t)(1 << bit);
            HoloStatus status = holo_model_open_memory(bytes, size, &model, NULL);
            if (!status) status = holo_model_verify(model, NULL);
            holo_model_close(model);
            if (!status && !padding && !missed++) first = at;
            if (!status) exercise(bytes, size);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
    free(bytes);
    if (missed) fail_msg("%zu flipped bits are not seen; the first is in byte %zu", missed, first);
}

// Cut anywhere, in a block that ends there.
static void test_every_truncation(void **state)
{
    (void)state;
    size_t   size;
    uint8_t *bytes = file_read(archived(model_tiny(), HOLO_FUSED, 1), &size);
    for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 61) {
        HoloModel *model;
        uint8_t   *part;
        assert_int_equal(posix_memalign((void **)&part, 64, cut ? cut : 1), 0);
        memcpy(part, bytes, cut);
        EXPECT_FAIL(holo_model_open_memory(part, cut, &model, &error), HOLO_BAD_ARCHIVE, "");
        assert_null(model);
        free(part);
    }
    free(bytes);
}

// ---- malice: a changed byte with all checksums made right again

static void seal(uint8_t *file, size_t changed)
{
    HoloHeader        *h     = (void *)file;
    HoloSectionRecord *table = (void *)(file + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++) {
        HoloSectionRecord *s = &table[i];
        if (changed < s->offset || changed - s->offset >= s->size || s->id == HOLO_SECTION_WEIGHTS) continue;
        if (s->size > h->file_size || s->offset > h->file_size - s->size) continue; // the table itself is changed
        HoloHash hash = holo_hash(file + s->offset, s->size);
        memcpy(s->hash, hash.word, sizeof s->hash);
    }
    HoloHash hash = holo_archive_front_hash(file);
    memcpy(h->hash, hash.word, sizeof h->hash);
}

// Gives `copy` the file with another byte at `at`, all checksums right.
static void change(uint8_t *copy, size_t at, uint8_t value)
{
    copy[at] = value;
    seal(copy, at);
}

// Every byte of the table and the records, changed in several ways; then a few bytes at once, at random.
static void expect_no_harm(const char *path)
{
    size_t   size;
    uint8_t *bytes = file_read(archived(path, HOLO_FUSED, 1), &size), *copy = aligned_alloc(64, 64 * (size / 64 + 1));
    const HoloHeader *h     = (const void *)bytes;
    size_t            first = h->header_size, end = section_find(bytes, HOLO_SECTION_WEIGHTS)->offset;
    size_t            texts = section_find(bytes, HOLO_SECTION_STRINGS)->offset,
           dims             = section_find(bytes, HOLO_SECTION_DIMS)->offset;
    HoloRandom random       = {1};
    for (size_t at = first; at < end; at++) {
        if (at >= texts && at < dims) continue;
        const uint8_t old = bytes[at], values[] = {old ^ 1, (uint8_t)(old + 1), old ^ 0x80, 0xFF, 0, 7};
        for (size_t v = 0; v < sizeof values && !is_padding(bytes, at); v++) {
            memcpy(copy, bytes, size);
            change(copy, at, values[v]);
            exercise(copy, size);
        }
    }
    for (int i = 0; i < 4000; i++) {
        memcpy(copy, bytes, size);
        for (int k = 0; k < 4; k++) {
            size_t at = dims + holo_random_next(&random) % (end - dims);
            if (!is_padding(bytes, at)) change(copy, at, (uint8_t)(holo_random_next(&random) % 16));
        }
        exercise(copy, size);
    }
    free(bytes);
    free(copy);
}

// A packed constant and a plain one with as many elements, in fewer bytes: taking one for the other must not do.
static const char *model_packed(void)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("packed.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "2,10");
    onnx_input(&m.graph, "s", HOLO_F32, "10,17");
    onnx_output(&m.graph, "y", HOLO_F32, "2,17");
    onnx_output(&m.graph, "z", HOLO_F32, "10,17");
    onnx_weights(&m.graph, "w", "10,17", 1, 1);
    onnx_weights(&m.graph, "p", "10,17", 2, 1);
    onnx_node(&m.graph, "MatMul", "x,w", "y", "");
    onnx_node(&m.graph, "Add", "s,p", "z", "");
    onnx_save(&m, path);
    return path;
}

// Parts of a value, which are made into parts of another; `rows` is a number or a symbol.
static const char *model_parts(const char *rows)
{
    OnnxModel   m = {0};
    char        name[32], shape[32];
    const char *path;
    snprintf(name, sizeof name, "parts_%s.onnx", rows);
    snprintf(shape, sizeof shape, "%s,3", rows);
    path = temp_path(name);
    onnx_input(&m.graph, "x", HOLO_F32, shape);
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_node(&m.graph, "Softmax", "x", "s", "");
    onnx_node(&m.graph, "Split", "s", "a,b", "");
    onnx_node(&m.graph, "Softmax", "a", "c", "");
    onnx_node(&m.graph, "Softmax", "b", "d", "");
    onnx_node(&m.graph, "Concat", "d,c", "y", "axis=0");
    onnx_save(&m, path);
    return path;
}

static void test_malice(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
    pthread_detach(thread);
    expect_no_harm(model_tiny());
    expect_no_harm(model_mlp());
    expect_no_harm(model_packed());
    expect_no_harm(model_dynamic());
    expect_no_harm(model_conv());
    expect_no_harm(model_loop(3));
    expect_no_harm(model_data());
    expect_no_harm(model_parts("4"));
    expect_no_harm(model_parts("N"));
}

// The session of a file with one value record or one size changed: refused by name.
static void expect_refused(const uint8_t *file, size_t size, size_t at, uint64_t value, size_t bytes, const char *words)
{
    uint8_t     *copy = aligned_alloc(64, 64 * (size / 64 + 1));
    HoloModel   *model;
    HoloSession *session;
    memcpy(copy, file, size);
    memcpy(copy + at, &value, bytes);
    seal(copy, at);
    EXPECT_OK(holo_model_open_memory(copy, size, &model, &error));
    EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_BAD_ARCHIVE, words);
    holo_model_close(model);
    free(copy);
}

static void test_parts_lie_inside(void **state)
{
    (void)state;
    size_t                   size;
    uint8_t                 *file   = file_read(archived(model_parts("4"), HOLO_FUSED, 1), &size);
    const HoloSectionRecord *values = section_find(file, HOLO_SECTION_VALUES);
    const HoloValueRecord   *value  = (const void *)(file + values->offset);
    const HoloPlanRecord    *plan   = (const void *)(file + section_find(file, HOLO_SECTION_PLANS)->offset);
    const uint32_t          *output = (const void *)(file + section_find(file, HOLO_SECTION_OPERANDS)->offset);
    size_t                   sizes = section_find(file, HOLO_SECTION_SIZES)->offset, found = 0;
    for (size_t i = 0; i < values->size / sizeof *value; i++) {
        if (value[i].storage != HOLO_STORE_PART) continue;
        size_t start = sizes + (value[i].size_first + 2) * sizeof(int64_t);
        expect_refused(file, size, start, 7, 8, "sizes that cannot be"); // of 12 elements, of which it has 6
        expect_refused(file, size, start, UINT64_MAX, 8, "sizes that cannot be");
        expect_refused(file, size, start, INT64_MAX, 8, "sizes that cannot be");
        // Inside of what it is joined to, but not where it belongs.
        if (value[i].at == output[plan->output_first])
            expect_refused(file, size, start, 1, 8, "lies over another operand");
        found++;
    }
    assert_int_equal(found, 4);
    assert_true(((const HoloHeader *)(const void *)file)->flags_must & HOLO_FLAG_PARTS);
    free(file);
}

// All attributes are loaded: those that no step has must be right, too.
static void test_attributes_of_no_step(void **state)
{
    (void)state;
    size_t                   size;
    uint8_t                 *file  = file_read(archived(model_conv(), HOLO_FUSED, 1), &size);
    const HoloSectionRecord *steps = section_find(file, HOLO_SECTION_STEPS), *attrs;
    attrs                          = section_find(file, HOLO_SECTION_ATTRS);
    HoloStepRecord *step           = (void *)(file + steps->offset);
    HoloAttrRecord *attr           = (void *)(file + attrs->offset);
    HoloModel      *model;
    assert_true(attrs->size >= sizeof *attr);
    for (size_t i = 0; i < steps->size / sizeof *step; i++) step[i].attr_count = 0;
    seal(file, steps->offset);
    EXPECT_OK(holo_model_open_memory(file, size, &model, &error));
    holo_model_close(model);
    attr->kind  = 4; // a tensor
    attr->value = UINT64_C(1) << 40;
    seal(file, attrs->offset);
    EXPECT_FAIL(holo_model_open_memory(file, size, &model, &error), HOLO_BAD_ARCHIVE, "attribute 0");
    free(file);
}

// Steps that do the same to each element share a portable program, which must be there.
static void test_programs_of_steps(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("layers.onnx");
    size_t      size;
    HoloModel  *model;
    onnx_input(&m.graph, "x", HOLO_F32, "3,16");
    onnx_output(&m.graph, "y", HOLO_F32, "3,16");
    onnx_weights(&m.graph, "w", "16,16", 1, 1);
    onnx_node(&m.graph, "MatMul", "x,w", "p", "");
    onnx_node(&m.graph, "Tanh", "p", "q", "");
    onnx_node(&m.graph, "MatMul", "q,w", "r", "");
    onnx_node(&m.graph, "Tanh", "r", "y", "");
    onnx_save(&m, path);
    uint8_t                 *file  = file_read(archived(path, HOLO_FUSED, 1), &size);
    const HoloSectionRecord *steps = section_find(file, HOLO_SECTION_STEPS);
    HoloStepRecord          *step  = (void *)(file + steps->offset);
    assert_int_equal(steps->size, 2 * sizeof *step);
    assert_int_equal(section_find(file, HOLO_SECTION_PROGRAMS)->size, sizeof(HoloProgramRecord));
    for (int i = 0; i < 2; i++) assert_int_equal(step[i].program, 1);
    step[1].program = 2;
    seal(file, steps->offset);
    EXPECT_FAIL(holo_model_open_memory(file, size, &model, &error), HOLO_BAD_ARCHIVE, "step 1");
    free(file);
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
        cmocka_unit_test(test_every_flipped_bit_is_seen),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_malice),
        cmocka_unit_test(test_attributes_of_no_step),
        cmocka_unit_test(test_parts_lie_inside),
        cmocka_unit_test(test_programs_of_steps),
    };
    return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
