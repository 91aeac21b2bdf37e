// onnx_syntax.c - ONNX models in ONNX's own syntax (`.onnxtxt`, what onnx.printer writes): turned into the binary form.
//
//     <ir_version: 8, opset_import: ["" : 17]>
//     agraph (float[N, 128] X, float[128, 10] W) => (float[N, 10] Y) <float[10] B = {...}> { T = MatMul(X, W) ... }
//
// Functions follow the graph. Numbers of f16 and narrower floats are not read: such tensors are in raw form elsewhere.
#include "import/onnx/onnx_syntax.h"
#include "import/onnx/onnx.h"
#include "import/wire/protobuf_write.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

typedef struct Scan {
    HoloImport *import;
    HoloPbOut   out;
    const char *at, *end;
    int         line, depth;
} Scan;

static HoloStatus bad(const Scan *s, const char *words)
{
    return holo_fail(s->import->error, HOLO_BAD_MODEL, "line %d: %s", s->line, words);
}

static void skip(Scan *s)
{
    for (; s->at < s->end; s->at++) {
        if (*s->at == '#')
            while (s->at + 1 < s->end && s->at[1] != '\n') s->at++;
        else if (*s->at == '\n')
            s->line++;
        else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r')
            return;
    }
}

static bool sees(Scan *s, const char *text)
{
    size_t size = strlen(text);
    skip(s);
    return (size_t)(s->end - s->at) >= size && !memcmp(s->at, text, size);
}

static bool takes(Scan *s, const char *text)
{
    if (!sees(s, text)) return false;
    s->at += strlen(text);
    return true;
}

static HoloStatus expect(Scan *s, const char *text)
{
    if (takes(s, text)) return HOLO_OK;
    return holo_fail(s->import->error, HOLO_BAD_MODEL, "line %d: '%s' is expected here", s->line, text);
}

static bool is_part(char c, bool is_dotted)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (is_dotted && c == '.');
}

// "text", with \" and \\ in it.
static HoloStatus quoted(Scan *s, HoloString *out)
{
    skip(s);
    if (s->at == s->end || *s->at != '"') return bad(s, "a text in quotes is expected here");
    const char *from = ++s->at;
    while (s->at < s->end && *s->at != '"') s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
    if (s->at >= s->end) return bad(s, "a text has no end");
    char *text = holo_arena_text(s->import->arena, from, (size_t)(s->at++ - from)), *to = text;
    if (!text) return holo_fail_memory(s->import->error);
    for (const char *c = text; *c; c++) *to++ = *c == '\\' && c[1] ? *++c : *c;
    *out = (HoloString){text, (size_t)(to - text)};
    return HOLO_OK;
}

// A name, in quotes if it is none of letters and digits.
static HoloStatus name(Scan *s, HoloString *out, bool is_dotted)
{
    skip(s);
    if (s->at < s->end && *s->at == '"') return quoted(s, out);
    const char *from = s->at;
    while (s->at < s->end && is_part(*s->at, is_dotted)) s->at++;
    *out = (HoloString){from, (size_t)(s->at - from)};
    return out->size ? HOLO_OK : bad(s, "a name is expected here");
}

static void put(Scan *s, int field, HoloString text)
{
    holo_pb_put_bytes(&s->out, field, text.data, text.size);
}

// The next number; *is_whole: it has no point and no exponent.
static HoloStatus number(Scan *s, double *out, int64_t *whole, bool *is_whole)
{
    char        digits[64], *end;
    const char *from;
    skip(s);
    from = s->at;
    while (s->at < s->end && (is_part(*s->at, true) || *s->at == '-' || *s->at == '+')) s->at++;
    size_t size = (size_t)(s->at - from);
    if (!size || size >= sizeof digits) return bad(s, "a number is expected here");
    memcpy(digits, from, size);
    digits[size] = 0;
    *out         = strtod(digits, &end);
    *is_whole    = !strpbrk(digits, ".eEnN");
    *whole       = *is_whole ? (digits[0] == '-' ? strtoll(digits, NULL, 10) : (int64_t)strtoull(digits, NULL, 10)) : 0;
    return *end ? bad(s, "this is not a number") : HOLO_OK;
}

// ---- types

static int element_of(HoloString word)
{
    static const char *const names[] = {"",       "float",  "uint8",     "int8",       "uint16",  "int16",
                                        "int32",  "int64",  "string",    "bool",       "float16", "double",
                                        "uint32", "uint64", "complex64", "complex128", "bfloat16"};
    for (int i = 1; i < HOLO_COUNT(names); i++)
        if (strlen(names[i]) == word.size && !memcmp(names[i], word.data, word.size)) return i;
    return 0;
}

// Sizes in brackets, as dimensions of a shape (is_tensor: as numbers of a tensor).
static HoloStatus sizes(Scan *s, bool is_tensor)
{
    bool   is_open = takes(s, "["), is_whole;
    size_t shape   = 0;
    double value;
    if (is_open && takes(s, "]")) return HOLO_OK; // nothing is known of the shape; a tensor has no dimensions
    if (!is_tensor) shape = holo_pb_open(&s->out, 2);
    for (int count = 0; is_open && !takes(s, "]"); count++) {
        HoloString symbol;
        int64_t    size;
        if (count) HOLO_TRY(expect(s, ","));
        size_t dim      = is_tensor ? 0 : holo_pb_open(&s->out, 1);
        bool   is_known = (skip(s), s->at < s->end && *s->at >= '0' && *s->at <= '9');
        if (is_known) {
            HOLO_TRY(number(s, &value, &size, &is_whole));
            holo_pb_put_int(&s->out, 1, size);
        } else if (is_tensor) {
            return bad(s, "a size of a tensor is not a number");
        } else if (!takes(s, "?")) {
            HOLO_TRY(name(s, &symbol, false));
            put(s, 2, symbol);
        }
        if (!is_tensor) holo_pb_close(&s->out, dim);
    }
    if (!is_tensor) holo_pb_close(&s->out, shape);
    return HOLO_OK;
}

// A type, as a message in the field.
static HoloStatus type(Scan *s, int field)
{
    static const struct {
        const char *word;
        int         field;
    } outer[]       = {{"seq(", 4}, {"optional(", 9}};
    size_t     mark = holo_pb_open(&s->out, field);
    HoloString word;
    if (++s->depth > DEPTH_MAX) return bad(s, "types are nested too deeply");
    for (int i = 0; i < HOLO_COUNT(outer); i++)
        if (takes(s, outer[i].word)) {
            size_t inner = holo_pb_open(&s->out, outer[i].field);
            HOLO_TRY(type(s, 1));
            HOLO_TRY(expect(s, ")"));
            holo_pb_close(&s->out, inner);
            holo_pb_close(&s->out, mark);
            s->depth--;
            return HOLO_OK;
        }
    HOLO_TRY(name(s, &word, false));
    int element = element_of(word);
    if (!element)
        return holo_fail(s->import->error, HOLO_UNSUPPORTED, "line %d: the type '%.*s'", s->line,
                         HOLO_IMPORT_ARG(word));
    size_t tensor = holo_pb_open(&s->out, 1);
    holo_pb_put_int(&s->out, 1, element);
    HOLO_TRY(sizes(s, false));
    holo_pb_close(&s->out, tensor);
    holo_pb_close(&s->out, mark);
    s->depth--;
    return HOLO_OK;
}

// ---- tensors

static HoloStatus elements(Scan *s, int element)
{
    static const uint8_t fields[] = {0, 4, 5, 5, 5, 5, 5, 7, 6, 5, 0, 10, 11, 11};
    int                  field    = element < HOLO_COUNT(fields) ? fields[element] : 0;
    if (!field) return holo_fail(s->import->error, HOLO_UNSUPPORTED, "line %d: numbers of this type as text", s->line);
    HOLO_TRY(expect(s, "{"));
    for (int64_t count = 0; !takes(s, "}"); count++) {
        HoloString text;
        double     value;
        int64_t    whole;
        bool       is_whole;
        if (count) HOLO_TRY(expect(s, ","));
        if (field == 6) {
            HOLO_TRY(quoted(s, &text));
            put(s, 6, text);
            continue;
        }
        HOLO_TRY(number(s, &value, &whole, &is_whole));
        if (field == 4)
            holo_pb_put_float(&s->out, 4, (float)value);
        else if (field == 10)
            holo_pb_put_double(&s->out, 10, value);
        else if (!is_whole)
            return bad(s, "this is not a whole number");
        else
            holo_pb_put_int(&s->out, field, whole);
    }
    return HOLO_OK;
}

// ["key": "value", ...]: where the data is.
static HoloStatus entries(Scan *s, int field)
{
    HOLO_TRY(expect(s, "["));
    for (int count = 0; !takes(s, "]"); count++) {
        HoloString key, value;
        if (count) HOLO_TRY(expect(s, ","));
        HOLO_TRY(quoted(s, &key));
        HOLO_TRY(expect(s, ":"));
        HOLO_TRY(quoted(s, &value));
        size_t mark = holo_pb_open(&s->out, field);
        put(s, 1, key);
        put(s, 2, value);
        holo_pb_close(&s->out, mark);
    }
    return HOLO_OK;
}

// A tensor behind the word of its type: sizes, a name (of an initializer) and data.
static HoloStatus tensor(Scan *s, int field, int element)
{
    size_t     mark = holo_pb_open(&s->out, field);
    HoloString own;
    HOLO_TRY(sizes(s, true));
    holo_pb_put_int(&s->out, 2, element);
    if (!sees(s, "{") && !sees(s, "=")) {
        HOLO_TRY(name(s, &own, false));
        put(s, 8, own);
    }
    (void)takes(s, "=");
    if (sees(s, "[")) {
        HOLO_TRY(entries(s, 13));
        holo_pb_put_int(&s->out, 14, 1);
    } else {
        HOLO_TRY(elements(s, element));
    }
    holo_pb_close(&s->out, mark);
    return HOLO_OK;
}

// ---- attributes

static HoloStatus graph(Scan *s);

enum { ATTR_FLOAT = 1, ATTR_INT, ATTR_STRING, ATTR_TENSOR, ATTR_GRAPH, ATTR_LISTS = 5 }; // a list is 5 more

static int kind_of(HoloString word)
{
    static const char *const names[] = {"",       "float", "int",     "string",  "tensor", "graph",
                                        "floats", "ints",  "strings", "tensors", "graphs"};
    for (int i = 1; i < HOLO_COUNT(names); i++)
        if (strlen(names[i]) == word.size && !memcmp(names[i], word.data, word.size)) return i;
    return 0;
}

// One value; `is_list`: it is in a list. Says what it is.
static HoloStatus value(Scan *s, bool is_list, int wanted, int *out_kind)
{
    static const uint8_t single[] = {0, 2, 3, 4, 5, 6}, many[] = {0, 7, 8, 9, 10, 11};
    const uint8_t       *field = is_list ? many : single;
    skip(s);
    if (s->at == s->end) return bad(s, "the text ends here, and more is expected");
    if (*s->at == '"') {
        HoloString text;
        HOLO_TRY(quoted(s, &text));
        put(s, field[ *out_kind = ATTR_STRING], text);
        return HOLO_OK;
    }
    bool is_word = (*s->at >= 'a' && *s->at <= 'z') || (*s->at >= 'A' && *s->at <= 'Z') || *s->at == '_';
    if (is_word && !sees(s, "inf") && !sees(s, "nan")) {
        const char *from = s->at;
        int         line = s->line;
        HoloString  word;
        HOLO_TRY(name(s, &word, false));
        int element = element_of(word);
        if (element) return tensor(s, field[*out_kind = ATTR_TENSOR], element);
        s->at       = from;
        s->line     = line;
        size_t mark = holo_pb_open(&s->out, field[ *out_kind = ATTR_GRAPH]);
        HOLO_TRY(graph(s));
        holo_pb_close(&s->out, mark);
        return HOLO_OK;
    }
    double  real;
    int64_t whole;
    bool    is_whole;
    HOLO_TRY(number(s, &real, &whole, &is_whole));
    bool is_float = !is_whole || wanted == ATTR_FLOAT || wanted == ATTR_FLOAT + ATTR_LISTS;
    *out_kind     = is_float ? ATTR_FLOAT : ATTR_INT;
    if (is_float)
        holo_pb_put_float(&s->out, field[ATTR_FLOAT], (float)real);
    else
        holo_pb_put_int(&s->out, field[ATTR_INT], whole);
    return HOLO_OK;
}

// name (: type)? (= value)?; without a value it is only named, in the field `bare`.
static HoloStatus attribute(Scan *s, int field, int bare)
{
    HoloString own, word;
    int        wanted = 0, kind = 0;
    HOLO_TRY(name(s, &own, false));
    if (takes(s, ":")) {
        HOLO_TRY(name(s, &word, false));
        wanted = kind_of(word);
    }
    if (!takes(s, "=")) {
        if (!bare) return bad(s, "an attribute has no value");
        put(s, bare, own);
        return HOLO_OK;
    }
    size_t mark = holo_pb_open(&s->out, field);
    put(s, 1, own);
    if (takes(s, "@")) {
        HOLO_TRY(name(s, &word, false));
        put(s, 21, word);
        kind = wanted;
    } else if (takes(s, "[")) {
        for (int count = 0; !takes(s, "]"); count++) {
            if (count) HOLO_TRY(expect(s, ","));
            HOLO_TRY(value(s, true, wanted, &kind));
        }
        kind = kind ? kind + ATTR_LISTS : wanted ? wanted : ATTR_INT + ATTR_LISTS;
    } else {
        HOLO_TRY(value(s, false, wanted, &kind));
    }
    if (kind) holo_pb_put_int(&s->out, 20, kind);
    holo_pb_close(&s->out, mark);
    return HOLO_OK;
}

static HoloStatus attributes(Scan *s, int field, int bare)
{
    if (!takes(s, "<")) return HOLO_OK;
    for (int count = 0; !takes(s, ">"); count++) {
        if (count) HOLO_TRY(expect(s, ","));
        HOLO_TRY(attribute(s, field, bare));
    }
    return HOLO_OK;
}

// ---- nodes and graphs

// Names up to the mark; one may be left out.
static HoloStatus names(Scan *s, int field, const char *close)
{
    for (int count = 0; !takes(s, close); count++) {
        HoloString one = {"", 0};
        if (count) HOLO_TRY(expect(s, ","));
        if (!sees(s, ",") && !sees(s, close))
            HOLO_TRY(name(s, &one, false));
        else if (!count && sees(s, close))
            continue;
        put(s, field, one);
    }
    return HOLO_OK;
}

static HoloStatus node(Scan *s, int field)
{
    size_t     mark = holo_pb_open(&s->out, field);
    HoloString own, op;
    if (takes(s, "[")) {
        HOLO_TRY(name(s, &own, false));
        put(s, 3, own);
        HOLO_TRY(expect(s, "]"));
    }
    HOLO_TRY(names(s, 2, "="));
    HOLO_TRY(name(s, &op, true));
    size_t dot = op.size;
    while (dot && op.data[dot - 1] != '.') dot--;
    put(s, 4, (HoloString){op.data + dot, op.size - dot});
    if (dot) put(s, 7, (HoloString){op.data, dot - 1});
    if (takes(s, ":")) {
        HOLO_TRY(name(s, &own, false));
        put(s, 8, own);
    }
    HOLO_TRY(attributes(s, 5, 0));
    HOLO_TRY(expect(s, "("));
    HOLO_TRY(names(s, 1, ")"));
    HOLO_TRY(attributes(s, 5, 0));
    holo_pb_close(&s->out, mark);
    return HOLO_OK;
}

static HoloStatus nodes(Scan *s, int field)
{
    HOLO_TRY(expect(s, "{"));
    while (!takes(s, "}")) HOLO_TRY(node(s, field));
    return s->out.failed ? holo_fail_memory(s->import->error) : HOLO_OK;
}

// A type and a name; with data it is an initializer, too.
static HoloStatus port(Scan *s, int field)
{
    const char *from = s->at;
    int         line = s->line;
    size_t      mark = holo_pb_open(&s->out, field);
    HoloString  own, word;
    HOLO_TRY(type(s, 2));
    HOLO_TRY(name(s, &own, false));
    put(s, 1, own);
    holo_pb_close(&s->out, mark);
    if (!sees(s, "=")) return HOLO_OK;
    s->at   = from;
    s->line = line;
    HOLO_TRY(name(s, &word, false));
    return tensor(s, 5, element_of(word));
}

static HoloStatus ports(Scan *s, int field, const char *open, const char *close)
{
    HOLO_TRY(expect(s, open));
    for (int count = 0; !takes(s, close); count++) {
        if (count) HOLO_TRY(expect(s, ","));
        HOLO_TRY(port(s, field));
    }
    return HOLO_OK;
}

static HoloStatus graph(Scan *s)
{
    HoloString own;
    if (++s->depth > DEPTH_MAX) return bad(s, "graphs are nested too deeply");
    HOLO_TRY(name(s, &own, false));
    put(s, 2, own);
    HOLO_TRY(ports(s, 11, "(", ")"));
    HOLO_TRY(expect(s, "=>"));
    HOLO_TRY(ports(s, 12, "(", ")"));
    if (sees(s, "<")) HOLO_TRY(ports(s, 13, "<", ">"));
    HOLO_TRY(nodes(s, 1));
    s->depth--;
    return HOLO_OK;
}

// ---- the model

// opset_import: ["" : 17], as messages in the field.
static HoloStatus opsets(Scan *s, int field)
{
    HOLO_TRY(expect(s, "["));
    for (int count = 0; !takes(s, "]"); count++) {
        HoloString domain;
        double     real;
        int64_t    version;
        bool       is_whole;
        if (count) HOLO_TRY(expect(s, ","));
        HOLO_TRY(quoted(s, &domain));
        HOLO_TRY(expect(s, ":"));
        HOLO_TRY(number(s, &real, &version, &is_whole));
        size_t mark = holo_pb_open(&s->out, field);
        put(s, 1, domain);
        holo_pb_put_int(&s->out, 2, version);
        holo_pb_close(&s->out, mark);
    }
    return HOLO_OK;
}

// <key: value, ...>: numbers are those of the fields of ModelProto or FunctionProto.
static HoloStatus header(Scan *s, bool is_function)
{
    static const struct {
        const char *key;
        int         model, function;
    } keys[] = {{"ir_version", 1, 0},    {"producer_name", 2, 0}, {"producer_version", 3, 0}, {"domain", 4, 10},
                {"model_version", 5, 0}, {"doc_string", 6, 8},    {"overload", 0, 13}};
    HOLO_TRY(expect(s, "<"));
    for (int count = 0; !takes(s, ">"); count++) {
        HoloString key, text;
        double     real;
        int64_t    whole;
        bool       is_whole;
        int        i = 0, field;
        if (count) HOLO_TRY(expect(s, ","));
        HOLO_TRY(name(s, &key, false));
        HOLO_TRY(expect(s, ":"));
        if (key.size == 12 && !memcmp(key.data, "opset_import", 12)) {
            HOLO_TRY(opsets(s, is_function ? 9 : 8));
            continue;
        }
        if (key.size == 14 && !memcmp(key.data, "metadata_props", 14)) {
            HOLO_TRY(entries(s, 14));
            continue;
        }
        while (i < HOLO_COUNT(keys) && (strlen(keys[i].key) != key.size || memcmp(keys[i].key, key.data, key.size)))
            i++;
        field = i == HOLO_COUNT(keys) ? 0 : is_function ? keys[i].function : keys[i].model;
        if (!field)
            return holo_fail(s->import->error, HOLO_BAD_MODEL, "line %d: the key '%.*s'", s->line,
                             HOLO_IMPORT_ARG(key));
        if (sees(s, "\"")) {
            HOLO_TRY(quoted(s, &text));
            put(s, field, text);
        } else {
            HOLO_TRY(number(s, &real, &whole, &is_whole));
            holo_pb_put_int(&s->out, field, whole);
        }
    }
    return HOLO_OK;
}

static HoloStatus function(Scan *s)
{
    size_t     mark = holo_pb_open(&s->out, 25);
    HoloString own;
    HOLO_TRY(header(s, true));
    HOLO_TRY(name(s, &own, false));
    put(s, 1, own);
    HOLO_TRY(attributes(s, 11, 6));
    HOLO_TRY(expect(s, "("));
    HOLO_TRY(names(s, 4, ")"));
    HOLO_TRY(expect(s, "=>"));
    HOLO_TRY(expect(s, "("));
    HOLO_TRY(names(s, 5, ")"));
    HOLO_TRY(nodes(s, 7));
    holo_pb_close(&s->out, mark);
    return HOLO_OK;
}

HoloStatus holo_onnx_from_syntax(HoloImport *import, HoloString text, HoloString *out)
{
    Scan s = {
        .import = import, .out = {.arena = import->arena}, .at = text.data, .end = text.data + text.size, .line = 1};
    HOLO_TRY(header(&s, false));
    size_t mark = holo_pb_open(&s.out, 7);
    HOLO_TRY(graph(&s));
    holo_pb_close(&s.out, mark);
    while (sees(&s, "<")) HOLO_TRY(function(&s));
    if (s.at < s.end) return bad(&s, "something follows the model");
    *out = (HoloString){(const char *)s.out.data, s.out.size};
    return s.out.failed ? holo_fail_memory(import->error) : HOLO_OK;
}
