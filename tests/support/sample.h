// sample.h - random valid graphs, made from a table that says in one line what each operator accepts.
//
// A row of the table is graph text with blanks:
//
//     {HOLO_TYPES_FLOAT, "Conv@22($x[n,c>0,h>0,...>0], $t[m>0,c,$spatial(3)], $?t[m]) {pads=[$spatial(1),$spatial(1)]}"}
//
// The row's dtypes are those of $x, the value that the node is connected to. Before the first parenthesis there may be
// several operators of the same form, {Sin@22 Cos@22}($x), and in front of them the number of outputs, 2=TopK@11($x
// ...).
//
//   $x, $seq, $opt     the value: a tensor, a sequence, an optional. Behind it may stand its shape, [n,2*c>0,...]: a name
//                      is any size (bound to it), c>0 at least 1, 2*c an even one, ... any number of dimensions; and the
//                      range that its elements keep, <0,d1-1>
//   $f32[m,c,...]      another operand, a constant or an input of the graph; $t is the dtype of $x, $u that of the operand
//                      before, $f32|i8 one of these. A name that is not bound yet becomes a random size, ... stands for the
//                      sizes that it stood for in $x, [=] for the shape of $x, [*] for one that broadcasts with it, [<] for
//                      one that broadcasts to it. <low,high>: the range of its elements; {2,3}: its elements, [#] if it is
//                      a list of them. $f32! is never an input, $?f32 may be left out
//   ${1..c}            a random number; ${k=1..c} binds it to k as well; ${c} prints it
//   $(a|b|c)           one of these texts
//   $axis              an axis, perhaps counted from the end; binds a to it, and da to its size
//   $axes, $perm       axes; a permutation of them
//   $dtype             the dtype of $x
//   $dims, $reshape, $expand  the sizes of $x; of another shape with as many elements; of one that it expands to
//   $spatial(text)     the text once for each dimension from the third on, with s bound to its size
//
// In expressions r is the rank of $x, d0, d1 ... are its sizes, l is the last one.
#ifndef HOLO_TESTS_SAMPLE_H
#define HOLO_TESTS_SAMPLE_H

#include "graph/graph.h"

typedef struct SampleRow {
    uint64_t    types;
    const char *text;
} SampleRow;

extern const SampleRow sample_rows[]; // ended by a row without a text

typedef struct SampleValue { // a value of the graph and what it is now; owned by the sample's arena
    char       name[16];
    HoloTensor now;
} SampleValue;

enum {
    SAMPLE_INPUTS        = 24,     // of a graph
    SAMPLE_ELEMENTS      = 100000, // of a value
    SAMPLE_ELEMENTS_TEXT = 4096,   // of a constant: graph text has no more
};

typedef struct Sample { // a graph being made
    HoloArena  *arena;
    HoloRandom  random;
    HoloText    body;
    SampleValue inputs[SAMPLE_INPUTS];
    int         input_count, name_count;
    bool        all_constant; // there are no inputs
    bool        is_large;     // some sizes are worth two threads
} Sample;

typedef enum SampleSizes { // how the sizes of the graph's inputs are written
    SAMPLE_NUMBERS,
    SAMPLE_EQUAL,     // equal sizes are one symbol
    SAMPLE_DIFFERENT, // each is a symbol of its own
} SampleSizes;

// The operators of the table: each of every row is one. "com.microsoft::Gelu@1".
int         sample_count(void);
const char *sample_name(int op);

// A value that `op` accepts as $x. False: it takes something else than tensors.
bool sample_start(Sample *sample, int op, SampleValue *out);
// Adds a node that gives values named prefix0, prefix1 ...; how many is in *out_count. False: `x` does not fit, and
// nothing is added.
bool sample_node(Sample *sample, int op, const SampleValue *x, const char *prefix, int *out_count);
// The whole graph; `outputs` is a list of names.
void sample_print(const Sample *sample, const char *outputs, SampleSizes sizes, HoloText *out);

uint64_t sample_pick(Sample *sample, uint64_t count); // a random number below count

#endif
