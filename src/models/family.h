// family.h - reads the text of a family: what the family_*.c files share.
//
// family_known.c finds the text, family_build.c reads its head, family_statement.c its statements, family_expression.c expressions and
// calls, family_block.c blocks, family_function.c functions, family_list.c lists; family_node.c makes nodes, constants and weights of them.
#ifndef HOLO_MODELS_FAMILY_H
#define HOLO_MODELS_FAMILY_H

#include "graph/graph_scan.h"
#include "models/families.h"

enum {
    HOLO_FAMILY_DEPTH    = 96,
    HOLO_FAMILY_RESULTS  = 8,
    HOLO_FAMILY_ARGS     = 32,
    HOLO_FAMILY_PREFIXES = 4,
    HOLO_FAMILY_SHARED   = 8,
    HOLO_FAMILY_REPEATS  = 1 << 14
};

typedef enum HoloItemKind {
    HOLO_ITEM_NONE = 0, // "_": an input that is left out
    HOLO_ITEM_INT,      // also booleans
    HOLO_ITEM_FLOAT,
    HOLO_ITEM_TEXT,
    HOLO_ITEM_LIST,   // of whole numbers
    HOLO_ITEM_FLOATS, // a list of numbers
    HOLO_ITEM_TEXTS,  // a list of texts
    HOLO_ITEM_VALUE,
} HoloItemKind;

typedef struct HoloItem { // the result of an expression
    HoloItemKind      kind;
    int64_t           i;
    double            f;
    const char       *text;
    const int64_t    *list;
    const float      *floats;
    const HoloString *texts;
    int               count; // of the list
    HoloValue        *value;
} HoloItem;

typedef struct HoloFamilyName { // a name and its value
    struct HoloFamilyName *next;
    const char            *name;
    HoloItem               item;
} HoloFamilyName;

typedef struct HoloFamilyScope {
    HoloFamilyName *names;
    const char     *prefix; // for the names of values: "layer.0/q/"
} HoloFamilyScope;

typedef struct HoloFamilyBlock {
    struct HoloFamilyBlock *next;
    const char             *name;
    HoloFamilyText          source;
    const char             *at; // behind its "{"
    int                     param_count, result_count;
    const char             *param[HOLO_FAMILY_ARGS], *result[HOLO_FAMILY_RESULTS];
    const char *fallback[HOLO_FAMILY_ARGS]; // the text of what a parameter is if it is not given; NULL: none
} HoloFamilyBlock;

typedef struct HoloFamilyGraph {
    const char *name; // "": that of the model as a whole
    const char *at;   // behind its "{"
} HoloFamilyGraph;

typedef struct HoloFamilyReader {
    HoloScan                 scan;
    const HoloFamilyRequest *request;
    HoloGraph               *graph;
    HoloFamilyScope          globals; // config, and what follows from it
    HoloFamilyScope         *scope;   // of the graph or block that is being read
    HoloFamilyBlock         *blocks;
    HoloFamilyGraph          graphs[HOLO_FAMILY_ENTRIES];
    int                      graph_count;
    const char              *family, *architecture;
    const char              *prefix[HOLO_FAMILY_PREFIXES]; // prefixes that names of weights may have
    int                      prefix_count;
    const char              *result, *result_at; // a call that begins there gives the value of that name
    int                      depth;
} HoloFamilyReader;

// ---- words. Names here are letters, digits and "_".

HOLO_MUST HoloStatus holo_family_wrong(HoloFamilyReader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // fails, with the line
bool                 holo_family_accept(HoloFamilyReader *r, const char *token);
HOLO_MUST HoloStatus holo_family_expect(HoloFamilyReader *r, const char *token);
HOLO_MUST HoloStatus holo_family_word(HoloFamilyReader *r, const char **out);
bool                 holo_family_next_is_call(HoloFamilyReader *r); // a word with "@" or "(" behind it
// A text in quotes. {name} is replaced by the name's value.
HOLO_MUST HoloStatus holo_family_quoted(HoloFamilyReader *r, const char **out);
HOLO_MUST HoloStatus holo_family_skip_block(HoloFamilyReader *r);      // from behind its "{" to behind its "}"
HOLO_MUST HoloStatus holo_family_skip_expression(HoloFamilyReader *r); // to the "," or ")" behind it

// ---- names

HOLO_MUST HoloStatus holo_family_set(HoloFamilyReader *r, HoloFamilyScope *scope, const char *name,
                                     const HoloItem *item);
const HoloItem      *holo_family_find(const HoloFamilyReader *r, const char *name); // NULL: there is none
bool                 holo_item_is_true(const HoloItem *item);
bool                 holo_item_is_number(const HoloItem *item);
double               holo_item_number(const HoloItem *item);
bool                 holo_item_is_list(const HoloItem *item);
HoloItem             holo_item_at(const HoloItem *list, int i);

// ---- the parts of a text

HOLO_MUST HoloStatus holo_family_expression(HoloFamilyReader *r, HoloItem *out);
HOLO_MUST HoloStatus holo_family_args(HoloFamilyReader *r, HoloItem *args, int *out_count); // "(a, b)"
HOLO_MUST HoloStatus holo_family_list(HoloFamilyReader *r, const HoloItem *items, int count, HoloItem *out);
HOLO_MUST HoloStatus holo_family_index(HoloFamilyReader *r, HoloItem *item); // "[i]" behind a list
// A function of the language. *out_is is false if the call is of something else; then nothing was read.
HOLO_MUST HoloStatus holo_family_function(HoloFamilyReader *r, HoloItem *out, bool *out_is);
// A call of an operator or a block, with as many results as are wanted, called by `names` (NULL: after the operator).
HOLO_MUST HoloStatus holo_family_call(HoloFamilyReader *r, const char *const *names, int wanted, HoloItem *results);
HOLO_MUST HoloStatus holo_family_statements(HoloFamilyReader *r); // up to "}" and over it
HOLO_MUST HoloStatus holo_family_block(HoloFamilyReader *r, const char *name, const char *const *names, int wanted,
                                       HoloItem *results); // from behind its name
// "NAME(parameter=text, ...)": the block as a graph; parameters that are not given are its inputs.
HOLO_MUST HoloStatus holo_family_body(HoloFamilyReader *r, HoloGraph **out);
// What stands around the graphs: config, blocks, names. Finds the graphs.
HOLO_MUST HoloStatus holo_family_head(HoloFamilyReader *r);

// ---- nodes

typedef struct HoloFamilyCall {
    const char *type;
    int         version, in_count, attr_count, out_count;
    HoloItem    in[HOLO_FAMILY_ARGS];
    HoloAttr    attr[HOLO_FAMILY_ARGS];
} HoloFamilyCall;

HOLO_MUST HoloStatus holo_family_node(HoloFamilyReader *r, const HoloFamilyCall *call, const char *const *names,
                                      HoloItem *results);
// A constant of a number or a list. HOLO_NONE: of i64 if it is whole, else of the type of the weights.
HOLO_MUST HoloStatus holo_family_constant(HoloFamilyReader *r, const HoloItem *item, HoloDtype dtype, HoloValue **out);
// Is there a weight of that name, or of that name with the family's prefix?
bool holo_family_has_weight(HoloFamilyReader *r, const char *name, HoloFamilyWeight *out);
// The weight as a value. Wrong sizes are refused; a negative size allows any.
HOLO_MUST HoloStatus holo_family_weight(HoloFamilyReader *r, const char *name, const int64_t *sizes, int rank,
                                        HoloItem *out);

#endif
