// isa_random.c - programs grown statement by statement from a seed.
//
// No races: arrays that are read are not written; a lane writes only elements of its own; shared memory is read between
// two barriers behind the one where it was written; atomics of an array are all of one operation, and commute, or stand
// alone.
#include "support/isa_random.h"
#include "format/dtype.h"

#include <string.h>

enum { INS = 4, RESULTS = 24, VARIABLES = 48 };

static const HoloDtype numbers[] = {HOLO_I8,  HOLO_I16, HOLO_I32, HOLO_I64,  HOLO_U8,  HOLO_U16, HOLO_U32,
                                    HOLO_U64, HOLO_F16, HOLO_F32, HOLO_BF16, HOLO_F64, HOLO_F32, HOLO_I32};

typedef struct Grower {
    HoloIsaBuilder b;
    HoloRandom     random;
    HoloIsaLaunch  launch;
    int64_t        lanes, block;
    int            gid, lane; // registers of i64: the lane's number in the launch and in the block
    int            in[INS], counts, floats, own, results_i, results_f, shared, local;
    int64_t        in_count[INS];
    HoloDtype      in_type[INS], shared_type, local_type;
    HoloIsaOper    count_oper;
    int            seen[VARIABLES * 4]; // registers that have been written on every path to here
    int            seen_count;
    int            depth, budget;
    bool           is_cooperative, is_uniform, is_exact; // is_exact: nothing fails while running
    bool           has_added;
} Grower;

static int pick(Grower *g, int n)
{
    return (int)(holo_random_next(&g->random) % (uint64_t)n);
}

static HoloDtype type_of(const Grower *g, int r)
{
    return (HoloDtype)g->b.registers[r];
}

static void see(Grower *g, int r)
{
    for (int i = 0; i < g->seen_count; i++)
        if (g->seen[i] == r) return;
    if (g->seen_count < VARIABLES * 4) g->seen[g->seen_count++] = r;
}

// ---- values

static uint64_t some_bits(Grower *g, HoloDtype type)
{
    static const double odd[] = {0, -0.0, 1, -1, 0.5, 3, 65504, 1e-7, 1e30, -1e30, 2.5, -7.75, 1e-40, 100};
    if (type == HOLO_BOOL) return (uint64_t)pick(g, 2);
    if (pick(g, 12) == 0) return holo_isa_bits_of_int(type, (int64_t)holo_random_next(&g->random));
    if (pick(g, 3) == 0) return holo_isa_bits_of_float(type, odd[pick(g, HOLO_COUNT(odd))]);
    if (HOLO_TYPES_FLOAT >> type & 1) {
        if (pick(g, 40) == 0) return holo_isa_bits_of_float(type, pick(g, 2) ? 1.0 / 0.0 : 0.0 / 0.0);
        return holo_isa_bits_of_float(type, holo_random_normal(&g->random) * 4);
    }
    return holo_isa_bits_of_int(type, pick(g, 200) - 100);
}

static int constant(Grower *g, HoloDtype type, uint64_t bits)
{
    int r = holo_isa_register(&g->b, type);
    holo_isa_emit(&g->b, (HoloIsaInst){.op = HOLO_ISA_CONST, .type = (uint8_t)type, .dst = (uint16_t)r, .bits = bits});
    return r;
}

// A register of a type that has been written, or a new constant.
static int some(Grower *g, HoloDtype type)
{
    int from = g->seen_count ? pick(g, g->seen_count) : 0;
    for (int i = 0; i < g->seen_count && pick(g, 10); i++) {
        int r = g->seen[(from + i) % g->seen_count];
        if (type_of(g, r) == type) return r;
    }
    int r = constant(g, type, some_bits(g, type));
    see(g, r);
    return r;
}

// Where a result goes: a new register, or one that holds something already.
static int target(Grower *g, HoloDtype type)
{
    int from = g->seen_count ? pick(g, g->seen_count) : 0;
    for (int i = 0; i < g->seen_count && pick(g, 3) == 0; i++) {
        int r = g->seen[(from + i) % g->seen_count];
        if (type_of(g, r) == type && r != g->gid && r != g->lane) return r;
    }
    return holo_isa_register(&g->b, type);
}

static void emit_to(Grower *g, HoloIsaOp op, HoloDtype type, int how, int dst, int a, int b, int c)
{
    holo_isa_emit(&g->b, (HoloIsaInst){.op   = (uint16_t)op,
                                       .type = (uint8_t)type,
                                       .how  = (uint8_t)how,
                                       .dst  = (uint16_t)dst,
                                       .a    = (uint16_t)a,
                                       .b    = (uint16_t)b,
                                       .c    = (uint16_t)c});
    if (holo_isa_op(op)->kind[0] != HOLO_ISA_KIND_N) see(g, dst);
}

// ---- indices

static HoloDtype some_index_type(Grower *g)
{
    static const HoloDtype types[] = {HOLO_I32, HOLO_U32, HOLO_I64, HOLO_U64};
    return types[pick(g, 4)];
}

static int converted(Grower *g, HoloDtype type, int r)
{
    return type_of(g, r) == type ? r : holo_isa_convert(&g->b, type, type_of(g, r), r);
}

// An index below `count`, nearly always: a run, one for all lanes, or anything.
static int some_place(Grower *g, int64_t count)
{
    HoloDtype type = some_index_type(g);
    int       way  = pick(g, 8), base;
    if (!g->is_exact && pick(g, 60) == 0) return some(g, type);
    if (way < 3)
        base = converted(g, type, pick(g, 2) ? g->gid : g->lane);
    else if (way == 3)
        base = holo_isa_const_int(&g->b, type, pick(g, (int)count));
    else
        base = some(g, type);
    if (way == 1)
        base = holo_isa_value(&g->b, HOLO_ISA_ADD, type, base, holo_isa_const_int(&g->b, type, pick(g, 9)), 0);
    if (way == 2)
        base = holo_isa_value(&g->b, HOLO_ISA_MUL, type, base, holo_isa_const_int(&g->b, type, pick(g, 4)), 0);
    return holo_isa_value(&g->b, HOLO_ISA_MOD, type, base, holo_isa_const_int(&g->b, type, count), 0);
}

// ---- statements on registers

static const uint16_t plain_ops[] = {
    HOLO_ISA_MOV,     HOLO_ISA_SEL,      HOLO_ISA_ADD,    HOLO_ISA_SUB,       HOLO_ISA_MUL,    HOLO_ISA_DIV,
    HOLO_ISA_REM,     HOLO_ISA_FLOORDIV, HOLO_ISA_MOD,    HOLO_ISA_MIN,       HOLO_ISA_MAX,    HOLO_ISA_MAD,
    HOLO_ISA_FMA,     HOLO_ISA_ABS,      HOLO_ISA_NEG,    HOLO_ISA_SIGN,      HOLO_ISA_FLOOR,  HOLO_ISA_CEIL,
    HOLO_ISA_ROUND,   HOLO_ISA_TRUNC,    HOLO_ISA_AND,    HOLO_ISA_OR,        HOLO_ISA_XOR,    HOLO_ISA_NOT,
    HOLO_ISA_SHL,     HOLO_ISA_SHR,      HOLO_ISA_POPC,   HOLO_ISA_CLZ,       HOLO_ISA_SQRT,   HOLO_ISA_RSQRT,
    HOLO_ISA_RCP,     HOLO_ISA_EXP,      HOLO_ISA_LOG,    HOLO_ISA_LOG2,      HOLO_ISA_LOG10,  HOLO_ISA_SIN,
    HOLO_ISA_COS,     HOLO_ISA_TAN,      HOLO_ISA_ASIN,   HOLO_ISA_ACOS,      HOLO_ISA_ATAN,   HOLO_ISA_TANH,
    HOLO_ISA_SIGMOID, HOLO_ISA_ERF,      HOLO_ISA_POW,    HOLO_ISA_CLASS,     HOLO_ISA_MIRROR, HOLO_ISA_BOUND,
    HOLO_ISA_LABEL,   HOLO_ISA_UNITY,    HOLO_ISA_DEGREE, HOLO_ISA_NEIGHBOUR,
};

static void arithmetic(Grower *g)
{
    HoloIsaOp            op   = (HoloIsaOp)plain_ops[pick(g, HOLO_COUNT(plain_ops))];
    const HoloIsaOpInfo *info = holo_isa_op(op);
    HoloDtype            type = HOLO_NONE;
    if (pick(g, 2)) op = (HoloIsaOp)(HOLO_ISA_ADD + pick(g, 3)), info = holo_isa_op(op);
    while (!type || !(info->types >> type & 1)) type = pick(g, 12) ? numbers[pick(g, HOLO_COUNT(numbers))] : HOLO_BOOL;
    int operands[3] = {0};
    for (int k = 0; k < 3; k++)
        if (info->kind[k + 1] == HOLO_ISA_KIND_T || info->kind[k + 1] == HOLO_ISA_KIND_P)
            operands[k] = some(g, info->kind[k + 1] == HOLO_ISA_KIND_P ? HOLO_BOOL : type);
    bool is_division = op >= HOLO_ISA_DIV && op <= HOLO_ISA_MOD && !(HOLO_TYPES_FLOAT >> type & 1);
    if (is_division && (g->is_exact || pick(g, 20))) // seldom by zero
        operands[1] = holo_isa_value(&g->b, HOLO_ISA_OR, type, operands[1], holo_isa_const_int(&g->b, type, 1), 0);
    emit_to(g, op, type, 0, target(g, type), operands[0], operands[1], operands[2]);
}

// Several in a row, each of which takes what the one before gave: these are done together.
static void chain(Grower *g)
{
    static const uint16_t ops[] = {HOLO_ISA_ADD, HOLO_ISA_SUB, HOLO_ISA_MUL, HOLO_ISA_DIV, HOLO_ISA_MIN,  HOLO_ISA_MAX,
                                   HOLO_ISA_MAD, HOLO_ISA_FMA, HOLO_ISA_ABS, HOLO_ISA_NEG, HOLO_ISA_SQRT, HOLO_ISA_RCP};
    int                   r     = some(g, HOLO_F32), others[16];
    for (int i = 0; i < 16; i++) others[i] = some(g, HOLO_F32); // constants among them come before
    for (int i = 0, count = 2 + pick(g, 18); i < count; i++) {
        HoloIsaOp op   = (HoloIsaOp)ops[pick(g, HOLO_COUNT(ops))];
        int       in[] = {others[pick(g, 16)], others[pick(g, 16)], others[pick(g, 16)]},
            to         = holo_isa_register(&g->b, HOLO_F32);
        in[pick(g, op == HOLO_ISA_MAD || op == HOLO_ISA_FMA ? 3 : op < HOLO_ISA_ABS ? 2 : 1)] = r;
        if (pick(g, 10) == 0 && op == HOLO_ISA_MUL) in[0] = in[1] = r;
        int inputs = op == HOLO_ISA_MAD || op == HOLO_ISA_FMA ? 3 : op < HOLO_ISA_ABS ? 2 : 1;
        if (i == count - 1) to = target(g, HOLO_F32);
        emit_to(g, op, HOLO_F32, 0, to, in[0], inputs > 1 ? in[1] : 0, inputs > 2 ? in[2] : 0);
        if (i < count - 1) g->seen_count--; // out of reach of others
        r = to;
    }
}

static void conversion(Grower *g)
{
    HoloDtype to = numbers[pick(g, HOLO_COUNT(numbers))], from = numbers[pick(g, HOLO_COUNT(numbers))];
    if (pick(g, 10) == 0) to = HOLO_BOOL;
    if (pick(g, 10) == 0) from = HOLO_BOOL;
    int a = pick(g, 6) ? some(g, from) : g->gid;
    from  = type_of(g, a);
    if (pick(g, 5) == 0 && to != HOLO_BOOL && from != HOLO_BOOL && holo_dtype_size(to) == holo_dtype_size(from))
        emit_to(g, HOLO_ISA_BITCAST, to, (int)from, target(g, to), a, 0, 0);
    else
        emit_to(g, HOLO_ISA_CVT, to, (int)from, target(g, to), a, 0, 0);
}

// A predicate: of anything, of a lane's place, or the same for all lanes.
static int condition(Grower *g)
{
    HoloIsaCond cond = (HoloIsaCond)pick(g, HOLO_ISA_CONDS);
    int         way  = pick(g, 5);
    if (way == 0) return some(g, HOLO_BOOL);
    if (way < 3) {
        HoloDtype type = some_index_type(g);
        int       at   = converted(g, type, pick(g, 2) ? g->gid : g->lane);
        int       to   = holo_isa_const_int(&g->b, type, pick(g, (int)(g->lanes < 60 ? g->lanes + 2 : g->lanes)));
        return holo_isa_compare(&g->b, cond, type, at, to);
    }
    HoloDtype type = numbers[pick(g, HOLO_COUNT(numbers))];
    return holo_isa_compare(&g->b, cond, type, some(g, type), some(g, type));
}

static void comparison(Grower *g)
{
    int p = condition(g);
    emit_to(g, HOLO_ISA_MOV, HOLO_BOOL, 0, target(g, HOLO_BOOL), p, 0, 0);
}

static void special(Grower *g)
{
    HoloDtype type = some_index_type(g);
    emit_to(g, HOLO_ISA_SPECIAL, type, pick(g, HOLO_ISA_SPECIALS), target(g, type), 0, 0, 0);
}

// ---- memory

static void load(Grower *g)
{
    int k = pick(g, INS);
    if (!g->in_count[k] && g->is_exact) return;
    emit_to(g, HOLO_ISA_LD, g->in_type[k], 0, target(g, g->in_type[k]), g->in[k],
            some_place(g, g->in_count[k] ? g->in_count[k] : 1), 0);
}

// An element of the lane's own, read, changed and written.
static void own(Grower *g)
{
    int index = converted(g, some_index_type(g), g->gid);
    if (pick(g, 2))
        emit_to(g, HOLO_ISA_ST, HOLO_F32, 0, 0, g->own, index, some(g, HOLO_F32));
    else
        emit_to(g, HOLO_ISA_LD, HOLO_F32, 0, target(g, HOLO_F32), g->own, index, 0);
}

static void local(Grower *g)
{
    int index = some_place(g, 5);
    if (pick(g, 2))
        emit_to(g, HOLO_ISA_STL, g->local_type, 0, 0, g->local, index, some(g, g->local_type));
    else
        emit_to(g, HOLO_ISA_LDL, g->local_type, 0, target(g, g->local_type), g->local, index, 0);
}

static void atomic(Grower *g)
{
    HoloDtype type = HOLO_I32;
    int       dst  = holo_isa_register(&g->b, type); // nobody looks at it: the order of lanes would show
    emit_to(g, HOLO_ISA_ATOM, type, (int)g->count_oper, dst, g->counts, some_place(g, 7), some(g, type));
    g->seen_count--;
}

// Of floats, once and not in a loop: lanes then come in their order.
static void float_atomic(Grower *g)
{
    if (g->has_added || g->depth) return;
    g->has_added = true;
    int dst      = holo_isa_register(&g->b, HOLO_F32);
    emit_to(g, HOLO_ISA_ATOM, HOLO_F32, HOLO_ISA_OPER_ADD, dst, g->floats, some_place(g, 3), some(g, HOLO_F32));
}

// ---- lanes together

static void exchange(Grower *g)
{
    HoloDtype type = some_index_type(g);
    int       at   = converted(g, type, g->lane);
    emit_to(g, HOLO_ISA_STS, g->shared_type, 0, 0, g->shared, at, some(g, g->shared_type));
    holo_isa_control(&g->b, HOLO_ISA_BARRIER, 0);
    emit_to(g, HOLO_ISA_LDS, g->shared_type, 0, target(g, g->shared_type), g->shared, some_place(g, g->block), 0);
    emit_to(g, HOLO_ISA_LDS, g->shared_type, 0, target(g, g->shared_type), g->shared, some_place(g, g->block), 0);
    holo_isa_control(&g->b, HOLO_ISA_BARRIER, 0);
}

static void together(Grower *g)
{
    HoloDtype type = numbers[pick(g, HOLO_COUNT(numbers))];
    int       oper = pick(g, HOLO_TYPES_FLOAT >> type & 1 ? HOLO_ISA_OPER_AND : HOLO_ISA_OPER_XCHG);
    emit_to(g, pick(g, 3) ? HOLO_ISA_REDUCE : HOLO_ISA_SCAN, type, oper, target(g, type), some(g, type), 0, 0);
}

// ---- control

static void statements(Grower *g, int count);

static void branch(Grower *g)
{
    int  p = condition(g), seen = g->seen_count;
    bool was      = g->is_uniform;
    g->is_uniform = false;
    g->depth++;
    holo_isa_control(&g->b, HOLO_ISA_IF, p);
    statements(g, 1 + pick(g, 5));
    if (pick(g, 20) == 0 && !g->is_cooperative) holo_isa_control(&g->b, HOLO_ISA_EXIT, 0);
    g->seen_count = seen;
    if (pick(g, 2)) {
        holo_isa_control(&g->b, HOLO_ISA_ELSE, 0);
        statements(g, 1 + pick(g, 4));
        g->seen_count = seen;
    }
    holo_isa_control(&g->b, HOLO_ISA_END, 0);
    g->depth--;
    g->is_uniform = was;
}

// Some turns: as many for all lanes, or not; the counter is out of reach of what is inside.
static void turns(Grower *g)
{
    int  i = holo_isa_const_int(&g->b, HOLO_I32, 0), one = holo_isa_const_int(&g->b, HOLO_I32, 1), bound;
    bool was = g->is_uniform, varies = pick(g, 3) == 0;
    if (varies)
        bound =
            holo_isa_value(&g->b, HOLO_ISA_AND, HOLO_I32, some(g, HOLO_I32), holo_isa_const_int(&g->b, HOLO_I32, 7), 0);
    else
        bound = holo_isa_const_int(&g->b, HOLO_I32, pick(g, 6));
    int  seen   = g->seen_count;
    bool leaves = pick(g, 3) == 0;
    g->is_uniform &= !varies && !leaves;
    g->depth++;
    holo_isa_control(&g->b, HOLO_ISA_LOOP, 0);
    holo_isa_control(&g->b, HOLO_ISA_BREAKIF, holo_isa_compare(&g->b, HOLO_ISA_COND_GE, HOLO_I32, i, bound));
    holo_isa_emit(
        &g->b,
        (HoloIsaInst){.op = HOLO_ISA_ADD, .type = HOLO_I32, .dst = (uint16_t)i, .a = (uint16_t)i, .b = (uint16_t)one});
    statements(g, 1 + pick(g, 4));
    if (leaves) holo_isa_control(&g->b, pick(g, 2) ? HOLO_ISA_BREAKIF : HOLO_ISA_NEXTIF, condition(g));
    if (leaves && pick(g, 2)) {
        holo_isa_control(&g->b, HOLO_ISA_IF, condition(g));
        int inner = g->seen_count;
        statements(g, pick(g, 2));
        g->seen_count = inner;
        holo_isa_control(&g->b, pick(g, 2) ? HOLO_ISA_BREAK : HOLO_ISA_NEXT, 0);
        holo_isa_control(&g->b, HOLO_ISA_END, 0);
    }
    statements(g, pick(g, 4));
    holo_isa_control(&g->b, HOLO_ISA_END, 0);
    g->depth--;
    g->seen_count = seen;
    g->is_uniform = was;
}

static void statement(Grower *g)
{
    int way = pick(g, 30);
    if (way < 1)
        chain(g);
    else if (way < 11)
        arithmetic(g);
    else if (way < 14)
        conversion(g);
    else if (way < 15)
        comparison(g);
    else if (way < 16)
        special(g);
    else if (way < 19)
        load(g);
    else if (way < 21)
        own(g);
    else if (way < 22)
        local(g);
    else if (way < 23)
        atomic(g);
    else if (way < 24)
        float_atomic(g);
    else if (way < 26 && g->is_cooperative && g->is_uniform)
        exchange(g);
    else if (way < 27 && g->is_cooperative && g->is_uniform)
        together(g);
    else if (way < 29 && g->depth < 4)
        branch(g);
    else if (g->depth < 3)
        turns(g);
}

static void statements(Grower *g, int count)
{
    for (int i = 0; i < count && g->budget > 0; i++, g->budget--) statement(g);
}

// ---- cases

static void *memory(HoloArena *arena, Grower *g, HoloDtype type, int64_t count)
{
    size_t   size = holo_dtype_size(type);
    uint8_t *data = holo_arena_take(arena, (size_t)count * size + 64);
    for (int64_t i = 0; data && i < count; i++) {
        uint64_t bits = some_bits(g, type);
        memcpy(data + (size_t)i * size, &bits, size);
    }
    return data;
}

static void shape(Grower *g)
{
    static const uint32_t sizes[] = {1, 2, 7, 15, 16, 17, 33, 64, 65, 100};
    for (int i = 0; i < 3; i++) g->launch.grid[i] = g->launch.block[i] = 1;
    g->launch.block[0] = sizes[pick(g, HOLO_COUNT(sizes))];
    g->launch.grid[0]  = 1 + (uint32_t)pick(g, 3);
    if (pick(g, 3) == 0) g->launch.block[0] = 1 + (uint32_t)pick(g, 9), g->launch.block[1] = 1 + (uint32_t)pick(g, 6);
    if (pick(g, 6) == 0) g->launch.block[2] = 2, g->launch.grid[1] = 1 + (uint32_t)pick(g, 2);
    if (!g->is_cooperative && pick(g, 25) == 0) g->launch.block[0] = 700 + (uint32_t)pick(g, 900);
    if (pick(g, 10) == 0) g->launch.turns = 1 + pick(g, 12);
    g->block = (int64_t)g->launch.block[0] * g->launch.block[1] * g->launch.block[2];
    g->lanes = g->block * g->launch.grid[0] * g->launch.grid[1] * g->launch.grid[2];
}

static void declare(Grower *g, HoloArena *arena, IsaCase *c)
{
    static const HoloIsaOper opers[] = {HOLO_ISA_OPER_ADD, HOLO_ISA_OPER_MIN, HOLO_ISA_OPER_MAX, HOLO_ISA_OPER_XOR,
                                        HOLO_ISA_OPER_OR};
    int                      at      = 0;
    for (int k = 0; k < INS; k++) {
        static const char *const names[INS] = {"a", "b", "c", "d"};
        g->in_type[k]                       = k ? numbers[pick(g, HOLO_COUNT(numbers))] : HOLO_F32;
        g->in_count[k]                      = pick(g, 20) ? 1 + pick(g, (int)g->lanes + 20) : 0;
        if (pick(g, 12) == 0) g->in_type[k] = HOLO_BOOL;
        g->in[k]      = holo_isa_param(&g->b, names[k], g->in_type[k], HOLO_ISA_IN);
        c->args[at++] = (HoloIsaArg){memory(arena, g, g->in_type[k], g->in_count[k]), g->in_count[k], 0};
    }
    g->count_oper = opers[pick(g, HOLO_COUNT(opers))];
    g->counts     = holo_isa_param(&g->b, "counts", HOLO_I32, HOLO_ISA_INOUT);
    c->args[at++] = (HoloIsaArg){memory(arena, g, HOLO_I32, 7), 7, 0};
    g->floats     = holo_isa_param(&g->b, "floats", HOLO_F32, HOLO_ISA_INOUT);
    c->args[at++] = (HoloIsaArg){memory(arena, g, HOLO_F32, 3), 3, 0};
    int64_t count = g->is_exact || pick(g, 20) ? g->lanes : g->lanes - 1;
    g->own        = holo_isa_param(&g->b, "own", HOLO_F32, HOLO_ISA_INOUT);
    c->args[at++] = (HoloIsaArg){memory(arena, g, HOLO_F32, count), count, 0};
    g->results_i  = holo_isa_param(&g->b, "integers", HOLO_I64, HOLO_ISA_OUT);
    c->args[at++] = (HoloIsaArg){memory(arena, g, HOLO_I64, g->lanes * RESULTS), g->lanes * RESULTS, 0};
    g->results_f  = holo_isa_param(&g->b, "reals", HOLO_F64, HOLO_ISA_OUT);
    c->args[at++] = (HoloIsaArg){memory(arena, g, HOLO_F64, g->lanes * RESULTS), g->lanes * RESULTS, 0};
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"x", "y", "z"};
        HoloDtype                type    = k == 2 ? HOLO_BOOL : numbers[pick(g, HOLO_COUNT(numbers))];
        int                      param   = holo_isa_param(&g->b, names[k], type, HOLO_ISA_VALUE);
        c->args[at++]                    = (HoloIsaArg){.bits = some_bits(g, type)};
        see(g, holo_isa_get_param(&g->b, param));
    }
    g->shared_type = numbers[pick(g, HOLO_COUNT(numbers))], g->local_type = numbers[pick(g, HOLO_COUNT(numbers))];
    if (g->is_cooperative) g->shared = holo_isa_shared(&g->b, "s", g->shared_type, (uint32_t)g->block);
    g->local = holo_isa_local(&g->b, "l", g->local_type, 5);
}

// What registers hold in the end, beside each other or each lane's in a row.
static void results(Grower *g)
{
    int lanes = holo_isa_const_int(&g->b, HOLO_I64, g->lanes), row = holo_isa_const_int(&g->b, HOLO_I64, RESULTS);
    int seen = g->seen_count;
    for (int i = 0; i < RESULTS && i < seen; i++) {
        int  r = g->seen[seen - 1 - i], at = holo_isa_const_int(&g->b, HOLO_I64, i);
        bool is_float = HOLO_TYPES_FLOAT >> type_of(g, r) & 1;
        int  value    = converted(g, is_float ? HOLO_F64 : HOLO_I64, r);
        int  index    = is_float ? holo_isa_value(&g->b, HOLO_ISA_MAD, HOLO_I64, at, lanes, g->gid)
                                 : holo_isa_value(&g->b, HOLO_ISA_MAD, HOLO_I64, g->gid, row, at);
        holo_isa_store(&g->b, HOLO_ISA_ST, is_float ? g->results_f : g->results_i, index, value);
    }
}

bool isa_random(HoloArena *arena, uint64_t seed, IsaCase *out_case, HoloError *error)
{
    Grower *g = holo_arena_take(arena, sizeof *g);
    if (!g) return false;
    g->random.state   = seed * 0x9e3779b97f4a7c15u + 1;
    g->is_cooperative = pick(g, 3) == 0, g->is_uniform = true, g->is_exact = pick(g, 10) != 0;
    g->budget = 5 + pick(g, 60);
    holo_isa_begin(&g->b, arena, "random");
    shape(g);
    declare(g, arena, out_case);
    g->gid = holo_isa_special(&g->b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    g->lane =
        g->is_cooperative || pick(g, 3) == 0 ? holo_isa_special(&g->b, HOLO_I64, HOLO_ISA_SPECIAL_LANE_ID) : g->gid;
    see(g, g->gid);
    statements(g, g->budget);
    results(g);
    out_case->launch = g->launch;
    return holo_isa_finish(&g->b, &out_case->program, error) == HOLO_OK;
}

bool isa_copy_args(HoloArena *arena, const IsaCase *of, HoloIsaArg *out_args)
{
    for (int i = 0; i < of->program.param_count; i++) {
        const HoloIsaParam *p = &of->program.params[i];
        out_args[i]           = of->args[i];
        if (p->access == HOLO_ISA_VALUE) continue;
        size_t size      = (size_t)of->args[i].count * holo_dtype_size((HoloDtype)p->type);
        out_args[i].data = holo_arena_take(arena, size + 64);
        if (!out_args[i].data) return false;
        if (size) memcpy(out_args[i].data, of->args[i].data, size);
    }
    return true;
}

static bool is_nan(HoloDtype type, uint64_t bits)
{
    double x;
    float  y;
    if (type == HOLO_F64) return memcpy(&x, &bits, sizeof x), x != x;
    if (type == HOLO_F16) return (bits & 0x7fff) > 0x7c00;
    if (type == HOLO_BF16) return (bits & 0x7fff) > 0x7f80;
    return type == HOLO_F32 && (memcpy(&y, &bits, sizeof y), y != y);
}

int isa_compare_args(const IsaCase *of, const HoloIsaArg *a, const HoloIsaArg *b, int64_t *out_index)
{
    for (int i = 0; i < of->program.param_count; i++) {
        const HoloIsaParam *p = &of->program.params[i];
        if (p->access == HOLO_ISA_VALUE) continue;
        size_t size = holo_dtype_size((HoloDtype)p->type);
        if (!a[i].count || !memcmp(a[i].data, b[i].data, (size_t)a[i].count * size)) continue;
        for (int64_t k = 0; k < a[i].count; k++) {
            uint64_t x = 0, y = 0;
            memcpy(&x, (const uint8_t *)a[i].data + (size_t)k * size, size);
            memcpy(&y, (const uint8_t *)b[i].data + (size_t)k * size, size);
            if (x == y || (is_nan((HoloDtype)p->type, x) && is_nan((HoloDtype)p->type, y))) continue;
            *out_index = k;
            return i;
        }
    }
    return -1;
}
