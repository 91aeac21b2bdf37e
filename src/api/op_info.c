// op_info.c - the operator table, as `hologram ops` shows it.
#include "hologram_compiler.h"
#include "lower/cpu/cpu_target.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

// An operator that is refused has one function for everything: it says why.
static const char *runs(const HoloOp *op)
{
    if (op->eval && op->infer == op->eval) return "refused";
    if (holo_cpu_has_kernel(op->domain ? op->domain : "", op->name)) return "kernel";
    return op->eval ? "eval" : "body";
}

static int by_name(const void *a, const void *b)
{
    const HoloOp *x = *(const HoloOp *const *)a, *y = *(const HoloOp *const *)b;
    int           order = strcmp(x->domain ? x->domain : "", y->domain ? y->domain : "");
    if (!order) order = strcmp(x->name, y->name);
    return order ? order : x->since - y->since;
}

int holo_op_count(void)
{
    int count = 0;
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++) count++;
    return count;
}

// The table has a few hundred rows: sorting it for each call is cheaper than keeping state.
bool holo_op_info(int index, HoloOpInfo *out_info)
{
    int            count = holo_op_count(), at = 0;
    const HoloOp **rows = index >= 0 && index < count ? holo_realloc(NULL, (size_t)count * sizeof *rows) : NULL;
    if (!rows) return false;
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++) rows[at++] = op;
    qsort(rows, (size_t)count, sizeof *rows, by_name);
    const HoloOp *op = rows[index];
    holo_free(rows);
    *out_info = (HoloOpInfo){
        .domain    = op->domain ? op->domain : "",
        .name      = op->name,
        .since     = op->since,
        .until     = op->until,
        .in_min    = op->in_min,
        .in_max    = op->in_max,
        .out_min   = op->out_min,
        .out_max   = op->out_max,
        .types     = op->types ? op->types : HOLO_TYPES_ALL,
        .runs      = runs(op),
        .is_random = op->flags & HOLO_OP_RANDOM,
    };
    return true;
}
