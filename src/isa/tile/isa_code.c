// isa_code.c - prepares a program for the fast interpreter: finds what is known about each instruction before any
// launch.
#include "isa/tile/isa_code.h"
#include "format/dtype.h"

#include <stdio.h>
#include <string.h>

enum {
    TILE_LANES = 16384,
    TILE_LEAST = 128,
    TILE_BYTES = 24 << 10
}; // so that the vectors of a tile stay in the first cache

static const uint8_t tile_type[HOLO_DTYPE_COUNT] = {
    [HOLO_I8] = HOLO_TILE_I8,   [HOLO_I16] = HOLO_TILE_I16,  [HOLO_I32] = HOLO_TILE_I32, [HOLO_I64] = HOLO_TILE_I64,
    [HOLO_U8] = HOLO_TILE_U8,   [HOLO_U16] = HOLO_TILE_U16,  [HOLO_U32] = HOLO_TILE_U32, [HOLO_U64] = HOLO_TILE_U64,
    [HOLO_F16] = HOLO_TILE_F32, [HOLO_BF16] = HOLO_TILE_F32, [HOLO_F32] = HOLO_TILE_F32, [HOLO_F64] = HOLO_TILE_F64,
    [HOLO_BOOL] = HOLO_TILE_U8,
};

// 1 + the tile operation of each instruction; 0: it has none.
static const uint8_t tile_op[HOLO_ISA_OP_END] = {
#define X(id) [HOLO_ISA_##id] = HOLO_TILE_##id + 1,
    HOLO_TILE_OP_MAP_1(X) HOLO_TILE_OP_MAP_2(X) HOLO_TILE_OP_MAP_3(X)
#undef X
};

int holo_isa_tile_type(unsigned type)
{
    return tile_type[type];
}

int holo_isa_width(unsigned type)
{
    size_t size = holo_dtype_size((HoloDtype)type);
    return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

// a > b is b < a.
static void compare_init(HoloIsaStep *s, const HoloTiles *tiles)
{
    static const uint8_t op[HOLO_ISA_CONDS] = {HOLO_TILE_SET_EQ, HOLO_TILE_SET_NE, HOLO_TILE_SET_LT,
                                               HOLO_TILE_SET_LE, HOLO_TILE_SET_LT, HOLO_TILE_SET_LE};
    s->swaps                                = s->inst.how == HOLO_ISA_COND_GT || s->inst.how == HOLO_ISA_COND_GE;
    s->tile                                 = tiles->op[op[s->inst.how]][tile_type[s->inst.type]];
}

static void step_init(HoloIsaStep *s, const HoloTiles *tiles)
{
    const HoloIsaOpInfo *info = holo_isa_op(s->inst.op);
    s->keep                   = HOLO_ISA_NEVER;
    s->width                  = (uint8_t)holo_isa_width(s->inst.type);
    s->is_float               = HOLO_TYPES_FLOAT >> s->inst.type & 1;
    s->is_signed              = HOLO_TYPES_INT >> s->inst.type & 1;
    s->is_small               = s->inst.type == HOLO_F16 || s->inst.type == HOLO_BF16;
    for (int k = 1; k < 4; k++) s->inputs += info->kind[k] == HOLO_ISA_KIND_T;
    if (s->inst.op == HOLO_ISA_SET) compare_init(s, tiles);
    if (tile_op[s->inst.op]) s->tile = tiles->op[tile_op[s->inst.op] - 1][tile_type[s->inst.type]];
    s->is_plain = tile_op[s->inst.op] && s->is_float && !s->is_small;
}

// ---- whether the order of lanes matters, and what lanes know about their position

static bool shows_order(const HoloIsaStep *s)
{
    if (s->inst.op == HOLO_ISA_CAS) return true;
    return s->inst.op == HOLO_ISA_ATOM && (s->is_read || s->is_float || s->inst.how == HOLO_ISA_OPER_XCHG);
}

static bool is_flat_special(int special)
{
    return special == HOLO_ISA_SPECIAL_GLOBAL_ID ||
           (special >= HOLO_ISA_SPECIAL_BLOCK_DIM_X && special <= HOLO_ISA_SPECIAL_GRID_DIM_Z) ||
           (special >= HOLO_ISA_SPECIAL_GLOBAL_DIM_X && special <= HOLO_ISA_SPECIAL_GLOBAL_DIM_Z);
}

static bool is_block_special(int special)
{
    return special <= HOLO_ISA_SPECIAL_BLOCK_Z || special == HOLO_ISA_SPECIAL_LANE_ID;
}

static void find_places(HoloIsaCode *code)
{
    int oper[HOLO_ISA_MAX_PARAMS] = {0}; // 1 + the operation of an array's atomics; different operations do not commute
    code->is_flat                 = true;
    for (int i = 0; i < code->count; i++) {
        const HoloIsaStep *s = &code->steps[i];
        code->is_serial |= shows_order(s);
        if (s->inst.op == HOLO_ISA_ATOM) {
            code->is_serial |= oper[s->inst.a] && oper[s->inst.a] != s->inst.how + 1;
            oper[s->inst.a] = s->inst.how + 1;
        }
        if (s->inst.op != HOLO_ISA_SPECIAL) continue;
        code->is_flat &= is_flat_special(s->inst.how);
        code->has_block |= is_block_special(s->inst.how);
    }
}

// By register, the only step that writes it; negative: there are several, or none.
static int32_t *makers_of(HoloIsaCode *code)
{
    int32_t *makers = HOLO_NEW(&code->arena, int32_t, code->register_count + 1);
    for (int r = 0; makers && r < code->register_count; r++) makers[r] = -2;
    for (int i = 0; makers && i < code->count; i++) {
        int32_t *maker = &makers[code->steps[i].inst.dst];
        if (holo_isa_op(code->steps[i].inst.op)->kind[0] != HOLO_ISA_KIND_N) *maker = *maker == -2 ? i : -1;
    }
    return makers;
}

// The only step that writes a register, behind conversions; NULL: there are several, or none.
static const HoloIsaStep *maker(const HoloIsaCode *code, const int32_t *makers, unsigned r)
{
    for (int limit = 0; limit < 8; limit++) {
        const HoloIsaStep *s = makers[r] >= 0 ? &code->steps[makers[r]] : NULL;
        if (!s || (s->inst.op != HOLO_ISA_CVT && s->inst.op != HOLO_ISA_MOV)) return s;
        r = s->inst.a;
    }
    return NULL;
}

// If lanes divide their number by a parameter or a constant, to find their row and column, tiles follow the rows: the
// row is then the same in a tile, and the column is a run.
static bool find_cut(HoloIsaCode *code)
{
    int32_t *makers = makers_of(code);
    if (!makers) return false;
    for (int i = 0; i < code->count; i++) {
        const HoloIsaInst *inst = &code->steps[i].inst;
        if (inst->op < HOLO_ISA_DIV || inst->op > HOLO_ISA_MOD || code->steps[i].is_float) continue;
        const HoloIsaStep *a = maker(code, makers, inst->a), *b = maker(code, makers, inst->b);
        if (!a || !b || a->inst.op != HOLO_ISA_SPECIAL) continue;
        if (a->inst.how != HOLO_ISA_SPECIAL_GLOBAL_ID && a->inst.how != HOLO_ISA_SPECIAL_GLOBAL_X) continue;
        if (b->inst.op == HOLO_ISA_CONST) code->cut = b->inst.bits;
        if (b->inst.op == HOLO_ISA_PARAM) code->cut_param = b->inst.a;
        if (b->inst.op == HOLO_ISA_CONST || b->inst.op == HOLO_ISA_PARAM) return true;
    }
    return true;
}

// ---- memory

static uint32_t layout(const HoloIsaArray *arrays, int count, uint32_t align, uint32_t *at, uint32_t *counts)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        at[i]     = (uint32_t)bytes;
        counts[i] = arrays[i].count;
        bytes += holo_align(arrays[i].count * holo_dtype_size((HoloDtype)arrays[i].type), align);
    }
    return (uint32_t)bytes;
}

static int tile_lanes(const HoloIsaCode *code)
{
    int    lanes = TILE_LANES;
    size_t bytes = code->hot_bytes + code->local_bytes;
    if (code->is_cooperative) return HOLO_ISA_MAX_BLOCK;
    while (lanes > TILE_LEAST && (size_t)lanes * bytes > TILE_BYTES) lanes /= 2;
    return lanes;
}

// ---- what is the same in every tile

static bool is_fixed(const HoloIsaStep *s, const int32_t *makers, const uint8_t *fixed)
{
    const HoloIsaOpInfo *info = holo_isa_op(s->inst.op);
    if (info->kind[0] == HOLO_ISA_KIND_N || makers[s->inst.dst] < 0) return false;
    if (s->inst.op == HOLO_ISA_CONST || s->inst.op == HOLO_ISA_PARAM || s->inst.op == HOLO_ISA_LENGTH) return true;
    bool can_fail = s->inst.op >= HOLO_ISA_DIV && s->inst.op <= HOLO_ISA_MOD && !s->is_float;
    if ((!s->tile && s->inst.op != HOLO_ISA_CVT) || can_fail) return false;
    for (int k = 1; k < 4; k++)
        if (info->kind[k] != HOLO_ISA_KIND_N && !fixed[holo_isa_operand(&s->inst, k)]) return false;
    return true;
}

// Registers that only one step writes, from parameters and constants alone: that step is done once in a launch.
static bool take_fixed(HoloIsaCode *code)
{
    int32_t *makers = makers_of(code);
    uint8_t *fixed  = HOLO_NEW(&code->arena, uint8_t, code->register_count + 1);
    int      kept   = 0;
    code->fixed     = HOLO_NEW(&code->arena, HoloIsaStep, code->count + 1);
    if (!makers || !fixed || !code->fixed) return false;
    for (int i = 0; i < code->count; i++) {
        HoloIsaStep *s = &code->steps[i];
        if (is_fixed(s, makers, fixed)) {
            fixed[s->inst.dst]               = 1;
            code->fixed[code->fixed_count++] = *s;
        } else {
            code->steps[kept++] = *s;
        }
    }
    code->count = kept;
    return true;
}

// Moves loads before unrelated arithmetic on floats, so that they do not interrupt it.
static void raise_loads(HoloIsaCode *code)
{
    for (int i = 1; i < code->count; i++)
        for (int k = i;
             k > 0 && i - k < HOLO_TILE_LINKS && code->steps[k].inst.op == HOLO_ISA_LD && code->steps[k - 1].is_plain;
             k--) {
            HoloIsaStep       *s = &code->steps[k], *before = s - 1, moved = *s;
            const HoloIsaInst *b = &before->inst;
            if (b->dst == s->inst.b || b->dst == s->inst.dst || b->a == s->inst.dst || b->b == s->inst.dst ||
                b->c == s->inst.dst)
                break;
            *s = *before, *before = moved;
        }
}

static HoloIsaArray *copy_arrays(HoloIsaCode *code, const HoloIsaArray *arrays, int count)
{
    HoloIsaArray *copy = HOLO_NEW(&code->arena, HoloIsaArray, count + 1);
    for (int i = 0; copy && i < count; i++) {
        copy[i]      = arrays[i];
        copy[i].name = holo_arena_text(&code->arena, arrays[i].name, strlen(arrays[i].name));
        if (!copy[i].name) return NULL;
    }
    return copy;
}

static bool copy_program(HoloIsaCode *code, const HoloIsaProgram *p)
{
    code->params = HOLO_NEW(&code->arena, HoloIsaParam, p->param_count + 1);
    code->types  = HOLO_NEW(&code->arena, uint8_t, p->register_count + 1);
    code->slot   = HOLO_NEW(&code->arena, uint32_t, p->register_count + 1);
    code->width  = HOLO_NEW(&code->arena, uint8_t, p->register_count + 1);
    code->steps  = HOLO_NEW(&code->arena, HoloIsaStep, p->count + 1);
    code->shared = copy_arrays(code, p->shared, p->shared_count);
    code->local  = copy_arrays(code, p->local, p->local_count);
    if (!code->shared || !code->local || !code->params || !code->types || !code->slot || !code->width || !code->steps)
        return false;
    snprintf(code->name, sizeof code->name, "%s", p->name);
    for (int i = 0; i < p->param_count; i++) {
        code->params[i]      = p->params[i];
        code->params[i].name = holo_arena_text(&code->arena, p->params[i].name, strlen(p->params[i].name));
        if (!code->params[i].name) return false;
    }
    for (int i = 0; i < p->register_count; i++) {
        code->types[i] = p->registers[i];
        code->width[i] = (uint8_t)holo_isa_width(p->registers[i]);
    }
    for (int i = 0; i < p->count; i++) code->steps[i] = (HoloIsaStep){.inst = p->code[i], .at = i};
    code->param_count = p->param_count, code->register_count = p->register_count, code->count = p->count;
    return true;
}

static bool prepare(HoloIsaCode *code, const HoloIsaProgram *p, const HoloTiles *tiles)
{
    code->tiles     = tiles;
    code->kernels   = holo_kernels(1);
    code->cut_param = -1;
    if (!copy_program(code, p)) return false;
    for (int i = 0, depth = 0; i < code->count; i++) {
        unsigned op = code->steps[i].inst.op;
        step_init(&code->steps[i], code->tiles);
        depth += (op == HOLO_ISA_IF || op == HOLO_ISA_LOOP) - (op == HOLO_ISA_END);
        if (depth > code->depth) code->depth = depth;
    }
    code->is_cooperative = holo_isa_is_cooperative(p);
    code->shared_bytes   = layout(p->shared, p->shared_count, 64, code->shared_at, code->shared_count);
    code->local_bytes    = layout(p->local, p->local_count, 8, code->local_at, code->local_count);
    if (!find_cut(code) || !take_fixed(code)) return false;
    raise_loads(code);
    if (!holo_isa_live(code)) return false;
    holo_isa_find_chains(code);
    holo_isa_find_sums(code);
    find_places(code);
    code->lanes = tile_lanes(code);
    return true;
}

HoloStatus holo_isa_code_create(const HoloIsaProgram *program, HoloIsaCode **out_code, HoloError *error)
{
    return holo_isa_code_create_for(program, holo_tiles(), out_code, error);
}

HoloStatus holo_isa_code_create_for(const HoloIsaProgram *program, const HoloTiles *tiles, HoloIsaCode **out_code,
                                    HoloError *error)
{
    HoloIsaCode *code = holo_realloc(NULL, sizeof *code);
    if (!code) return holo_fail_memory(error);
    memset(code, 0, sizeof *code);
    if (!prepare(code, program, tiles)) {
        holo_isa_code_destroy(code);
        return holo_fail_memory(error);
    }
    *out_code = code;
    return HOLO_OK;
}

void holo_isa_code_destroy(HoloIsaCode *code)
{
    if (!code) return;
    HoloArena arena = code->arena;
    holo_arena_deinit(&arena);
    holo_free(code);
}
