// passes_test.c - runs the cases in tests/passes: graph text in, names of passes, graph text out; and the driver.
//
// A case is a file of three parts: a line "passes: fold dead" (or "passes: all"), a line "in:" and a graph, a line
// "out:" and the graph that must come out. The graph is inferred first. `passes_test FILE` prints what comes out.
#include "base/system.h"
#include "passes/fuse/recognize.h"
#include "passes/passes.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *read_file(const char *path)
{
    static char page[1 << 18];
    FILE       *file = fopen(path, "r");
    if (!file) return NULL;
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    return page;
}

static HoloStatus run_named(HoloGraph *graph, char *names, HoloError *error)
{
    char *rest = names;
    for (char *name; (name = strtok_r(rest, " \n", &rest));) {
        int        changes;
        HoloStatus status =
            strcmp(name, "all") ? holo_pass_run(graph, name, &changes, error) : holo_passes_run(graph, NULL, error);
        if (status) return status;
    }
    return HOLO_OK;
}

// What comes out of the case in `text`, which is cut into its parts.
static HoloStatus run_case(char *text, HoloText *out, const char **out_want, HoloError *error)
{
    char *names = strstr(text, "passes:"), *in = names ? strstr(names, "\nin:\n") : NULL;
    char *want = in ? strstr(in, "\nout:\n") : NULL;
    if (!want) return holo_fail(error, HOLO_BAD_INPUT, "a case has the parts passes:, in: and out:");
    *in = *want      = '\0';
    *out_want        = want + strlen("\nout:\n");
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloStatus status = holo_graph_parse(&arena, in + strlen("\nin:\n"), &graph, error);
    if (!status) status = holo_graph_infer(graph, error);
    if (!status) status = run_named(graph, names + strlen("passes:"), error);
    if (!status) holo_graph_print(graph, out);
    holo_arena_deinit(&arena);
    return status;
}

static void test_cases(void **state)
{
    (void)state;
    const char *folder = "tests/passes";
    HoloFolder  entries;
    int         cases = 0, failed = 0;
    assert_int_equal(holo_folder_list(folder, &entries, NULL), HOLO_OK);
    for (int i = 0; i < entries.count; i++) {
        char        path[512];
        HoloText    out   = {0};
        HoloError   error = {0};
        const char *want  = "";
        snprintf(path, sizeof path, "%s/%s", folder, entries.name[i]);
        if (!strstr(path, ".txt")) continue;
        cases++;
        HoloStatus status = run_case(read_file(path), &out, &want, &error);
        if (status || strcmp(out.data, want)) {
            failed++;
            print_error("%s: %s\n%s", path, status ? error.text : "another graph came out:", status ? "" : out.data);
        }
        holo_text_deinit(&out);
    }
    holo_folder_free(&entries);
    assert_true(cases > 0);
    assert_int_equal(failed, 0);
}

typedef struct Seen {
    char names[500];
} Seen;

static void see(void *context, const HoloPass *pass, const HoloGraph *graph, int changes)
{
    Seen *seen = context;
    (void)graph, (void)changes;
    snprintf(seen->names + strlen(seen->names), sizeof seen->names - strlen(seen->names), "%s ", pass->name);
}

static void test_driver(void **state)
{
    (void)state;
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloGraph        *graph;
    Seen              seen = {""};
    int               changes;
    const char *const disabled[] = {"bodies", "captures", "carried", "decompose", "einsum",
                                    "float8", "integers", "stored",  "unfuse",    "widen"};
    HoloPassOptions   options    = {
             .disabled = disabled, .disabled_count = HOLO_COUNT(disabled), .last = "fold", .after = see, .context = &seen};
    const char *text = "graph g(x: f32[2]) -> (y) {\n    y = Relu@14(x)\n}\n";
    assert_int_equal(holo_graph_parse(&arena, text, &graph, &error), HOLO_OK);
    assert_int_equal(holo_passes_run(graph, &options, &error), HOLO_OK);
    assert_string_equal(seen.names, "infer fold ");
    assert_int_equal(holo_pass_run(graph, "nothing", &changes, &error), HOLO_BAD_ARGUMENT);
    holo_arena_deinit(&arena);
}

// An operator with a body is replaced by it, the node's attribute in place and the left-out input left out.
static void test_decompose(void **state)
{
    (void)state;
    const HoloOp op    = {.name    = "Scaled",
                          .domain  = "",
                          .since   = 1,
                          .in_min  = 1,
                          .in_max  = 2,
                          .out_min = 1,
                          .out_max = 1,
                          .body =
                              "graph Scaled<alpha=2.0>(X, M) -> (Y) { e = Elu@6(X) {alpha=@alpha}\n Y = Clip@13(e, M) }"};
    HoloArena    arena = {0}, scratch = {0};
    HoloError    error = {0};
    HoloText     out   = {0};
    HoloGraph   *graph;
    HoloChanges  changes = {.limit = INT_MAX};
    const char  *text    = "graph g(x: f32[2]) -> (y) {\n    y = Scaled@1 \"n\" (x) {alpha=3.0} : f32[2]\n}\n";
    assert_int_equal(holo_graph_parse(&arena, text, &graph, &error), HOLO_OK);
    graph->nodes[0]->op = &op;
    assert_int_equal(holo_pass_decompose(graph, &scratch, &changes, &error), HOLO_OK);
    assert_int_equal(holo_graph_infer(graph, &error), HOLO_OK);
    assert_int_equal(holo_graph_verify(graph, &error), HOLO_OK);
    holo_graph_print(graph, &out);
    assert_string_equal(out.data, "graph g(x: f32[2]) -> (y) {\n"
                                  "    n/e = Elu@6(x) {alpha=3.0} : f32[2]\n"
                                  "    y = Clip@13 \"n/Y\" (n/e, _) : f32[2]\n"
                                  "}\n");
    holo_text_deinit(&out);
    holo_arena_deinit(&scratch);
    holo_arena_deinit(&arena);
}

// Patterns are parsed when they may match: each is looked at here. The last statement gives what comes out.
static void expect_pattern(const char *text)
{
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena, text, &graph, &error)) fail_msg("%s: %s", text, error.text);
    const HoloNode *last = graph->nodes[graph->node_count - 1];
    assert_int_equal(graph->output_count, 1);
    assert_ptr_equal(graph->outputs[0], last->out[0]);
    assert_true(graph->value_count <= HOLO_MATCH_VALUES);
    assert_true(holo_recognize_may_end(text, last));
    holo_arena_deinit(&arena);
}

static void test_patterns(void **state)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    (void)state;
    for (int i = 0; holo_recognize_table[i].before; i++) expect_pattern(holo_recognize_table[i].before);
    for (int i = 0; holo_recognize_others[i]; i++) expect_pattern(holo_recognize_others[i]);
    assert_int_equal(
        holo_graph_parse(&arena, "graph g(a: f32[2], b: f32[2]) -> (y) { y = Sum@13(a, b) }", &graph, NULL), 0);
    assert_true(holo_recognize_may_end("graph g(x, y) -> (z) { z = Add@7(x, y) }", graph->nodes[0]));
    assert_true(holo_recognize_may_end("graph g(x, y) -> (z) { z = any::one@1(x, y) }", graph->nodes[0]));
    assert_false(holo_recognize_may_end("graph g(x, y) -> (z) { s = Sum@13(x, y)  z = Relu@14(s) }", graph->nodes[0]));
    holo_arena_deinit(&arena);
}

// Each node doubles a constant. The bytes of all constants behind it; of texts, those of the longest.
static uint64_t bytes_after(const char *first, const char *type, const char *node)
{
    HoloArena  arena = {0};
    HoloText   text  = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    uint64_t   bytes = 0;
    holo_text_add(&text, "graph g() -> (v27) {\nconst v0: %s[1] = {%s}\n", type, first);
    for (int i = 0; i < 27; i++) holo_text_add(&text, node, i + 1, i, i);
    holo_text_add(&text, "}\n");
    if (holo_graph_parse(&arena, text.data, &graph, &error)) fail_msg("%s", error.text);
    assert_int_equal(holo_passes_run(graph, NULL, &error), HOLO_OK);
    for (int i = 0; i < graph->value_count; i++) {
        const HoloTensor *t = &graph->values[i]->type;
        if (!graph->values[i]->is_constant || !t->data) continue;
        bytes += holo_tensor_bytes(t);
        for (int64_t k = 0; t->dtype == HOLO_STRING && k < holo_tensor_count(t); k++)
            bytes += ((const HoloString *)t->data)[k].size;
    }
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
    return bytes;
}

// A few nodes do not become constants of gigabytes.
static void test_growing(void **state)
{
    (void)state;
    assert_in_range(bytes_after("1.0", "f32", "v%d = Concat@13(v%d, v%d) {axis=0}\n"), 1, 128 << 20);
    assert_in_range(bytes_after("\"ab\"", "string", "v%d = StringConcat@20(v%d, v%d)\n"), 1, 128 << 20);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        HoloText    out   = {0};
        HoloError   error = {0};
        const char *want;
        char       *text   = read_file(argv[1]);
        HoloStatus  status = text ? run_case(text, &out, &want, &error) : HOLO_NO_FILE;
        printf("%s", status ? error.text : out.data);
        holo_text_deinit(&out);
        return status != HOLO_OK;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_patterns),
                                       cmocka_unit_test(test_driver), cmocka_unit_test(test_decompose),
                                       cmocka_unit_test(test_growing)};
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
