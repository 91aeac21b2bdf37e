// sample.c - rows of the table made into nodes: see sample.h for what is in them. Shapes are in sample_shape.c.
#include "support/sample_maker.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t sample_pick(Sample *sample, uint64_t count)
{
    return count ? (holo_random_next(&sample->random) >> 11) % count : 0;
}

// ---- the table

// The operator at `index` of a row, not terminated.
static const char *row_op(const SampleRow *row, int index, int *out_size)
{
    const char *at = row->text, *end;
    if (isdigit((unsigned char)*at)) at += 2; // "2=": the number of outputs
    bool is_list = *at == '{';
    for (at += is_list; is_list && index > 0; index--) at += strcspn(at, " }") + 1;
    for (end = at; !strchr(" }(", *end); end++) continue;
    *out_size = (int)(end - at);
    return at;
}

static int row_ops(const SampleRow *row)
{
    int         count = 1;
    const char *at    = row->text + (isdigit((unsigned char)*row->text) ? 2 : 0);
    if (*at != '{') return 1;
    for (; *at != '}'; at++) count += *at == ' ';
    return count;
}

static const SampleRow *row_of(int op, int *out_index)
{
    const SampleRow *row = sample_rows;
    for (; op >= row_ops(row); row++) op -= row_ops(row);
    *out_index = op;
    return row;
}

int sample_count(void)
{
    int count = 0;
    for (const SampleRow *row = sample_rows; row->text; row++) count += row_ops(row);
    return count;
}

const char *sample_name(int op)
{
    static char      name[96];
    int              index, size;
    const SampleRow *row  = row_of(op, &index);
    const char      *text = row_op(row, index, &size);
    snprintf(name, sizeof name, "%.*s", size, text);
    return name;
}

// ---- expressions: sums of products of numbers and bound names

static int64_t product(Maker *m, const char **at)
{
    int64_t value = 1;
    for (;; ++*at) {
        bool minus = **at == '-';
        *at += minus;
        int64_t factor = 0;
        if (isdigit((unsigned char)**at)) {
            factor = strtoll(*at, (char **)at, 10);
        } else {
            char name[MAKER_NAME];
            maker_name(at, name);
            if (!maker_find(m, name, &factor)) m->failed = true;
        }
        value *= minus ? -factor : factor;
        if (**at != '*') return value;
    }
}

int64_t maker_number(Maker *m, const char **at)
{
    int64_t sum = product(m, at);
    while (**at == '+' || **at == '-') {
        bool plus = **at == '+';
        *at += plus; // the minus belongs to the factor
        sum += product(m, at);
    }
    return sum;
}

// ---- elements

static void fill_range(Sample *s, HoloTensor *t, int64_t low, int64_t high)
{
    int64_t count    = holo_tensor_count(t);
    bool    is_float = holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT;
    for (int64_t i = 0; i < count; i++)
        if (is_float)
            holo_put_f(t, i, (double)low + holo_random_unit(&s->random) * (double)(high - low));
        else
            holo_put_i(t, i, low + (int64_t)sample_pick(s, (uint64_t)(high - low) + 1));
}

static double any_float(Sample *s, bool with_specials)
{
    static const double specials[] = {INFINITY, -INFINITY, NAN, -0.0};
    uint64_t            kind       = sample_pick(s, 16);
    if (with_specials && kind < 2) return specials[sample_pick(s, HOLO_COUNT(specials))];
    return kind < 4 ? (double)sample_pick(s, 5) - 2 : 2 * holo_random_normal(&s->random);
}

static void fill_any(Sample *s, HoloTensor *t)
{
    static const HoloString words[]  = {{"", 0}, {"a", 1}, {"b c", 3}, {"Monday", 6}, {"7", 1}, {"-2.5", 4}};
    int64_t                 count    = holo_tensor_count(t);
    int                     bits     = holo_dtype_bits((HoloDtype)t->dtype);
    bool                    specials = bits >= 16 && sample_pick(s, 16) == 0;
    HoloTensor              halves   = *t;
    for (int64_t i = 0; i < count; i++) switch (holo_dtype_class((HoloDtype)t->dtype)) {
        case HOLO_CLASS_STRING: ((HoloString *)t->data)[i] = words[sample_pick(s, HOLO_COUNT(words))]; break;
        case HOLO_CLASS_BOOL: holo_put_i(t, i, (int64_t)sample_pick(s, 2)); break;
        case HOLO_CLASS_INT: holo_put_i(t, i, (int64_t)sample_pick(s, bits > 4 ? 15 : 4) - (bits > 4 ? 6 : 2)); break;
        case HOLO_CLASS_UINT: holo_put_i(t, i, (int64_t)sample_pick(s, bits > 4 ? 12 : 4)); break;
        case HOLO_CLASS_COMPLEX:
            halves.dtype = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
            holo_put_f(&halves, 2 * i, any_float(s, specials));
            holo_put_f(&halves, 2 * i + 1, any_float(s, specials));
            break;
        default: holo_put_f(t, i, any_float(s, specials)); break;
        }
}

// The elements as they are listed in the text; only as many as the tensor has.
static void fill_list(HoloTensor *t, const char *text)
{
    int64_t count = holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++) {
        char *end;
        if (holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(t, i, strtod(text, &end));
        else
            holo_put_i(t, i, strtoll(text, &end, 10));
        text = end + (*end == ',');
    }
}

static void print_float(HoloText *out, double x)
{
    if (isfinite(x))
        holo_text_add(out, "%.17g", x);
    else
        holo_text_add(out, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

static void print_element(HoloText *out, const HoloTensor *t, int64_t i)
{
    HoloTensor        halves = *t;
    const HoloString *string = t->data;
    switch (holo_dtype_class((HoloDtype)t->dtype)) {
    case HOLO_CLASS_STRING: holo_text_add(out, "\"%.*s\"", (int)string[i].size, string[i].data); break;
    case HOLO_CLASS_FLOAT: print_float(out, holo_get_f(t, i)); break;
    case HOLO_CLASS_COMPLEX:
        halves.dtype = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        holo_text_add(out, "(");
        print_float(out, holo_get_f(&halves, 2 * i));
        holo_text_add(out, ",");
        print_float(out, holo_get_f(&halves, 2 * i + 1));
        holo_text_add(out, ")");
        break;
    case HOLO_CLASS_UINT: holo_text_add(out, "%" PRIu64, (uint64_t)holo_get_i(t, i)); break;
    default: holo_text_add(out, "%" PRId64, holo_get_i(t, i)); break;
    }
}

static void print_type(HoloText *out, const HoloTensor *t)
{
    holo_text_add(out, "%s[", holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++) holo_text_add(out, "%s%" PRId64, d ? "," : "", t->dim[d]);
    holo_text_add(out, "]");
}

// ---- values of the graph

static void allocate(Sample *s, HoloTensor *t)
{
    t->data = holo_arena_take(s->arena, holo_tensor_bytes(t) + 1);
    if (!t->data) abort();
}

// Makes the value an input of the graph or a constant.
static void add_value(Sample *s, SampleValue *value, bool is_constant)
{
    snprintf(value->name, sizeof value->name, "p%d", s->name_count++);
    if (!is_constant && s->input_count < SAMPLE_INPUTS) {
        s->inputs[s->input_count++] = *value;
        return;
    }
    holo_text_add(&s->body, "    const %s: ", value->name);
    print_type(&s->body, &value->now);
    holo_text_add(&s->body, " = {");
    int64_t count = holo_tensor_count(&value->now);
    for (int64_t i = 0; i < count; i++) {
        holo_text_add(&s->body, "%s", i ? ", " : "");
        print_element(&s->body, &value->now, i);
    }
    holo_text_add(&s->body, "}\n");
}

// ---- blanks

static const char *closing(const char *open, char close) // the bracket that ends what begins at `open`
{
    int depth = 0;
    for (const char *at = open;; at++) {
        depth += *at == *open;
        if (*at == close && --depth == 0) return at;
    }
}

static void expand(Maker *m, const char *text, const char *end, HoloText *out);

static char *expanded(Maker *m, const char *text, const char *end)
{
    HoloText out = {0};
    expand(m, text, end, &out);
    char *copy = holo_arena_text(m->sample->arena, out.data ? out.data : "", out.size);
    holo_text_deinit(&out);
    if (!copy) abort();
    return copy;
}

// "<low,high>": false, and the instance fails, where there is no number between them but one is needed.
static bool range(Maker *m, const char **at, bool needed, int64_t *low, int64_t *high)
{
    ++*at;
    *low = maker_number(m, at);
    ++*at;
    *high = maker_number(m, at);
    ++*at;
    if (*low > *high && needed) m->failed = true;
    return *low <= *high;
}

// "f32" or "f32|i8": one of them; "t": that of x; "u": that of the operand before.
static uint8_t operand_type(Maker *m, const char **at)
{
    char    type[MAKER_NAME];
    uint8_t dtype = 0;
    for (uint64_t count = 1;; count++, ++*at) {
        maker_name(at, type);
        if (!sample_pick(m->sample, count))
            dtype = !strcmp(type, "t")   ? m->x->now.dtype
                    : !strcmp(type, "u") ? m->operand_type
                                         : (uint8_t)holo_dtype_find(type);
        if (**at != '|') return m->operand_type = dtype;
    }
}

// Behind "$" and "?": the type of an operand and all that belongs to it.
static const char *operand(Maker *m, const char *at, bool is_optional, HoloText *out)
{
    Sample     *s           = m->sample;
    SampleValue value       = {0};
    bool        is_constant = s->all_constant || sample_pick(s, 3) > 0;
    bool        is_left_out = is_optional && sample_pick(s, 2);
    HoloTensor *t           = &value.now;
    t->dtype                = operand_type(m, &at);
    if (!t->dtype || (*at != '[' && *at != '!')) abort(); // the table is wrong
    if (*at == '!') is_constant = ++at;
    const char *shape_end = closing(at, ']'), *list = *(shape_end + 1) == '{' ? shape_end + 1 : NULL;
    const char *list_end = list ? closing(list, '}') : NULL;
    char       *contents = list ? expanded(m, list + 1, list_end) : NULL;
    maker_shape(m, expanded(m, at + 1, shape_end), contents, t);
    at = list ? list_end + 1 : shape_end + 1;
    if (m->failed) return at;
    allocate(s, t);
    int64_t low, high;
    if (list)
        fill_list(t, contents);
    else if (*at != '<')
        fill_any(s, t);
    else if (range(m, &at, holo_tensor_count(t) > 0, &low, &high))
        fill_range(s, t, low, high);
    if (m->failed) return at;
    if (holo_tensor_count(t) > SAMPLE_ELEMENTS_TEXT) is_constant = s->all_constant;
    if (holo_tensor_count(t) > SAMPLE_ELEMENTS_TEXT && is_constant) m->failed = true;
    if (!is_left_out && !m->failed) add_value(s, &value, is_constant);
    holo_text_add(out, "%s", is_left_out ? "_" : value.name);
    return at;
}

// "{k=1..c}" or "{c}".
static const char *number(Maker *m, const char *at, HoloText *out)
{
    char name[MAKER_NAME] = "";
    at++;
    if (strchr(at, '=') && strchr(at, '=') < strchr(at, '}')) {
        maker_name(&at, name);
        at++;
    }
    int64_t low = maker_number(m, &at), high = low;
    if (*at == '.') {
        at += 2;
        high = maker_number(m, &at);
    }
    if (low > high) m->failed = true;
    int64_t value = m->failed ? 0 : low + (int64_t)sample_pick(m->sample, (uint64_t)(high - low) + 1);
    if (*name) maker_bind(m, name, value);
    holo_text_add(out, "%" PRId64, value);
    return at + 1;
}

static const char *choice(Maker *m, const char *at, HoloText *out)
{
    const char *end   = closing(at, ')');
    uint64_t    count = 1;
    for (const char *c = at; c < end; c++) count += *c == '|';
    uint64_t pick = sample_pick(m->sample, count);
    for (at++; pick > 0; pick--) at = strchr(at, '|') + 1;
    expand(m, at, at + strcspn(at, "|)"), out);
    return end + 1;
}

static const char *spatial(Maker *m, const char *at, HoloText *out)
{
    const char *end = closing(at, ')');
    for (int d = 2; d < m->x->now.rank; d++) {
        maker_bind(m, "s", m->x->now.dim[d]);
        if (d > 2) holo_text_add(out, ",");
        expand(m, at + 1, end, out);
    }
    return end + 1;
}

static const char *skip_pattern(const char *at)
{
    if (*at == '[') at = closing(at, ']') + 1;
    if (*at == '<') at = closing(at, '>') + 1;
    return at;
}

static const char *blank(Maker *m, const char *at, HoloText *out)
{
    char        name[MAKER_NAME];
    const char *start = at;
    if (*at == '{') return number(m, at, out);
    if (*at == '(') return choice(m, at, out);
    if (*at == '?') return operand(m, at + 1, true, out);
    maker_name(&at, name);
    if (!strcmp(name, "x") || !strcmp(name, "seq") || !strcmp(name, "opt")) {
        holo_text_add(out, "%s", m->x->name);
        return skip_pattern(at);
    }
    if (!strcmp(name, "spatial")) return spatial(m, at, out);
    if (maker_list(m, name, out)) return at;
    return operand(m, start, false, out);
}

static void expand(Maker *m, const char *text, const char *end, HoloText *out)
{
    while (text < end && !m->failed)
        if (*text == '$')
            text = blank(m, text + 1, out);
        else
            holo_text_add(out, "%c", *text++);
}

// ---- nodes

// Where "$x" and its like stand in the row, and of which kind it is.
static const char *place_of_x(const SampleRow *row, int *out_kind)
{
    static const struct {
        const char *text;
        int         kind;
    } forms[] = {{"$x", HOLO_TENSOR}, {"$seq", HOLO_SEQUENCE}, {"$opt", HOLO_OPTIONAL}};
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        const char *at = strstr(row->text, forms[i].text);
        *out_kind      = forms[i].kind;
        if (at) return at + strlen(forms[i].text);
    }
    abort(); // the table is wrong
}

// Do the elements of x keep the range that stands at `at`?
static bool keeps_range(Maker *m, const char *at, const HoloTensor *x)
{
    int64_t low, high, count = holo_tensor_count(x);
    if (*at != '<') return true;
    range(m, &at, false, &low, &high);
    for (int64_t i = 0; i < count; i++) {
        double value = holo_get_f(x, i);
        if (!(value >= (double)low && value <= (double)high)) return false;
    }
    return true;
}

static bool accepts(Maker *m)
{
    int               kind;
    const HoloTensor *x  = &m->x->now;
    const char       *at = place_of_x(m->row, &kind);
    if (x->kind != kind || !(m->row->types >> x->dtype & 1)) return false;
    if (*at == '[' && !maker_match(m, at)) return false;
    return keeps_range(m, *at == '[' ? closing(at, ']') + 1 : at, x);
}

bool sample_start(Sample *sample, int op, SampleValue *out)
{
    int              index, kind;
    const SampleRow *row   = row_of(op, &index);
    const char      *at    = place_of_x(row, &kind);
    uint64_t         skip  = sample_pick(sample, (uint64_t)__builtin_popcountll(row->types));
    int              dtype = 0;
    int64_t          low, high;
    if (kind != HOLO_TENSOR) return false;
    for (dtype = 1; !(row->types >> dtype & 1) || skip-- > 0; dtype++) continue;
    *out    = (SampleValue){.now = {.dtype = (uint8_t)dtype}};
    Maker m = {.sample = sample, .row = row, .x = out};
    maker_generate(&m, *at == '[' ? at : "[...]", &out->now);
    if (*at == '[') at = closing(at, ']') + 1;
    if (holo_tensor_count(&out->now) > (sample->all_constant ? SAMPLE_ELEMENTS_TEXT : SAMPLE_ELEMENTS)) return false;
    allocate(sample, &out->now);
    if (*at != '<')
        fill_any(sample, &out->now);
    else if (range(&m, &at, holo_tensor_count(&out->now) > 0, &low, &high))
        fill_range(sample, &out->now, low, high);
    if (m.failed) return false;
    add_value(sample, out, sample->all_constant);
    return true;
}

bool sample_node(Sample *sample, int op, const SampleValue *x, const char *prefix, int *out_count)
{
    int              index, size;
    const SampleRow *row    = row_of(op, &index);
    Sample           before = *sample;
    Maker            m      = {.sample = sample, .row = row, .x = x};
    if (!accepts(&m)) return false;
    if (strstr(row->text, "$axis")) maker_choose_axis(&m);
    const char *name = row_op(row, index, &size), *rest = strchr(row->text, '(');
    char       *call = expanded(&m, rest, rest + strlen(rest));
    if (m.failed) { // what was added so far is taken away again
        size_t cut    = before.body.size;
        before.random = sample->random;
        before.body   = sample->body;
        *sample       = before;
        if (sample->body.data) sample->body.data[sample->body.size = cut] = '\0';
        return false;
    }
    *out_count = isdigit((unsigned char)*row->text) ? *row->text - '0' : 1;
    holo_text_add(&sample->body, "    ");
    for (int i = 0; i < *out_count; i++) holo_text_add(&sample->body, "%s%s%d", i ? ", " : "", prefix, i);
    holo_text_add(&sample->body, " = %.*s%s\n", size, name, call);
    return true;
}

static void print_input(const Sample *s, int input, SampleSizes sizes, HoloText *out)
{
    const SampleValue *value = &s->inputs[input];
    holo_text_add(out, "%s%s: %s[", input ? ", " : "", value->name, holo_dtype_name((HoloDtype)value->now.dtype));
    for (int d = 0; d < value->now.rank; d++) {
        holo_text_add(out, "%s%s", d ? "," : "", sizes == SAMPLE_NUMBERS ? "" : "n");
        if (sizes == SAMPLE_DIFFERENT)
            holo_text_add(out, "%d_%d", input, d);
        else
            holo_text_add(out, "%" PRId64, value->now.dim[d]);
    }
    holo_text_add(out, "]");
}

void sample_print(const Sample *s, const char *outputs, SampleSizes sizes, HoloText *out)
{
    holo_text_add(out, "graph pair(");
    for (int i = 0; i < s->input_count; i++) print_input(s, i, sizes, out);
    holo_text_add(out, ") -> (%s) {\n%s}\n", outputs, s->body.data ? s->body.data : "");
}
