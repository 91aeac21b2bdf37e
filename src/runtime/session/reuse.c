// reuse.c - finds steps that need not run again, and keeps their values in memory. See reuse.h.
//
// Each step has a mask: the inputs of the model that its result depends on. A step may be left out while none of these
// change, if everything it writes stays unchanged until the next run. A block of memory, with all its views, stays if
// steps of only one mask write it, and if all other readers come after the last writer. Blocks that steps of other
// masks read are kept outside of the arena. All other blocks are read only by steps that are left out together.
#include "runtime/session/reuse.h"

#include <string.h>

#define VOLATILE (UINT64_C(1) << 63) // for what is or may be random
enum { BIT_MAX = 62, ROUNDS = 64 };
enum { SIZES_LIMIT = 64 << 20 }; // bytes that may be kept for what depends on sizes alone

typedef struct Block { // for a value that owns its bytes
    uint64_t seen;     // masks of the steps that have written it so far
    uint64_t mask;     // of the first writer
    int64_t  last;     // the last step that writes it; -1: none
    bool     is_output, is_steady, is_kept;
    size_t   at; // offset in the memory of kept values of its space
} Block;

typedef struct HoloReuse {
    HoloArena        arena; // owns the arrays
    uint64_t        *masks; // by step
    bool            *skips; // by step: it may be left out
    Block           *blocks;
    HoloSpaceMemory *spaces; // of kept values
    HoloArena        heap;
    uint64_t         watched, changed;
    char           **before; // by input: its bytes in the run before; NULL: not compared
    uint32_t         skipped;
    bool             has_any;    // there are steps that may be left out
    bool             is_valid;   // the run before succeeded, with these sizes
    bool             is_first;   // all steps run
    bool             is_blind;   // an input that should be compared is on a device: the next run computes everything
    bool             is_keeping; // the current step keeps what it makes
} HoloReuse;

static uint64_t bit_of(uint32_t input)
{
    return UINT64_C(1) << (input < BIT_MAX ? input : BIT_MAX);
}

static const HoloStepRecord *step_at(const HoloFrame *frame, uint32_t i)
{
    return &frame->session->model->archive.STEPS_at[frame->plan->step_first + i];
}

// Operand k of a step: the value that owns its bytes, or -1.
static int64_t root_at(const HoloFrame *frame, const HoloStepRecord *s, uint32_t k)
{
    uint32_t v = frame->session->model->archive.OPERANDS_at[s->operand_first + k];
    return v == HOLO_NO_VALUE ? -1 : (int64_t)frame->roots[v];
}

static uint32_t storage_of(const HoloFrame *frame, int64_t root)
{
    return holo_frame_record(frame, (uint32_t)root)->storage;
}

static size_t limit_of(const HoloFrame *frame)
{
    const HoloMemo *memo = frame->session->memo;
    return memo ? (memo->limit + memo->reserved) / 2 : 0;
}

// ---- which steps

static void masks_find(const HoloFrame *frame, HoloReuse *r)
{
    for (uint32_t i = 0; i < frame->plan->input_count; i++)
        r->blocks[holo_frame_input_value(frame, i)].seen |= bit_of(i);
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s    = step_at(frame, i);
        uint64_t              mask = frame->calls[i].op->flags & (HOLO_OP_RANDOM | HOLO_OP_CONTROL) ? VOLATILE : 0;
        for (uint32_t k = 0; k < s->in_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root >= 0) mask |= r->blocks[root].seen;
        }
        r->masks[i] = mask;
        for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root >= 0) r->blocks[root].seen |= mask;
        }
    }
}

// Can the outputs of the step stay? Values without a planned size only if they depend on sizes alone and are tensors of
// numbers.
static bool outputs_can_stay(const HoloFrame *frame, const HoloReuse *r, uint32_t i)
{
    const HoloStepRecord *s = step_at(frame, i);
    for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
        int64_t root = root_at(frame, s, k);
        if (root < 0) continue;
        const HoloValueRecord *v        = holo_frame_record(frame, (uint32_t)root);
        bool                   is_plain = v->kind == HOLO_TENSOR && v->dtype && v->dtype != HOLO_STRING;
        if (r->blocks[root].is_output || !is_plain) return false;
        if (v->storage != HOLO_STORE_ARENA && (v->storage != HOLO_STORE_HEAP || r->masks[i])) return false;
    }
    return true;
}

static bool has_heap_output(const HoloFrame *frame, const HoloStepRecord *s)
{
    for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
        int64_t root = root_at(frame, s, k);
        if (root >= 0 && storage_of(frame, root) == HOLO_STORE_HEAP) return true;
    }
    return false;
}

// `some`: also steps that depend on some of the inputs.
static void skips_begin(const HoloFrame *frame, HoloReuse *r, bool some)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) all |= r->masks[i];
    for (uint32_t i = 0; i < frame->plan->output_count; i++)
        r->blocks[frame->roots[holo_frame_output_value(frame, i)]].is_output = true;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        uint64_t mask = r->masks[i];
        r->skips[i] =
            !(mask & VOLATILE) && (!mask || (some && mask != (all & ~VOLATILE))) && outputs_can_stay(frame, r, i);
    }
}

// Finds who writes and reads the blocks, given the steps that may be left out.
static void blocks_judge(const HoloFrame *frame, HoloReuse *r)
{
    for (uint32_t v = 0; v < frame->plan->value_count; v++) r->blocks[v].last = -1, r->blocks[v].is_steady = true;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s = step_at(frame, i);
        for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root < 0) continue;
            Block *b = &r->blocks[root];
            if (b->last < 0) b->mask = r->masks[i];
            if (!r->skips[i] || b->mask != r->masks[i]) b->is_steady = false;
            b->last = i;
        }
    }
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s = step_at(frame, i);
        for (uint32_t k = 0; k < s->in_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root < 0) continue;
            Block *b        = &r->blocks[root];
            bool   together = r->skips[i] && b->mask == r->masks[i];
            if (!together && b->last >= (int64_t)i) b->is_steady = false;
        }
    }
}

// Keeps steps running that write something that does not stay, or that may give out views of such values. False:
// nothing changed.
static bool skips_narrow(const HoloFrame *frame, HoloReuse *r)
{
    bool changed = false;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s = step_at(frame, i);
        if (!r->skips[i]) continue;
        bool heap = has_heap_output(frame, s);
        for (uint32_t k = 0; k < (uint32_t)s->in_count + s->out_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root < 0 || r->blocks[root].is_steady || r->blocks[root].last < 0) continue;
            if (k >= s->in_count || heap) r->skips[i] = false;
        }
        changed |= !r->skips[i];
    }
    return changed;
}

// ---- what is kept

// Marks the blocks that are read by steps that run when their writers do not. Adds their bytes to their space.
static bool kept_find(const HoloFrame *frame, HoloReuse *r, size_t *sizes)
{
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s = step_at(frame, i);
        for (uint32_t k = 0; k < s->in_count; k++) {
            int64_t root = root_at(frame, s, k);
            if (root < 0 || storage_of(frame, root) != HOLO_STORE_ARENA) continue;
            Block *b        = &r->blocks[root];
            bool   together = r->skips[i] && b->mask == r->masks[i] && !has_heap_output(frame, s);
            if (b->is_kept || b->last < 0 || !b->is_steady || together || frame->is_held[root]) continue;
            size_t *size = &sizes[holo_frame_record(frame, (uint32_t)root)->space];
            b->is_kept   = true;
            b->at        = *size;
            if (!holo_size_add(*size, holo_align(holo_frame_bytes(frame, (uint32_t)root), 64), size)) return false;
        }
    }
    return true;
}

// Finds the inputs that steps which may be left out depend on, and their bytes together.
static bool inputs_find(const HoloFrame *frame, HoloReuse *r, size_t *size)
{
    for (uint32_t i = 0; i < frame->plan->step_count; i++)
        if (r->skips[i]) r->watched |= r->masks[i];
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        const HoloTensor *t = &frame->types[holo_frame_input_value(frame, i)];
        if (!(r->watched & bit_of(i))) continue;
        if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING) return false;
        if (!holo_size_add(*size, holo_align(holo_tensor_bytes(t), 64), size)) return false;
    }
    return true;
}

static void inputs_place(const HoloFrame *frame, HoloReuse *r, size_t at)
{
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        size_t bytes = holo_tensor_bytes(&frame->types[holo_frame_input_value(frame, i)]);
        r->before[i] = bytes && r->watched & bit_of(i) ? r->spaces[0].memory + at : NULL;
        if (r->before[i]) at += holo_align(bytes, 64);
    }
}

// Takes memory for all of it. False: it is too much, or there is none. Only the host's memory has a limit: other spaces
// keep weights that were brought there.
static bool memory_take(HoloFrame *frame, HoloReuse *r)
{
    HoloMemo *memo                    = frame->session->memo;
    size_t    sizes[HOLO_TARGETS_MAX] = {0}, values;
    if (!kept_find(frame, r, sizes)) return false;
    values = sizes[0];
    if (!inputs_find(frame, r, &sizes[0])) return false;
    if (sizes[0] > (r->watched ? limit_of(frame) : (size_t)SIZES_LIMIT)) return false;
    for (uint32_t i = 0; i < frame->session->device_count; i++)
        if (!holo_frame_take(frame, i, &r->spaces[i], sizes[i])) return false;
    inputs_place(frame, r, values);
    if (memo && r->watched) holo_memo_reserve(memo, sizes[0]);
    return true;
}

static HoloStatus arrays_make(HoloFrame *frame, HoloReuse **out, HoloError *error)
{
    HoloReuse *r = frame->reuse;
    if (!r) {
        r = frame->reuse = holo_realloc(NULL, sizeof *r);
        if (!r) return holo_fail_memory(error);
        *r        = (HoloReuse){0};
        r->masks  = HOLO_NEW(&r->arena, uint64_t, frame->plan->step_count + 1);
        r->skips  = HOLO_NEW(&r->arena, bool, frame->plan->step_count + 1);
        r->blocks = HOLO_NEW(&r->arena, Block, frame->plan->value_count + 1);
        r->before = HOLO_NEW(&r->arena, char *, frame->plan->input_count + 1);
        r->spaces = HOLO_NEW(&r->arena, HoloSpaceMemory, frame->session->device_count);
    }
    if (!r->masks || !r->skips || !r->blocks || !r->before || !r->spaces) return holo_fail_memory(error);
    *out = r;
    return HOLO_OK;
}

// Finds the steps and takes memory for what they keep. False: there are none, or no memory.
static bool reuse_find(HoloFrame *frame, HoloReuse *r, bool some)
{
    int  round = 0;
    bool changed;
    memset(r->blocks, 0, frame->plan->value_count * sizeof *r->blocks);
    r->watched = 0;
    masks_find(frame, r);
    skips_begin(frame, r, some);
    do {
        blocks_judge(frame, r);
        changed = skips_narrow(frame, r);
    } while (changed && ++round < ROUNDS);
    for (uint32_t i = 0; i < frame->plan->step_count && !r->has_any; i++) r->has_any = r->skips[i];
    if (r->has_any && !changed && memory_take(frame, r)) return true;
    memset(r->skips, 0, frame->plan->step_count * sizeof *r->skips);
    memset(r->blocks, 0, frame->plan->value_count * sizeof *r->blocks);
    return r->has_any = false;
}

HoloStatus holo_reuse_bind(HoloFrame *frame, HoloError *error)
{
    HoloReuse *r = NULL;
    if (frame->parent) return HOLO_OK;
    HOLO_TRY(arrays_make(frame, &r, error));
    r->is_valid = r->has_any = false;
    if (frame->session->memo) holo_memo_reserve(frame->session->memo, 0);
    if (!limit_of(frame) || !reuse_find(frame, r, true)) reuse_find(frame, r, false);
    return HOLO_OK;
}

void *holo_reuse_memory(const HoloFrame *frame, uint32_t value)
{
    const HoloReuse *r = frame->reuse;
    if (!r || !r->blocks[value].is_kept) return NULL;
    char *memory = r->spaces[holo_frame_record(frame, value)->space].memory;
    return memory ? memory + r->blocks[value].at : NULL;
}

void holo_reuse_destroy(HoloFrame *frame)
{
    HoloReuse *r = frame->reuse;
    if (!r) return;
    for (uint32_t i = 0; r->spaces && i < frame->session->device_count; i++) {
        const HoloOpenDevice *on = &frame->session->devices[i];
        on->device->give(on->self, r->spaces[i].memory, r->spaces[i].size);
    }
    holo_arena_deinit(&r->heap);
    holo_arena_deinit(&r->arena);
    holo_free(r);
}

// ---- running

void holo_reuse_begin(HoloFrame *frame, const HoloTensor *const *inputs)
{
    HoloReuse *r = frame->reuse;
    if (!r || !r->has_any) return;
    r->is_first = !r->is_valid;
    r->is_valid = false;
    r->changed  = 0;
    r->skipped  = 0;
    r->is_blind = false;
    if (r->is_first) holo_arena_reset(&r->heap, (HoloArenaMark){0});
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        size_t bytes    = r->before[i] ? holo_tensor_bytes(inputs[i]) : 0;
        bool   is_there = frame->is_there[holo_frame_input_value(frame, i)]; // the host cannot compare it
        r->is_blind     = r->is_blind || (bytes && is_there);
        if (is_there) r->changed |= bit_of(i);
        if (!bytes || is_there || (!r->is_first && !memcmp(r->before[i], inputs[i]->data, bytes))) continue;
        memcpy(r->before[i], inputs[i]->data, bytes);
        r->changed |= bit_of(i);
    }
}

bool holo_reuse_has(const HoloFrame *frame, uint32_t step)
{
    HoloReuse *r = frame->reuse;
    if (!r || !r->has_any || r->is_first || !r->skips[step] || r->masks[step] & r->changed) return false;
    r->skipped++;
    return true;
}

void holo_reuse_end(HoloFrame *frame)
{
    HoloReuse *r = frame->reuse;
    if (r) r->is_valid = r->has_any && !r->is_blind, r->is_keeping = false;
}

void holo_reuse_step(HoloFrame *frame, uint32_t step)
{
    HoloReuse *r = frame->reuse;
    if (r) r->is_keeping = r->has_any && r->skips[step] && !r->masks[step];
}

HoloArena *holo_reuse_heap(HoloFrame *frame)
{
    return frame->reuse && frame->reuse->is_keeping ? &frame->reuse->heap : NULL;
}

bool holo_reuse_is_steady(const HoloFrame *frame)
{
    const HoloReuse *r = frame->reuse;
    return !r || !r->has_any || (!r->is_first && !r->watched);
}

uint32_t holo_reuse_skipped(const HoloFrame *frame)
{
    return frame->reuse && frame->reuse->has_any ? frame->reuse->skipped : 0;
}
