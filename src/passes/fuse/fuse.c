// fuse.c - turns neighboring pointwise operators of f32 into one program, and a program behind a product into its tail.
//
// A cluster grows from its last node backwards: a producer joins if its output has the cluster's shape and only the
// cluster reads it. So nothing is computed twice, and only the last value leaves a cluster. If a product (MatMul, Gemm,
// Conv and MatMulBlocks of domain hologram) feeds a cluster in the same way, everything becomes one node with the program as its tail.
#include "ops/hologram/formula.h"
#include "ops/hologram/program.h"
#include "passes/rewrite.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS_MAX = HOLO_MAP_STEPS };

typedef struct Cluster {
    HoloNode   *member[MEMBERS_MAX]; // the root first, then in the order in which they joined
    int         count;
    HoloValue  *in[HOLO_MAP_INPUTS]; // values from outside; with a product, in[0] is its output
    int         in_count;
    HoloProgram program;
} Cluster;

// ---- facts

static bool is_f32(const HoloValue *value)
{
    return holo_value_is(value, HOLO_F32, 0, HOLO_MAX_RANK);
}

static bool formula_of(const HoloNode *node, HoloProgram *out)
{
    const HoloTensor *in[HOLO_MAP_INPUTS];
    if (!node->op || node->out_count != 1 || !is_f32(node->out[0]) || node->in_count > HOLO_MAP_INPUTS) return false;
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] && !is_f32(node->in[i])) return false;
        in[i] = node->in[i] ? &node->in[i]->type : NULL;
    }
    HoloCall call = holo_node_call(node);
    call.in       = in;
    call.in_count = node->in_count;
    return holo_formula(&call, out);
}

static bool is_number(const HoloValue *value)
{
    return value->is_constant && value->type.data && value->type.dtype == HOLO_F32 &&
           holo_tensor_count(&value->type) == 1;
}

// ---- the program of a cluster

typedef struct Emission {
    Cluster *cluster;
    struct {
        const HoloValue *value;
        uint8_t          operand;
    } known[MEMBERS_MAX]; // results of members
    int known_count;
} Emission;

// The operand by which steps read a value; -1: there are too many inputs.
static int operand_of(Emission *e, HoloValue *value)
{
    Cluster *c = e->cluster;
    for (int i = 0; i < e->known_count; i++)
        if (e->known[i].value == value) return e->known[i].operand;
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] == value) return i;
    if (c->in_count == HOLO_MAP_INPUTS) return -1;
    c->in[c->in_count] = value;
    return c->in_count++;
}

// Adds a member's step to the cluster's program. A constant of one element becomes the step's number if that is free.
static bool step_emit(Emission *e, const HoloNode *node, uint32_t base, HoloMapStep step)
{
    Cluster *c           = e->cluster;
    uint8_t *operands[2] = {&step.a, &step.b};
    int      count       = holo_map_operands(step.op);
    bool     has_number  = step.a == HOLO_MAP_NUMBER || (count > 1 && step.b == HOLO_MAP_NUMBER);
    for (int k = 0; k < count; k++) {
        uint8_t *operand = operands[k];
        if (*operand == HOLO_MAP_NUMBER) continue;
        if (*operand >= HOLO_MAP_INPUTS) {
            *operand = (uint8_t)(*operand + base);
            continue;
        }
        HoloValue *value = node->in[*operand];
        if (is_number(value) && !has_number) {
            has_number  = true;
            step.number = *(const float *)value->type.data;
            *operand    = HOLO_MAP_NUMBER;
            continue;
        }
        int at = operand_of(e, value);
        if (at < 0) return false;
        *operand = (uint8_t)at;
    }
    if (c->program.count == HOLO_MAP_STEPS) return false;
    c->program.step[c->program.count++] = step;
    return true;
}

static bool member_emit(Emission *e, const HoloNode *node)
{
    HoloProgram own;
    uint32_t    base = e->cluster->program.count;
    if (!formula_of(node, &own) || !own.count) return false;
    for (uint32_t i = 0; i < own.count; i++)
        if (!step_emit(e, node, base, own.step[i])) return false;
    e->known[e->known_count].value   = node->out[0];
    e->known[e->known_count].operand = (uint8_t)(HOLO_MAP_INPUTS + e->cluster->program.count - 1);
    e->known_count++;
    return true;
}

// Joins the members' programs in the order of the graph. False: the result is too long, has too many inputs, or no
// input has the shape of the result.
static bool cluster_emit(Cluster *c, HoloValue *product)
{
    Emission e  = {.cluster = c};
    c->program  = (HoloProgram){0};
    c->in_count = 0;
    if (product) c->in[c->in_count++] = product;
    for (int last = -1, n = 0; n < c->count; n++) {
        HoloNode *next = NULL;
        for (int m = 0; m < c->count; m++)
            if (c->member[m]->id > last && (!next || c->member[m]->id < next->id)) next = c->member[m];
        last = next->id;
        if (!member_emit(&e, next)) return false;
    }
    for (int i = 0; i < c->in_count; i++)
        if (holo_type_equal(&c->in[i]->type, &c->member[0]->out[0]->type)) return true;
    return false;
}

// A producer of one of the cluster's inputs that may join; NULL: there is none.
static HoloNode *candidate(const HoloClusters *f, const Cluster *c, int input)
{
    const HoloValue *value = c->in[input];
    HoloNode        *node  = value->producer;
    HoloProgram      own;
    if (!node || f->is_taken[node->id] || !holo_type_equal(&value->type, &c->member[0]->out[0]->type)) return NULL;
    return holo_clusters_inside(f, c->member, c->count, value) && formula_of(node, &own) ? node : NULL;
}

static bool cluster_grow(HoloClusters *f, Cluster *c)
{
    for (int i = 0; i < c->in_count && c->count < MEMBERS_MAX; i++) {
        HoloNode *node = candidate(f, c, i);
        if (!node) continue;
        Cluster before        = *c;
        c->member[c->count++] = node;
        f->is_taken[node->id] = true;
        if (cluster_emit(c, NULL)) return true;
        f->is_taken[node->id] = false;
        *c                    = before;
    }
    return false;
}

// ---- products

static bool is_row(const HoloValue *value, HoloDim n)
{
    return is_f32(value) && value->type.rank == 1 && value->type.dim[0] == n;
}

// A product that can have a tail.
static bool is_product(const HoloNode *node)
{
    if (!node->op || node->in_count < 2 || node->out_count != 1 || holo_node_attr(node, "program")) return false;
    const HoloValue *bias = node->in_count > 2 ? node->in[2] : NULL;
    if (HOLO_IS(node, HOLOGRAM_Conv) || HOLO_IS(node, HOLOGRAM_MatMul) || HOLO_IS(node, HOLOGRAM_MatMulBlocks) ||
        HOLO_IS(node, HOLOGRAM_GroupNormalization))
        return true;
    for (int i = 0; i < 2; i++)
        if (!is_f32(node->in[i]) || node->in[i]->type.rank < 2) return false;
    if (HOLO_IS(node, Gemm))
        return holo_node_float(node, "alpha", 1) == 1 && holo_node_float(node, "beta", 1) == 1 &&
               (!bias || is_row(bias, node->out[0]->type.dim[1]));
    if (HOLO_IS(node, MICROSOFT_FusedMatMul))
        return !holo_node_int(node, "transBatchA", 0) && !holo_node_int(node, "transBatchB", 0);
    return HOLO_IS(node, MatMul);
}

// The last product whose output only the cluster reads.
static HoloNode *product_of(const HoloClusters *f, const Cluster *c)
{
    HoloNode *last = NULL;
    for (int i = 0; i < c->in_count; i++) {
        const HoloValue *value = c->in[i];
        HoloNode        *node  = value->producer;
        if (!node || (last && node->id < last->id) || !is_product(node) ||
            !holo_clusters_inside(f, c->member, c->count, value))
            continue;
        if (is_f32(value) && holo_type_equal(&value->type, &c->member[0]->out[0]->type)) last = node;
    }
    return last;
}

// If the program begins by adding a constant row to the product, and needs neither of them again, the row becomes the
// bias.
static HoloValue *take_bias(HoloClusters *f, Cluster *c)
{
    HoloProgram      *p   = &c->program;
    const HoloTensor *out = &c->member[0]->out[0]->type;
    HoloMapStep       s   = p->step[0];
    int               k   = s.a == 0 ? s.b : s.b == 0 ? s.a : 0;
    if (!p->count || s.op != HOLO_MAP_add || k < 1 || k >= HOLO_MAP_INPUTS || !out->rank) return NULL;
    HoloValue *row = c->in[k];
    HoloDim    n   = out->dim[out->rank - 1];
    if (!row->is_constant || !row->type.data || holo_dim_is_symbolic(n) || holo_tensor_count(&row->type) != n ||
        row->type.rank < 1 || row->type.dim[row->type.rank - 1] != n)
        return NULL;
    for (uint32_t i = 1; i < p->count; i++)
        for (int o = 0; o < holo_map_operands(p->step[i].op); o++) {
            uint8_t operand = o ? p->step[i].b : p->step[i].a;
            if (operand == 0 || operand == k) return NULL;
        }
    HoloTensor flat = row->type;
    flat.rank       = 1;
    flat.dim[0]     = n;
    HoloValue *bias = row->type.rank == 1 ? row : holo_graph_constant(f->graph, row->name, &flat);
    if (!bias) return NULL;
    for (uint32_t i = 1; i < p->count; i++) { // removes step 0 and input k
        HoloMapStep next  = p->step[i];
        uint8_t    *at[2] = {&next.a, &next.b};
        for (int o = 0; o < 2; o++) {
            if (*at[o] == HOLO_MAP_INPUTS)
                *at[o] = 0;
            else if ((*at[o] > HOLO_MAP_INPUTS && *at[o] != HOLO_MAP_NUMBER) ||
                     (*at[o] > k && *at[o] < HOLO_MAP_INPUTS))
                --*at[o];
        }
        p->step[i - 1] = next;
    }
    p->step[--p->count] = (HoloMapStep){0};
    memmove(&c->in[k], &c->in[k + 1], (size_t)(--c->in_count - k) * sizeof *c->in);
    return bias;
}

// ---- new nodes

// Gives `node` that operator, these inputs, the program, and the attributes of `from`, if there is one.
static HoloStatus become(HoloClusters *f, HoloNode *node, HoloOpId id, HoloValue *const *in, int in_count,
                         const HoloNode *from, const HoloProgram *program, HoloError *error)
{
    HoloArena      *arena = f->graph->arena;
    HoloProgramText text;
    holo_program_print(program, &text);
    int         kept    = from ? from->attr_count : 0;
    HoloAttr   *attr    = HOLO_NEW(arena, HoloAttr, kept + 2);
    HoloValue **list    = HOLO_NEW(arena, HoloValue *, in_count);
    const char *name    = holo_arena_text(arena, text.text, strlen(text.text));
    float      *numbers = HOLO_NEW(arena, float, text.number_count + 1);
    if (!attr || !list || !name || !numbers) return holo_fail_memory(error);
    if (kept) memcpy(attr, from->attr, (size_t)kept * sizeof *attr);
    memcpy(list, in, (size_t)in_count * sizeof *list);
    memcpy(numbers, text.number, (size_t)text.number_count * sizeof *numbers);
    if (program->count)
        attr[kept++] = (HoloAttr){.name = "program", .kind = HOLO_ATTR_STRING, .count = 1, .s = {name, strlen(name)}};
    if (text.number_count)
        attr[kept++] =
            (HoloAttr){.name = "numbers", .kind = HOLO_ATTR_FLOATS, .count = text.number_count, .floats = numbers};
    holo_node_become(node, id, 1);
    node->in         = list;
    node->in_count   = in_count;
    node->attr       = attr;
    node->attr_count = kept;
    return HOLO_OK;
}

static HoloStatus fuse_tail(HoloClusters *f, Cluster *c, HoloNode *product, HoloError *error)
{
    HoloValue *in[3 + HOLO_MAP_INPUTS] = {product->in[0], product->in[1]};
    in[2]                              = product->in_count > 2 ? product->in[2] : NULL;
    if (!in[2]) in[2] = take_bias(f, c);
    for (int i = 1; i < c->in_count; i++) in[2 + i] = c->in[i];
    int in_count = 2 + c->in_count;
    while (in_count > 2 && !in[in_count - 1]) in_count--;
    bool is_ours = HOLO_IS(product, HOLOGRAM_Conv) || HOLO_IS(product, HOLOGRAM_MatMulBlocks) ||
                   HOLO_IS(product, HOLOGRAM_GroupNormalization);
    HoloOpId id = is_ours ? product->op_id : HOLO_ID_HOLOGRAM_MatMul;
    return become(f, c->member[0], id, in, in_count, product, &c->program, error);
}

// *out_done: it was changed.
static HoloStatus fuse_at(HoloClusters *f, HoloNode *root, bool *out_done, HoloError *error)
{
    Cluster c = {.member = {root}, .count = 1};
    *out_done = false;
    if (!cluster_emit(&c, NULL)) return HOLO_OK;
    while (cluster_grow(f, &c)) continue;
    HoloNode *product = product_of(f, &c);
    Cluster   whole   = c;
    if (product && cluster_emit(&whole, product->out[0])) {
        *out_done = true;
        return fuse_tail(f, &whole, product, error);
    }
    if (c.count < 2) return HOLO_OK;
    *out_done = true;
    return become(f, root, HOLO_ID_HOLOGRAM_Pointwise, c.in, c.in_count, NULL, &c.program, error);
}

HoloStatus holo_pass_fuse(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    return holo_clusters(graph, scratch, changes, fuse_at, error);
}
