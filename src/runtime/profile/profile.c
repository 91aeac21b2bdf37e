// profile.c - records steps and writes them as Chrome trace JSON (chrome://tracing, ui.perfetto.dev).
#include "runtime/profile/profile.h"

#include "base/files.h"
#include "runtime/frame/frame.h"

#include <inttypes.h>
#include <stdio.h>

void holo_profile_add(HoloProfile *profile, HoloProfileEvent event)
{
    if (profile->count == HOLO_PROFILE_EVENTS) return;
    if (profile->count == profile->room) {
        size_t room   = profile->room ? profile->room * 2 : 1024;
        void  *events = holo_realloc(profile->events, room * sizeof *profile->events);
        if (!events) return;
        profile->events = events;
        profile->room   = room;
    }
    profile->events[profile->count++] = event;
}

void holo_profile_deinit(HoloProfile *profile)
{
    holo_free(profile->events);
    holo_free(profile->steps);
    holo_arena_deinit(&profile->arena);
    *profile = (HoloProfile){0};
}

// Writes a text as a JSON string that is safe to show, cut to `size`.
static void json_text(const char *text, char *out, size_t size)
{
    char   safe[240];
    size_t at = 0;
    holo_text_safe(text, safe, sizeof safe);
    out[at++] = '"';
    for (const char *c = safe; *c && at + 4 < size; c++) {
        if (*c == '"' || *c == '\\') out[at++] = '\\';
        out[at++] = *c;
    }
    out[at++] = '"';
    out[at]   = 0;
}

static HoloStatus event_write(HoloFileWriter *writer, const HoloProfile *p, size_t i, HoloError *error)
{
    const HoloProfileEvent *e = &p->events[i];
    char                    name[512], line[1024];
    json_text(e->name, name, sizeof name);
    int size = snprintf(
        line, sizeof line,
        "%s\n {\"name\": %s, \"cat\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
        "\"args\": {\"op\": \"%s\", \"kernel\": \"%s\"}}",
        i ? "," : "", name, e->op, e->worker + 1, (e->start - p->origin) * 1e6, (e->end - e->start) * 1e6, e->op,
        e->kernel);
    return holo_file_write(writer, line, (size_t)size, error);
}

// The names of the tracks.
static HoloStatus threads_write(HoloFileWriter *writer, const HoloProfile *p, HoloError *error)
{
    int last = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->events[i].worker > last) last = p->events[i].worker;
    for (int w = 0; w <= last && p->count; w++) {
        char line[160];
        int  size = snprintf(line, sizeof line,
                             ",\n {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"args\": "
                              "{\"name\": \"%s %d\"}}",
                             w + 1, w ? "worker" : "steps, thread", w);
        HOLO_TRY(holo_file_write(writer, line, (size_t)size, error));
    }
    return HOLO_OK;
}

static HoloStatus profile_write(const HoloSession *session, const char *path, HoloError *error)
{
    const HoloProfile *p = &session->profile;
    HoloFileWriter    *writer;
    HOLO_TRY(holo_file_writer_open(path, &writer, error));
    HoloStatus status = holo_file_write(writer, "{\"traceEvents\": [", 17, error);
    for (size_t i = 0; i < p->count && !status; i++) status = event_write(writer, p, i, error);
    if (!status) status = threads_write(writer, p, error);
    uint64_t hits, misses;
    char     end[160];
    holo_session_memo_counts(session, &hits, &misses);
    int size = snprintf(end, sizeof end,
                        "\n], \"displayTimeUnit\": \"ms\", \"otherData\": {\"memo_hits\": %" PRIu64
                        ", \"memo_misses\": %" PRIu64 "}}\n",
                        hits, misses);
    if (!status) status = holo_file_write(writer, end, (size_t)size, error);
    HoloStatus closed = holo_file_writer_close(writer, !status, error);
    return status ? status : closed;
}

HoloStatus holo_session_profile_write(const HoloSession *session, const char *path, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, profile_write(session, path, error), error);
}

int holo_session_profile_steps(const HoloSession *session)
{
    return (int)session->profile.step_count;
}

bool holo_session_profile_step(const HoloSession *session, int index, HoloProfiledStep *out)
{
    if (index < 0 || (size_t)index >= session->profile.step_count) return false;
    *out = session->profile.steps[index].told;
    return true;
}
