// op_cases.c - see op_cases.h.
#include "support/op_cases.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASE_LINES = 64, CASE_LOOPS = 4, CASE_WORDS = 64 };

// Names that stand for several words in a loop.
static const struct {
    const char *name, *words;
} case_sets[] = {
    {"floats", "f32 f64 f16 bf16"},
    {"ints", "i8 i16 i32 i64"},
    {"uints", "u8 u16 u32 u64"},
    {"numbers", "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64"},
    {"f8s", "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz"},
    // Every dtype with four different elements in order (or two, of the narrowest): for $t/$a/$b/$c/$d.
    {"anything", "f32/1.5/2/3/4 f64/1/2/3/4 f16/1/2/3/4 bf16/1/2/3/4 i8/-1/2/3/4 i16/1/2/3/4 i32/1/2/3/4 i64/1/2/3/4 "
                 "u8/1/2/3/4 u16/1/2/3/4 u32/1/2/3/4 u64/1/2/3/4 bool/0/1/0/1 c64/(1,2)/(2,0)/(3,-1)/(4,0) "
                 "c128/(1,0)/(2,3)/(3,0)/(4,1) string/\"a\"/\"bb\"/\"\"/\"d\" f8e4m3fn/1/2/3/4 f8e4m3fnuz/1/2/3/4 "
                 "f8e5m2/1/2/3/4 f8e5m2fnuz/1/2/3/4 u4/1/2/3/4 i4/-1/2/3/4 f4e2m1/1/2/3/4 f8e8m0/1/2/4/8 u2/0/1/2/3 "
                 "i2/-2/-1/0/1 f6e2m3/1/2/3/4.5 f6e3m2/-1/2/3/28"},
};

typedef struct CaseLine {
    char *text;
    int   number;
} CaseLine;

typedef struct CaseLoop { // for t/n: f32/1 f16/10
    char *names;
    char *words[CASE_WORDS];
    int   word_count, at;
} CaseLoop;

// ---- lines

static char *case_copy(HoloArena *arena, const char *from, size_t size)
{
    char *text = holo_arena_text(arena, from, size);
    if (!text) fail_msg("out of memory");
    return text;
}

// One line with those that go on with it: up to where all brackets are closed and no backslash is at the end. Comments
// are left out.
static char *case_line(HoloArena *arena, const char **at, int *number)
{
    HoloText text   = {0};
    int      depth  = 0;
    bool     quoted = false;
    for (; **at && (**at != '\n' || depth > 0); ++*at) {
        char c = **at;
        if (c == '"' && (*at)[-1] != '\\') quoted = !quoted;
        if (c == '#' && !quoted) {
            *at += strcspn(*at, "\n") - 1;
            continue;
        }
        if (c == '\\' && (*at)[1] == '\n') {
            ++*at, ++*number;
            continue;
        }
        if (!quoted) depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
        *number += c == '\n';
        holo_text_add(&text, "%c", c);
    }
    while (text.size && isspace((unsigned char)text.data[text.size - 1])) text.size--;
    if (**at) ++*at, ++*number;
    char *line = case_copy(arena, text.data ? text.data : "", text.size);
    holo_text_deinit(&text);
    return line + strspn(line, " \t");
}

static bool case_begins(const CaseLine *line, const char *word)
{
    return !strncmp(line->text, word, strlen(word));
}

// ---- loops

static void case_loop_add(HoloArena *arena, CaseLoop *loop, const char *words)
{
    char *rest = case_copy(arena, words, strlen(words));
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        int set = 0;
        while (set < HOLO_COUNT(case_sets) && strcmp(case_sets[set].name, word)) set++;
        if (set < HOLO_COUNT(case_sets)) {
            case_loop_add(arena, loop, case_sets[set].words);
            continue;
        }
        if (loop->word_count == CASE_WORDS) fail_msg("too many words in a loop: %s", words);
        loop->words[loop->word_count++] = word;
    }
}

static CaseLoop case_loop(HoloArena *arena, const char *text)
{
    CaseLoop    loop  = {0};
    const char *colon = strchr(text, ':');
    if (!colon) fail_msg("expected \"for NAME: WORD ...\": %s", text);
    text += strlen("for ");
    loop.names = case_copy(arena, text, (size_t)(colon - text));
    case_loop_add(arena, &loop, colon + 1);
    return loop;
}

// The part of a loop's word that belongs to the name at the beginning of `text`; NULL: not one of its names.
static const char *case_part(const CaseLoop *loop, const char *text, size_t *name_size, size_t *size)
{
    const char *part = loop->words[loop->at];
    for (const char *name = loop->names;; name++) {
        *name_size = strcspn(name, "/");
        *size      = strcspn(part, "/");
        if (!strncmp(name, text, *name_size) && !isalnum((unsigned char)text[*name_size])) return part;
        name += *name_size;
        part += *size;
        if (!*name || !*part) return NULL;
        part++;
    }
}

// The text with "$name" replaced by what the loops have for it now.
static char *case_expand(HoloArena *arena, const CaseLoop *loops, int loop_count, const char *text)
{
    HoloText out = {0};
    for (; *text; text++) {
        const char *part = NULL;
        size_t      name_size, size;
        for (int i = 0; *text == '$' && i < loop_count && !part; i++)
            part = case_part(&loops[i], text + 1, &name_size, &size);
        if (*text == '$' && !part) fail_msg("no loop gives \"%.12s\"", text);
        holo_text_add(&out, "%.*s", part ? (int)size : 1, part ? part : text);
        if (part) text += name_size;
    }
    char *copy = case_copy(arena, out.data ? out.data : "", out.size);
    holo_text_deinit(&out);
    return copy;
}

// The next round of the loops, the last one turning fastest. False: all are done.
static bool case_next(CaseLoop *loops, int loop_count)
{
    for (int i = loop_count - 1; i >= 0; i--) {
        if (++loops[i].at < loops[i].word_count) return true;
        loops[i].at = 0;
    }
    return false;
}

// ---- values, by the parser of graph text

static const HoloGraph *case_parse(OpCase *c, const char *text)
{
    HoloGraph *graph;
    HoloError  error = {0};
    if (holo_graph_parse(c->arena, text, &graph, &error))
        fail_msg("%s:%d:%s %s\n%s", c->path, c->line, c->variant, error.text, text);
    return graph;
}

static HoloTensor *case_tensors(OpCase *c, const HoloTensor *from, int count)
{
    HoloTensor *copy = HOLO_NEW(c->arena, HoloTensor, count + 1);
    if (count) memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

static HoloTensor case_container(HoloTensor type, int count, HoloTensor *data)
{
    type.rank   = 1;
    type.dim[0] = count;
    type.data   = data;
    return type;
}

// [keys, values, keys, values] as maps.
static HoloTensor *case_maps(OpCase *c, HoloTensor *parts, int count)
{
    HoloTensor *maps = HOLO_NEW(c->arena, HoloTensor, count / 2 + 1);
    for (int i = 0; i < count / 2; i++)
        maps[i] = case_container((HoloTensor){.dtype = parts[1].dtype, .kind = HOLO_MAP}, 2, parts + 2 * i);
    return maps;
}

static HoloTensor case_list(OpCase *c, HoloTensor type, const char *text)
{
    HoloText page = {0};
    holo_text_add(&page, "graph v() -> () { _ = List@1() {v=%s} }", strcmp(text, "[]") ? text : "tensors[]");
    const HoloAttr *list  = &case_parse(c, page.data)->nodes[0]->attr[0];
    HoloTensor     *parts = case_tensors(c, list->tensor, list->count);
    int             count = list->count;
    holo_text_deinit(&page);
    if (type.inner == HOLO_MAP) return case_container(type, count / 2, case_maps(c, parts, count));
    if (type.kind != HOLO_OPTIONAL || type.inner != HOLO_SEQUENCE) return case_container(type, count, parts);
    HoloTensor inner = case_container((HoloTensor){.dtype = type.dtype, .kind = HOLO_SEQUENCE}, count, parts);
    return case_container(type, 1, case_tensors(c, &inner, 1));
}

static HoloTensor case_value(OpCase *c, const CaseValue *v)
{
    HoloText page = {0};
    holo_text_add(&page, "graph v(x: %s) -> () { }", v->type);
    HoloTensor type = case_parse(c, page.data)->inputs[0]->type;
    page.size       = 0;
    if (*v->text == '[') {
        type = case_list(c, type, v->text);
    } else if (!strcmp(v->text, "none")) {
        type = case_container(type, 0, NULL);
    } else if (!v->is_any) {
        const char *tensor = type.kind == HOLO_OPTIONAL ? v->type + strlen("optional ") : v->type;
        holo_text_add(&page, "graph v() -> () { const v: %s = %s }", tensor, v->text);
        HoloTensor value = case_parse(c, page.data)->values[0]->type;
        type             = type.kind == HOLO_OPTIONAL ? case_container(type, 1, case_tensors(c, &value, 1)) : value;
    }
    holo_text_deinit(&page);
    return type;
}

// NAME: TYPE = TEXT. False: the line is not of this form.
static bool case_add_value(OpCase *c, const char *line)
{
    size_t      name_size = strcspn(line, ": ");
    const char *equals    = strstr(line, " = ");
    if (line[name_size] != ':' || !equals) return false;
    const char *type = line + name_size + 1 + strspn(line + name_size + 1, " ");
    CaseValue  *v    = c->body.size ? &c->out[c->out_count++] : &c->in[c->in_count++];
    if (c->in_count == CASE_VALUES || c->out_count == CASE_VALUES) fail_msg("%s:%d: too many values", c->path, c->line);
    v->name   = case_copy(c->arena, line, name_size);
    v->type   = case_copy(c->arena, type, (size_t)(equals - type));
    v->text   = equals + strlen(" = ");
    v->is_any = !strcmp(v->text, "any");
    v->value  = case_value(c, v);
    return true;
}

// ---- cases

static void case_fill(OpCase *c, const CaseLine *lines, int line_count, const CaseLoop *loops, int loop_count)
{
    for (int i = 0; i < loop_count; i++)
        snprintf(c->variant + strlen(c->variant), sizeof c->variant - strlen(c->variant), " %s=%s", loops[i].names,
                 loops[i].words[loops[i].at]);
    for (int i = 0; i < line_count; i++) {
        c->line    = lines[i].number;
        char *text = case_expand(c->arena, loops, loop_count, lines[i].text);
        if (case_begins(&lines[i], "within "))
            c->within = strtod(text + strlen("within "), NULL);
        else if (case_begins(&lines[i], "fails: "))
            c->fails = text + strlen("fails: ");
        else if (!case_begins(&lines[i], "for ") && !case_add_value(c, text)) {
            c->last = c->body.size;
            holo_text_add(&c->body, "    %s\n", text);
        }
    }
}

static void case_run_all(const char *path, const CaseLine *lines, int line_count, CaseRun *run, void *context)
{
    HoloArena arena = {0};
    CaseLoop  loops[CASE_LOOPS];
    int       loop_count = 0;
    for (int i = 1; i < line_count; i++) {
        if (!case_begins(&lines[i], "for ")) continue;
        if (loop_count == CASE_LOOPS) fail_msg("%s:%d: too many loops", path, lines[i].number);
        loops[loop_count++] = case_loop(&arena, lines[i].text);
    }
    do {
        HoloArenaMark mark = holo_arena_mark(&arena);
        OpCase        c    = {.path = path, .title = lines[0].text + strlen("case "), .arena = &arena};
        case_fill(&c, lines + 1, line_count - 1, loops, loop_count);
        c.line = lines[0].number;
        if (!c.body.size || (!c.fails && !c.out_count))
            fail_msg("%s:%d: a case needs a node and an output", path, c.line);
        run(context, &c);
        holo_text_deinit(&c.body);
        holo_arena_reset(&arena, mark);
    } while (case_next(loops, loop_count));
    holo_arena_deinit(&arena);
}

void case_file(const char *path, CaseRun *run, void *context)
{
    HoloArena arena = {0};
    HoloText  page  = {0};
    CaseLine  lines[CASE_LINES];
    int       count = 0, number = 1;
    FILE     *file = fopen(path, "r");
    char      buffer[4096];
    if (!file) fail_msg("%s cannot be read", path);
    holo_text_add(&page, "\n"); // so that there is a character before each
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file));) holo_text_add(&page, "%.*s", (int)got, buffer);
    fclose(file);
    for (const char *at = page.data + 1; *at;) {
        CaseLine line = {.number = number};
        line.text     = case_line(&arena, &at, &number);
        if (!*line.text) continue;
        if (case_begins(&line, "case ") && count) {
            case_run_all(path, lines, count, run, context);
            count = 0;
        }
        if (!count && !case_begins(&line, "case ")) fail_msg("%s:%d: expected a case", path, line.number);
        if (count == CASE_LINES) fail_msg("%s:%d: the case has too many lines", path, line.number);
        lines[count++] = line;
    }
    if (count) case_run_all(path, lines, count, run, context);
    holo_text_deinit(&page);
    holo_arena_deinit(&arena);
}
