// archive_damage_test.c - no byte of an archive can do harm, damaged by chance or on purpose.
#include "support/onnx_writer.h"
#include "support/sections.h"
#include "support/watched.h"

#include "base/hash.h"
#include "graph/graph.h"
#include "hologram_atlas.h"
#include "isa/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- damage by chance

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

// Are there sizes of inputs that a run may choose, or states?
static bool model_is_open(const HoloModel *model)
{
    bool is_open = holo_model_state_count(model) > 0;
    for (int i = 0; i < holo_model_input_count(model); i++)
        for (int d = 0; d < holo_model_input(model, i)->type.rank; d++)
            is_open |= holo_model_input(model, i)->type.dim[d] < 0;
    return is_open;
}

// An input of the type the model asks for; false: it would be large, or no tensor of numbers.
static bool input_make(const HoloPort *port, int64_t open, HoloTensor *out)
{
    HoloTensor type = port->type;
    for (int d = 0; d < type.rank; d++)
        if (type.dim[d] < 0) type.dim[d] = open;
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

// Every byte of the states can be read and written.
static void states_use(const HoloModel *model, HoloSession *session)
{
    for (int i = 0; i < holo_model_state_count(model); i++) {
        HoloTensor type;
        if (holo_session_state_type(session, i, &type, NULL)) continue;
        size_t size  = holo_tensor_bytes(&type);
        char  *bytes = malloc(size + 1);
        if (size > 1 << 20) size = holo_dtype_size((HoloDtype)type.dtype);
        assert_int_equal(holo_session_state_read(session, i, 0, bytes, size, NULL), HOLO_OK);
        assert_int_equal(holo_session_state_write(session, i, 0, bytes, size, NULL), HOLO_OK);
        free(bytes);
    }
}

enum { INPUTS = 4 };

// Sets all inputs, with `open` for open sizes, and runs.
static HoloStatus run_once(const HoloModel *model, HoloSession *session, int64_t open, HoloTensor *inputs)
{
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < INPUTS && i < holo_model_input_count(model) && !status; i++)
        if (input_make(holo_model_input(model, i), open, &inputs[i]))
            status = holo_session_set_input(session, i, &inputs[i], NULL);
    if (status) return status;
    watch_set(session);
    status = holo_session_run(session, NULL);
    watch_set(NULL);
    if (!status) outputs_read(model, session);
    return status;
}

// What can be done with one entry. What is bound for some sizes is bound again for others.
static void entry_exercise(const HoloModel *model)
{
    static const int64_t open[] = {2, 3, 1};
    HoloSession         *session;
    HoloTensor           inputs[HOLO_COUNT(open)][INPUTS] = {{{0}}};
    if (holo_session_create(model, NULL, &session, NULL)) return;
    for (int i = 0; i < HOLO_COUNT(open); i++) {
        if (run_once(model, session, open[i], inputs[i])) break;
        states_use(model, session);
        if (!model_is_open(model)) break;
    }
    holo_session_destroy(session);
    for (int i = 0; i < HOLO_COUNT(open); i++)
        for (int k = 0; k < INPUTS; k++) free(inputs[i][k].data);
}

// Opens the bytes and, where that succeeds, runs what is in them: any status is good, a crash is not.
static void exercise(const uint8_t *bytes, size_t size)
{
    HoloModel *model;
    if (holo_model_open_memory(bytes, size, &model, NULL)) return;
    constants_read(model);
    programs_read(model);
    for (int i = 0; i < holo_model_entry_count(model); i++)
        entry_exercise(holo_model_entry(model, holo_model_entry_name(model, i)));
    holo_model_close(model);
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
    int      step  = watched_step("the bytes with a flipped bit", 7);
    for (size_t at = 0; at < size; at += (size_t)step) {
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
static void expect_no_harm_of(const char *archive, int step)
{
    size_t            size;
    uint8_t          *bytes = file_read(archive, &size), *copy = aligned_alloc(64, 64 * (size / 64 + 1));
    const HoloHeader *h     = (const void *)bytes;
    size_t            first = h->header_size, end = section_find(bytes, HOLO_SECTION_WEIGHTS)->offset;
    size_t            texts = section_find(bytes, HOLO_SECTION_STRINGS)->offset,
           dims             = section_find(bytes, HOLO_SECTION_DIMS)->offset;
    HoloRandom random       = {1};
    for (size_t at = first; at < end; at += (size_t)step) {
        if (at >= texts && at < dims) continue;
        const uint8_t old = bytes[at], values[] = {old ^ 1, (uint8_t)(old + 1), old ^ 0x80, 0xFF, 0, 7};
        for (size_t v = 0; v < sizeof values && !is_padding(bytes, at); v++) {
            memcpy(copy, bytes, size);
            change(copy, at, values[v]);
            exercise(copy, size);
        }
    }
    for (int i = 0; i < 4000; i += step) {
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

static void expect_no_harm(const char *path, int step)
{
    expect_no_harm_of(archived(path, HOLO_FUSED, 1), step);
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

// A cache, and the attention of new tokens to it; an entry with a branch beside it.
static const char *const cached[] = {
    "graph a(x: f32[B,S,2], rows: i64[B] = index, lengths: i64[B] = 0,\n"
    "        keys: f32[slots,context,2] = state[B,S,2]) -> (y) {\n"
    "    all = hologram::CacheWrite@1(keys, x, rows, lengths)\n"
    "    y = hologram::CachedAttention@1(x, all, all, rows, lengths) {num_heads=1, scale=1.0}\n"
    "}\n",
    "graph b(z: f32[B,2], flag: bool[]) -> (q) {\n"
    "    q = If@16(flag | z) {then_branch=graph t(z: f32[B,2]) -> (r) { r = Neg@13(z) },\n"
    "        else_branch=graph e(z: f32[B,2]) -> (s) { s = Abs@13(z) }}\n"
    "}\n",
};

// A product with weights in blocks of this type, and rows of the same: packed once, as panels.
static const char *archive_blocks(const char *type, int bytes)
{
    enum { ROWS = 17 };
    HoloText    text = {0};
    char        name[40];
    const char *texts[1];
    holo_text_add(&text, "graph g(x: f32[m,256]) -> (y) {\n    const w: u8[%d,%d] = {", ROWS, bytes);
    for (int i = 0; i < ROWS * bytes; i++) holo_text_add(&text, "%s%d", i ? ", " : "", i * 73 % 61);
    holo_text_add(&text, "}\n    y = hologram::MatMulBlocks@1(x, w) {type=\"%s\", count=256, rounds=1}\n}\n", type);
    snprintf(name, sizeof name, "%s.holo", type);
    texts[0]         = text.data;
    const char *path = text_archive(name, texts, 1, NULL);
    holo_text_deinit(&text);
    return path;
}

// What newer archives have: states, several entries, weights in blocks that are packed as slices.
static void test_malice_of_new_parts(void **state)
{
    (void)state;
    int step = watched_step("the changes to archives with states and blocks", 7);
    expect_no_harm_of(text_archive("cached.holo", cached, HOLO_COUNT(cached), NULL), step);
    expect_no_harm_of(archive_blocks("iq2_xxs", 66), 3 * step);
    expect_no_harm_of(archive_blocks("iq1_m", 56), 3 * step);
    expect_no_harm_of(archive_blocks("tq1_0", 54), 3 * step);
    expect_no_harm_of(archive_blocks("q4_k", 144), 3 * step);
}

static void test_malice(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
    pthread_detach(thread);
    int step = watched_step("the changes to archives", 7);
    expect_no_harm(model_tiny(), step);
    expect_no_harm(model_mlp(), step);
    expect_no_harm(model_packed(), step);
    expect_no_harm(model_dynamic(), step);
    expect_no_harm(model_conv(), step);
    expect_no_harm(model_loop(3), step);
    expect_no_harm(model_data(), step);
    expect_no_harm(model_parts("4"), step);
    expect_no_harm(model_parts("N"), step);
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
        expect_refused(file, size, start, 7, 8, "an impossible shape"); // of 12 elements, of which it has 6
        expect_refused(file, size, start, UINT64_MAX, 8, "an impossible shape");
        expect_refused(file, size, start, INT64_MAX, 8, "an impossible shape");
        // Inside of what it is joined to, but not where it belongs.
        if (value[i].at == output[plan->output_first])
            expect_refused(file, size, start, 1, 8, "overlaps another operand");
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
        cmocka_unit_test(test_every_flipped_bit_is_seen),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_malice),
        cmocka_unit_test(test_malice_of_new_parts),
        cmocka_unit_test(test_attributes_of_no_step),
        cmocka_unit_test(test_parts_lie_inside),
        cmocka_unit_test(test_programs_of_steps),
    };
    return cmocka_run_group_tests_name("archive_damage", tests, NULL, NULL);
}
