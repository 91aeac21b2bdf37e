// isa_reference.c - the plain interpreter: runs lanes one after the other, each up to where the lanes of its block must
// come together. Its purpose is to be right: the fast one is judged by it.
#include "format/dtype.h"
#include "isa/isa_launch.h"
#include "isa/isa_number.h"
#include "isa/isa_scalar.h"

#include <stdio.h>
#include <string.h>

typedef struct Lane {
    uint64_t *registers;
    uint8_t  *local;
    int32_t   at; // the next instruction
    int64_t   turns;
    bool      is_done;
    uint32_t  place[3]; // in the block
} Lane;

typedef struct Machine {
    const HoloIsaProgram *p;
    const HoloIsaLaunch  *launch;
    const HoloIsaArg     *args;
    HoloError            *error;
    int32_t              *targets;
    uint8_t              *shared;
    uint32_t              block[3];
    size_t                shared_at[HOLO_ISA_MAX_ARRAYS], shared_size, local_at[HOLO_ISA_MAX_ARRAYS], local_size;
} Machine;

// ---- checks of a launch

HoloStatus holo_isa_launch_check(const HoloIsaParam *params, int count, const char *name, bool is_cooperative,
                                 const HoloIsaLaunch *launch, const HoloIsaArg *args, HoloError *error)
{
    int64_t block = 1, lanes;
    bool    fits  = true;
    for (int i = 0; i < 3; i++) fits = fits && holo_mul(block, launch->block[i], &block);
    lanes = block;
    for (int i = 0; i < 3; i++) fits = fits && holo_mul(lanes, launch->grid[i], &lanes);
    if (!fits || lanes > INT64_C(1) << 40)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: a launch has more than 2^40 lanes", name);
    for (int i = 0; i < 3; i++)
        if ((int64_t)launch->block[i] * launch->grid[i] > INT32_MAX)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: a launch has more than 2^31 - 1 lanes in a row",
                             name);
    if (is_cooperative && block > HOLO_ISA_MAX_BLOCK)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "program %s: its lanes work together, so a block has at most %d lanes", name,
                         HOLO_ISA_MAX_BLOCK);
    for (int i = 0; i < count; i++) {
        const HoloIsaParam *p    = &params[i];
        size_t              size = holo_dtype_size((HoloDtype)p->type);
        if (p->access == HOLO_ISA_VALUE ? holo_isa_narrow((HoloDtype)p->type, args[i].bits) != args[i].bits
                                        : args[i].count < 0 || (args[i].count && !args[i].data) ||
                                              args[i].count > INT64_MAX / 16 || (uintptr_t)args[i].data % size)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: argument %s does not fit its parameter", name,
                             p->name);
    }
    return HOLO_OK;
}

// ---- memory

const char *holo_isa_array_name(const HoloIsaParam *params, const HoloIsaArray *shared, const HoloIsaArray *local,
                                const HoloIsaInst *inst)
{
    switch (holo_isa_op(inst->op)->kind[1]) {
    case HOLO_ISA_KIND_G: return params[inst->a].name;
    case HOLO_ISA_KIND_M: return shared[inst->a].name;
    default: return local[inst->a].name;
    }
}

const char *holo_isa_outside(const char *array, HoloDtype type, uint64_t index, int64_t count,
                             char text[HOLO_ISA_OUTSIDE_TEXT])
{
    bool        is_negative = HOLO_TYPES_INT >> type & 1 && holo_isa_to_i64(type, index) < 0;
    uint64_t    size        = is_negative ? 0 - (uint64_t)holo_isa_to_i64(type, index) : index;
    const char *end         = count == 1 ? "" : "s";
    snprintf(text, HOLO_ISA_OUTSIDE_TEXT, "an index is out of range: %s[%s%llu], which has %lld element%s", array,
             is_negative ? "-" : "", (unsigned long long)size, (long long)count, end);
    return text;
}

static uint64_t read_element(HoloDtype type, const uint8_t *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, holo_dtype_size(type)); // everything is little-endian
    return holo_isa_narrow(type, bits);
}

static void write_element(HoloDtype type, uint8_t *at, uint64_t bits)
{
    memcpy(at, &bits, holo_dtype_size(type));
}

static HoloStatus fault(Machine *m, const Lane *lane, const char *what)
{
    const HoloIsaInst *inst = &m->p->code[lane->at];
    return holo_fail(m->error, HOLO_BAD_INPUT, "program %s, instruction %d (%s), block %u,%u,%u, lane %u,%u,%u: %s",
                     m->p->name, (int)lane->at, holo_isa_op(inst->op)->text, m->block[0], m->block[1], m->block[2],
                     lane->place[0], lane->place[1], lane->place[2], what);
}

// The element that a memory instruction accesses.
static HoloStatus element(Machine *m, const Lane *lane, const HoloIsaInst *inst, uint8_t **out)
{
    HoloDtype type  = (HoloDtype)m->p->registers[inst->b];
    int64_t   index = holo_isa_to_i64(type, lane->registers[inst->b]), count;
    uint8_t  *data;
    switch (holo_isa_op(inst->op)->kind[1]) {
    case HOLO_ISA_KIND_G: data = m->args[inst->a].data, count = m->args[inst->a].count; break;
    case HOLO_ISA_KIND_M: data = m->shared + m->shared_at[inst->a], count = m->p->shared[inst->a].count; break;
    default: data = lane->local + m->local_at[inst->a], count = m->p->local[inst->a].count; break;
    }
    if (index < 0 || index >= count) {
        char text[HOLO_ISA_OUTSIDE_TEXT];
        return fault(m, lane,
                     holo_isa_outside(holo_isa_array_name(m->p->params, m->p->shared, m->p->local, inst), type,
                                      lane->registers[inst->b], count, text));
    }
    *out = data + (size_t)index * holo_dtype_size((HoloDtype)inst->type);
    return HOLO_OK;
}

static HoloStatus memory(Machine *m, Lane *lane, const HoloIsaInst *inst)
{
    HoloDtype type = (HoloDtype)inst->type;
    uint8_t  *at   = NULL;
    HOLO_TRY(element(m, lane, inst, &at));
    uint64_t c = lane->registers[inst->c], d = lane->registers[inst->d], old;
    switch (inst->op) {
    case HOLO_ISA_LD:
    case HOLO_ISA_LDS:
    case HOLO_ISA_LDL: lane->registers[inst->dst] = read_element(type, at); break;
    case HOLO_ISA_ST:
    case HOLO_ISA_STS:
    case HOLO_ISA_STL: write_element(type, at, c); break;
    case HOLO_ISA_CAS:
    case HOLO_ISA_CASS:
        old = read_element(type, at);
        if (old == c) write_element(type, at, d);
        lane->registers[inst->dst] = old;
        break;
    default: // ATOM, ATOMS
        old = read_element(type, at);
        write_element(type, at, holo_isa_combine((HoloIsaOper)inst->how, type, old, c));
        lane->registers[inst->dst] = old;
        break;
    }
    return HOLO_OK;
}

// ---- one lane

static uint64_t special(const Machine *m, const Lane *lane, int which)
{
    const uint32_t *block = m->launch->block, *grid = m->launch->grid, *l = lane->place, *b = m->block;
    uint64_t        global[3], dim[3];
    for (int i = 0; i < 3; i++) {
        global[i] = (uint64_t)b[i] * block[i] + l[i];
        dim[i]    = (uint64_t)grid[i] * block[i];
    }
    if (which == HOLO_ISA_SPECIAL_GLOBAL_ID) return (global[2] * dim[1] + global[1]) * dim[0] + global[0];
    if (which == HOLO_ISA_SPECIAL_LANE_ID) return ((uint64_t)l[2] * block[1] + l[1]) * block[0] + l[0];
    const uint64_t all[] = {l[0],    l[1],    l[2],    b[0],      b[1],      b[2],      block[0], block[1], block[2],
                            grid[0], grid[1], grid[2], global[0], global[1], global[2], dim[0],   dim[1],   dim[2]};
    return all[which];
}

static HoloStatus value(Machine *m, Lane *lane, const HoloIsaInst *inst)
{
    uint64_t *r = lane->registers, *dst = &r[inst->dst];
    HoloDtype type = (HoloDtype)inst->type;
    switch (inst->op) {
    case HOLO_ISA_CONST: *dst = inst->bits; return HOLO_OK;
    case HOLO_ISA_PARAM: *dst = m->args[inst->a].bits; return HOLO_OK;
    case HOLO_ISA_SPECIAL: *dst = holo_isa_narrow(type, special(m, lane, inst->how)); return HOLO_OK;
    case HOLO_ISA_LENGTH: *dst = holo_isa_narrow(type, (uint64_t)m->args[inst->a].count); return HOLO_OK;
    default:
        return holo_isa_scalar(inst, r[inst->a], r[inst->b], r[inst->c], dst) ? HOLO_OK
                                                                              : fault(m, lane, "a division by zero");
    }
}

// The instruction after a branch, taken or not.
static HoloStatus control(Machine *m, Lane *lane, const HoloIsaInst *inst)
{
    bool    has_p = holo_isa_op(inst->op)->kind[1] == HOLO_ISA_KIND_P, p = !has_p || lane->registers[inst->a];
    int32_t to = m->targets[lane->at];
    switch (inst->op) {
    case HOLO_ISA_IF: lane->at = p ? lane->at + 1 : to + 1; return HOLO_OK;
    case HOLO_ISA_ELSE: lane->at = to + 1; return HOLO_OK;
    case HOLO_ISA_BREAK:
    case HOLO_ISA_BREAKIF: lane->at = p ? to + 1 : lane->at + 1; return HOLO_OK;
    case HOLO_ISA_NEXT:
    case HOLO_ISA_NEXTIF: lane->at = p ? to : lane->at + 1; return HOLO_OK;
    case HOLO_ISA_EXIT: lane->is_done = true; return HOLO_OK;
    case HOLO_ISA_END:
        if (to != lane->at) { // a turn of a loop has ended
            if (m->launch->turns && ++lane->turns > m->launch->turns)
                return fault(m, lane, "loops take too many turns");
            lane->at = to;
        }
        lane->at++;
        return HOLO_OK;
    default: lane->at++; return HOLO_OK; // LOOP
    }
}

static bool is_together(unsigned op)
{
    return op == HOLO_ISA_BARRIER || op == HOLO_ISA_REDUCE || op == HOLO_ISA_SCAN;
}

// Runs to the end, or to where the lanes of a block come together.
static HoloStatus run(Machine *m, Lane *lane)
{
    while (!lane->is_done && lane->at < m->p->count) {
        const HoloIsaInst *inst = &m->p->code[lane->at];
        if (is_together(inst->op)) return HOLO_OK;
        if (inst->op >= HOLO_ISA_IF && inst->op <= HOLO_ISA_EXIT) {
            HOLO_TRY(control(m, lane, inst));
            continue;
        }
        HOLO_TRY(holo_isa_op(inst->op)->kind[2] == HOLO_ISA_KIND_X ? memory(m, lane, inst) : value(m, lane, inst));
        lane->at++;
    }
    lane->is_done = true;
    return HOLO_OK;
}

// ---- a block

static void reduce(Lane *lanes, int64_t count, const HoloIsaInst *inst)
{
    HoloIsaOper oper = (HoloIsaOper)inst->how;
    HoloDtype   type = (HoloDtype)inst->type;
    uint64_t    sum[16];
    int64_t     sums = count < 16 ? count : 16;
    for (int64_t i = 0; i < count; i++) {
        uint64_t a  = lanes[i].registers[inst->a];
        sum[i % 16] = i < 16 ? a : holo_isa_combine(oper, type, sum[i % 16], a);
    }
    for (int64_t half = 8; half; half /= 2)
        for (int64_t i = 0; i < half && i + half < sums; i++)
            sum[i] = holo_isa_combine(oper, type, sum[i], sum[i + half]);
    for (int64_t i = 0; i < count; i++) lanes[i].registers[inst->dst] = sum[0];
}

static void scan(Lane *lanes, int64_t count, const HoloIsaInst *inst)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t a                    = lanes[i].registers[inst->a];
        sum                           = i ? holo_isa_combine((HoloIsaOper)inst->how, (HoloDtype)inst->type, sum, a) : a;
        lanes[i].registers[inst->dst] = sum;
    }
}

static HoloStatus run_block(Machine *m, Lane *lanes, int64_t count)
{
    if (m->shared_size) memset(m->shared, 0, m->shared_size);
    for (;;) {
        for (int64_t i = 0; i < count; i++) HOLO_TRY(run(m, &lanes[i]));
        for (int64_t i = 1; i < count; i++)
            if (lanes[i].is_done != lanes[0].is_done || (!lanes[i].is_done && lanes[i].at != lanes[0].at))
                return fault(m, &lanes[0],
                             "not all lanes of the block get here: a value that they share was written meanwhile");
        if (lanes[0].is_done) return HOLO_OK;
        const HoloIsaInst *inst = &m->p->code[lanes[0].at];
        if (inst->op == HOLO_ISA_REDUCE) reduce(lanes, count, inst);
        if (inst->op == HOLO_ISA_SCAN) scan(lanes, count, inst);
        for (int64_t i = 0; i < count; i++) lanes[i].at++;
    }
}

static size_t layout(const HoloIsaArray *arrays, int count, size_t *at)
{
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        at[i] = size;
        size += holo_align(arrays[i].count * holo_dtype_size((HoloDtype)arrays[i].type), 64);
    }
    return size;
}

static void lane_begin(const Machine *m, Lane *lane)
{
    lane->at = 0, lane->turns = 0, lane->is_done = false;
    if (m->local_size) memset(lane->local, 0, m->local_size);
}

// Block after block.
static HoloStatus run_blocks(Machine *m, Lane *lanes, int64_t count)
{
    const uint32_t *size = m->launch->block, *grid = m->launch->grid;
    for (int64_t b = 0; b < (int64_t)grid[0] * grid[1] * grid[2]; b++) {
        m->block[0] = (uint32_t)(b % grid[0]);
        m->block[1] = (uint32_t)(b / grid[0] % grid[1]);
        m->block[2] = (uint32_t)(b / grid[0] / grid[1]);
        for (int64_t i = 0; i < count; i++) {
            lanes[i].place[0] = (uint32_t)(i % size[0]);
            lanes[i].place[1] = (uint32_t)(i / size[0] % size[1]);
            lanes[i].place[2] = (uint32_t)(i / size[0] / size[1]);
            lane_begin(m, &lanes[i]);
        }
        HOLO_TRY(run_block(m, lanes, count));
    }
    return HOLO_OK;
}

// Lanes that are independent run in the order of their numbers, each in the memory of the one before.
static HoloStatus run_lanes(Machine *m, Lane *lane, int64_t count)
{
    const uint32_t *size = m->launch->block, *grid = m->launch->grid;
    int64_t         x = (int64_t)size[0] * grid[0], y = (int64_t)size[1] * grid[1];
    for (int64_t i = 0; i < count; i++) {
        int64_t global[3] = {i % x, i / x % y, i / x / y};
        for (int k = 0; k < 3; k++) {
            m->block[k]    = (uint32_t)(global[k] / size[k]);
            lane->place[k] = (uint32_t)(global[k] % size[k]);
        }
        lane_begin(m, lane);
        HOLO_TRY(run(m, lane));
    }
    return HOLO_OK;
}

HoloStatus holo_isa_reference(const HoloIsaProgram *program, const HoloIsaLaunch *launch, const HoloIsaArg *args,
                              HoloError *error)
{
    bool is_cooperative = holo_isa_is_cooperative(program);
    HOLO_TRY(holo_isa_launch_check(program->params, program->param_count, program->name, is_cooperative, launch, args,
                                   error));
    Machine m     = {.p = program, .launch = launch, .args = args, .error = error};
    int64_t block = (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
    int64_t count = is_cooperative ? block : 1;
    if (!block) return HOLO_OK;
    m.shared_size     = layout(program->shared, program->shared_count, m.shared_at);
    m.local_size      = layout(program->local, program->local_count, m.local_at);
    HoloArena arena   = {0};
    m.targets         = HOLO_NEW(&arena, int32_t, program->count + 1);
    m.shared          = HOLO_NEW(&arena, uint8_t, m.shared_size + 1);
    Lane      *lanes  = HOLO_NEW(&arena, Lane, count);
    size_t     words  = (size_t)program->register_count + 1;
    uint64_t  *all    = HOLO_NEW(&arena, uint64_t, words * (size_t)count);
    uint8_t   *local  = HOLO_NEW(&arena, uint8_t, m.local_size * (size_t)count + 1);
    HoloStatus status = m.targets && m.shared && lanes && all && local ? HOLO_OK : holo_fail_memory(error);
    if (!status) {
        holo_isa_targets(program, m.targets);
        for (int64_t i = 0; i < count; i++)
            lanes[i].registers = all + words * (size_t)i, lanes[i].local = local + m.local_size * (size_t)i;
        status = is_cooperative ? run_blocks(&m, lanes, block)
                                : run_lanes(&m, lanes, block * launch->grid[0] * launch->grid[1] * launch->grid[2]);
    }
    holo_arena_deinit(&arena);
    return status;
}
