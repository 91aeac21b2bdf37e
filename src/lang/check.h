// check.h - turns trees into typed values: resolves names, infers types, reports mistakes. Only for the check_*.c
// files.
#ifndef HOLO_LANG_CHECK_H
#define HOLO_LANG_CHECK_H

#include "lang/ssa.h"

enum {
    HOLO_CHECK_VARS  = 2000,    // variables of a kernel and of the helpers being inlined
    HOLO_CHECK_DEPTH = 60,      // branches and loops in each other
    HOLO_CHECK_CALLS = 32,      // helpers that call helpers
    HOLO_CHECK_STEPS = 1000000, // expressions that are checked; those of helpers count each time
};

// Literals take the type of their neighbor; until then they have one of these instead of a HoloDtype.
enum { HOLO_LITERAL_OF_INT = 200, HOLO_LITERAL_OF_FLOAT = 201 };

typedef struct HoloCheckValue {
    uint8_t type;
    int     node;
    int64_t integer; // of a literal
    double  number;
} HoloCheckValue;

static inline bool holo_check_is_literal(HoloCheckValue v)
{
    return v.type == HOLO_LITERAL_OF_INT || v.type == HOLO_LITERAL_OF_FLOAT;
}

typedef enum HoloVarKind { HOLO_VAR_NUMBER, HOLO_VAR_PARAM, HOLO_VAR_SHARED, HOLO_VAR_LOCAL } HoloVarKind;

typedef struct HoloCheckVar {
    const char *name;
    uint8_t     kind, type; // of arrays: of their elements
    int         value;      // node; -1: there may be none. Of arrays their number
} HoloCheckVar;

typedef struct HoloCheckLoop {
    struct HoloCheckLoop *outer;
    int                  *phi; // by variable; -1: none
    int                   count;
    int                   base;          // of the function's variables
    int                   counter, step; // of a range: the PHI, and what it goes on by; -1: none
} HoloCheckLoop;

typedef struct HoloCheck {
    HoloSsa                ssa;
    HoloArena             *arena;
    const HoloAstModule   *module;
    const HoloAstFunction *kernel, *function; // what is compiled, and whose body this is
    HoloError             *error;
    uint8_t                type; // what the type variable stands for
    HoloCheckVar           var[HOLO_CHECK_VARS];
    int                    var_count, base; // variables from base on are visible
    HoloCheckLoop         *loop;
    int                    calls, steps;
    bool                   dead;                     // no lane gets here
    uint8_t                access[HOLO_LANG_PARAMS]; // of array parameters: HoloIsaAccess
    HoloIsaArray           shared[HOLO_ISA_MAX_ARRAYS], local[HOLO_ISA_MAX_ARRAYS];
    int                    shared_count, local_count;
} HoloCheck;

#define HOLO_CHECK_FAIL(c, at, advice, ...) \
    holo_source_fail((c)->module->source, (at)->place, advice, (c)->error, __VA_ARGS__)

const char *holo_check_type_name(uint8_t type); // "f32", "a whole number"
bool        holo_type_is_float(uint8_t type);
bool        holo_type_is_int(uint8_t type);
uint8_t     holo_check_widened(uint8_t type);                     // f32 of f16 and bf16
uint8_t     holo_check_resolve(const HoloCheck *c, uint8_t type); // what the type variable stands for now

// ---- values (check_value.c)

// Converts to `type`, if that loses nothing that a reader would not expect.
HOLO_MUST HoloStatus holo_check_coerce(HoloCheck *c, const HoloAst *at, HoloCheckValue v, uint8_t type, int *out);
// Gives a literal its default type; other values stay.
HOLO_MUST HoloStatus holo_check_settle(HoloCheck *c, const HoloAst *at, HoloCheckValue v, HoloCheckValue *out);
// The type in which two values are computed.
HOLO_MUST HoloStatus holo_check_join(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, uint8_t *out);
HOLO_MUST HoloStatus holo_check_cast(HoloCheck *c, const HoloAst *at, HoloCheckValue v, uint8_t type,
                                     HoloCheckValue *out);
HOLO_MUST HoloStatus holo_check_condition(HoloCheck *c, const HoloAst *at, int *out);
HOLO_MUST HoloStatus holo_check_index(HoloCheck *c, const HoloAst *at, int *out);

// ---- expressions (check_expression.c, check_operator.c, check_call.c)

HOLO_MUST HoloStatus holo_check_expression(HoloCheck *c, const HoloAst *at, HoloCheckValue *out);
HOLO_MUST HoloStatus holo_check_binary(HoloCheck *c, const HoloAst *at, HoloCheckValue *out);
HOLO_MUST HoloStatus holo_check_unary(HoloCheck *c, const HoloAst *at, HoloCheckValue *out);
HOLO_MUST HoloStatus holo_check_call(HoloCheck *c, const HoloAst *at, bool is_statement, HoloCheckValue *out);
// A variable that is an array; the access is noted.
HOLO_MUST HoloStatus holo_check_array(HoloCheck *c, const HoloAst *at, int access, HoloCheckVar **out);

// ---- branches (check_branch.c). Between begin and end, what is made belongs to the branch.

typedef struct HoloCheckBranch {
    int  owner, parent, count;
    int *before, *then; // values of variables
    bool dead;
} HoloCheckBranch;
HOLO_MUST HoloStatus holo_check_branch(HoloCheck *c, const HoloAst *at, int condition, HoloCheckBranch *out);
HOLO_MUST HoloStatus holo_check_else(HoloCheck *c, HoloCheckBranch *branch);
// `value` may be NULL; else it is two values of one type, of which one is chosen.
HOLO_MUST HoloStatus holo_check_join_branches(HoloCheck *c, HoloCheckBranch *branch, const int *value, int *out);

// ---- statements (check_statement.c, check_loop.c)

HoloCheckVar        *holo_check_find(HoloCheck *c, const char *name); // NULL: no such
HOLO_MUST HoloStatus holo_check_declare(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type,
                                        HoloCheckVar **out);
HOLO_MUST HoloStatus holo_check_set(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type,
                                    HoloCheckValue value);
void                 holo_check_store(HoloCheck *c, const HoloCheckVar *array, int index, int value);
HOLO_MUST HoloStatus holo_check_block(HoloCheck *c, const HoloAst *list);
HOLO_MUST HoloStatus holo_check_for(HoloCheck *c, const HoloAst *at);
HOLO_MUST HoloStatus holo_check_while(HoloCheck *c, const HoloAst *at);
HOLO_MUST HoloStatus holo_check_leave(HoloCheck *c, const HoloAst *at); // break, continue
HOLO_MUST HoloStatus holo_check_parallel(HoloCheck *c, const HoloAst *at);

#endif
