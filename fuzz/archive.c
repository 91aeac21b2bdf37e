// archive.c - .holo bytes that may be anything: open, verify, bind, run. Hashes are mended first, or no
// change would get past them.
#include "archive_mutate.h"
#include "hologram_atlas.h"
#include "hologram_compiler.h"
#include "isa/isa.h"
#include "ops/tensor.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_value(const HoloTensor *t, int depth)
{
    HoloContentId id;
    if (t->kind == HOLO_TENSOR && holo_content_id(t, &id, NULL)) abort();
    for (int64_t i = 0, count = t->kind == HOLO_MAP ? 2 : holo_tensor_count(t);
         t->kind != HOLO_TENSOR && i < count && t->data; i++)
        if (depth < 4) read_value((const HoloTensor *)t->data + i, depth + 1);
}

// What a run gave, computed or from the memo, can be read whole.
static void read_outputs(const HoloModel *model, const HoloSession *session)
{
    HoloTensor view;
    for (int i = 0; i < holo_model_output_count(model); i++) {
        if (holo_session_output(session, i, &view, NULL)) abort();
        read_value(&view, 0);
    }
}

// ---- inputs

enum { ROUNDS = 6, ELEMENTS_MAX = 1 << 16 };
static const double SECONDS = 0.2; // of a run: a loop may be asked to go on for ever

// The size of an open dimension in a round: all alike, each symbol another, large, none, and as in the beginning.
static int64_t size_of(const char *symbol, int round)
{
    static const int64_t all[ROUNDS] = {2, 0, 9, 0, 2, 2};
    uint32_t             hash        = 5381;
    for (const char *c = symbol; c && *c; c++) hash = hash * 33 + (uint8_t)*c;
    return round == 1 ? 1 + hash % 5 : all[round];
}

static void *taken[4096];
static int   taken_count;

static void *take(size_t size)
{
    void *memory = taken_count < 4096 ? calloc(size ? size : 1, 1) : NULL;
    if (memory) taken[taken_count++] = memory;
    return memory;
}

static void give_back(void)
{
    while (taken_count) free(taken[--taken_count]);
}

static void fill(HoloTensor *t, int64_t count, int round)
{
    HoloRandom random = {(uint64_t)round};
    for (int64_t i = 0; i < count; i++)
        if (t->dtype == HOLO_STRING)
            ((HoloString *)t->data)[i] = (HoloString){"a b", (size_t)(i % 4)};
        else if (t->dtype == HOLO_F32 || t->dtype == HOLO_F64 || t->dtype == HOLO_F16)
            holo_put_f(t, i, (double)(holo_random_next(&random) % 16) - 4);
        else
            holo_put_i(t, i, round % 2 ? (int64_t)(holo_random_next(&random) % 8) - 3 : (int64_t)(i & 1));
}

static bool tensor_make(HoloTensor *t, const char *const *symbol, int round)
{
    if (t->rank < 0) t->rank = (int8_t)(round % 4);
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] <= (symbol[d] ? 0 : -1)) t->dim[d] = size_of(symbol[d], round);
    if (!t->dtype) t->dtype = HOLO_F32;
    t->kind       = HOLO_TENSOR;
    int64_t count = holo_tensor_count(t);
    if (count < 0 || count > ELEMENTS_MAX) return false;
    t->data = take(holo_tensor_bytes(t));
    if (t->data) fill(t, count, round);
    return t->data != NULL;
}

// A value of the type of an input, in memory of just its size.
static bool value_make(const HoloPort *port, int round, HoloTensor *out)
{
    static const char *const none[HOLO_MAX_RANK];
    HoloTensor               t = port->type;
    if (t.kind == HOLO_TENSOR) return *out = t, tensor_make(out, port->symbol, round);
    if (t.kind == HOLO_MAP || (t.kind == HOLO_SEQUENCE && t.inner != HOLO_TENSOR)) return false;
    int count = t.kind == HOLO_OPTIONAL ? round & 1 : round % 4;
    *out      = (HoloTensor){.dtype = t.dtype, .kind = t.kind, .inner = t.inner, .rank = 1, .dim = {count}};
    if (count && t.inner != HOLO_TENSOR) return false;
    out->data = take((size_t)count * sizeof t);
    for (int i = 0; i < count && out->data; i++) {
        HoloTensor *item = (HoloTensor *)out->data + i;
        *item            = (HoloTensor){.dtype = t.dtype, .rank = 2, .dim = {2, 3}};
        if (!tensor_make(item, none, round + i)) return false;
    }
    return out->data != NULL;
}

static bool inputs_set(const HoloModel *model, HoloSession *session, int round)
{
    for (int i = 0; i < holo_model_input_count(model); i++) {
        HoloError  why = {0};
        HoloTensor t;
        if (!value_make(holo_model_input(model, i), round, &t)) return false;
        if (holo_session_set_input(session, i, &t, &why)) return false;
    }
    return true;
}

// One session at several sizes, one after the other; the second run at the same ones leaves out what follows from sizes
// alone, and with a memo what follows from inputs that have not changed.
static void run(const HoloModel *model)
{
    HoloError    error = {0};
    HoloSession *session;
    if (holo_session_create(model, NULL, &session, &error)) return;
    if (holo_session_set_time_limit(session, SECONDS, NULL)) abort();
    for (int round = 0; round < ROUNDS; round++) {
        HoloError why = {0};
        if (round == ROUNDS - 1 && holo_session_set_memo(session, 1 << 20, &why)) break;
        if (!inputs_set(model, session, round)) continue;
        for (int again = 0; again < 2; again++) {
            HoloError run_error = {0};
            if (holo_session_run(session, &run_error)) break;
            read_outputs(model, session);
        }
        // What was given lives until the session is gone or has other inputs.
    }
    holo_session_destroy(session);
    give_back();
}

// Every text of every note can be read.
static void read_notes(const HoloModel *model)
{
    HoloNote note;
    size_t   size = 0;
    for (int i = 0; holo_model_note(model, i, &note); i++)
        size += strlen(note.pass) + strlen(note.place) + strlen(note.what) + strlen(note.why);
    if (holo_model_note_count(model) && size == SIZE_MAX) abort();
}

// Every constant that is shown can be read whole.
static void read_constants(const HoloModel *model)
{
    HoloConstant  constant;
    HoloContentId id;
    for (int i = 0; i < 100 && holo_model_constant(model, i, &constant); i++)
        if (holo_content_id(&constant.tensor, &id, NULL)) abort();
}

// Steps can be shown as text of programs. That text can be read again.
static void read_programs(const HoloModel *model)
{
    HoloStepPrograms *programs;
    HoloIsaProgram    program;
    HoloArena         arena = {0};
    if (holo_step_programs_open(model, &programs, NULL)) return;
    for (int i = 0; i < 100 && i < programs->count; i++) {
        const char *text = programs->programs[i].text;
        if (holo_isa_parse(&arena, text, strlen(text), &program, NULL)) abort();
    }
    holo_arena_deinit(&arena);
    holo_step_programs_close(programs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    holo_memory_set_limit(UINT64_C(1) << 30);
    uint8_t *bytes = hashes_right(data, size);
    if (!bytes) return 0;
    HoloError  error = {0};
    HoloModel *model;
    if (!holo_model_open_memory(bytes, size, &model, &error)) {
        read_notes(model);
        read_constants(model);
        read_programs(model);
        for (int i = 0; i < holo_model_entry_count(model) && i < 4; i++)
            run(holo_model_entry(model, holo_model_entry_name(model, i)));
        holo_model_close(model);
    }
    free(bytes);
    return 0;
}
