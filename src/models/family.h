// family.h - reading the text of a family: what the family_*.c files share.
//
// family_build.c finds the text and reads its head, family_statement.c its statements, family_expression.c expressions and
// calls, family_node.c makes nodes, constants and weights of them.
#ifndef HOLO_MODELS_FAMILY_H
#define HOLO_MODELS_FAMILY_H

#include "graph/graph_scan.h"
#include "models/families.h"

enum { HOLO_FAMILY_DEPTH = 32, HOLO_FAMILY_RESULTS = 8, HOLO_FAMILY_ARGS = 32, HOLO_FAMILY_REPEATS = 1 << 14 };

typedef enum HoloItemKind {
    HOLO_ITEM_NONE = 0, // "_": an input that is left out
    HOLO_ITEM_INT,      // booleans, too
    HOLO_ITEM_FLOAT,
    HOLO_ITEM_TEXT,
    HOLO_ITEM_LIST, // of whole numbers
    HOLO_ITEM_VALUE,
} HoloItemKind;

typedef struct HoloItem { // what an expression gives
    HoloItemKind   kind;
    int64_t        i;
    double         f;
    const char    *text;
    const int64_t *list;
    int            count; // of the list
    HoloValue     *value;
} HoloItem;

typedef struct HoloFamilyName { // what a name stands for
    struct HoloFamilyName *next;
    const char            *name;
    HoloItem               item;
} HoloFamilyName;

typedef struct HoloFamilyScope {
    HoloFamilyName *names;
    const char     *prefix; // of the names of values: "layer.0/q/"
} HoloFamilyScope;

typedef struct HoloFamilyBlock {
    struct HoloFamilyBlock *next;
    const char             *name;
    HoloFamilyText          source;
    const char             *at; // behind its "{"
    int                     param_count, result_count;
    const char             *param[HOLO_FAMILY_ARGS], *result[HOLO_FAMILY_RESULTS];
} HoloFamilyBlock;

typedef struct HoloFamilyReader {
    HoloScan                 scan;
    const HoloFamilyRequest *request;
    HoloGraph               *graph;
    HoloFamilyScope          globals; // config, and what follows from it
    HoloFamilyScope         *scope;   // of the graph or of the block that is being read
    HoloFamilyBlock         *blocks;
    const char              *family, *architecture;
    const char              *prefix; // that names of weights may have in front
    int                      depth;
} HoloFamilyReader;

// ---- words. Names here are letters, digits and "_".

HOLO_MUST HoloStatus holo_family_wrong(HoloFamilyReader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // fails, with the line
bool                 holo_family_accept(HoloFamilyReader *r, const char *token);
HOLO_MUST HoloStatus holo_family_expect(HoloFamilyReader *r, const char *token);
HOLO_MUST HoloStatus holo_family_word(HoloFamilyReader *r, const char **out);
bool                 holo_family_next_is_call(HoloFamilyReader *r); // a word with "@" or "(" behind it
// A text in quotes, in which {name} is what the name stands for.
HOLO_MUST HoloStatus holo_family_quoted(HoloFamilyReader *r, const char **out);
HOLO_MUST HoloStatus holo_family_skip_block(HoloFamilyReader *r); // from behind its "{" to behind its "}"

// ---- names

HOLO_MUST HoloStatus holo_family_set(HoloFamilyReader *r, HoloFamilyScope *scope, const char *name,
                                     const HoloItem *item);
const HoloItem      *holo_family_find(const HoloFamilyReader *r, const char *name); // NULL: no such
bool                 holo_item_is_true(const HoloItem *item);

// ---- what can be read

HOLO_MUST HoloStatus holo_family_expression(HoloFamilyReader *r, HoloItem *out);
// A call of an operator or a block, with as many results as are wanted, called by `names` (NULL: after the operator).
HOLO_MUST HoloStatus holo_family_call(HoloFamilyReader *r, const char *const *names, int wanted, HoloItem *results);
HOLO_MUST HoloStatus holo_family_statements(HoloFamilyReader *r); // up to "}" and over it
// What stands before the graph: config, blocks, names. *out_graph: behind the graph's "{", NULL where there is none.
HOLO_MUST HoloStatus holo_family_head(HoloFamilyReader *r, const char **out_graph);

// ---- nodes

typedef struct HoloFamilyCall {
    const char *type;
    int         version, in_count, attr_count, out_count;
    HoloItem    in[HOLO_FAMILY_ARGS];
    HoloAttr    attr[HOLO_FAMILY_ARGS];
} HoloFamilyCall;

HOLO_MUST HoloStatus holo_family_node(HoloFamilyReader *r, const HoloFamilyCall *call, const char *const *names,
                                      HoloItem *results);
// Is there a weight of that name, or of that name with the family's prefix?
bool holo_family_has_weight(HoloFamilyReader *r, const char *name, HoloTensor *out);
// The weight as a value; sizes that are not as they should be are refused. Those below 0 may be any.
HOLO_MUST HoloStatus holo_family_weight(HoloFamilyReader *r, const char *name, const int64_t *sizes, int rank,
                                        HoloItem *out);

#endif
