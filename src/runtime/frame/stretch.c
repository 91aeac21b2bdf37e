// stretch.c - see stretch.h. The first run after sizes were bound launches each step by itself: it also runs what is
// left out later. The second one records. Steps are launched one by one while somebody measures or watches them.
#include "runtime/frame/stretch.h"

#include "runtime/session/reuse.h"

typedef struct Stretch {
    uint32_t        from, to; // steps
    HoloOpenDevice *on;
    void           *recording;
    const char     *scratch; // where the device's scratch was when it was recorded
    bool            failed;  // it cannot be recorded: its steps are launched
} Stretch;

typedef struct HoloStretches {
    Stretch *list;
    uint32_t count;
    uint32_t next; // the first that the current run has not reached
    bool     has_run;
} HoloStretches;

// Nothing has to be done for the step, in any run.
static bool is_idle(const HoloFrame *frame, uint32_t i)
{
    return frame->steps[i].is_held;
}

static bool can_record(const HoloFrame *frame, uint32_t i)
{
    const HoloStep *step = &frame->steps[i];
    return !step->is_transfer && step->on->device->record && step->on != frame->session->devices;
}

// The step behind the stretch that begins with step i.
static uint32_t stretch_end(const HoloFrame *frame, uint32_t i)
{
    const HoloOpenDevice *on  = frame->steps[i].on;
    uint32_t              end = i + 1;
    for (uint32_t k = end; k < frame->plan->step_count; k++) {
        if (is_idle(frame, k)) continue;
        if (!can_record(frame, k) || frame->steps[k].on != on) break;
        end = k + 1;
    }
    return end;
}

HoloStatus holo_stretches_find(HoloFrame *frame, HoloError *error)
{
    uint32_t steps = frame->plan->step_count, count = 0;
    bool     any = false;
    for (uint32_t i = 0; i < steps && !any; i++) any = can_record(frame, i);
    if (!any) return HOLO_OK;
    HoloStretches *all = HOLO_NEW(&frame->jobs, HoloStretches, 1);
    Stretch       *s   = HOLO_NEW(&frame->jobs, Stretch, steps);
    if (!all || !s) return holo_fail_memory(error);
    for (uint32_t i = 0; i < steps; i++) {
        if (is_idle(frame, i) || !can_record(frame, i)) continue;
        s[count] = (Stretch){.from = i, .to = stretch_end(frame, i), .on = frame->steps[i].on};
        i        = s[count++].to - 1;
    }
    *all             = (HoloStretches){.list = s, .count = count};
    frame->stretches = all;
    return HOLO_OK;
}

static void stretch_forget(Stretch *s)
{
    if (s->recording) s->on->device->forget(s->on->self, s->recording);
    s->recording = NULL;
}

void holo_stretches_forget(HoloFrame *frame)
{
    HoloStretches *all = frame->stretches;
    frame->stretches   = NULL;
    for (uint32_t i = 0; all && i < all->count; i++) stretch_forget(&all->list[i]);
}

static HoloStatus steps_launch(HoloFrame *frame, const Stretch *s, HoloError *error)
{
    for (uint32_t i = s->from; i < s->to; i++)
        if (!is_idle(frame, i) && !holo_reuse_has(frame, i)) HOLO_TRY(holo_frame_launch(frame, i, error));
    return HOLO_OK;
}

// If a device cannot record the stretch, its steps are launched in each run.
static void stretch_record(HoloFrame *frame, Stretch *s)
{
    const HoloDevice *device  = s->on->device;
    HoloError         ignored = {0};
    stretch_forget(s);
    s->failed = device->record(s->on->self, &ignored);
    if (s->failed) return;
    HoloStatus launched = steps_launch(frame, s, &ignored);
    HoloStatus ended    = device->record_end(s->on->self, &s->recording, &ignored);
    s->failed           = launched || ended;
    if (s->failed) stretch_forget(s);
    s->scratch = s->on->scratch;
}

void holo_stretches_begin(HoloFrame *frame)
{
    if (frame->stretches) frame->stretches->next = 0;
}

HoloStatus holo_stretches_run(HoloFrame *frame, uint32_t step, uint32_t *out_end, HoloError *error)
{
    HoloStretches     *all     = frame->stretches;
    const HoloSession *session = frame->session;
    if (!all || !all->has_run || session->profile.is_on || session->watch || !holo_reuse_is_steady(frame))
        return HOLO_OK;
    while (all->next < all->count && all->list[all->next].from < step) all->next++;
    if (all->next == all->count || all->list[all->next].from != step) return HOLO_OK;
    Stretch *s = &all->list[all->next++];
    if (!s->failed && (!s->recording || s->scratch != s->on->scratch)) stretch_record(frame, s);
    if (s->failed) return HOLO_OK;
    *out_end = s->to;
    return s->on->device->replay(s->on->self, s->recording, error);
}

void holo_stretches_end(HoloFrame *frame)
{
    if (frame->stretches) frame->stretches->has_run = true;
}
