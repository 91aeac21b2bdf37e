// script.h - TorchScript: the small Python of its code, as a tree, and the interpreter that traces it.
#ifndef HOLO_IMPORT_TORCH_SCRIPT_H
#define HOLO_IMPORT_TORCH_SCRIPT_H

#include "import/torch/torch.h"

// ---- tokens

typedef enum HoloScriptTokenKind {
    HOLO_TOKEN_END,
    HOLO_TOKEN_LINE,   // the end of a statement
    HOLO_TOKEN_INDENT, // a block begins
    HOLO_TOKEN_DEDENT, // and ends
    HOLO_TOKEN_NAME,
    HOLO_TOKEN_INT,
    HOLO_TOKEN_FLOAT,
    HOLO_TOKEN_IMAGINARY, // f: 1.5j
    HOLO_TOKEN_TEXT,      // without its quotes, escapes resolved
    HOLO_TOKEN_SIGN,      // "(", "==", "->" ...
} HoloScriptTokenKind;

typedef struct HoloScriptToken {
    HoloScriptTokenKind kind;
    HoloString          text;
    int64_t             i;
    double              f;
    int                 line;
} HoloScriptToken;

enum { HOLO_SCRIPT_INDENTS = 64 };

typedef struct HoloScriptLexer {
    HoloArena      *arena;
    HoloError      *error;
    const char     *file; // its name, for errors
    const char     *at, *end;
    int             line, brackets; // open ones: lines do not end inside of them
    int             indent[HOLO_SCRIPT_INDENTS], indents, dedents;
    bool            is_new_line;
    HoloScriptToken token; // the current one
    HoloStatus      status;
} HoloScriptLexer;

void holo_script_lexer_init(HoloScriptLexer *lexer, HoloArena *arena, const char *file, const void *bytes, size_t size,
                            HoloError *error);
void holo_script_next(HoloScriptLexer *lexer); // to the next token; END after a failure

// ---- the tree

typedef enum HoloScriptKind {
    // expressions
    HOLO_SCRIPT_NAME,      // text
    HOLO_SCRIPT_INT,       // i
    HOLO_SCRIPT_FLOAT,     // f
    HOLO_SCRIPT_IMAGINARY, // f
    HOLO_SCRIPT_TEXT,      // text
    HOLO_SCRIPT_TRUE,
    HOLO_SCRIPT_FALSE,
    HOLO_SCRIPT_NONE,
    HOLO_SCRIPT_ATTR,    // child 0 . text
    HOLO_SCRIPT_CALL,    // child 0 ( the others ); ones that are KEYWORD have names
    HOLO_SCRIPT_KEYWORD, // text = child 0
    HOLO_SCRIPT_INDEX,   // child 0 [ child 1 ]
    HOLO_SCRIPT_SLICE,   // start, end, step; NONE where left out
    HOLO_SCRIPT_LIST,
    HOLO_SCRIPT_EACH, // [x for y in z]: child 0, a FOR, appends to the variable `text`
    HOLO_SCRIPT_TUPLE,
    HOLO_SCRIPT_DICT,   // a key, its value, and so on
    HOLO_SCRIPT_UNARY,  // text: "-", "not", "~"
    HOLO_SCRIPT_BINARY, // text: "+", "==", "and", "is", "not in" ...
    HOLO_SCRIPT_CHOICE, // child 0 if child 1 else child 2
    // statements
    HOLO_SCRIPT_BLOCK,
    HOLO_SCRIPT_ASSIGN,   // child 0 = child 1; text: the sign before the =, if there is one
    HOLO_SCRIPT_ANNOTATE, // child 0 : child 1 [= child 2]
    HOLO_SCRIPT_DO,       // child 0
    HOLO_SCRIPT_IF,       // child 0: child 1 [else: child 2]
    HOLO_SCRIPT_WHILE,    // child 0: child 1
    HOLO_SCRIPT_FOR,      // child 0 in child 1: child 2
    HOLO_SCRIPT_WITH,     // child 0: child 1
    HOLO_SCRIPT_RETURN,   // [child 0]
    HOLO_SCRIPT_RAISE,    // [child 0]
    HOLO_SCRIPT_ASSERT,   // child 0 [, child 1]
    HOLO_SCRIPT_PASS,
    HOLO_SCRIPT_BREAK,
    HOLO_SCRIPT_CONTINUE,
    HOLO_SCRIPT_DEF,   // text(the children but the last, which is the block): ANNOTATE, NAME or ASSIGN each
    HOLO_SCRIPT_CLASS, // text(child 0: a TUPLE): child 1
} HoloScriptKind;

typedef struct HoloScriptNode HoloScriptNode;
struct HoloScriptNode {
    HoloScriptKind   kind;
    int              line, count, room;
    HoloScriptNode **child;
    union {
        HoloString text;
        int64_t    i;
        double     f;
    };
};

// Reads a file. The tree is in the arena; its texts are in the bytes.
HOLO_MUST HoloStatus holo_script_parse(HoloArena *arena, const char *file, const void *bytes, size_t size,
                                       HoloScriptNode **out, HoloError *error);

bool holo_script_text_is(HoloString text, const char *word);

// ---- running

typedef struct HoloScriptFunction {
    const HoloScriptNode *def;  // DEF
    const char           *file; // its name, for errors
} HoloScriptFunction;

typedef struct HoloScriptClass {
    const char           *name; // "__torch__.Net"
    const HoloScriptNode *node; // CLASS; NULL: there is only data of it
    const char           *file;
    bool                  is_tuple; // a NamedTuple
    int                   field_count;
    HoloString           *field; // of a NamedTuple
} HoloScriptClass;

struct HoloTorchObject {
    const HoloScriptClass *type;
    const char            *path;  // where it is in the model: "layer.0."
    HoloNameMap            attrs; // to HoloScriptVar *
    const HoloPickle      *state; // attributes that were not asked for yet
};

typedef struct HoloScriptVar {
    HoloTv value;
    bool   is_set;
} HoloScriptVar;

typedef struct HoloScriptFrame { // a call of a function
    const char   *file;
    HoloNameMap   names;  // to HoloScriptVar *
    HoloScriptVar result; // set: it has returned
} HoloScriptFrame;

// A variable or an attribute that changed in a body, with what it was before; after the body, with what it became.
typedef struct HoloScriptChange {
    HoloScriptVar *place;
    HoloScriptVar  value;
} HoloScriptChange;

typedef struct HoloScript {
    HoloTorch        *t;
    HoloNameMap       files;     // code, by name, to HoloScriptNode *
    HoloNameMap       classes;   // by name, to HoloScriptClass *
    HoloNameMap       objects;   // by the address of their pickle, as text
    const HoloPickle *constants; // a tuple; NULL: there are none
    HoloScriptChange *change;    // in the current body
    int               change_count, change_room;
    int               depth; // of blocks and expressions inside of each other
    HoloTorchList   **grown; // lists of outside that the body of a loop appends to; they are noted while `is_trial`
    int               grown_count, grown_room;
    bool              is_trial;
    bool              is_raised; // an exception: the current body is never left
    bool              is_again;  // a number of an object changed, which was taken for a constant
} HoloScript;

HoloTv holo_script_eval(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node);
void   holo_script_block(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *block);
void   holo_script_set(HoloScript *s, HoloScriptFrame *frame, HoloString name, HoloTv value);
void   holo_script_assign(HoloScript *s, HoloScriptVar *place, HoloTv value); // notes what it was
void   holo_script_target(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *target, HoloTv value);
void   holo_script_flow(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node); // IF, WHILE, FOR
HoloTv holo_script_choice(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node);
// Calls of names: functions of the script, classes, operators, builtins. `node` is the CALL.
HoloTv holo_script_call(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node);
// `self` is the first argument, if it is not NULL.
HoloTv holo_script_function(HoloScript *s, const HoloScriptFunction *function, const HoloTv *self, const HoloTv *args,
                            const char *const *names, int count);
bool   holo_script_find(HoloScript *s, const char *name, HoloScriptFunction *out); // "__torch__.f"
bool   holo_script_method(const HoloScriptClass *type, HoloString name, HoloScriptFunction *out);
HoloScriptClass *holo_script_class(HoloScript *s, const char *name);
// The value of a pickle; `path` names tensors.
HoloTv holo_script_value(HoloScript *s, const HoloPickle *pickle, const char *folder, const char *path);
// A quantized tensor; and an object of C++ that holds weights of quantized modules: a tuple of them. False: it is no
// such object.
HoloTv holo_script_quantized(HoloScript *s, const HoloPickle *pickle, const char *folder, const char *path);
bool   holo_script_packed(HoloScript *s, const HoloPickle *pickle, const char *folder, const char *path, HoloTv *out);
HoloScriptVar *holo_script_attr(HoloScript *s, HoloTorchObject *object, HoloString name); // NULL: there is none
// The number that a condition is now, 0 or 1; -1: only a run knows, and *out_value is it.
int  holo_script_truth(HoloScript *s, HoloTv v, HoloValue **out_value);
void holo_script_fail(HoloScript *s, const HoloScriptFrame *frame, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// An operator or builtin by its name, "torch.add", "ops.prim.NumToTensor", "len"
HoloTv holo_script_builtin(HoloScript *s, const HoloScriptFrame *frame, const char *name, const HoloTv *args,
                           const char *const *names, int count, int line);
// Lists, dicts and texts: an operation of that name. False: there is none for these arguments.
bool holo_script_container(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out);
// Of the first argument, a text; str() of anything.
bool holo_script_words(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out);
// Places and orders of the items of a list.
bool holo_script_order(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out);
// Fails: this of that is not supported.
HoloTv holo_script_never(HoloScript *s, const char *what, const HoloTv *v);
// A list of the body around this one must not change here: whether it does depends on the run.
bool holo_script_may_change(HoloScript *s, const HoloTorchList *list);
typedef struct HoloScriptRow { // of a table of operations
    const char *name;
    int         count; // of arguments, at least
    HoloTv (*run)(HoloScript *s, const HoloTv *a, int count);
} HoloScriptRow;
bool   holo_script_row(HoloScript *s, const HoloScriptRow *rows, int row_count, const char *name, const HoloTv *args,
                       int count, HoloTv *out); // false: there is none of that name
bool   holo_script_equal(const HoloTv *a, const HoloTv *b);
HoloTv holo_script_item(HoloScript *s, HoloTv from, HoloTv index); // from[index]
// A NamedTuple as a plain tuple; anything else as it is.
HoloTv holo_script_plain(HoloScript *s, HoloTv v);

#endif
