// chain_run.c - see chain_run.h. Elements are processed in parts, one for a thread at a time. If an input broadcasts, a
// part is processed in blocks, and the input's elements of a block are first expanded, as eval of pointwise operators
// does. So programs do no arithmetic on positions.
#include "ops/hologram/chain_run.h"

#include "ops/hologram/chain.h"
#include "ops/pointwise.h"
#include "ops/spread.h"

#include <string.h>

enum { PART = 16384, BLOCK = 2048, LANES = 256 }; // elements; lanes of a block of the launch

struct HoloChainCode {
    HoloArena      arena;
    HoloIsaCode   *code;
    HoloIsaFrame **frames;  // one for each thread, where so many are needed
    char          *buffers; // if an input broadcasts: for each thread, for each input
    int            threads, frame_count, in_count;
    bool           by_lane[HOLO_CHAIN_INPUTS]; // inputs that lanes read at their own number
};

// ---- what a program does

// The only instruction that writes a register, if that is `op`; -1: it is another.
static int made_by(const HoloIsaProgram *p, int r, HoloIsaOp op)
{
    int at = -1;
    for (int i = 0; i < p->count; i++) {
        const HoloIsaInst *inst = &p->code[i];
        if (holo_isa_op(inst->op)->kind[0] == HOLO_ISA_KIND_N || inst->dst != r) continue;
        if (at >= 0 || inst->op != op) return -1;
        at = i;
    }
    return at;
}

// Inputs first, then the output, and nothing else.
static bool has_arrays(const HoloIsaProgram *p)
{
    int last = p->param_count - 1;
    for (int i = 0; i < last; i++)
        if (p->params[i].access != HOLO_ISA_IN) return false;
    return last >= 1 && last <= HOLO_CHAIN_INPUTS && p->params[last].access == HOLO_ISA_OUT;
}

// The register with the number of the lane, if each lane whose number is below the length of the output writes there;
// -1: it is not so.
static int lane_of(const HoloIsaProgram *p)
{
    int  out = p->param_count - 1, opens = 0, test = -1;
    bool is_stored = false;
    for (int i = 0; i < p->count; i++) {
        const HoloIsaInst *inst = &p->code[i];
        if (inst->op == HOLO_ISA_IF && !opens++) test = made_by(p, inst->a, HOLO_ISA_SET);
        if (inst->op > HOLO_ISA_IF && inst->op <= HOLO_ISA_EXIT && inst->op != HOLO_ISA_END) return -1;
        is_stored |= inst->op == HOLO_ISA_ST && inst->a == out && test >= 0 && inst->b == p->code[test].a;
    }
    if (opens != 1 || !is_stored) return -1;
    const HoloIsaInst *less = &p->code[test];
    int                lane = made_by(p, less->a, HOLO_ISA_SPECIAL), length = made_by(p, less->b, HOLO_ISA_LENGTH);
    bool               fits = less->how == HOLO_ISA_COND_LT && less->type == HOLO_I64 && lane >= 0 && length >= 0 &&
                p->code[lane].how == HOLO_ISA_SPECIAL_GLOBAL_ID && p->code[length].a == out;
    return fits ? less->a : -1;
}

// ---- preparing

typedef struct Run {
    const HoloCall *call;
    HoloChainCode  *code;
    int64_t         count;                      // elements
    bool            spreads[HOLO_CHAIN_INPUTS]; // inputs whose elements are expanded first
    bool            has_spread;
    int64_t         failed; // the first part that failed; INT64_MAX: none
} Run;

static Run run_of(const HoloCall *call, HoloChainCode *code)
{
    Run run = {.call = call, .code = code, .count = holo_tensor_count(call->out[0]), .failed = INT64_MAX};
    for (int i = 0; i < code->in_count; i++) {
        run.spreads[i] = code->by_lane[i] && holo_tensor_count(call->in[i]) != run.count;
        run.has_spread = run.has_spread || run.spreads[i];
    }
    return run;
}

// The memory that a run needs, unless it is there: if sizes do not change, all of it is there before the first run.
static HoloStatus make_room(const Run *run)
{
    HoloChainCode *c      = run->code;
    HoloError     *error  = run->call->error;
    int            frames = run->count > PART ? c->threads : 1;
    if (run->has_spread && !c->buffers) {
        c->buffers = holo_realloc(NULL, (size_t)c->threads * (size_t)c->in_count * BLOCK * sizeof(uint64_t));
        if (!c->buffers) return holo_fail_memory(error);
    }
    for (; c->frame_count < frames; c->frame_count++)
        HOLO_TRY(holo_isa_frame_create(c->code, 1, &c->frames[c->frame_count], error));
    return HOLO_OK;
}

static HoloStatus code_init(HoloChainCode *c, const HoloCall *call, const HoloIsaProgram *program)
{
    HOLO_TRY(holo_isa_code_create(program, &c->code, call->error));
    c->frames = HOLO_NEW(&c->arena, HoloIsaFrame *, c->threads);
    Run run   = run_of(call, c);
    return c->frames ? make_room(&run) : holo_fail_memory(call->error);
}

HoloStatus holo_chain_code_create(const HoloCall *call, const HoloIsaProgram *program, int threads, HoloChainCode **out)
{
    int lane = call->out[0] && has_arrays(program) && !holo_isa_is_cooperative(program) ? lane_of(program) : -1;
    if (lane < 0) return holo_call_fail(call, HOLO_BAD_MODEL, "the program does not write an element in each lane");
    HoloChainCode *c = holo_realloc(NULL, sizeof *c);
    if (!c) return holo_fail_memory(call->error);
    *c = (HoloChainCode){.threads = threads, .in_count = program->param_count - 1};
    for (int i = 0; i < program->count; i++)
        if (program->code[i].op == HOLO_ISA_LD && program->code[i].b == lane) c->by_lane[program->code[i].a] = true;
    HoloStatus status = code_init(c, call, program);
    if (status)
        holo_chain_code_destroy(c);
    else
        *out = c;
    return status;
}

void holo_chain_code_destroy(HoloChainCode *c)
{
    if (!c) return;
    for (int i = 0; i < c->frame_count; i++) holo_isa_frame_destroy(c->frames[i]);
    holo_isa_code_destroy(c->code);
    holo_free(c->buffers);
    holo_arena_deinit(&c->arena);
    holo_free(c);
}

// ---- running

static HoloStatus launch(HoloChainCode *c, int worker, const HoloIsaArg *args, int64_t count, HoloError *error)
{
    HoloIsaLaunch lanes = {{(uint32_t)((count - 1) / LANES + 1), 1, 1}, {LANES, 1, 1}, 0};
    return holo_isa_run(c->code, c->frames[worker], NULL, &lanes, args, error);
}

static char *element(const HoloTensor *t, int64_t at)
{
    return (char *)t->data + (size_t)at * holo_dtype_size((HoloDtype)t->dtype);
}

// Elements at <= i < end.
static HoloStatus run_elements(const Run *run, int64_t at, int64_t end, int worker, HoloError *error)
{
    const HoloCall   *call = run->call;
    const HoloTensor *out  = call->out[0];
    HoloChainCode    *c    = run->code;
    HoloStream        stream[HOLO_CHAIN_INPUTS];
    HoloIsaArg        args[HOLO_CHAIN_INPUTS + 1];
    int64_t           most = run->has_spread ? BLOCK : end - at;
    for (int i = 0; i < c->in_count; i++) {
        const HoloTensor *t = call->in[i];
        args[i]             = (HoloIsaArg){.data = t->data, .count = holo_tensor_count(t)};
        if (!run->spreads[i]) continue;
        holo_stream_open(&stream[i], t, HOLO_LANE_OWN, out->rank, out->dim, at);
        stream[i].most = BLOCK;
    }
    for (int64_t n; at < end; at += n) {
        n = holo_least(most, end - at);
        for (int i = 0; i < c->in_count; i++) {
            if (!c->by_lane[i]) continue;
            size_t place  = ((size_t)worker * (size_t)c->in_count + (size_t)i) * BLOCK * sizeof(uint64_t);
            args[i].data  = run->spreads[i] ? (void *)(uintptr_t)holo_stream_next(&stream[i], n, c->buffers + place)
                                            : element(call->in[i], at);
            args[i].count = n;
        }
        args[c->in_count] = (HoloIsaArg){.data = element(out, at), .count = n};
        HOLO_TRY(launch(c, worker, args, n, error));
    }
    return HOLO_OK;
}

static int64_t part_end(const Run *run, int64_t part)
{
    return holo_least((part + 1) * PART, run->count);
}

static void run_part(void *arg, int64_t part, int worker)
{
    Run      *run = arg;
    HoloError ignored;
    int64_t   known = __atomic_load_n(&run->failed, __ATOMIC_RELAXED);
    if (part > known || !run_elements(run, part * PART, part_end(run, part), worker, &ignored)) return;
    while (part < known &&
           !__atomic_compare_exchange_n(&run->failed, &known, part, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

HoloStatus holo_chain_run(HoloCall *call, HoloChainCode *code)
{
    Run run = run_of(call, code);
    if (run.count <= 0) return HOLO_OK;
    HOLO_TRY(make_room(&run));
    if (run.count <= PART) return run_elements(&run, 0, run.count, 0, call->error);
    int64_t parts = (run.count + PART - 1) / PART;
    if (code->threads > 1 && call->host->workers <= code->threads)
        holo_spread(call, parts, (double)run.count, run_part, &run);
    else
        for (int64_t i = 0; i < parts; i++) run_part(&run, i, 0);
    if (run.failed == INT64_MAX) return HOLO_OK; // again for its message
    return run_elements(&run, run.failed * PART, part_end(&run, run.failed), 0, call->error);
}
