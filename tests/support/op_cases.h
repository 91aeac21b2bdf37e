// op_cases.h - the text form of operator cases, tests/ops/README.md: reads a file, unrolls loops, parses values.
//
// A mistake in a file ends the test with the file and the line. The graph itself stays text, so that whoever runs a
// case decides how its inputs are declared.
#ifndef HOLO_TESTS_OP_CASES_H
#define HOLO_TESTS_OP_CASES_H

#include "graph/graph.h"

enum { CASE_VALUES = 24 }; // inputs or outputs of a case, at most

typedef struct CaseValue {
    const char *name, *type, *text; // as written: x: TYPE = TEXT
    HoloTensor  value;
    bool        is_any; // an output whose contents nobody can know
} CaseValue;

typedef struct OpCase {
    const char *path, *title;
    int         line;
    char        variant[128]; // what the loops' names are: " t=f16 v=13"
    CaseValue   in[CASE_VALUES], out[CASE_VALUES];
    int         in_count, out_count;
    HoloText    body;   // the graph's statements
    size_t      last;   // where the last of them begins in the body
    const char *fails;  // words of the message; NULL: it works
    double      within; // relative to numbers above 1, absolute below; 0: exactly
    HoloArena  *arena;  // of this case
} OpCase;

// Calls `run` for every case of the file, once for every round of its loops.
typedef void CaseRun(void *context, OpCase *c);
void         case_file(const char *path, CaseRun *run, void *context);

#endif
