// template_functions.h - the functions that templates can call: filters, tests, methods and globals, by name.
#ifndef HOLO_TEXT_TEMPLATE_FUNCTIONS_H
#define HOLO_TEXT_TEMPLATE_FUNCTIONS_H

#include "base/base.h"

typedef enum HoloFunctionGroup {
    HOLO_FILTERS,
    HOLO_TESTS,
    HOLO_GLOBALS,
    HOLO_STRING_METHODS,
    HOLO_LIST_METHODS,
    HOLO_TUPLE_METHODS,
    HOLO_DICT_METHODS,
    HOLO_LOOP_METHODS,
    HOLO_CYCLER_METHODS,
    HOLO_FUNCTION_GROUPS
} HoloFunctionGroup;

struct HoloDatum;
struct HoloRender;

enum { HOLO_FUNCTION_PARAMS = 5 };

// `params` names the parameters with commas between them. A ! in front: it must be given. `*` stands for all further
// arguments, which arrive as a list, and `**` for all further named ones, as a dict. What was not given is HOLO_D_ABSENT.
typedef struct HoloFunction {
    const char *name, *params;
    // `arg` begins with what the function is applied to: the input of a filter, the object of a method.
    struct HoloDatum (*run)(struct HoloRender *r, const struct HoloDatum *arg);
} HoloFunction;

// NULL: there is none of this name.
const HoloFunction *holo_function_find(HoloFunctionGroup group, HoloString name);

// The tables; the last row of each has no name.
extern const HoloFunction holo_filters_text[], holo_filters_list[], holo_filters_number[], holo_template_tests[],
    holo_template_globals[];
extern const HoloFunction holo_string_methods[], holo_string_questions[], holo_list_methods[], holo_tuple_methods[],
    holo_dict_methods[], holo_loop_methods[], holo_cycler_methods[];

#endif
