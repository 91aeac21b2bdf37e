// profile_steps.c - what a profile knows about each step: its sizes, bytes, products and times.
#include "ops/op_id.h"
#include "runtime/frame/frame.h"
#include "runtime/pool.h"
#include "runtime/programs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const HoloTensor *operand(const HoloFrame *frame, const HoloStepRecord *s, uint32_t k)
{
    uint32_t value = frame->session->model->archive.OPERANDS_at[s->operand_first + k];
    return value == HOLO_NO_VALUE ? NULL : &frame->values[value];
}

static double elements(const HoloTensor *t)
{
    int64_t count = t && t->kind == HOLO_TENSOR ? holo_tensor_count(t) : 0;
    return count > 0 ? (double)count : 0;
}

// The second operand of a product. In quantized operators it is between scales and zero points.
static const HoloTensor *weights(const HoloFrame *frame, uint32_t i, const HoloStepRecord *s)
{
    uint32_t at = !strncmp(frame->calls[i].op->name, "QLinear", 7) ? 3 : 1;
    return at < s->in_count ? operand(frame, s, at) : NULL;
}

// For each element of the output: its share of the scores, and the sum over the keys. Keys of a cache are not known here.
static double attention_flops(const HoloTensor *q, const HoloTensor *k, const HoloTensor *out)
{
    int rank = q->rank;
    if (rank < 3 || k->rank != rank || out->rank != rank || out->dim[rank - 1] < 1) return 0;
    double size = (double)q->dim[rank - 1] / (double)out->dim[rank - 1];
    return 2 * elements(out) * (double)k->dim[rank - 2] * (size + 1);
}

// Two operations for each term of matrix products, convolutions and attention. Other steps are not counted.
static double flops_of(const HoloFrame *frame, uint32_t i, const HoloStepRecord *s, const char *kernel)
{
    const HoloTensor *a = s->in_count ? operand(frame, s, 0) : NULL, *w = weights(frame, i, s);
    const HoloTensor *y   = s->out_count ? operand(frame, s, s->in_count) : NULL;
    double            out = elements(y);
    if (!a || !w || !y || a->rank < 1 || w->rank < 1) return 0;
    if (!strncmp(kernel, "conv", 4)) return w->dim[0] > 0 ? 2 * out * elements(w) / (double)w->dim[0] : 0;
    if (!strncmp(kernel, "matmul", 6)) return 2 * out * (double)a->dim[a->rank - 1];
    return !strncmp(kernel, "attention", 9) && s->out_count == 1 ? attention_flops(a, w, y) : 0;
}

typedef struct Words { // a text that is cut if there is no room
    char text[400];
    int  size;
} Words;

static __attribute__((format(printf, 2, 3))) void words_add(Words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int room = (int)sizeof w->text - w->size, more = vsnprintf(w->text + w->size, (size_t)room, format, args);
    va_end(args);
    w->size += more < 0 ? 0 : more < room ? more : room - 1;
}

static const char *words_keep(HoloArena *arena, const Words *w)
{
    const char *copy = holo_arena_text(arena, w->text, (size_t)w->size);
    return copy ? copy : "";
}

static void type_add(Words *w, const char *before, const HoloTensor *t)
{
    if (!t || t->kind != HOLO_TENSOR) return;
    words_add(w, "%s%s[", before, holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++) words_add(w, d ? ",%lld" : "%lld", (long long)t->dim[d]);
    words_add(w, "]");
}

static const char *shapes_of(const HoloFrame *frame, uint32_t i, const HoloStepRecord *s, HoloArena *arena)
{
    Words w = {0};
    if (s->in_count) type_add(&w, "", operand(frame, s, 0));
    type_add(&w, ", ", weights(frame, i, s));
    for (uint32_t k = 0; k < s->out_count; k++) type_add(&w, k ? ", " : " -> ", operand(frame, s, s->in_count + k));
    return words_keep(arena, &w);
}

// The instruction before i that makes a register; NULL: there is none.
static const HoloIsaInst *maker(const HoloIsaProgram *p, int i, uint16_t op, unsigned reg)
{
    while (--i >= 0)
        if (p->code[i].op == op && p->code[i].dst == reg) return &p->code[i];
    return NULL;
}

// A choice between two numbers by comparing them: the larger or the smaller one; "relu" is the larger one of x and 0.
static const char *choice_name(const HoloIsaProgram *p, int i)
{
    const HoloIsaInst *sel = &p->code[i], *set = maker(p, i, HOLO_ISA_SET, sel->a), *zero;
    if (!set || (set->how != HOLO_ISA_COND_LT && set->how != HOLO_ISA_COND_GT)) return "where";
    bool is_first = sel->b == set->a && sel->c == set->b;
    if (!is_first && (sel->b != set->b || sel->c != set->a)) return "where";
    if (is_first == (set->how == HOLO_ISA_COND_LT)) return "min";
    zero = maker(p, i, HOLO_ISA_CONST, set->b);
    if (!zero) zero = maker(p, i, HOLO_ISA_CONST, set->a);
    return zero && !zero->bits ? "relu" : "max";
}

// What an instruction does to elements; NULL: it only moves or compares them, or computes where they are.
static const char *function_name(const HoloIsaProgram *p, int i, HoloDtype dtype)
{
    const HoloIsaOpInfo *op = holo_isa_op(p->code[i].op);
    if (p->code[i].type == HOLO_I64 && dtype != HOLO_I64) return NULL;
    if (p->code[i].op == HOLO_ISA_SEL) return choice_name(p, i);
    bool is_function = op->kind[0] == HOLO_ISA_KIND_T && op->kind[1] == HOLO_ISA_KIND_T && strcmp(op->text, "mov");
    return is_function ? op->text : NULL;
}

// Functions applied to each element of the output, which were nodes of their own in the model. One node alone has none.
static const char *fused_of(const HoloFrame *frame, const HoloStepRecord *s, HoloArena *arena)
{
    HoloArena         temp    = {0};
    HoloStoredProgram stored  = {0};
    Words             w       = {0};
    int               count   = 0;
    bool              is_tail = false;
    const HoloTensor *y       = s->out_count ? operand(frame, s, s->in_count) : NULL;
    if (s->program && y) {
        HoloStatus status = holo_program_get(&frame->session->model->archive, s->program - 1, &temp, &stored, NULL);
        for (int i = 0; !status && i < stored.program.param_count; i++)
            is_tail |= stored.program.params[i].access == HOLO_ISA_INOUT;
        for (int i = 0; !status && i < stored.program.count; i++) {
            const char *name = function_name(&stored.program, i, (HoloDtype)y->dtype);
            if (name) words_add(&w, count++ ? ", %s" : "%s", name);
        }
    }
    holo_arena_deinit(&temp);
    return is_tail || count > 1 ? words_keep(arena, &w) : "";
}

// Reads as many elements of its first input as it writes.
static bool is_lookup(const HoloOp *op)
{
    return holo_op_is(op, HOLO_ID_Gather) || holo_op_is(op, HOLO_ID_GatherND) || holo_op_is(op, HOLO_ID_GatherElements);
}

static uint64_t bytes_of(const HoloFrame *frame, uint32_t i, const HoloStepRecord *s)
{
    uint32_t first = s->out_count && is_lookup(frame->calls[i].op) ? s->in_count : 0;
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < (uint32_t)s->in_count + s->out_count; k++) {
        const HoloTensor *t = operand(frame, s, k ? k : first);
        if (t && t->kind == HOLO_TENSOR && t->dtype != HOLO_STRING && elements(t) > 0) bytes += holo_tensor_bytes(t);
    }
    return bytes;
}

// The record of the step with its current sizes; NULL: no memory.
static HoloProfileStep *step_of(HoloFrame *frame, uint32_t i, const HoloStepRecord *s, const char *kernel)
{
    HoloProfile *p     = &frame->session->profile;
    uint64_t     bytes = bytes_of(frame, i, s);
    // Steps run in order, so it is usually the one after the last.
    for (size_t k = 0; k < p->step_count; k++) {
        HoloProfileStep *known = &p->steps[(p->step_next + k) % p->step_count];
        if (known->frame != frame || known->step != i || known->told.bytes != bytes) continue;
        p->step_next = (size_t)(known - p->steps) + 1;
        return known;
    }
    if (p->step_count == p->step_room) {
        size_t room  = p->step_room ? 2 * p->step_room : 256;
        void  *steps = holo_realloc(p->steps, room * sizeof *p->steps);
        if (!steps) return NULL;
        p->steps     = steps;
        p->step_room = room;
    }
    HoloProfileStep *fresh = &p->steps[p->step_count++];
    *fresh                 = (HoloProfileStep){
                        .frame = frame,
                        .step  = i,
                        .told  = {.name   = frame->calls[i].node,
                                  .op     = frame->calls[i].op->name,
                                  .kernel = kernel,
                                  .shapes = shapes_of(frame, i, s, &p->arena),
                                  .fused  = fused_of(frame, s, &p->arena),
                                  .flops  = flops_of(frame, i, s, kernel),
                                  .bytes  = bytes},
    };
    p->step_next = p->step_count;
    return fresh;
}

double holo_profile_begin(HoloFrame *frame)
{
    HoloProfile *p = &frame->session->profile;
    if (!p->spans) {
        p->span_count = frame->session->pool ? holo_pool_threads(frame->session->pool) : 1;
        p->spans      = HOLO_NEW(&p->arena, HoloProfileSpan, p->span_count);
    }
    if (p->spans) memset(p->spans, 0, (size_t)p->span_count * sizeof *p->spans);
    return holo_time_now();
}

void holo_profile_end(HoloFrame *frame, uint32_t i, double start)
{
    HoloProfile          *p     = &frame->session->profile;
    const HoloStepRecord *s     = &frame->session->model->archive.STEPS_at[frame->plan->step_first + i];
    const HoloStep       *ran   = &frame->steps[i];
    HoloProfileEvent      event = {
             .name   = frame->calls[i].node,
             .op     = frame->calls[i].op->name,
             .kernel = ran->is_transfer ? "transfer" : ran->on->device->ran_by(ran->job),
             .start  = start,
             .end    = holo_time_now(),
    };
    double seconds = event.end - event.start;
    holo_profile_add(p, event);
    for (event.worker = 1; p->spans && event.worker < p->span_count; event.worker++) {
        event.start = p->spans[event.worker].start;
        event.end   = p->spans[event.worker].end;
        if (event.start > 0) holo_profile_add(p, event);
    }
    HoloProfileStep *step = step_of(frame, i, s, event.kernel);
    if (!step) return;
    if (!step->told.runs || seconds < step->told.least) step->told.least = seconds;
    step->told.runs++;
    step->told.seconds += seconds;
}
