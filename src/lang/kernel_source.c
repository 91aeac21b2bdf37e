// kernel_source.c - messages about a kernel's source: what is wrong, where, and what to write instead; names of types
// and nodes.

#include "lang/ast.h"

#include <stdio.h>
#include <string.h>

const char *const holo_ast_kind_names[HOLO_AST_KINDS] = {
#define X(id, name) name,
    HOLO_AST_MAP(X)
#undef X
};

const char *const holo_ast_op_names[HOLO_AST_OPS] = {
#define X(id, name, python, c) name,
    HOLO_AST_OP_MAP(X)
#undef X
};

HoloDtype holo_lang_type(const char *name)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } types[] = {
        {"f32", HOLO_F32},   {"f64", HOLO_F64},   {"f16", HOLO_F16}, {"bf16", HOLO_BF16},
        {"i8", HOLO_I8},     {"i16", HOLO_I16},   {"i32", HOLO_I32}, {"i64", HOLO_I64},
        {"u8", HOLO_U8},     {"u16", HOLO_U16},   {"u32", HOLO_U32}, {"u64", HOLO_U64},
        {"bool", HOLO_BOOL}, {"usize", HOLO_U64}, {"int", HOLO_I32}, {"float", HOLO_F32},
    };
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (!strcmp(types[i].name, name)) return types[i].dtype;
    return HOLO_NONE;
}

enum { SHOWN = 100, PATH_SHOWN = 40 }; // characters of a line, steps of a path

typedef struct Message {
    char   text[2048];
    size_t used;
} Message;

__attribute__((format(printf, 2, 3))) static void append(Message *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(m->text + m->used, sizeof m->text - m->used, format, args);
    va_end(args);
    if (more > 0) m->used += (size_t)more;
    if (m->used >= sizeof m->text) m->used = sizeof m->text - 1;
}

static void append_path(Message *m, const HoloPath *path)
{
    const HoloPath *step[PATH_SHOWN];
    int             count = 0;
    for (; path && path->parent; path = path->parent) {
        if (count == PATH_SHOWN) memmove(step, step + 1, sizeof step - sizeof *step), count--; // the outermost count
        step[count++] = path;
    }
    while (count-- > 0) {
        if (step[count]->key)
            append(m, ".%s", step[count]->key);
        else
            append(m, "[%d]", step[count]->index);
    }
}

// The line with a caret under `at`, cut so that the caret stays visible.
static void append_line(Message *m, const HoloKernelSource *s, size_t start, size_t at)
{
    size_t end = at, first = at - start > SHOWN - 20 ? at - (SHOWN - 20) : start;
    while (end < s->size && s->text[end] != '\n' && end - first < SHOWN) end++;
    append(m, "\n    ");
    for (size_t i = first; i < end; i++) {
        unsigned char c = (unsigned char)s->text[i];
        append(m, "%c", c == '\t' ? '\t' : c < 0x20 || c == 0x7f ? '?' : c);
    }
    append(m, "\n    ");
    for (size_t i = first; i < at; i++) {
        unsigned char c = (unsigned char)s->text[i];
        if (c < 0x80 || c >= 0xC0) append(m, "%c", c == '\t' ? '\t' : ' '); // one for each character of UTF-8
    }
    append(m, "^");
}

uint32_t holo_source_line(const HoloKernelSource *source, HoloSourcePlace place)
{
    uint32_t line = 1;
    if (place.path) return 0;
    for (size_t i = 0; i < place.at && i < source->size; i++) line += source->text[i] == '\n';
    return line;
}

HoloStatus holo_source_fail(const HoloKernelSource *source, HoloSourcePlace place, const char *advice, HoloError *error,
                            const char *format, ...)
{
    Message m  = {.used = 0};
    size_t  at = place.at < source->size ? place.at : source->size, start = at;
    append(&m, "%.200s", source->name);
    if (place.path) {
        if (place.path->parent) append(&m, ": ");
        append_path(&m, place.path);
        append(&m, ": ");
    } else {
        while (start > 0 && source->text[start - 1] != '\n') start--;
        append(&m, ":%u:%zu: ", holo_source_line(source, place), at - start + 1);
    }
    va_list args;
    va_start(args, format);
    char what[600];
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    append(&m, "%s", what);
    if (!place.path) append_line(&m, source, start, at);
    if (advice) append(&m, "\n  %s", advice);
    return holo_fail(error, HOLO_BAD_MODEL, "%s", m.text);
}
