// einsum.c - Einsum: sums of products over named dimensions, as NumPy writes them.
//
// Operands are multiplied from left to right. A name is summed away as soon as neither the output nor a later
// operand has it, so every product of two is a stack of matrix products. No better order is looked for.
#include "ops/standard/einsum.h"

#include "ops/contract.h"
#include "ops/spread.h"

#include <string.h>

enum { LETTERS = HOLO_EINSUM_LETTERS, NAMES = HOLO_EINSUM_NAMES };

typedef HoloEinsumTerm Term;

typedef struct Equation {
    const char *text, *arrow; // arrow: NULL when the output is implied
    const char *end;
    int         ellipsis; // dimensions of the longest one
    Term        out;
    HoloDim     dim[NAMES];
    int         uses[NAMES]; // by operands
} Equation;

// ---- the equation

static int name_of(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

// Reads one term up to a comma or `end`. `dots` is how many dimensions its ellipsis stands for; -1: as many as
// `rank` leaves (-1: any rank).
static HoloStatus read_term(const HoloCall *call, const Equation *e, const char *from, const char *end, int rank,
                            int dots, Term *out, const char **out_end, int *out_dots)
{
    int         letters = 0, ellipses = 0;
    const char *p = from;
    for (; p < end && *p != ','; p++) {
        letters += name_of(*p) >= 0;
        if (*p == '.') {
            if (end - p < 3 || p[1] != '.' || p[2] != '.')
                return holo_call_fail(call, HOLO_BAD_MODEL, "the equation has a lone '.'");
            p += 2;
            ellipses++;
        } else if (name_of(*p) < 0 && *p != ' ') {
            return holo_call_fail(call, HOLO_BAD_MODEL, "the equation has '%c'", *p);
        }
    }
    *out_end = p;
    if (dots < 0) dots = ellipses ? rank - letters : 0;
    *out_dots = ellipses ? dots : 0;
    if (ellipses > 1 || dots < 0 || letters + *out_dots > HOLO_MAX_RANK || (rank >= 0 && letters + *out_dots != rank))
        return holo_call_fail(call, HOLO_BAD_MODEL, "a term names %d dimensions where there are %d", letters, rank);
    out->rank = 0;
    for (const char *q = from; q < p; q++) {
        if (name_of(*q) >= 0) out->name[out->rank++] = (int8_t)name_of(*q);
        if (*q != '.') continue;
        for (int d = 0; d < *out_dots; d++) // aligned at the right
            out->name[out->rank++] = (int8_t)(LETTERS + e->ellipsis - *out_dots + d);
        q += 2;
    }
    return HOLO_OK;
}

// Operand i; *place walks over the text, NULL at first.
static HoloStatus next_operand(const HoloCall *call, const Equation *e, int i, const char **place, Term *out,
                               int *out_dots)
{
    const char *end = e->arrow ? e->arrow : e->end, *from = *place ? *place + 1 : e->text;
    if (*place && *place >= end)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the equation has fewer terms than there are inputs");
    HOLO_TRY(read_term(call, e, from, end, call->in[i]->rank, -1, out, place, out_dots));
    if (i == call->in_count - 1 && *place < end)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the equation has more terms than there are inputs");
    return HOLO_OK;
}

static HoloStatus note_dims(const HoloCall *call, Equation *e, int i, const Term *term)
{
    for (int d = 0; d < term->rank; d++) {
        HoloDim have = call->in[i]->dim[d], *known = &e->dim[(int)term->name[d]];
        e->uses[(int)term->name[d]]++;
        if (!holo_broadcast_pair(call->dims, *known, have, known))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld in dimension %d, expected %lld", i,
                                  (long long)have, d, (long long)*known);
    }
    return HOLO_OK;
}

// What an equation without an arrow means: the ellipsis, then the names used once, in order.
static HoloStatus imply_out(const HoloCall *call, Equation *e)
{
    e->out.rank = 0;
    for (int i = 0; i < NAMES; i++) {
        int name = i < HOLO_MAX_RANK ? LETTERS + i : i - HOLO_MAX_RANK;
        if (name < LETTERS ? e->uses[name] != 1 : name >= LETTERS + e->ellipsis) continue;
        if (e->out.rank == HOLO_MAX_RANK)
            return holo_call_fail(call, HOLO_UNSUPPORTED, "an output of more than %d dimensions", HOLO_MAX_RANK);
        e->out.name[e->out.rank++] = (int8_t)name;
    }
    return HOLO_OK;
}

static HoloStatus read_out(const HoloCall *call, Equation *e)
{
    const char *end;
    bool        seen[NAMES] = {false};
    int         dots;
    if (!e->arrow) return imply_out(call, e);
    HOLO_TRY(read_term(call, e, e->arrow + 2, e->end, -1, e->ellipsis, &e->out, &end, &dots));
    if (end != e->end) return holo_call_fail(call, HOLO_BAD_MODEL, "the equation has a ',' after '->'");
    for (int d = 0; d < e->out.rank; d++) {
        int name = e->out.name[d];
        if (seen[name] || !e->uses[name])
            return holo_call_fail(call, HOLO_BAD_MODEL, "a name of the output is %s",
                                  seen[name] ? "repeated" : "in no term");
        seen[name] = true;
    }
    return HOLO_OK;
}

static HoloStatus read_equation(const HoloCall *call, Equation *e)
{
    HoloString text = holo_attr_string(call, "equation", "");
    *e              = (Equation){.text = text.data, .end = text.data + text.size};
    for (const char *p = e->text; p + 1 < e->end && !e->arrow; p++)
        if (p[0] == '-' && p[1] == '>') e->arrow = p;
    for (int i = 0; i < NAMES; i++) e->dim[i] = 1;
    const char *place = NULL;
    Term        term;
    int         dots;
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[0]->dtype));
        // With too short an ellipsis so far the names are not the final ones; the second loop has them.
        HOLO_TRY(next_operand(call,
                              &(Equation){.text = e->text, .arrow = e->arrow, .end = e->end, .ellipsis = HOLO_MAX_RANK},
                              i, &place, &term, &dots));
        e->ellipsis = dots > e->ellipsis ? dots : e->ellipsis;
    }
    place = NULL;
    for (int i = 0; i < call->in_count; i++) {
        HOLO_TRY(next_operand(call, e, i, &place, &term, &dots));
        HOLO_TRY(note_dims(call, e, i, &term));
    }
    return read_out(call, e);
}

HoloStatus holo_einsum_read(const HoloCall *call, HoloEinsumTerm *terms, HoloEinsumTerm *out)
{
    Equation    e;
    const char *place = NULL;
    int         dots;
    HOLO_TRY(read_equation(call, &e));
    for (int i = 0; i < call->in_count; i++) HOLO_TRY(next_operand(call, &e, i, &place, &terms[i], &dots));
    *out = e.out;
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    Equation e;
    HoloDim  dim[HOLO_MAX_RANK];
    HOLO_TRY(read_equation(call, &e));
    for (int d = 0; d < e.out.rank; d++) dim[d] = e.dim[(int)e.out.name[d]];
    return holo_out_type(call, 0, (HoloDtype)call->in[0]->dtype, e.out.rank, dim);
}

// ---- values

typedef struct Value { // a dense array of cells whose dimensions have names, each once
    int       rank;
    int8_t    name[NAMES];
    int64_t   dim[NAMES];    // by name; 1 for those it does not have
    int64_t   stride[NAMES]; // by name; 0 for those of size 1
    HoloCell *cells;
} Value;

// Lays the dimensions of `v` out densely and takes memory for them.
static HoloStatus lay_out(const HoloCall *call, Value *v)
{
    int64_t count = 1;
    void   *cells;
    for (int d = v->rank - 1; d >= 0; d--) {
        int64_t dim                = v->dim[(int)v->name[d]];
        v->stride[(int)v->name[d]] = dim == 1 ? 0 : count;
        if (!holo_mul(count, dim, &count))
            return holo_call_fail(call, HOLO_NO_MEMORY, "an intermediate product is too large");
    }
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(HoloCell), &cells));
    v->cells = cells;
    return HOLO_OK;
}

static void add_name(Value *v, int name, int64_t dim)
{
    v->name[v->rank++] = (int8_t)name;
    v->dim[name]       = dim;
}

// A list of offsets: one for each index over the dimensions `names`, the last fastest.
static HoloStatus list_offsets(const HoloCall *call, int count, const int8_t *names, const int64_t *dim,
                               const int64_t *stride, int64_t *out_count, int64_t **out)
{
    int64_t total = 1, filled = 1;
    void   *memory;
    for (int d = 0; d < count; d++)
        if (!holo_mul(total, dim[(int)names[d]], &total))
            return holo_call_fail(call, HOLO_NO_MEMORY, "a product is too large");
    HOLO_TRY(holo_call_temp(call, (size_t)total, sizeof(int64_t), &memory));
    int64_t *offsets = memory;
    *out             = offsets;
    *out_count       = total;
    if (!total) return HOLO_OK;
    offsets[0] = 0;
    for (int d = 0; d < count; d++) { // each dimension multiplies the list; from the back, to read before writing
        int64_t n = dim[(int)names[d]];
        for (int64_t i = filled * n - 1; i >= 0; i--) offsets[i] = offsets[i / n] + i % n * stride[(int)names[d]];
        filled *= n;
    }
    return HOLO_OK;
}

// The sum of the elements at `from` plus each of the offsets.
static HoloCell sum_of(const HoloTensor *t, bool integer, int64_t from, int64_t count, const int64_t *offsets)
{
    HoloCell sum = {0}, x;
    for (int64_t i = 0; i < count; i++) {
        holo_cells_read(t, integer, from + offsets[i], 1, 1, &x);
        if (integer)
            sum.u += x.u;
        else
            sum.f += x.f;
    }
    return sum;
}

// Reads an operand: a repeated name takes the diagonal, and names that nothing else needs are summed.
static HoloStatus load(const HoloCall *call, int i, bool integer, const Term *term, const bool *needed, Value *out)
{
    const HoloTensor *t = call->in[i];
    int64_t           strides[HOLO_MAX_RANK], kept_count, sum_count, *kept, *sum, stride[NAMES] = {0}, dim[NAMES];
    int8_t            sum_names[HOLO_MAX_RANK];
    int               sums        = 0;
    bool              seen[NAMES] = {false};
    holo_strides(t->rank, t->dim, strides);
    *out = (Value){.rank = 0};
    for (int n = 0; n < NAMES; n++) out->dim[n] = dim[n] = 1;
    for (int d = 0; d < t->rank; d++) {
        int name = term->name[d];
        if (t->dim[d] != 1) {
            stride[name] += strides[d];
            dim[name] = t->dim[d];
        }
    }
    for (int d = 0; d < t->rank; d++) {
        int name = term->name[d];
        if (!seen[name] && needed[name])
            add_name(out, name, dim[name]);
        else if (!seen[name])
            sum_names[sums++] = (int8_t)name;
        seen[name] = true;
    }
    HOLO_TRY(lay_out(call, out));
    if (out->rank == t->rank) { // no name is summed, none repeated
        holo_cells_read(t, integer, 0, 1, holo_tensor_count(t), out->cells);
        return HOLO_OK;
    }
    HOLO_TRY(list_offsets(call, out->rank, out->name, dim, stride, &kept_count, &kept));
    HOLO_TRY(list_offsets(call, sums, sum_names, dim, stride, &sum_count, &sum));
    for (int64_t k = 0; k < kept_count; k++) out->cells[k] = sum_of(t, integer, kept[k], sum_count, sum);
    return HOLO_OK;
}

typedef struct Pair {
    const HoloCell *a, *b;
    int64_t        *a_batch, *b_batch, *a_row, *b_col, *a_k, *b_k; // offsets
} Pair;

static void read_a(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const Pair     *p    = c->arg;
    const HoloCell *from = p->a + p->a_batch[batch] + p->a_row[row];
    for (int64_t j = 0; j < count; j++) out[j] = from[p->a_k[k + j]];
}

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const Pair     *p    = c->arg;
    const HoloCell *from = p->b + p->b_batch[batch] + p->b_k[k];
    for (int64_t j = 0; j < count; j++) out[j] = from[p->b_col[col + j]];
}

static bool has(const Value *v, int name)
{
    return v->rank && memchr(v->name, name, (size_t)v->rank);
}

static HoloStatus multiply(const HoloCall *call, bool integer, const Value *a, const Value *b, const bool *needed,
                           Value *out)
{
    int8_t  names[4][NAMES]; // of the stack, the rows, the columns and the sum
    int     counts[4] = {0};
    int64_t dim[NAMES];
    for (int n = 0; n < NAMES; n++) {
        dim[n]    = a->dim[n] == 1 ? b->dim[n] : a->dim[n];
        bool in_a = has(a, n), in_b = has(b, n);
        int  part = !in_b ? 1 : !in_a ? 2 : needed[n] ? 0 : 3;
        if (in_a || in_b) names[part][counts[part]++] = (int8_t)n;
    }
    *out = (Value){.rank = 0};
    for (int n = 0; n < NAMES; n++) out->dim[n] = 1;
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < counts[part]; i++) add_name(out, names[part][i], dim[(int)names[part][i]]);
    HOLO_TRY(lay_out(call, out));
    Pair         pair = {.a = a->cells, .b = b->cells};
    HoloContract c    = {.integer = integer, .a = read_a, .b = read_b, .arg = &pair, .cells = out->cells};
    HOLO_TRY(list_offsets(call, counts[0], names[0], dim, a->stride, &c.batch, &pair.a_batch));
    HOLO_TRY(list_offsets(call, counts[0], names[0], dim, b->stride, &c.batch, &pair.b_batch));
    HOLO_TRY(list_offsets(call, counts[1], names[1], dim, a->stride, &c.rows, &pair.a_row));
    HOLO_TRY(list_offsets(call, counts[2], names[2], dim, b->stride, &c.cols, &pair.b_col));
    HOLO_TRY(list_offsets(call, counts[3], names[3], dim, a->stride, &c.depth, &pair.a_k));
    HOLO_TRY(list_offsets(call, counts[3], names[3], dim, b->stride, &c.depth, &pair.b_k));
    holo_contract(call, &c);
    return HOLO_OK;
}

static HoloStatus write_out(const HoloCall *call, const Equation *e, bool integer, const Value *v)
{
    int64_t count, *offsets, dim[NAMES];
    for (int n = 0; n < NAMES; n++) dim[n] = e->dim[n];
    HOLO_TRY(list_offsets(call, e->out.rank, e->out.name, dim, v->stride, &count, &offsets));
    for (int64_t start = 0; start < count; start += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        HoloCell tile[HOLO_TILE];
        int64_t  run = count - start < HOLO_TILE ? count - start : HOLO_TILE;
        for (int64_t j = 0; j < run; j++) tile[j] = v->cells[offsets[start + j]];
        holo_cells_write(call->out[0], integer, start, run, tile);
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Equation    e;
    const char *place = NULL;
    Term        term;
    Value       so_far, next, product;
    int         dots, left[NAMES];
    bool        needed[NAMES] = {false}, integer = holo_dtype_is_integer(call->in[0]->dtype);
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_equation(call, &e));
    memcpy(left, e.uses, sizeof left); // uses by the operands that are still to come
    for (int i = 0; i < call->in_count; i++) {
        HOLO_TRY(next_operand(call, &e, i, &place, &term, &dots));
        for (int d = 0; d < term.rank; d++) left[(int)term.name[d]]--;
        for (int n = 0; n < NAMES; n++) needed[n] = left[n] > 0;
        for (int d = 0; d < e.out.rank; d++) needed[(int)e.out.name[d]] = true;
        bool shared[NAMES]; // a name of both factors is not summed before they are multiplied
        for (int n = 0; n < NAMES; n++) shared[n] = needed[n] || (i > 0 && has(&so_far, n));
        HOLO_TRY(load(call, i, integer, &term, shared, i ? &next : &so_far));
        if (i) {
            HOLO_TRY(multiply(call, integer, &so_far, &next, needed, &product));
            so_far = product;
        }
    }
    return write_out(call, &e, integer, &so_far);
}

const HoloOp holo_ops_einsum[] = {
    {.name    = "Einsum",
     .domain  = "",
     .since   = 12,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_NUMBER,
     .infer   = infer,
     .eval    = eval},
    {0},
};
