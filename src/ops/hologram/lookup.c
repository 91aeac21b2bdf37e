// lookup.c - the operators of tables, of domain "hologram": Lookup finds its result in a table by the bits of an
// element, LookupPair by those of two; Plain is another operator computed by its eval, even if there are kernels.
//
// A function of one 8- or 16-bit element is its table: it has an entry for each bit pattern, so no element can be
// outside. If tables are not wanted, the operators become Plain: results have the same bits.
#include "ops/move.h"

#include <stdio.h>
#include <string.h>

#define BYTES (HOLO_TYPES_F8 | HOLO_TYPES_NARROW | HOLO_BIT(BOOL) | HOLO_BIT(I8) | HOLO_BIT(U8))

// ---- Lookup: x, and a table of 256 or 65,536 entries of any type but strings

static HoloStatus lookup_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *table = call->in[1];
    if (!table) return holo_call_fail(call, HOLO_BAD_MODEL, "the table is missing");
    HoloDim entries = (HoloDim)1 << 8 * holo_dtype_size(x->dtype);
    if (table->kind != HOLO_TENSOR || table->dtype == HOLO_STRING || !holo_dtype_size(table->dtype) ||
        table->rank != 1 || holo_dims_differ(table->dim[0], entries))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the table must have an entry for each of the %lld patterns of %s",
                              (long long)entries, holo_dtype_name(x->dtype));
    return holo_out_shape_like(call, 0, table->dtype, x);
}

static HoloStatus lookup_eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *table = call->in[1];
    size_t            size = holo_dtype_size(table->dtype), wide = holo_dtype_size(x->dtype);
    char             *out   = call->out[0]->data;
    int64_t           count = holo_tensor_count(x);
    if (holo_tensor_count(table) != (int64_t)1 << 8 * wide)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the table has %lld entries", (long long)holo_tensor_count(table));
    for (int64_t i = 0; i < count; i++) {
        uint16_t at = wide == 1 ? ((const uint8_t *)x->data)[i] : ((const uint16_t *)x->data)[i];
        memcpy(out + (size_t)i * size, (const char *)table->data + at * size, size);
    }
    return HOLO_OK;
}

// ---- LookupPair: two of 8 bits and of one shape, and a table of 65,536 entries of a byte; the first is the high byte

static HoloStatus pair_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *z = call->in[1], *table = call->in[2];
    HoloDim           dim[HOLO_MAX_RANK];
    if (!z || !table) return holo_call_fail(call, HOLO_BAD_MODEL, "an input is missing");
    HOLO_TRY(holo_expect_types(call, 1, BYTES));
    HOLO_TRY(holo_expect_rank(call, 1, x->rank, x->rank));
    if (table->kind != HOLO_TENSOR || holo_dtype_size(table->dtype) != 1 || table->rank != 1 ||
        holo_dims_differ(table->dim[0], 1 << 16))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the table must have 65,536 entries of a byte");
    for (int d = 0; d < x->rank; d++)
        if (!holo_dim_agree(x->dim[d], z->dim[d], &dim[d]))
            return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d is %lld and %lld", d, (long long)x->dim[d],
                                  (long long)z->dim[d]);
    return holo_out_type(call, 0, table->dtype, x->rank, dim);
}

static HoloStatus pair_eval(HoloCall *call)
{
    const uint8_t *x = call->in[0]->data, *z = call->in[1]->data, *table = call->in[2]->data;
    uint8_t       *out   = call->out[0]->data;
    int64_t        count = holo_tensor_count(call->out[0]);
    if (holo_tensor_count(call->in[2]) != 1 << 16)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the table has %lld entries",
                              (long long)holo_tensor_count(call->in[2]));
    for (int64_t i = 0; i < count; i++) out[i] = table[x[i] << 8 | z[i]];
    return HOLO_OK;
}

// ---- Plain: attributes plain_op, plain_domain, plain_version name the operator; all others are its own

static HoloStatus plain_call(const HoloCall *call, HoloCall *out)
{
    char       name[64], domain[64];
    HoloString op = holo_attr_string(call, "plain_op", ""), of = holo_attr_string(call, "plain_domain", "");
    *out = *call;
    if (op.size >= sizeof name || of.size >= sizeof domain)
        return holo_call_fail(call, HOLO_BAD_MODEL, "names no operator");
    snprintf(name, sizeof name, "%.*s", (int)op.size, op.data);
    snprintf(domain, sizeof domain, "%.*s", (int)of.size, of.data);
    int64_t version      = holo_attr_int(call, "plain_version", 0);
    out->version         = version > 0 && version < INT16_MAX ? (int)version : 0;
    out->op              = holo_op_find(domain, name, out->version);
    const uint32_t unfit = HOLO_OP_CONTROL | HOLO_OP_KINDS | HOLO_OP_DYNAMIC | HOLO_OP_RANDOM;
    if (!out->op || !out->op->eval || out->op->flags & unfit || !strcmp(domain, "hologram"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s.%s %d is not an operator that can be computed in this way",
                              domain, name, out->version);
    return HOLO_OK;
}

static HoloStatus plain_infer(HoloCall *call)
{
    HoloCall other;
    HOLO_TRY(plain_call(call, &other));
    return holo_op_infer(&other);
}

static HoloStatus plain_eval(HoloCall *call)
{
    HoloCall other;
    HOLO_TRY(plain_call(call, &other));
    other.prepared = NULL;
    return holo_op_eval(&other);
}

const HoloOp holo_ops_lookup[] = {
    {.name    = "Lookup",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = BYTES | HOLO_BIT(F16) | HOLO_BIT(BF16) | HOLO_BIT(I16) | HOLO_BIT(U16),
     .infer   = lookup_infer,
     .eval    = lookup_eval},
    {.name    = "LookupPair",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = BYTES,
     .infer   = pair_infer,
     .eval    = pair_eval},
    {.name    = "Plain",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .flags   = HOLO_OP_TYPED,
     .infer   = plain_infer,
     .eval    = plain_eval},
    {0},
};
