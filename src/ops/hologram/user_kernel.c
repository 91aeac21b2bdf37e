// user_kernel.c - the operator Kernel of domain "hologram": a user's portable program that replaces an unknown
// operator. Its attributes are the program for each element type (programs), how many lanes each launches (lanes, "" if
// not given), the lanes of a block (block), the shape rule (shape, "": the shape of the first input), whether results
// may be rounded differently (fused, see user_formula.h), and the source line of each instruction (places, see
// user_places.h; optional). All other attributes are scalars of the program, by name. Chains of pointwise operators of
// a model (chain.h) are also such nodes: their shape rule is "broadcast", the shape that the inputs broadcast to.
//
// Programs are bytes from a file. They are decoded and checked when inferring, and once for all runs when preparing;
// their accesses are bounded when they run.
#include "ops/hologram/user_kernel.h"

#include "isa/isa.h"
#include "isa/isa_number.h"
#include "ops/hologram/chain_run.h"
#include "ops/hologram/user_places.h"
#include "ops/hologram/user_shape.h"
#include "ops/tensor.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 256, LANES_EACH = 1024 };            // lanes of a block; lanes that there may be for each element
static const int64_t turns_most = INT64_C(1) << 28; // of loops: a lane that takes more is stuck

typedef struct Chosen {
    HoloArena      arena;
    HoloIsaProgram program, lanes, shape; // count 0: there is none
    uint32_t       block[3];
    HoloString     places; // of the program
} Chosen;

typedef struct Ready { // a program to be run again and again; all NULL: there is none
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
} Ready;

typedef struct Prepared {
    Chosen         chosen;
    Ready          program, lanes;
    HoloChainCode *chain;   // of one, in place of these
    int            threads; // that there is memory for
} Prepared;

// ---- the program

// Arrays that are only read are the inputs, in their order, the others the outputs.
static bool is_input(const HoloIsaParam *p)
{
    return p->access == HOLO_ISA_IN;
}

static bool fits(const HoloCall *call, const HoloIsaProgram *program, int *out_inputs, int *out_outputs)
{
    int in = 0, out = 0;
    for (int i = 0; i < program->param_count; i++) {
        const HoloIsaParam *p = &program->params[i];
        if (p->access == HOLO_ISA_VALUE) continue;
        if (!is_input(p)) {
            out++;
            continue;
        }
        const HoloTensor *t = holo_in(call, in++);
        if (!t || t->kind != HOLO_TENSOR || t->dtype != p->type) return false;
    }
    *out_inputs  = in;
    *out_outputs = out;
    return in == call->in_count && out == call->out_count;
}

static HoloStatus decode(const HoloCall *call, HoloArena *arena, HoloString bytes, HoloIsaProgram *out)
{
    *out = (HoloIsaProgram){0};
    return bytes.size ? holo_isa_decode(arena, (const uint8_t *)bytes.data, bytes.size, out, call->error) : HOLO_OK;
}

bool holo_user_kernel_is_chain(const HoloCall *call)
{
    return holo_attr_is(call, "shape", "", "broadcast");
}

static HoloStatus choose(const HoloCall *call, Chosen *out)
{
    const HoloAttr *programs = holo_attr_find(call, "programs"), *lanes = holo_attr_find(call, "lanes");
    int64_t         block[3] = {0};
    int             in, outs;
    *out = (Chosen){0};
    if (!programs || programs->kind != HOLO_ATTR_STRINGS || !lanes || lanes->kind != HOLO_ATTR_STRINGS ||
        lanes->count != programs->count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the programs are missing");
    if (holo_attr_ints(call, "block", block, 3) > 3)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a block has three sizes");
    for (int i = 0; i < 3; i++) out->block[i] = block[i] > 0 && block[i] <= HOLO_ISA_MAX_BLOCK ? (uint32_t)block[i] : 0;
    for (int i = 0; i < programs->count; i++) {
        HOLO_TRY(decode(call, &out->arena, programs->strings[i], &out->program));
        if (!fits(call, &out->program, &in, &outs)) continue;
        HOLO_TRY(decode(call, &out->arena, lanes->strings[i], &out->lanes));
        const HoloAttr *places = holo_attr_find(call, "places");
        if (places && places->kind == HOLO_ATTR_STRINGS && i < places->count) out->places = places->strings[i];
        if (holo_user_kernel_is_chain(call)) return HOLO_OK;
        return decode(call, &out->arena, holo_attr_string(call, "shape", ""), &out->shape);
    }
    return holo_call_fail(call, HOLO_BAD_MODEL,
                          "no kernel takes inputs of these types: its arrays that are read are the "
                          "inputs, those that are written the outputs");
}

HoloStatus holo_user_kernel_print(const HoloCall *call, HoloArena *arena, const char **out_text)
{
    Chosen     c;
    HoloStatus status = choose(call, &c);
    *out_text         = status ? NULL : holo_isa_print(arena, &c.program, NULL);
    holo_arena_deinit(&c.arena);
    return status || *out_text ? status : holo_fail_memory(call->error);
}

// ---- numbers

// x_0: the first size of the array x. False: no such.
static bool size_named(const HoloCall *call, const HoloIsaProgram *program, const char *name, HoloDim *out)
{
    size_t size = strlen(name);
    int    in = 0, outs = 0;
    for (int i = 0; size > 2 && i < program->param_count; i++) {
        const HoloIsaParam *array = &program->params[i];
        if (array->access == HOLO_ISA_VALUE) continue;
        const HoloTensor *t   = is_input(array) ? holo_in(call, in++) : holo_out(call, outs++);
        int               dim = name[size - 1] - '0';
        if (!t || strlen(array->name) != size - 2 || strncmp(array->name, name, size - 2) || name[size - 2] != '_')
            continue;
        if (dim < 0 || dim >= t->rank) return false;
        return *out = t->dim[dim], true;
    }
    return false;
}

// A scalar: an attribute; n, the elements of the first output; or a size.
static HoloStatus scalar(const HoloCall *call, const HoloIsaProgram *program, const HoloIsaParam *p, uint64_t *out)
{
    const HoloAttr *attr = holo_attr_find(call, p->name);
    HoloDim         size;
    if (attr && attr->kind == HOLO_ATTR_INT) return *out = holo_isa_bits_of_int(p->type, attr->i), HOLO_OK;
    if (attr && attr->kind == HOLO_ATTR_FLOAT) return *out = holo_isa_bits_of_float(p->type, attr->f), HOLO_OK;
    const HoloTensor *first = holo_out(call, 0);
    if (!strcmp(p->name, "n") && first) return *out = holo_isa_bits_of_int(p->type, holo_tensor_count(first)), HOLO_OK;
    if (size_named(call, program, p->name, &size)) return *out = holo_isa_bits_of_int(p->type, size), HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL,
                          "the kernel's number '%s' is neither an attribute of the node, nor n, nor a size such as x_0",
                          p->name);
}

static int64_t elements(const HoloCall *call)
{
    int64_t all = 1;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i]) all += holo_tensor_count(call->in[i]);
    for (int i = 0; i < call->out_count; i++)
        if (call->out[i]) all += holo_tensor_count(call->out[i]);
    return all;
}

static HoloStatus count_lanes(const HoloCall *call, const Prepared *ready, int64_t *out)
{
    HoloIsaArg            args[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch         once                      = {{1, 1, 1}, {1, 1, 1}, turns_most};
    const HoloIsaProgram *p                         = &ready->chosen.lanes;
    *out                                            = call->out[0] ? holo_tensor_count(call->out[0]) : 0;
    if (!p->count) return HOLO_OK;
    for (int i = 0; i + 1 < p->param_count; i++) {
        if (p->params[i].access != HOLO_ISA_VALUE)
            return holo_call_fail(call, HOLO_BAD_MODEL, "the number of lanes does not follow from numbers");
        HOLO_TRY(scalar(call, &ready->chosen.program, &p->params[i], &args[i].bits));
    }
    if (!p->param_count || p->params[p->param_count - 1].type != HOLO_I64)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the program of the lanes has nowhere to write them");
    args[p->param_count - 1] = (HoloIsaArg){.data = out, .count = 1};
    HOLO_TRY(holo_isa_run(ready->lanes.code, ready->lanes.frame, NULL, &once, args, call->error));
    if (*out > LANES_EACH * elements(call))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld lanes are too many", (long long)*out);
    return HOLO_OK;
}

// ---- infer

// The shape rule sees the sizes of each array, by its name, and writes those of outputs; what it leaves -1 is no
// dimension.

enum { NO_OUTPUT = -1 };

static HoloStatus array_of_rule(const HoloCall *call, const Chosen *c, const HoloIsaParam *p, HoloShapeArg *arg,
                                int *out_output)
{
    int in = 0, out = 0;
    for (int k = 0; k < c->program.param_count; k++) {
        const HoloIsaParam *array = &c->program.params[k];
        if (array->access == HOLO_ISA_VALUE) continue;
        int number = is_input(array) ? in++ : out++;
        if (strcmp(array->name, p->name) || p->type != HOLO_I64) continue;
        *out_output = is_input(array) ? NO_OUTPUT : number;
        arg->count  = is_input(array) ? call->in[number]->rank : HOLO_MAX_RANK;
        for (int d = 0; d < HOLO_MAX_RANK; d++)
            arg->dim[d] = is_input(array) && d < arg->count ? call->in[number]->dim[d] : HOLO_SHAPE_NONE;
        return HOLO_OK;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL,
                          "'%s' of the shape rule must be an array of the kernel, declared as DeviceArray[i64]",
                          p->name);
}

static HoloStatus number_of_rule(const HoloCall *call, const Chosen *c, const HoloIsaParam *p, HoloShapeArg *arg)
{
    HoloDim size;
    arg->is_open =
        !holo_attr_find(call, p->name) && size_named(call, &c->program, p->name, &size) && holo_dim_is_symbolic(size);
    if (!arg->is_open) return scalar(call, &c->program, p, &arg->bits);
    arg->dim[0] = p->type == HOLO_I64 ? size : HOLO_DIM_UNKNOWN;
    return HOLO_OK;
}

static HoloStatus run_rule(const HoloCall *call, const Chosen *c, HoloShapeArg *rule)
{
    HoloIsaArg    args[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch once                      = {{1, 1, 1}, {1, 1, 1}, turns_most};
    for (int i = 0; i < c->shape.param_count; i++)
        args[i] = (HoloIsaArg){.data = rule[i].dim, .count = rule[i].count, .bits = rule[i].bits};
    return holo_isa_reference(&c->shape, &once, args, call->error);
}

// Sizes that are symbols: as far as the rule is arithmetic on them, its results are, too. *out_known: it can be
// followed.
static HoloStatus follow_rule(const HoloCall *call, const Chosen *c, HoloShapeArg *rule, bool *out_known)
{
    bool fits;
    *out_known = holo_shape_follow(&c->shape, call->dims, rule, &fits);
    return fits ? HOLO_OK : holo_fail_memory(call->error);
}

static bool sizes_known(const HoloCall *call)
{
    for (int i = 0; i < call->in_count; i++)
        for (int d = 0; call->in[i] && d < call->in[i]->rank; d++)
            if (call->in[i]->dim[d] < 0) return false;
    return true;
}

// The sizes of each output; rank -1: not known.
static HoloStatus output_sizes(const HoloCall *call, const Chosen *c, HoloDim (*sizes)[HOLO_MAX_RANK], int *ranks)
{
    HoloShapeArg rule[HOLO_ISA_MAX_PARAMS] = {0};
    int          output[HOLO_ISA_MAX_PARAMS];
    bool         is_followed = true;
    for (int i = 0; i < c->shape.param_count; i++) {
        const HoloIsaParam *p = &c->shape.params[i];
        output[i]             = NO_OUTPUT;
        HOLO_TRY(p->access == HOLO_ISA_VALUE ? number_of_rule(call, c, p, &rule[i])
                                             : array_of_rule(call, c, p, &rule[i], &output[i]));
    }
    HOLO_TRY(sizes_known(call) ? run_rule(call, c, rule) : follow_rule(call, c, rule, &is_followed));
    for (int i = 0; i < c->shape.param_count; i++) {
        if (output[i] == NO_OUTPUT) continue;
        const HoloDim *dim  = rule[i].dim;
        int            rank = 0;
        while (rank < HOLO_MAX_RANK && (dim[rank] >= 0 || holo_dim_is_symbolic(dim[rank]))) rank++;
        bool is_sure     = is_followed && (rank == HOLO_MAX_RANK || dim[rank] != HOLO_SHAPE_PERHAPS);
        ranks[output[i]] = is_sure ? rank : -1;
        memcpy(sizes[output[i]], dim, sizeof rule[i].dim);
    }
    return HOLO_OK;
}

static HoloStatus infer_chosen(HoloCall *call, const Chosen *c)
{
    HoloDim  sizes[HOLO_ISA_MAX_PARAMS][HOLO_MAX_RANK];
    int      ranks[HOLO_ISA_MAX_PARAMS] = {0}, number = 0;
    uint64_t bits;
    bool     known = true;
    if (c->shape.count) HOLO_TRY(output_sizes(call, c, sizes, ranks));
    for (int i = 0; i < c->program.param_count; i++) {
        const HoloIsaParam *p = &c->program.params[i];
        if (p->access == HOLO_ISA_VALUE || is_input(p)) continue;
        int out = number++;
        known   = known && ranks[out] >= 0;
        HOLO_TRY(c->shape.count ? holo_out_type(call, out, (HoloDtype)p->type, ranks[out], sizes[out])
                                : holo_out_shape_like(call, out, (HoloDtype)p->type, call->in[0]));
    }
    for (int i = 0; known && i < c->program.param_count; i++) // every number must be there
        if (c->program.params[i].access == HOLO_ISA_VALUE)
            HOLO_TRY(scalar(call, &c->program, &c->program.params[i], &bits));
    return HOLO_OK;
}

static HoloStatus infer_chain(HoloCall *call, const HoloIsaProgram *program)
{
    HoloDim dim[HOLO_MAX_RANK];
    int     rank;
    if (call->out_count != 1 || !call->out[0]) return holo_call_fail(call, HOLO_BAD_MODEL, "a chain has one output");
    HOLO_TRY(holo_broadcast(call, 0, call->in_count, &rank, dim));
    return holo_out_type(call, 0, (HoloDtype)program->params[program->param_count - 1].type, rank, dim);
}

static HoloStatus infer(HoloCall *call)
{
    Chosen     c;
    HoloStatus status = choose(call, &c);
    if (!status) status = holo_user_kernel_is_chain(call) ? infer_chain(call, &c.program) : infer_chosen(call, &c);
    holo_arena_deinit(&c.arena);
    return status;
}

// ---- prepare

static HoloStatus make_ready(const HoloCall *call, const HoloIsaProgram *program, int threads, Ready *out)
{
    if (!program->count) return HOLO_OK;
    HOLO_TRY(holo_isa_code_create(program, &out->code, call->error));
    return holo_isa_frame_create(out->code, threads, &out->frame, call->error);
}

static void release(const void *prepared)
{
    Prepared   *p     = (Prepared *)(uintptr_t)prepared;
    const Ready all[] = {p->program, p->lanes};
    for (int i = 0; i < HOLO_COUNT(all); i++) {
        holo_isa_frame_destroy(all[i].frame);
        holo_isa_code_destroy(all[i].code);
    }
    holo_chain_code_destroy(p->chain);
    holo_arena_deinit(&p->chosen.arena);
}

static HoloStatus make_all(const HoloCall *call, Prepared *p)
{
    if (holo_user_kernel_is_chain(call)) return holo_chain_code_create(call, &p->chosen.program, p->threads, &p->chain);
    HOLO_TRY(make_ready(call, &p->chosen.program, p->threads, &p->program));
    return make_ready(call, &p->chosen.lanes, 1, &p->lanes);
}

static HoloStatus prepare(HoloCall *call, const void **out)
{
    void *memory;
    HOLO_TRY(holo_call_hold(call, 1, sizeof(Prepared), &memory));
    Prepared  *p      = memory;
    HoloStatus status = choose(call, &p->chosen);
    p->threads        = call->host->parallel && call->host->workers > 1 ? call->host->workers : 1;
    if (!status) status = make_all(call, p);
    if (status)
        release(p);
    else
        *out = p;
    return status;
}

// ---- eval

static void team_run(void *team, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    const HoloHost *host = team;
    host->parallel(host, count, work, arg);
}

// What ended a run, with the line of the source that it comes from, if that is known.
static HoloStatus fail_with_place(const HoloCall *call, const Prepared *ready, HoloStatus status,
                                  const HoloError *problem)
{
    HoloUserPlace place;
    if (!holo_user_places_find(ready->chosen.places, holo_isa_frame_failed(ready->program.frame), &place))
        return holo_fail(call->error, status, "%s", problem->text);
    return holo_fail(call->error, status, "%.200s:%u: %s", place.file, place.line, problem->text);
}

static HoloStatus eval(HoloCall *call)
{
    const Prepared *ready                     = call->prepared;
    const Chosen   *c                         = &ready->chosen;
    HoloIsaArg      args[HOLO_ISA_MAX_PARAMS] = {0};
    if (ready->chain) return holo_chain_run(call, ready->chain);
    int           in = 0, out  = 0;
    int64_t       lanes, block = 1;
    HoloIsaLaunch launch = {{0, 1, 1}, {BLOCK, 1, 1}, turns_most};
    HoloIsaTeam   team   = {team_run, (void *)(uintptr_t)call->host, ready->threads};
    for (int i = 0; i < c->program.param_count; i++) {
        const HoloIsaParam *p = &c->program.params[i];
        if (p->access == HOLO_ISA_VALUE) {
            HOLO_TRY(scalar(call, &c->program, p, &args[i].bits));
            continue;
        }
        const HoloTensor *t = is_input(p) ? holo_in(call, in++) : holo_out(call, out++);
        if (!t) return holo_call_fail(call, HOLO_UNSUPPORTED, "all outputs of a kernel must be used");
        args[i] = (HoloIsaArg){.data = t->data, .count = holo_tensor_count(t)};
        if (!is_input(p) && args[i].count > 0) memset(t->data, 0, holo_tensor_bytes(t));
    }
    HOLO_TRY(count_lanes(call, ready, &lanes));
    for (int i = 0; i < 3; i++) {
        if (c->block[i]) launch.block[i] = c->block[i];
        block *= launch.block[i];
    }
    if (lanes <= 0) return HOLO_OK;
    if ((lanes - 1) / block >= UINT32_MAX)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld lanes are too many", (long long)lanes);
    launch.grid[0] = (uint32_t)((lanes - 1) / block + 1);
    holo_isa_frame_set_stop(ready->program.frame, call->host->stop);
    HoloError  problem = {0};
    HoloStatus status  = holo_isa_run(ready->program.code, ready->program.frame, &team, &launch, args, &problem);
    return status ? fail_with_place(call, ready, status, &problem) : HOLO_OK;
}

const HoloOp holo_ops_user_kernel[] = {
    {.name    = "Kernel",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = -1,
     .types   = HOLO_TYPES_NUMBER | HOLO_BIT(BOOL),
     .infer   = infer,
     .eval    = eval,
     .prepare = prepare,
     .release = release},
    {0},
};
