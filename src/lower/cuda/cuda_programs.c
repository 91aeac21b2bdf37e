// cuda_programs.c - which nodes run by a portable program, and the program of each.
#include "graph/facts.h"
#include "isa/isa_pointwise.h"
#include "lower/cuda/cuda_target.h"
#include "lower/cuda/ptx.h"
#include "ops/hologram/chain.h"
#include "ops/hologram/formula.h"
#include "ops/hologram/program.h"
#include "ops/op_id.h"

#include <string.h>

typedef struct Types { // of a node, as a call
    HoloCall          call;
    const HoloTensor *in[HOLO_CHAIN_OPERANDS];
    HoloTensor       *out[1];
    HoloTensor        kept[HOLO_CHAIN_OPERANDS]; // with the contents of constants
} Types;

static bool types_of(const HoloNode *node, Types *t)
{
    if (node->in_count > HOLO_CHAIN_OPERANDS || node->out_count < 1 || !node->out[0]) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *v = holo_cuda_origin(node->in[i]);
        if (v) t->kept[i] = v->type;
        t->in[i] = v ? &t->kept[i] : NULL;
    }
    t->out[0]         = &node->out[0]->type;
    t->call           = holo_node_call(node);
    t->call.in        = t->in;
    t->call.in_count  = node->in_count;
    t->call.out       = t->out;
    t->call.out_count = 1;
    return true;
}

static bool is_sized(const HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !holo_value_is_sized(node->in[i])) return false;
    return node->out_count && node->out[0] && holo_value_is_sized(node->out[0]);
}

// ---- programs of f32

static bool formula_of(const HoloNode *node, HoloProgram *out)
{
    Types t = {0};
    if (node->in_count > HOLO_MAP_INPUTS || !types_of(node, &t)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (t.in[i] && t.in[i]->dtype != HOLO_F32) return false;
    if (t.out[0]->dtype != HOLO_F32) return false;
    if (HOLO_IS(node, HOLOGRAM_Pointwise)) return !holo_program_read(&t.call, out);
    return holo_formula(&t.call, out);
}

static HoloStatus short_program(const HoloNode *node, const HoloProgram *program, bool is_tail, HoloArena *arena,
                                HoloIsaProgram *out, HoloError *error)
{
    HoloIsaPointwise of = {.program = program, .out = &node->out[0]->type, .over_output = is_tail};
    if (!holo_program_is_valid(program, &of.inputs))
        return holo_fail(error, HOLO_BAD_MODEL, "node %s: the pointwise program is not valid", node->name);
    for (int i = is_tail; i < HOLO_MAP_INPUTS; i++) {
        const HoloValue *in = holo_node_in(node, is_tail ? 2 + i : i);
        of.in[i]            = in ? &in->type : NULL;
    }
    return holo_isa_pointwise(arena, is_tail ? "tail" : "pointwise", &of, out, error);
}

// ---- programs of any types

// An operator by itself is a chain of one part.
static bool chain_of(const HoloNode *node, Types *t, HoloChain *out)
{
    if (!(node->op->flags & HOLO_OP_POINTWISE) || !types_of(node, t) || !holo_chain_has(&t->call)) return false;
    *out              = (HoloChain){.count = 1, .broadcasts = true};
    out->part[0].call = t->call;
    for (int i = 0; i < node->in_count; i++) {
        if (!t->in[i]) continue;
        out->part[0].operand[i] = ~i;
        out->in[i]              = t->in[i];
        t->kept[i].data         = NULL; // not a number in the program: the operand stays
        out->in_count           = i + 1;
    }
    return true;
}

static HoloStatus program_of(const HoloNode *node, HoloArena *arena, HoloIsaProgram *out, HoloError *error)
{
    HoloProgram program;
    Types       t = {0};
    HoloChain   chain;
    HoloString  bytes;
    if (formula_of(node, &program)) return short_program(node, &program, false, arena, out, error);
    if (!chain_of(node, &t, &chain)) return holo_fail(error, HOLO_UNSUPPORTED, "node %s has no program", node->name);
    HOLO_TRY(holo_chain_program(arena, &chain, &bytes, error));
    return holo_isa_decode(arena, (const uint8_t *)bytes.data, bytes.size, out, error);
}

bool holo_cuda_has_program(const HoloNode *node)
{
    HoloArena      arena   = {0};
    HoloError      ignored = {0};
    HoloIsaProgram program;
    bool           ok = node->op->flags & HOLO_OP_POINTWISE && is_sized(node);
    ok                = ok && !program_of(node, &arena, &program, &ignored) && !holo_ptx_lacks(&program) &&
         program.param_count <= HOLO_CUDA_PLACES;
    holo_arena_deinit(&arena);
    return ok;
}

HoloStatus holo_cuda_node_program(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena, HoloBytes *out,
                                  HoloError *error)
{
    HoloIsaProgram     portable;
    HoloProgram        tail;
    HoloCudaStepParams params  = holo_cuda_params(lowering);
    HoloCall           call    = holo_node_call(node);
    bool               is_tail = params.flags & HOLO_CUDA_FLAG_TAIL;
    *out                       = (HoloBytes){0};
    if (HOLO_IS(node, HOLOGRAM_Transfer) || (lowering->kernel != HOLO_CUDA_STEP_PROGRAM && !is_tail)) return HOLO_OK;
    if (is_tail) {
        HOLO_TRY(holo_program_read(&call, &tail));
        HOLO_TRY(short_program(node, &tail, true, arena, &portable, error));
    } else {
        HOLO_TRY(program_of(node, arena, &portable, error));
    }
    return holo_isa_encode(arena, &portable, &out->data, &out->size, error);
}
