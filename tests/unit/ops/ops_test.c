// ops_test.c - every operator on small cases with answers found by hand: tests/ops/*.txt, see the README.md there.
//
// Each case is evaluated plainly and compiled: for speed and for equal bits, with its inputs as they stand, as
// constants, with every size open and with no ranks at all. What came and what was expected is printed where they
// differ. Afterwards the operator table is held against the cases: every row, every class of element types, every
// version of the standard has one. `ops_test FILE...` runs some files alone.
#include "support/op_cases.h"

#include "archive/archive.h"
#include "base/system.h"
#include "passes/passes.h"
#include "runtime/model.h"
#include "support/bits.h"
#include "support/watched.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef enum Way { EVALUATED, COMPILED, EXACT, CONSTANT, TABLES, PLAIN, SYMBOLIC, RANKLESS, WAYS } Way;
static const char *const way_names[WAYS] = {"evaluated",       "compiled",       "exact",    "as constants",
                                            "all from tables", "without tables", "symbolic", "rankless"};

enum { SEEN_MAX = 1024 };

typedef struct Seen { // what the cases of an operator were about
    const HoloOp *op;
    uint64_t      dtypes;   // of its first input
    uint64_t      versions; // bit v
} Seen;

typedef struct Suite {
    int  cases, rounds, failed;
    int  seen_count;
    Seen seen[SEEN_MAX];
    // Of the present case, all from tables: the bytes of its outputs.
    char  *bytes[CASE_VALUES];
    size_t sizes[CASE_VALUES];
} Suite;

static Suite suite;

// ---- comparing

static bool number_is(double got, double want, double within, HoloDtype dtype)
{
    static const struct {
        HoloDtype dtype;
        double    step; // between numbers near 1: what rounding may cost where an answer is not exact
    } steps[] = {{HOLO_F16, 0x1p-10}, {HOLO_BF16, 0x1p-7}, {HOLO_F32, 0x1p-23}};
    if (isnan(want)) return isnan(got);
    if (got == want) return want != 0 || !signbit(want) || signbit(got); // -0 is asked for, or nothing about the sign
    for (int i = 0; within > 0 && i < HOLO_COUNT(steps); i++)
        if (steps[i].dtype == dtype && within < steps[i].step) within = steps[i].step;
    return fabs(got - want) <= within * fmax(1, fabs(want));
}

static bool element_is(const HoloTensor *got, const HoloTensor *want, int64_t i, double within)
{
    HoloDtype  dtype = (HoloDtype)want->dtype;
    HoloTensor a = *got, b = *want;
    switch (holo_dtype_class(dtype)) {
    case HOLO_CLASS_STRING: return holo_string_equal(((HoloString *)a.data)[i], ((HoloString *)b.data)[i]);
    case HOLO_CLASS_FLOAT: return number_is(holo_get_f(&a, i), holo_get_f(&b, i), within, dtype);
    case HOLO_CLASS_COMPLEX:
        a.dtype = b.dtype = dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        return number_is(holo_get_f(&a, 2 * i), holo_get_f(&b, 2 * i), within, (HoloDtype)b.dtype) &&
               number_is(holo_get_f(&a, 2 * i + 1), holo_get_f(&b, 2 * i + 1), within, (HoloDtype)b.dtype);
    default: return holo_get_i(&a, i) == holo_get_i(&b, i);
    }
}

static bool value_is(const HoloTensor *got, const HoloTensor *want, double within, bool is_any)
{
    if (got->kind != want->kind || got->dtype != want->dtype) return false;
    if (want->kind == HOLO_TENSOR) {
        if (got->rank != want->rank || memcmp(got->dim, want->dim, (size_t)want->rank * sizeof *want->dim))
            return false;
        for (int64_t i = 0; i < holo_tensor_count(want) && !is_any; i++)
            if (!element_is(got, want, i, within)) return false;
        return true;
    }
    if (want->kind != HOLO_MAP && (got->dim[0] != want->dim[0] || got->inner != want->inner)) return false;
    const HoloTensor *a = got->data, *b = want->data;
    for (int64_t i = 0; i < (want->kind == HOLO_MAP ? 2 : want->dim[0]); i++)
        if (!value_is(&a[i], &b[i], within, false)) return false;
    return true;
}

// A tensor as the graph text of a constant; a container as the list of what it holds.
static void value_print(const HoloTensor *t, HoloArena *arena, HoloText *out)
{
    static const char *const kinds[] = {"", "seq", "optional", "map"};
    if (t->kind != HOLO_TENSOR) {
        int64_t count = t->kind == HOLO_MAP ? 2 : t->dim[0];
        holo_text_add(out, "%s %s [ ", kinds[t->kind], holo_dtype_name((HoloDtype)t->dtype));
        for (int64_t i = 0; i < count && t->data; i++) value_print((const HoloTensor *)t->data + i, arena, out);
        holo_text_add(out, "] ");
        return;
    }
    HoloText   page  = {0};
    HoloGraph *graph = holo_graph_create(arena, holo_dims_create(arena), "g");
    holo_graph_constant(graph, "v", t);
    holo_graph_print(graph, &page);
    const char *from = strstr(page.data, "const v: "), *to = from ? strchr(from, '\n') : NULL;
    if (to) holo_text_add(out, "%.*s ", (int)(to - from - 9), from + 9);
    holo_text_deinit(&page);
}

// ---- reporting

static void complain(const OpCase *c, Way way, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void complain(const OpCase *c, Way way, const char *format, ...)
{
    char    text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s:%d: %s (%s%s)\n%s\n", c->path, c->line, c->title, way_names[way], c->variant, text);
    suite.failed++;
}

static void expect_outputs(OpCase *c, Way way, const HoloTensor *outputs)
{
    for (int i = 0; i < c->out_count; i++) {
        CaseValue *want = &c->out[i];
        if (value_is(&outputs[i], &want->value, c->within, want->is_any)) continue;
        HoloText came = {0};
        value_print(&outputs[i], c->arena, &came);
        complain(c, way, "    %s came as  %s\n    expected   %s = %s", want->name, came.data, want->type, want->text);
        holo_text_deinit(&came);
    }
}

static void expect_status(OpCase *c, Way way, HoloStatus status, const HoloError *error)
{
    if (status && !c->fails)
        complain(c, way, "    failed: %s", error->text);
    else if (!status && c->fails)
        complain(c, way, "    worked, but should fail: %s", c->fails);
    else if (status && !strstr(error->text, c->fails))
        complain(c, way, "    failed as: %s\n    expected:  %s", error->text, c->fails);
}

// What class exact gives, for tests/isa.sh.
static void note_outputs(OpCase *c, const HoloTensor *outputs)
{
    for (int i = 0; i < c->out_count && getenv("HOLO_TEST_BITS"); i++) {
        char     what[256];
        HoloText came = {0};
        if (c->out[i].is_any) continue;
        snprintf(what, sizeof what, "%s:%d%s %s", c->path, c->line, c->variant, c->out[i].name);
        value_print(&outputs[i], c->arena, &came);
        bits_note_text(what, came.data);
        holo_text_deinit(&came);
    }
}

// Outputs of numbers have the same bits with tables and without.
static void compare_tables(OpCase *c, Way way, const HoloTensor *outputs)
{
    for (int i = 0; i < c->out_count; i++) {
        bool   plain = outputs[i].kind == HOLO_TENSOR && outputs[i].dtype != HOLO_STRING && !c->out[i].is_any;
        size_t size  = plain ? holo_tensor_bytes(&outputs[i]) : 0;
        if (way == PLAIN && (size != suite.sizes[i] || (size && memcmp(suite.bytes[i], outputs[i].data, size))))
            complain(c, way, "    %s has other bits than from tables", c->out[i].name);
        if (way == PLAIN) continue;
        suite.sizes[i] = size;
        suite.bytes[i] = holo_arena_take(c->arena, size + 1);
        assert_non_null(suite.bytes[i]);
        if (size) memcpy(suite.bytes[i], outputs[i].data, size);
    }
}

// ---- running

static bool is_constant(const CaseValue *v, Way way)
{
    return way == CONSTANT && v->value.kind == HOLO_TENSOR;
}

// How an input is declared: as the case has it, or with a symbol for each size, or without a shape.
static void declare(const CaseValue *v, int number, Way way, HoloText *out)
{
    const char *bracket = strchr(v->type, '[');
    if (way < SYMBOLIC || v->value.kind != HOLO_TENSOR || !bracket) {
        holo_text_add(out, "%s: %s", v->name, v->type);
        return;
    }
    holo_text_add(out, "%s: %.*s", v->name, (int)(bracket - v->type), v->type);
    if (way == RANKLESS) return;
    for (int d = 0; d < v->value.rank; d++) holo_text_add(out, "%ss%d_%d", d ? "," : "[", number, d);
    holo_text_add(out, v->value.rank ? "]" : "[]");
}

static void write_graph(const OpCase *c, Way way, HoloText *out)
{
    bool first = true;
    holo_text_add(out, "graph g(");
    for (int i = 0; i < c->in_count; i++) {
        if (is_constant(&c->in[i], way)) continue;
        if (!first) holo_text_add(out, ", ");
        declare(&c->in[i], i, way, out);
        first = false;
    }
    holo_text_add(out, ") -> (");
    for (int i = 0; i < c->out_count; i++) holo_text_add(out, "%s%s", i ? ", " : "", c->out[i].name);
    const char *last = c->body.data + c->last;
    if (!c->out_count) holo_text_add(out, "%.*s", (int)strcspn(last, "=,"), last);
    holo_text_add(out, ") {\n");
    for (int i = 0; i < c->in_count; i++)
        if (is_constant(&c->in[i], way))
            holo_text_add(out, "    const %s: %s = %s\n", c->in[i].name, c->in[i].type, c->in[i].text);
    holo_text_add(out, "%s}\n", c->body.data);
}

// For fuzzing: the archives of the cases, in the folder HOLO_TEST_ARCHIVES.
static void archive_keep(const OpCase *c, Way way, const HoloMapping *mapping)
{
    const char *folder = getenv("HOLO_TEST_ARCHIVES");
    char        path[512];
    if (!folder || (way != COMPILED && way != SYMBOLIC && way != RANKLESS)) return;
    snprintf(path, sizeof path, "%s/%s-%d-%d.holo", folder, strrchr(c->path, '/') + 1, c->line, (int)way);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(mapping->data, 1, mapping->size, file), mapping->size);
    fclose(file);
}

static HoloStatus compile(const OpCase *c, HoloGraph *graph, Way way, HoloModel **out, HoloError *error)
{
    bool            is_exact = way == EXACT;
    HoloPassOptions options  = {.all_tables = way == TABLES || way == PLAIN,
                                .no_tables  = way == PLAIN,
                                .all_chains = is_exact || way == SYMBOLIC};
    char            path[512];
    HoloLowered     lowered = {0};
    HoloPlan        plan    = {0};
    HoloFileWriter *file    = NULL;
    HoloMapping     mapping;
    uint64_t        size;
    holo_temporary_path("hologram-ops", path, sizeof path);
    HoloStatus status = holo_graph_check_ops(graph, error);
    if (!status) status = holo_passes_run(graph, &options, error);
    if (!status) status = holo_lower_graph(graph, NULL, &lowered, error);
    if (!status) status = holo_plan_create(graph, &lowered, &plan, error);
    if (is_exact) plan.flags_must |= HOLO_FLAG_EXACT;
    if (!status) status = holo_file_writer_open(path, &file, error);
    if (!status) status = holo_archive_write(&plan, file, NULL, &size, error);
    if (!status) status = holo_file_writer_map(file, &mapping, error);
    if (!status && is_exact) bits_note("archive", mapping.data, mapping.size);
    if (!status) archive_keep(c, way, &mapping);
    if (!status) status = holo_model_open_mapping(&mapping, out, error);
    if (file && holo_file_writer_close(file, false, NULL)) status = HOLO_NO_FILE;
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    return status;
}

static HoloStatus run_session(OpCase *c, HoloModel *model, HoloSession *session, HoloTensor *outputs, HoloError *error)
{
    for (int i = 0; i < c->in_count; i++) {
        int at = holo_model_input_find(model, c->in[i].name);
        if (at >= 0) HOLO_TRY(holo_session_set_input(session, at, &c->in[i].value, error));
    }
    HOLO_TRY(holo_session_run(session, error));
    for (int i = 0; i < c->out_count; i++) HOLO_TRY(holo_session_output(session, i, &outputs[i], error));
    return HOLO_OK;
}

static HoloStatus run_compiled(OpCase *c, HoloGraph *graph, Way way, HoloError *error)
{
    HoloModel   *model   = NULL;
    HoloSession *session = NULL;
    HoloTensor   outputs[CASE_VALUES];
    HoloStatus   status = compile(c, graph, way, &model, error);
    if (!status) status = holo_session_create(model, NULL, &session, error);
    if (!status) status = run_session(c, model, session, outputs, error);
    if (!status) expect_outputs(c, way, outputs);
    if (!status && way == EXACT) note_outputs(c, outputs);
    if (!status && (way == TABLES || way == PLAIN)) compare_tables(c, way, outputs);
    holo_session_destroy(session);
    holo_model_close(model);
    return status;
}

static HoloStatus run_evaluated(OpCase *c, const HoloGraph *graph, HoloError *error)
{
    const HoloTensor *inputs[CASE_VALUES];
    HoloTensor        outputs[CASE_VALUES];
    for (int i = 0; i < c->in_count; i++) inputs[i] = &c->in[i].value;
    HOLO_TRY(holo_graph_eval(graph, inputs, outputs, c->arena, NULL, error));
    expect_outputs(c, EVALUATED, outputs);
    return HOLO_OK;
}

// ---- what was seen

static Seen *seen_of(const HoloOp *op)
{
    for (int i = 0; i < suite.seen_count; i++)
        if (suite.seen[i].op == op) return &suite.seen[i];
    assert_true(suite.seen_count < SEEN_MAX);
    suite.seen[suite.seen_count].op = op;
    return &suite.seen[suite.seen_count++];
}

// The case is about its last node: its first input; where it has graphs, all inputs; where it has no inputs, its
// output. What is refused is so for all types.
static void note_seen(const HoloGraph *graph, HoloStatus status)
{
    const HoloNode *node = graph->nodes[graph->node_count - 1];
    if (!node->op) return;
    Seen *seen  = seen_of(node->op);
    int   count = node->op->flags & HOLO_OP_CONTROL ? node->in_count : node->in_count > 0;
    seen->versions |= UINT64_C(1) << (node->version & 63);
    if (status == HOLO_REFUSED) seen->dtypes = HOLO_TYPES_ALL;
    for (int i = 0; i < count; i++)
        if (node->in[i]) seen->dtypes |= UINT64_C(1) << node->in[i]->type.dtype;
    if (!count && node->out[0]) seen->dtypes |= UINT64_C(1) << node->out[0]->type.dtype;
}

// The last node once more without an output that a hostile file may leave out, or without any: accepted or refused.
static void infer_without(HoloGraph *graph)
{
    HoloNode *node = graph->nodes[graph->node_count - 1];
    for (int i = 0; i < node->out_count; i++) {
        HoloValue *out = node->out[i];
        node->out[i]   = NULL;
        if (holo_graph_infer(graph, NULL) == HOLO_INTERNAL) fail_msg("%s fails without output %d", node->type, i);
        if (node->out_count > 1) node->out[i] = out;
    }
}

static void run_way(OpCase *c, Way way)
{
    HoloText   page  = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    write_graph(c, way, &page);
    HoloStatus status = holo_graph_parse(c->arena, page.data, &graph, &error);
    if (status) fail_msg("%s:%d:%s %s\n%s", c->path, c->line, c->variant, error.text, page.data);
    holo_text_deinit(&page);
    status = holo_graph_infer(graph, &error);
    if (!status) status = way == EVALUATED ? run_evaluated(c, graph, &error) : run_compiled(c, graph, way, &error);
    if (way == EVALUATED && (!status || status == HOLO_REFUSED)) note_seen(graph, status);
    if (way == EVALUATED && !status) infer_without(graph);
    expect_status(c, way, status, &error);
}

// `context` is an int: every how many cases one is compiled.
static void run_case(void *context, OpCase *c)
{
    static int last_line;
    suite.rounds++;
    suite.cases += c->line != last_line;
    last_line  = c->line;
    int before = suite.failed;
    run_way(c, EVALUATED);
    if (suite.rounds % *(int *)context) return;
    for (Way way = EVALUATED + 1; way < WAYS && suite.failed == before; way++) run_way(c, way);
}

// ---- the tests

static void test_cases(void **state)
{
    (void)state;
    const char *folder = "tests/ops";
    int         step   = watched_step("the cases are compiled, too, in all ways", 9);
    HoloFolder  entries;
    assert_int_equal(holo_folder_list(folder, &entries, NULL), HOLO_OK);
    for (int i = 0; i < entries.count; i++) {
        const char *name = entries.name[i], *end = strstr(name, ".txt");
        char        path[512];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (end && !end[4]) case_file(path, run_case, &step);
    }
    holo_folder_free(&entries);
    print_message("%d cases, %d with their loops\n", suite.cases, suite.rounds);
    assert_int_equal(suite.failed, 0);
}

static const char *domain_text(const HoloOp *op)
{
    return op->domain && *op->domain ? op->domain : "ai.onnx";
}

// Every row of the table has a case, and every class of element types that its first input may have occurs.
static void test_rows(void **state)
{
    static const struct {
        const char *name;
        uint64_t    dtypes;
    } classes[] = {
        {"f32 or f64", HOLO_BIT(F32) | HOLO_BIT(F64)},
        {"f16 or bf16", HOLO_BIT(F16) | HOLO_BIT(BF16)},
        {"an 8-bit float", HOLO_TYPES_F8},
        {"a signed integer", HOLO_TYPES_INT},
        {"an unsigned integer", HOLO_TYPES_UINT},
        {"a narrow type", HOLO_TYPES_NARROW},
        {"bool", HOLO_BIT(BOOL)},
        {"a complex type", HOLO_TYPES_COMPLEX},
        {"string", HOLO_BIT(STRING)},
    };
    (void)state;
    int missing = 0;
    for (int f = 0; holo_op_families[f]; f++) {
        for (const HoloOp *op = holo_op_families[f]; op->name; op++) {
            const Seen *seen    = seen_of(op);
            uint64_t    types   = op->types ? op->types : HOLO_TYPES_ALL;
            bool        is_open = !op->types && op->in_max == 0; // neither an input nor a list of types
            for (int k = 0; seen->versions && !is_open && k < HOLO_COUNT(classes); k++) {
                if (!(types & classes[k].dtypes) || seen->dtypes & classes[k].dtypes) continue;
                print_error("%s::%s (since %d) has no case with %s\n", domain_text(op), op->name, op->since,
                            classes[k].name);
                missing++;
            }
            if (seen->versions) continue;
            print_error("%s::%s (since %d) has no case\n", domain_text(op), op->name, op->since);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

static uint64_t versions_seen(const char *domain, const char *name)
{
    uint64_t versions = 0;
    for (int i = 0; i < suite.seen_count; i++)
        if (!strcmp(suite.seen[i].op->name, name) && !strcmp(domain_text(suite.seen[i].op), domain))
            versions |= suite.seen[i].versions;
    return versions;
}

// Every version of an operator that the standard has (tests/ops/versions: domain, name, versions) occurs in a case.
static void test_versions(void **state)
{
    (void)state;
    FILE *file = fopen("tests/ops/versions", "r");
    char  line[512];
    int   missing = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *rest = line, *domain = strtok_r(rest, " \n", &rest), *name = strtok_r(rest, " \n", &rest);
        if (!name || *domain == '#') continue;
        uint64_t seen = versions_seen(domain, name);
        for (char *version; (version = strtok_r(rest, " \n", &rest));) {
            if (seen >> atoi(version) & 1) continue;
            print_error("%s::%s has no case of version %s\n", domain, name, version);
            missing++;
        }
    }
    fclose(file);
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int each = 1;
        for (int i = 1; i < argc; i++) case_file(argv[i], run_case, &each);
        printf("%d cases, %d with their loops, %d failed\n", suite.cases, suite.rounds, suite.failed);
        return suite.failed > 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_versions)};
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
