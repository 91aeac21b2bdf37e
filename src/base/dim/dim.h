// dim.h - whole numbers that may be expressions of symbols: "batch", "2*n+1", "n//4".
//
// A HoloDim is an int64_t. Ordinary numbers stand for themselves. A narrow band of very negative numbers stands for
// entries of a HoloDims table. So code that computes sizes is written once, for known and for symbolic sizes.
// Expressions have a normal form (a polynomial over symbols, quotients, minima and maxima), so two equal expressions
// are the same HoloDim.
//
// Symbols stand for sizes, so they are at least 0. (n*m)//m is simplified to n: if m is 0, the tensor is empty,
// whatever n is.
#ifndef HOLO_BASE_DIM_DIM_H
#define HOLO_BASE_DIM_DIM_H

#include "base/base.h"

typedef int64_t HoloDim;

typedef struct HoloDims HoloDims; // the table; NULL where only ordinary numbers occur

typedef enum HoloDimOp { // ids are part of the archive format: append only
    HOLO_DIM_SYMBOL = 0, // a: index of the symbol
    HOLO_DIM_ADD    = 1,
    HOLO_DIM_MUL    = 2,
    HOLO_DIM_DIV    = 3, // floor
    HOLO_DIM_MIN    = 4,
    HOLO_DIM_MAX    = 5,
    HOLO_DIM_OP_COUNT
} HoloDimOp;

typedef struct HoloDimNode { // a, b: numbers, or entries before this one
    int32_t op;
    HoloDim a, b;
} HoloDimNode;

#define HOLO_DIM_BASE ((int64_t)0xA5E51B0100000000u) // -0x5A1AE4FF00000000

static inline bool holo_dim_is_symbolic(HoloDim d)
{
    return (uint64_t)d >> 32 == (uint64_t)HOLO_DIM_BASE >> 32;
}
// Are both numbers, and different? A symbolic size could be any number.
static inline bool holo_dims_differ(HoloDim a, HoloDim b)
{
    return a != b && !holo_dim_is_symbolic(a) && !holo_dim_is_symbolic(b);
}
static inline int holo_dim_entry(HoloDim d)
{
    return (int)(uint32_t)d;
}
static inline HoloDim holo_dim_of_entry(int entry)
{
    return HOLO_DIM_BASE + entry;
}
#define HOLO_DIM_UNKNOWN ((HoloDim)(HOLO_DIM_BASE + 0xFFFFFFFF)) // unknown; so is every result with it

HoloDims *holo_dims_create(HoloArena *arena); // lives as long as the arena; NULL: no memory

HoloDim holo_dims_symbol(HoloDims *dims, const char *name);  // the symbol of that name, new or known
HoloDim holo_dims_fresh(HoloDims *dims, const char *prefix); // a new symbol, "prefix0", "prefix1" ...

int                holo_dims_count(const HoloDims *dims);
const HoloDimNode *holo_dims_node(const HoloDims *dims, int entry);
int                holo_dims_symbol_count(const HoloDims *dims);
const char        *holo_dims_symbol_name(const HoloDims *dims, int symbol);
bool               holo_dim_is_fresh(const HoloDims *dims, HoloDim d); // only a symbol of holo_dims_fresh

// Arithmetic. Two ordinary numbers give a number; anything else gives a simplified entry. Overflow, division by 0, a
// full table or lack of memory give HOLO_DIM_UNKNOWN.
HoloDim holo_dim_add(HoloDims *dims, HoloDim a, HoloDim b);
HoloDim holo_dim_sub(HoloDims *dims, HoloDim a, HoloDim b);
HoloDim holo_dim_mul(HoloDims *dims, HoloDim a, HoloDim b);
HoloDim holo_dim_div(HoloDims *dims, HoloDim a, HoloDim b);      // floor
HoloDim holo_dim_div_ceil(HoloDims *dims, HoloDim a, HoloDim b); // ceiling
HoloDim holo_dim_min(HoloDims *dims, HoloDim a, HoloDim b);
HoloDim holo_dim_max(HoloDims *dims, HoloDim a, HoloDim b);

// One operation on numbers. False: overflow, division by 0, or an unknown operation. The runtime uses it for the
// expressions of an archive.
bool holo_dim_apply(int32_t op, int64_t a, int64_t b, int64_t *out);

// Writes "2*n+1" (or a number, or "?") and returns its length, like snprintf.
int holo_dim_print(const HoloDims *dims, HoloDim d, char *text, size_t size);
// Writes the name of a symbol as it is written in expressions: quoted where it could be read otherwise.
int holo_dim_print_name(const char *name, char *text, size_t size);
// Reads what holo_dim_print writes. New names become symbols. False: it is not an expression.
bool holo_dim_parse(HoloDims *dims, const char *text, HoloDim *out_dim);

#endif
