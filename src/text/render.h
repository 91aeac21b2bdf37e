// render.h - the values of templates while they are rendered, and what rendering shares.
//
// A failure is kept in the render, with its line. Functions that fail return something harmless, and whoever goes on for
// long looks at `status`. All memory is of one arena, is counted, and is freed at the end.
#ifndef HOLO_TEXT_RENDER_H
#define HOLO_TEXT_RENDER_H

#include "text/template.h"
#include "text/template_functions.h"

typedef enum HoloDatumKind {
    HOLO_D_ABSENT, // an argument that was not given
    HOLO_D_UNDEFINED,
    HOLO_D_NONE,
    HOLO_D_BOOL,
    HOLO_D_INT,
    HOLO_D_FLOAT,
    HOLO_D_STRING,
    HOLO_D_LIST,
    HOLO_D_TUPLE,
    HOLO_D_DICT,
    HOLO_D_NAMESPACE,
    HOLO_D_LOOP,
    HOLO_D_CYCLER, // and a joiner
    HOLO_D_MACRO,
    HOLO_D_FUNCTION,
    HOLO_D_METHOD,
    HOLO_D_KINDS
} HoloDatumKind;

// Flags. SAFE: a string that is markup, so that what is added to it is escaped. GROUP: a tuple of groupby.
enum { HOLO_D_SAFE = 1, HOLO_D_GROUP = 2 };

typedef struct HoloDatum HoloDatum;

typedef struct HoloSeries { // of a list or a tuple
    HoloDatum *item;
    uint32_t   count, room;
} HoloSeries;
typedef struct HoloEntries { // of a dict or a namespace: pairs of key and value, in order
    HoloDatum *item;         // 2 * count
    uint32_t   count, room;
} HoloEntries;

struct HoloDatum {
    uint8_t  kind, flags;
    uint32_t size; // bytes of a text
    union {
        int64_t                  whole; // also of BOOL
        double                   real;
        const char              *text; // of a string; the name of what is undefined
        HoloSeries              *series;
        HoloEntries             *entries;
        struct HoloLoopState    *loop;
        struct HoloCycle        *cycle;
        const struct HoloMacro  *macro;
        const HoloFunction      *function;
        const struct HoloMethod *method;
    };
};

typedef struct HoloLoopState {
    HoloSeries *items;
    uint32_t    at;
    int         depth; // loops around it
    HoloDatum   changed;
} HoloLoopState;
typedef struct HoloCycle { // a joiner: its separator, and at says whether it was called
    HoloSeries *items;
    uint32_t    at;
    bool        is_joiner;
} HoloCycle;
typedef struct HoloMethod {
    HoloDatum           object;
    const HoloFunction *function;
} HoloMethod;

typedef struct HoloLocal {
    uint32_t  name;
    HoloDatum value;
} HoloLocal;
typedef struct HoloLocals { // variables of a body
    struct HoloLocals *outer;
    HoloLocal         *local;
    uint32_t           count, room;
} HoloLocals;
typedef struct HoloMacro {
    uint32_t    name; // HOLO_NO_NODE: a caller
    uint32_t    first, count, body, uses;
    HoloLocals *locals; // where it was defined
} HoloMacro;

typedef struct HoloCallArgs { // positional and named arguments
    HoloSeries  list;
    HoloEntries named;
} HoloCallArgs;

typedef enum HoloLeaving { HOLO_STAYS, HOLO_BREAKS, HOLO_CONTINUES } HoloLeaving;

typedef struct HoloRender {
    const HoloTemplate       *t;
    const HoloTemplateLimits *limits;
    HoloError                *error;
    HoloStatus                status; // the first failure
    HoloArena                 arena;
    uint64_t                  steps;
    size_t                    memory;
    int                       depth, loops;
    uint32_t                  line;
    HoloGrowing              *out; // where text goes now
    HoloLocals               *locals;
    HoloDatum                *global; // of each name
    HoloDatum                 input;  // of the filters of a block
    HoloDatum                 caller; // what a call block gives to the call of node `caller_of`
    uint32_t                  caller_of;
    HoloLeaving               leaving;
    char                     *tail; // the end of the string that was joined last, and how many bytes are free there
    size_t                    tail_room;
    HoloSeries                nothing; // what iterating over nothing gives
} HoloRender;

// ---- failures, budget, memory

HoloDatum holo_render_fail(HoloRender *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool      holo_render_spend(HoloRender *r, uint64_t steps); // false: it failed, now or before
// Pays for looking for a text in another. False as above.
bool  holo_render_search(HoloRender *r, size_t size, size_t wanted);
void *holo_render_take(HoloRender *r, size_t size); // NULL: it failed
bool  holo_render_enter(HoloRender *r);             // one level deeper, until `depth` is decremented

// ---- making values

HoloDatum holo_d_undefined(HoloString name);
HoloDatum holo_d_none(void);
HoloDatum holo_d_bool(bool truth);
HoloDatum holo_d_int(int64_t number);
HoloDatum holo_d_float(double number);
HoloDatum holo_d_view(HoloString text);                                  // the bytes stay where they are
HoloDatum holo_d_string(HoloRender *r, const void *text, size_t size);   // copied
HoloDatum holo_d_grown(HoloRender *r, HoloGrowing *text);                // copied; the buffer is freed
HoloDatum holo_d_joined(HoloRender *r, HoloDatum left, HoloDatum right); // of two strings
HoloDatum holo_d_series(HoloRender *r, HoloDatumKind kind, size_t room); // a list or a tuple; check the status
HoloDatum holo_d_entries(HoloRender *r, HoloDatumKind kind);             // a dict or a namespace
HoloDatum holo_d_pair(HoloRender *r, HoloDatum first, HoloDatum second); // a tuple

static inline HoloString holo_d_text(HoloDatum d) // of a string
{
    return (HoloString){d.text, d.size};
}
static inline bool holo_d_is_text(HoloDatum d, const char *text)
{
    HoloString s = holo_d_text(d);
    return d.kind == HOLO_D_STRING && __builtin_strlen(text) == s.size && !__builtin_memcmp(text, s.data, s.size);
}
static inline bool holo_d_is_number(HoloDatum d) // Python's True is a number, too
{
    return d.kind == HOLO_D_BOOL || d.kind == HOLO_D_INT || d.kind == HOLO_D_FLOAT;
}
static inline bool holo_d_is_whole(HoloDatum d)
{
    return d.kind == HOLO_D_BOOL || d.kind == HOLO_D_INT;
}
static inline double holo_d_real(HoloDatum d) // of a number
{
    return d.kind == HOLO_D_FLOAT ? d.real : (double)d.whole;
}

bool       holo_series_add(HoloRender *r, HoloSeries *series, HoloDatum item);
bool       holo_series_insert(HoloRender *r, HoloSeries *series, uint32_t at, HoloDatum item);
HoloDatum *holo_entries_find(HoloRender *r, const HoloEntries *entries, HoloDatum key); // its value; NULL: none
HoloDatum *holo_entries_find_text(HoloRender *r, const HoloEntries *entries, HoloString key);
bool       holo_entries_set(HoloRender *r, HoloEntries *entries, HoloDatum key, HoloDatum value);
void       holo_entries_remove(HoloEntries *entries, const HoloDatum *value);

// ---- asking values

const char *holo_d_type(HoloDatum d); // as Python calls it
bool        holo_d_truth(HoloDatum d);
bool        holo_d_equal(HoloRender *r, HoloDatum a, HoloDatum b);
int         holo_d_order(HoloRender *r, HoloDatum a, HoloDatum b); // -1, 0, 1; fails where there is none
bool        holo_d_has(HoloRender *r, HoloDatum what, HoloDatum in);
int64_t     holo_d_length(HoloRender *r, HoloDatum d);        // -1: it has none
size_t      holo_text_length(HoloRender *r, HoloString text); // in code points
// Where code point `index` begins, in bytes; the end if there are fewer.
size_t      holo_text_offset(HoloString text, size_t index);
HoloSeries *holo_d_items(HoloRender *r, HoloDatum d); // what iterating gives; the list itself for a list. Never NULL
bool        holo_d_int_of(HoloRender *r, HoloDatum d, const char *what, int64_t *out); // fails for what is none
HoloDatum   holo_d_attribute(HoloRender *r, HoloDatum object, HoloString name);
HoloDatum   holo_d_item(HoloRender *r, HoloDatum object, HoloDatum which);
HoloDatum   holo_d_slice(HoloRender *r, HoloDatum object, const HoloDatum part[3]);
HoloDatum   holo_d_path(HoloRender *r, HoloDatum object, HoloDatum path); // a.b.0, as filters name attributes
HoloDatum   holo_d_binary(HoloRender *r, HoloTemplateOp op, HoloDatum a, HoloDatum b);
bool        holo_d_compare(HoloRender *r, HoloTemplateOp op, HoloDatum a, HoloDatum b);

// ---- text of values

void      holo_d_write(HoloRender *r, HoloGrowing *out, HoloDatum d);      // Python's str()
void      holo_d_write_repr(HoloRender *r, HoloGrowing *out, HoloDatum d); // Python's repr()
void      holo_real_write(HoloGrowing *out, double number);
HoloDatum holo_d_to_string(HoloRender *r, HoloDatum d);
HoloDatum holo_d_escape(HoloRender *r, HoloDatum d); // as markup

typedef struct HoloJsonStyle {
    HoloString item, key; // separators
    HoloString indent;    // data NULL: all in one line
    bool       sorts, ascii;
} HoloJsonStyle;
void      holo_d_json_write(HoloRender *r, HoloGrowing *out, HoloDatum d, const HoloJsonStyle *style);
HoloDatum holo_d_json_read(HoloRender *r, HoloString text, const char *what);

typedef enum HoloLetterCase { HOLO_LOWER, HOLO_UPPER, HOLO_TITLE } HoloLetterCase;
void holo_case_write(HoloLetterCase to, HoloString text, HoloGrowing *out);

// str.format() and the operator %.
HoloDatum holo_format_braces(HoloRender *r, HoloString format, const HoloSeries *list, const HoloEntries *named);
HoloDatum holo_format_percent(HoloRender *r, HoloString format, HoloDatum values);

// ---- running

HoloDatum holo_render_eval(HoloRender *r, uint32_t node);
void      holo_render_exec(HoloRender *r, uint32_t node);
HoloDatum holo_render_call(HoloRender *r, HoloDatum function, const HoloCallArgs *args, const HoloDatum *caller);
HoloDatum holo_function_call(HoloRender *r, const HoloFunction *f, const HoloDatum *self, const HoloCallArgs *args);
void      holo_local_set(HoloRender *r, uint32_t name, HoloDatum value);
void      holo_locals_push(HoloRender *r, HoloLocals *outer);
void      holo_render_assign(HoloRender *r, uint32_t target, HoloDatum value);
HoloDatum holo_render_captured(HoloRender *r, uint32_t body); // the text of a body, in a scope of its own
// Applies a filter or a test by its name, as `map` and `select` do.
HoloDatum holo_render_apply(HoloRender *r, HoloFunctionGroup group, HoloString name, HoloDatum input,
                            const HoloCallArgs *args);

// Sorts as Python does: equal items keep their order. `key` has as many items.
void holo_series_sort(HoloRender *r, HoloSeries *series, HoloSeries *key, bool is_reverse);

#endif
