// archive.c - .holo bytes that may be anything: open, verify, bind, run. Hashes are mended first, or no
// change would get past them.
#include "base/hash.h"
#include "format/holo.h"
#include "hologram_atlas.h"
#include "hologram_compiler.h"
#include "isa/isa.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hashes_mend(uint8_t *bytes, size_t size)
{
    HoloHeader *h = (void *)bytes;
    if (size < sizeof *h || h->header_size < sizeof *h || h->header_size > size || h->header_size % 8) return;
    size_t count = h->section_count;
    if (count > (size - h->header_size) / sizeof(HoloSectionRecord)) return;
    HoloSectionRecord *table = (void *)(bytes + h->header_size);
    for (size_t i = 0; i < count; i++) {
        HoloSectionRecord s = table[i]; // a copy: a section may lie over the table
        if (s.offset > size || s.size > size - s.offset) continue;
        HoloHash hash = holo_hash(bytes + s.offset, s.size);
        memcpy(table[i].hash, hash.word, sizeof hash.word);
    }
    h->file_size  = size;
    HoloHash hash = holo_archive_front_hash(bytes);
    memcpy(h->hash, hash.word, sizeof hash.word);
}

// A loop may be asked to run for ever: after a while it is cancelled, as a user would. (The fuzzer itself
// has the alarm signal.)
static HoloSession *running;
static void         on_time(int signal)
{
    (void)signal;
    if (running) holo_session_cancel(running);
}

static void time_limit(HoloSession *session)
{
    static timer_t  timer;
    static int      is_made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    if (!is_made) {
        signal(SIGUSR2, on_time);
        is_made = !timer_create(CLOCK_MONOTONIC, &event, &timer);
    }
    struct itimerspec after = {{0, session ? 200000000 : 0}, {0, session ? 200000000 : 0}};
    running                 = session;
    if (is_made) timer_settime(timer, 0, &after, NULL);
}

// What a run gave, computed or from the memo, can be read whole.
static void read_outputs(const HoloModel *model, const HoloSession *session)
{
    HoloTensor    view;
    HoloContentId id;
    for (int i = 0; i < holo_model_output_count(model); i++) {
        if (holo_session_output(session, i, &view, NULL)) abort();
        // A hostile plan may leave an output without data; what has data has all of it.
        if (view.kind == HOLO_TENSOR && view.data && holo_content_id(&view, &id, NULL)) abort();
    }
}

static void run(const HoloModel *model)
{
    HoloError    error = {0};
    HoloSession *session;
    if (holo_session_create(model, NULL, &session, &error)) return;
    time_limit(session);
    int    count = holo_model_input_count(model), ready = 0;
    void **memory = calloc((size_t)count + 1, sizeof *memory);
    for (int i = 0; memory && i < count; i++) {
        HoloTensor t = holo_model_input(model, i)->type;
        for (int d = 0; d < t.rank; d++)
            if (t.dim[d] < 0) t.dim[d] = 2;
        size_t bytes = holo_tensor_count(&t) < 0 ? SIZE_MAX : holo_tensor_bytes(&t);
        if (t.rank < 0 || t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING || bytes > 1 << 20) break;
        memory[i]     = calloc(bytes + 1, 1);
        t.data        = memory[i];
        HoloError why = {0};
        ready += !holo_session_set_input(session, i, &t, &why);
    }
    HoloModelInfo info;
    holo_model_info(model, &info);
    // The second run leaves out what follows from sizes alone, the third what follows from inputs that have not changed.
    for (int round = 0; round < 3 && ready == count && info.arena_bytes < 64 << 20; round++) {
        HoloError why = {0};
        if (round == 2 && holo_session_set_memo(session, 1 << 20, &why)) break;
        if (holo_session_run(session, &error)) break;
        read_outputs(model, session);
    }
    for (int i = 0; memory && i < count; i++) free(memory[i]);
    free(memory);
    time_limit(NULL);
    holo_session_destroy(session);
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

// What is shown of steps as programs is text of programs.
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
    uint8_t *bytes = size ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (!bytes) return 0;
    memcpy(bytes, data, size);
    hashes_mend(bytes, size);
    HoloError  error = {0};
    HoloModel *model;
    if (!holo_model_open_memory(bytes, size, &model, &error)) {
        read_notes(model);
        read_constants(model);
        read_programs(model);
        run(model);
        holo_model_close(model);
    }
    free(bytes);
    return 0;
}
