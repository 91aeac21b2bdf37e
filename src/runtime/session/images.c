// images.c - decides how many images of a batch a run takes at a time, and runs them.
#include "runtime/frame/frame.h"
#include "runtime/session/given.h"

#include <string.h>

enum { TURN = 20 }; // starting a run must take at most this fraction of the time of an image

// ---- how many at a time

static HoloStatus arrays_create(HoloSession *session, HoloError *error)
{
    HoloImages        *m    = &session->images;
    const HoloFrame   *f    = session->frame;
    const HoloArchive *a    = &session->model->archive;
    size_t             ins  = (size_t)holo_model_given_count(session->model) + 1;
    size_t             outs = (size_t)holo_model_output_count(session->model) + 1;
    if (m->out) return HOLO_OK;
    m->for_in   = HOLO_NEW(&session->arena, HoloTensor, ins);
    m->in       = HOLO_NEW(&session->arena, HoloTensor, ins);
    m->list     = HOLO_NEW(&session->arena, const HoloTensor *, ins);
    m->is_split = HOLO_NEW(&session->arena, bool, ins);
    m->out      = HOLO_NEW(&session->arena, HoloTensor, outs);
    if (!m->for_in || !m->in || !m->list || !m->is_split || !m->out) return holo_fail_memory(error);
    int64_t images = a->SIZES_at[holo_frame_record(f, holo_frame_input_value(f, 0))->size_first];
    for (uint32_t i = 0; i < f->plan->input_count; i++) {
        const HoloValueRecord *v = holo_frame_record(f, holo_frame_input_value(f, i));
        m->list[i]               = &m->in[i];
        m->is_split[i]           = v->kind == HOLO_TENSOR && v->rank > 0 && !session->model->inputs[i].any_shape &&
                         a->SIZES_at[v->size_first] == images;
    }
    return HOLO_OK;
}

// Can the plan be run in parts at all? Then input 0 begins with a symbol. If somebody watches, or another device
// has work, all images run at once.
static bool is_separate(const HoloSession *session)
{
    const HoloFrame *f = session->frame;
    if (session->watch || session->device_count > 1 || !(f->plan->flags & HOLO_PLAN_SEPARATE) ||
        f->plan->flags & HOLO_PLAN_STATIC || !f->plan->input_count)
        return false;
    const HoloValueRecord *v = holo_frame_record(f, holo_frame_input_value(f, 0));
    return v->kind == HOLO_TENSOR && v->rank > 0 && !session->model->inputs[0].any_shape &&
           holo_dim_is_symbolic(session->model->archive.SIZES_at[v->size_first]);
}

// Takes `part` images of each input, from `first` on.
static void inputs_take(HoloSession *session, const HoloTensor *const *inputs, int64_t first, int64_t part)
{
    HoloImages *m = &session->images;
    for (uint32_t i = 0; i < session->frame->plan->input_count; i++) {
        m->in[i] = *inputs[i];
        if (!m->is_split[i]) continue;
        m->in[i].dim[0] = 1;
        m->in[i].data = inputs[i]->data ? (char *)inputs[i]->data + (size_t)first * holo_tensor_bytes(&m->in[i]) : NULL;
        m->in[i].dim[0] = part;
    }
}

// Parts are chosen so that the last one has as many images as the others, or not much fewer.
int64_t holo_images_part(int64_t count, uint64_t memory)
{
    if (count < 2 || memory <= HOLO_IMAGES_BYTES) return 0;
    int64_t each = (int64_t)(memory / (uint64_t)count) + 1, best = 1, least = INT64_MAX;
    for (int64_t part = 1; part == 1 || part <= holo_least(HOLO_IMAGES_BYTES / each, count); part++) {
        int64_t cost = holo_ceil_div(count, part) * (part * TURN + 1);
        if (cost <= least) least = cost, best = part;
    }
    return best < count ? best : 0;
}

// How many bytes of weights a step reads again in so many parts. A product reads its weights once for a number of rows,
// and a part may have fewer rows.
static double read_again(const HoloFrame *f, const HoloStepRecord *s, int64_t turns)
{
    const HoloArchive *a     = &f->session->model->archive;
    const uint32_t    *of    = a->OPERANDS_at + s->operand_first;
    double             bytes = 0;
    if (!s->out_count || of[s->in_count] == HOLO_NO_VALUE) return 0;
    const HoloTensor *y       = &f->types[of[s->in_count]];
    int64_t           columns = y->rank > 0 ? y->dim[y->rank - 1] : 1;
    if (holo_tensor_count(y) < 1 || columns < 1) return 0;
    int64_t rows = holo_tensor_count(y) / columns, often = holo_ceil_div(rows, HOLO_GEMM_ROWS);
    for (uint32_t i = 0; i < s->in_count; i++) {
        const HoloConstantRecord *k = of[i] == HOLO_NO_VALUE ? NULL : holo_frame_constant(f, of[i]);
        if (k) bytes += (double)k->size;
    }
    return bytes * (double)(turns * holo_ceil_div(rows, turns * HOLO_GEMM_ROWS) - often);
}

// Are the values of all steps, which stay in the cache, more than the weights that are read again?
static bool is_worth(const HoloFrame *f, int64_t turns)
{
    const HoloStepRecord *steps = f->session->model->archive.STEPS_at + f->plan->step_first;
    double                bytes = 0;
    for (uint32_t i = 0; i < f->plan->value_count; i++)
        if (holo_frame_record(f, i)->storage == HOLO_STORE_ARENA) bytes += (double)holo_tensor_bytes(&f->types[i]);
    for (uint32_t i = 0; i < f->plan->step_count; i++) bytes -= read_again(f, &steps[i], turns);
    return bytes > 0;
}

// The outputs of all images. The frame is bound to `part` of them. False: the outputs are not of that kind.
static bool outputs_find(HoloSession *session)
{
    HoloImages      *m = &session->images;
    const HoloFrame *f = session->frame;
    for (uint32_t i = 0; i < f->plan->output_count; i++) {
        uint32_t          v = holo_frame_output_value(f, i);
        const HoloTensor *t = &f->types[v];
        if (holo_frame_record(f, v)->storage == HOLO_STORE_HEAP || t->kind != HOLO_TENSOR || t->rank < 1 ||
            t->dim[0] != m->part || t->dtype == HOLO_STRING)
            return false;
        m->out[i]        = *t;
        m->out[i].data   = NULL;
        m->out[i].dim[0] = m->count;
        if (holo_tensor_count(&m->out[i]) < 0 || holo_tensor_bytes(&m->out[i]) > SIZE_MAX / 2) return false;
    }
    return true;
}

static bool sizes_equal(const HoloTensor *a, const HoloTensor *b)
{
    return a->dtype == b->dtype && a->kind == b->kind && a->inner == b->inner && a->rank == b->rank &&
           (a->rank <= 0 || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]));
}

static bool are_known(const HoloSession *session, const HoloTensor *const *inputs)
{
    for (uint32_t i = 0; i < session->frame->plan->input_count && session->images.is_known; i++)
        if (!sizes_equal(&session->images.for_in[i], inputs[i])) return false;
    return session->images.is_known;
}

// First binds all images at once: only if that takes much memory is another binding worth it.
static HoloStatus part_find(HoloSession *session, const HoloTensor *const *inputs, HoloError *error)
{
    HoloImages *m     = &session->images;
    HoloFrame  *f     = session->frame;
    m->is_known       = false;
    m->part           = 0;
    m->count          = inputs[0]->dim[0];
    HoloStatus status = holo_frame_bind(f, inputs, error);
    for (uint32_t i = 0; i < f->plan->input_count; i++) {
        m->for_in[i] = *inputs[i];
        if (m->is_split[i] && inputs[i]->dim[0] != m->count) return status;
    }
    if (!status)
        m->part = holo_images_part(m->count, f->spaces[0].used);
    else if (status == HOLO_NO_MEMORY && m->count > 1)
        m->part = 1;
    if (!status && m->part && !is_worth(f, holo_ceil_div(m->count, m->part))) m->part = 0;
    if (m->part) {
        HoloError why = {0};
        holo_frame_give(f);
        inputs_take(session, inputs, 0, m->part);
        f->is_bound = false;
        if (!holo_frame_bind(f, m->list, &why) && outputs_find(session))
            status = HOLO_OK;
        else
            m->part = 0, f->is_bound = false;
    }
    m->is_known = !status;
    return status;
}

HoloStatus holo_images_bind(HoloSession *session, const HoloTensor *const *inputs, bool *out_parts, HoloError *error)
{
    HoloImages *m = &session->images;
    *out_parts    = false;
    if (!is_separate(session) || inputs[0]->kind != HOLO_TENSOR || inputs[0]->rank < 1)
        return holo_frame_bind(session->frame, inputs, error);
    HOLO_TRY(arrays_create(session, error));
    if (!are_known(session, inputs)) {
        HoloError  why    = {0}; // if some images fit, it is no error that all do not
        HoloStatus status = part_find(session, inputs, &why);
        if (status) return holo_fail(error, status, "%s", why.text);
    }
    *out_parts = m->part > 0;
    return *out_parts ? HOLO_OK : holo_frame_bind(session->frame, inputs, error);
}

// ---- runs

// Chooses where the outputs of all images go: the caller's memory, or the session's.
static HoloStatus outputs_place(HoloSession *session, const HoloTensor *const *inputs, HoloError *error)
{
    HoloImages *m    = &session->images;
    size_t      need = 0;
    uint32_t    outs = session->frame->plan->output_count;
    for (uint32_t i = 0; i < outs; i++) {
        size_t bytes = holo_tensor_bytes(&m->out[i]);
        char  *given = session->outputs[i].data;
        if (given && session->outputs[i].size < bytes)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "output %s needs %zu bytes; the memory given has %zu",
                             session->model->outputs[i].name, bytes, session->outputs[i].size);
        bool apart = given && !holo_given_holds_inputs(session, inputs, given, bytes) &&
                     !holo_given_holds_outputs(session, i, bytes);
        m->out[i].data = apart ? given : NULL;
        if (!m->out[i].data) need += holo_align(bytes, 64);
    }
    if (need > m->memory_size) {
        holo_images_deinit(m);
        m->memory = holo_memory_take(need, session->model->memory_how);
        if (!m->memory) return holo_fail(error, HOLO_NO_MEMORY, "no memory for the outputs of a run with these sizes");
        m->memory_size = need;
    }
    char *at = m->memory;
    for (uint32_t i = 0; i < outs; i++) {
        if (m->out[i].data) continue;
        m->out[i].data = at;
        at += holo_align(holo_tensor_bytes(&m->out[i]), 64);
    }
    return HOLO_OK;
}

// Where output i of the images from `first` on goes.
static char *output_at(const HoloImages *m, uint32_t i, int64_t first)
{
    HoloTensor one = m->out[i];
    one.dim[0]     = 1;
    return (char *)m->out[i].data + (size_t)first * holo_tensor_bytes(&one);
}

static HoloStatus part_run(HoloSession *session, const HoloTensor *const *inputs, int64_t first, HoloError *error)
{
    HoloImages *m = &session->images;
    HoloFrame  *f = session->frame;
    inputs_take(session, inputs, first, m->part);
    HOLO_TRY(holo_frame_bind(f, m->list, error));
    for (uint32_t i = 0; i < f->plan->output_count; i++) {
        uint32_t v  = holo_frame_output_value(f, i);
        char    *to = output_at(m, i, first);
        if (holo_frame_record(f, v)->storage != HOLO_STORE_ARENA) continue;
        f->values[v].data = (uintptr_t)to % 16 == 0 ? to : f->types[v].data;
    }
    HOLO_TRY(holo_frame_run(f, m->list, error));
    for (uint32_t i = 0; i < f->plan->output_count; i++) {
        uint32_t          v     = holo_frame_output_value(f, i);
        const HoloTensor *t     = &f->values[v];
        char             *to    = output_at(m, i, first);
        size_t            bytes = holo_tensor_bytes(&f->types[v]);
        if (holo_tensor_bytes(t) != bytes)
            return holo_fail(error, HOLO_BAD_ARCHIVE, "output %u does not have its planned size", i);
        if (bytes && t->data != to) memcpy(to, t->data, bytes);
    }
    return HOLO_OK;
}

HoloStatus holo_images_run(HoloSession *session, const HoloTensor *const *inputs, HoloError *error)
{
    const HoloImages *m = &session->images;
    HOLO_TRY(outputs_place(session, inputs, error));
    for (int64_t first = 0; first < m->count; first += m->part)
        HOLO_TRY(part_run(session, inputs, holo_least(first, m->count - m->part), error));
    return HOLO_OK;
}

void holo_images_deinit(HoloImages *images)
{
    holo_memory_free(images->memory, images->memory_size);
    images->memory      = NULL;
    images->memory_size = 0;
}
