// tensorflow_test.c - TensorFlow's operators one by one, with the answers of TensorFlow.js (tests/tensorflow/cases.txt), and
// graphs that are wrong.
#include "import/import.h"
#include "import/tensorflow/tf.h"
#include "ops/tensor.h"
#include "support/models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MAX = 8, LINE_MAX = 1 << 16 };

typedef struct Case {
    char       name[64];
    char      *graph;
    HoloTensor in[PORTS_MAX], out[PORTS_MAX];
    char       out_name[PORTS_MAX][16];
    int        in_count, out_count;
    HoloArena  arena;
    HoloError  error;
} Case;

static HoloDtype dtype_of(const char *name)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } types[] = {{"float32", HOLO_F32}, {"bool", HOLO_BOOL}, {"string", HOLO_STRING}, {"int32", HOLO_I32}};
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (!strcmp(types[i].name, name)) return types[i].dtype;
    fail_msg("there is no type %s", name);
    return HOLO_NONE;
}

// A text is ' and its bytes; %41 is the byte 0x41.
static HoloString read_word(HoloArena *arena, char **at)
{
    char *word, *out;
    while (**at == ' ') ++*at;
    assert_int_equal(*(*at)++, '\'');
    out = word = holo_arena_take(arena, strcspn(*at, " ") + 1);
    while (**at && **at != ' ') {
        unsigned byte = (unsigned char)**at, is_code = byte == '%';
        if (is_code) assert_int_equal(sscanf(*at + 1, "%2x", &byte), 1);
        *out++ = (char)byte;
        *at += is_code ? 3 : 1;
    }
    return (HoloString){word, (size_t)(out - word)};
}

// "NAME TYPE SIZES : NUMBERS"
static void read_port(Case *c, char *text, HoloTensor *t, char *name)
{
    char type[16], sizes[64], *at = strstr(text, " :");
    assert_non_null(at);
    assert_int_equal(sscanf(text, "%15s %15s %63s", name, type, sizes), 3);
    *t = (HoloTensor){.dtype = (uint8_t)dtype_of(type)};
    for (char *p = sizes; *p && *p != '-';) {
        t->dim[t->rank++] = strtoll(p, &p, 10);
        if (*p == ',') p++;
    }
    int64_t count = holo_tensor_count(t);
    t->data       = holo_arena_take(&c->arena, holo_tensor_bytes(t) + 8);
    at += 2;
    for (int64_t i = 0; i < count; i++)
        if (t->dtype == HOLO_STRING)
            ((HoloString *)t->data)[i] = read_word(&c->arena, &at);
        else
            holo_put_f(t, i, strtod(at, &at));
}

static bool is_close(double want, double have)
{
    if (want != want) return have != have;
    return want == have || fabs(want - have) <= 2e-6 + 1e-5 * fabs(want);
}

static bool is_same(const HoloTensor *want, const HoloTensor *have, int64_t k)
{
    if (want->dtype == HOLO_STRING)
        return have->dtype == HOLO_STRING &&
               holo_string_equal(((HoloString *)want->data)[k], ((HoloString *)have->data)[k]);
    return have->dtype != HOLO_STRING && is_close(holo_get_f(want, k), holo_get_f(have, k));
}

// TensorFlow.js has no 64-bit numbers, and no bools in some answers: numbers are compared, not their types.
static bool agrees(Case *c, int i, const HoloTensor *have)
{
    const HoloTensor *want = &c->out[i];
    char             *why  = c->error.text;
    size_t            room = sizeof c->error.text;
    if (have->rank != want->rank)
        return snprintf(why, room, "output %d has %d dimensions, not %d", i, have->rank, want->rank) < 0;
    for (int d = 0; d < want->rank; d++)
        if (have->dim[d] != want->dim[d])
            return snprintf(why, room, "size %d of output %d is %lld, not %lld", d, i, (long long)have->dim[d],
                            (long long)want->dim[d]) < 0;
    for (int64_t k = 0; k < holo_tensor_count(want); k++) {
        if (is_same(want, have, k)) continue;
        if (have->dtype != HOLO_STRING || want->dtype != HOLO_STRING)
            return snprintf(why, room, "element %lld of output %d is %g, not %g", (long long)k, i, holo_get_f(have, k),
                            holo_get_f(want, k)) < 0;
        HoloString a = ((HoloString *)have->data)[k], b = ((HoloString *)want->data)[k];
        return snprintf(why, room, "text %lld of output %d is '%.*s', not '%.*s'", (long long)k, i, (int)a.size, a.data,
                        (int)b.size, b.data) < 0;
    }
    return true;
}

static bool run_case(Case *c)
{
    HoloModelSource   source;
    HoloText          json           = {0};
    HoloTensor        out[PORTS_MAX] = {0};
    const HoloTensor *in[PORTS_MAX];
    bool              ok = true;
    for (int i = 0; i < c->in_count; i++) in[i] = &c->in[i];
    holo_text_add(&json, "{\"modelTopology\": %s, \"signature\": {\"outputs\": {", c->graph);
    for (int i = 0; i < c->out_count; i++)
        holo_text_add(&json, "%s\"%d\": {\"name\": \"%s\"}", i ? ", " : "", i, c->out_name[i]);
    holo_text_add(&json, "}}, \"weightsManifest\": []}");
    if (holo_import_memory(&c->arena, json.data, json.size, &source, &c->error)) {
        ok = false;
    } else {
        ok = !holo_graph_infer(source.graph, &c->error) && !holo_graph_verify(source.graph, &c->error) &&
             !holo_graph_eval(source.graph, in, out, &c->arena, NULL, &c->error);
        if (ok) assert_int_equal(source.graph->output_count, c->out_count);
        for (int i = 0; ok && i < c->out_count; i++) ok = agrees(c, i, &out[i]);
        holo_import_close(&source);
    }
    if (!ok) print_error("%s: %s\n", c->name, c->error.text);
    holo_text_deinit(&json);
    holo_arena_deinit(&c->arena);
    free(c->graph);
    return ok;
}

// ---- which operators have a case

// Those that need more than a graph are tested by tests/cli/tensorflow_test.sh: values of variables are in a checkpoint,
// those of a table in a file.
static const char elsewhere[] =
    " InitializeTableFromTextFile InitializeTableFromTextFileV2 VarHandleOp ReadVariableOp Variable VariableV2 VariableShape"
    "  ResourceGather  ResourceGatherNd  VarIsInitializedOp  IsVariableInitialized  Assign  AssignVariableOp  SaveV2  RestoreV2"
    "  MergeV2Checkpoints  StatefulPartitionedCall ";

static void mark(const char *graph, HoloText *used)
{
    static const char key[] = "\"op\":\"";
    for (const char *at = strstr(graph, key); at; at = strstr(at, key)) {
        at += sizeof key - 1;
        holo_text_add(used, " %.*s ", (int)strcspn(at, "\""), at);
    }
}

static int count_unused(const HoloText *used)
{
    int count = 0;
    for (int t = 0; holo_flow_tables[t]; t++)
        for (const HoloFlowOp *row = holo_flow_tables[t]; row->name; row++) {
            char word[80];
            snprintf(word, sizeof word, " %s ", row->name);
            if (strstr(used->data, word) || strstr(elsewhere, word)) continue;
            print_error("%s has no case in tests/tensorflow/cases.txt\n", row->name);
            count++;
        }
    return count;
}

static void test_operators(void **state)
{
    (void)state;
    FILE    *file   = fopen("tests/tensorflow/cases.txt", "r");
    char    *line   = malloc(LINE_MAX);
    Case    *c      = calloc(1, sizeof *c);
    HoloText used   = {0};
    int      failed = 0;
    assert_non_null(file);
    while (fgets(line, LINE_MAX, file)) {
        char unused[16];
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "case ", 5)) {
            if (c->graph) failed += !run_case(c);
            memset(c, 0, sizeof *c);
            snprintf(c->name, sizeof c->name, "%s", line + 5);
        } else if (!strncmp(line, "graph ", 6)) {
            c->graph = strdup(line + 6);
            mark(c->graph, &used);
        } else if (!strncmp(line, "in ", 3)) {
            read_port(c, line + 3, &c->in[c->in_count++], unused);
        } else if (!strncmp(line, "out ", 4)) {
            read_port(c, line + 4, &c->out[c->out_count], c->out_name[c->out_count]);
            c->out_count++;
        }
    }
    if (c->graph) failed += !run_case(c);
    assert_int_equal(failed, 0);
    assert_int_equal(count_unused(&used), 0);
    fclose(file);
    holo_text_deinit(&used);
    free(line);
    free(c);
}

// ---- loops and branches in text form, and graphs that are wrong

static void import_text(const char *text, HoloArena *arena, HoloModelSource *source, HoloError *error, HoloStatus want,
                        const char *words)
{
    HoloStatus status = holo_import_memory(arena, text, strlen(text), source, error);
    if (status != want) fail_msg("%s: status %d", error->text, status);
    if (words && !strstr(error->text, words)) fail_msg("'%s' is not in '%s'", words, error->text);
}

#define X \
    "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape { dim { size: 2 } } } } }\n"
#define NUMBER(name, n)                                                                                                                                       \
    "node { name: \"" name                                                                                                                                    \
    "\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: " n \
    " } } } }\n"
#define NODE(name, op, inputs) "node { name: \"" name "\" op: \"" op "\" " inputs " }\n"
#define FRAME                  "attr { key: \"frame_name\" value { s: \"loop\" } }"

static void evaluates_to(const char *text, float a, float b, float want_a, float want_b)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloModelSource   source;
    float             numbers[2] = {a, b};
    HoloTensor        x = {.dtype = HOLO_F32, .rank = 1, .dim = {2}, .data = numbers}, out = {0};
    const HoloTensor *in[] = {&x};
    import_text(text, &arena, &source, &error, HOLO_OK, NULL);
    if (holo_graph_infer(source.graph, &error) || holo_graph_eval(source.graph, in, &out, &arena, NULL, &error))
        fail_msg("%s", error.text);
    assert_float_equal(holo_get_f(&out, 0), want_a, 1e-6);
    assert_float_equal(holo_get_f(&out, 1), want_b, 1e-6);
    holo_import_close(&source);
    holo_arena_deinit(&arena);
}

// x is doubled until its sum is 100 or more.
static void test_loop_of_frames(void **state)
{
    (void)state;
    static const char text[] = X NUMBER("most", "100")
        NUMBER("two", "2") "node { name: \"axis\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 } } } }\n" NODE(
            "enter", "Enter", "input: \"x\" " FRAME) NODE("most_in", "Enter", "input: \"most\" " FRAME)
            NODE("two_in", "Enter", "input: \"two\" " FRAME) NODE("merge", "Merge", "input: \"enter\" input: \"next\"")
                NODE("sum", "Sum", "input: \"merge\" input: \"axis\"")
                    NODE("less", "Less", "input: \"sum\" input: \"most_in\"")
                        NODE("cond", "LoopCond", "input: \"less\"")
                            NODE("gate", "Switch", "input: \"merge\" input: \"cond\"")
                                NODE("twice", "Mul", "input: \"gate:1\" input: \"two_in\"")
                                    NODE("next", "NextIteration", "input: \"twice\"")
                                        NODE("exit", "Exit", "input: \"gate\"")
                                            NODE("y", "Identity", "input: \"exit\"");
    evaluates_to(text, 1, 2, 64, 128);
    evaluates_to(text, 100, 1, 100, 1);
}

// The negated x if its sum is less than 0, else its square.
static void test_branch_of_switches(void **state)
{
    (void)state;
    static const char text[] = X
                      NUMBER("zero", "0") "node { name: \"axis\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 } } } }\n" NODE(
                          "sum", "Sum", "input: \"x\" input: \"axis\"") NODE("less", "Less", "input: \"sum\" input: \"zero\"")
            NODE("gate", "Switch", "input: \"x\" input: \"less\"") NODE("minus", "Neg", "input: \"gate:1\"")
                NODE("square", "Square", "input: \"gate\"") NODE("merge", "Merge", "input: \"square\" input: \"minus\"")
                    NODE("y", "Identity", "input: \"merge\"");
    evaluates_to(text, -3, 1, 3, -1);
    evaluates_to(text, 3, 1, 9, 1);
}

// An operator that has two rows would be read by one of them.
static void test_rows(void **state)
{
    (void)state;
    int count = 0;
    for (int t = 0; holo_flow_tables[t]; t++)
        for (const HoloFlowOp *row = holo_flow_tables[t]; row->name; row++) {
            int rows = 0;
            for (int k = 0; holo_flow_tables[k]; k++)
                for (const HoloFlowOp *other = holo_flow_tables[k]; other->name; other++)
                    rows += !strcmp(row->name, other->name);
            if (rows != 1) fail_msg("%s has %d rows", row->name, rows);
            count++;
        }
    assert_true(count > 480);
}

// A size that the node leaves open is open, whatever size the signature was made with: TensorFlow.js runs any.
static void test_open_sizes(void **state)
{
    (void)state;
    static const char text[] =
        "{\"modelTopology\": {\"node\": [{\"name\": \"x\", \"op\": \"Placeholder\", \"attr\": {\"dtype\": {\"type\": \"DT_FLOAT\"},"
        "\"shape\": {\"shape\": {\"dim\": [{\"size\": \"1\"}, {\"size\": \"-1\"}]}}}}, {\"name\": \"y\", \"op\": \"Relu\", \"input\": [\"x\"]}]},"
        "\"signature\": {\"inputs\": {\"x\": {\"name\": \"x:0\", \"dtype\": \"DT_FLOAT\", \"tensorShape\": {\"dim\": [{\"size\": \"1\"}, "
        "{\"size\": \"4\"}]}}}, \"outputs\": {\"y\": {\"name\": \"y:0\"}}}, \"weightsManifest\": []}";
    HoloArena       arena = {0};
    HoloError       error = {0};
    HoloModelSource source;
    import_text(text, &arena, &source, &error, HOLO_OK, NULL);
    assert_int_equal(source.graph->inputs[0]->type.rank, 2);
    assert_int_equal(source.graph->inputs[0]->type.dim[0], 1);
    assert_true(holo_dim_is_symbolic(source.graph->inputs[0]->type.dim[1]));
    holo_import_close(&source);
    holo_arena_deinit(&arena);
}

static void test_wrong_graphs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        HoloStatus  status;
    } wrong[] = {
        {X NODE("y", "Relu", "input: \"nobody\""), "there is no value 'nobody'", HOLO_BAD_MODEL},
        {X NODE("y", "Relu", "input: \"x:7\""), "there is no value 'x:7'", HOLO_BAD_MODEL},
        {X NODE("a", "Add", "input: \"b\" input: \"x\"") NODE("b", "Relu", "input: \"a\"")
             NODE("y", "Neg", "input: \"b\""),
         "depends on itself", HOLO_BAD_MODEL},
        {X X, "two nodes are called 'x'", HOLO_BAD_MODEL},
        {X NODE("y", "Relu", ""), "input 0 is missing", HOLO_BAD_MODEL},
        {"node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT",
         "line 1: a message has no end", HOLO_BAD_MODEL},
        {"node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_NONSENSE } } }",
         "this name is not known here", HOLO_BAD_MODEL},
        {"node { name: \"v\" op: \"VarHandleOp\" } node { name: \"y\" op: \"ReadVariableOp\" input: \"v\" }",
         "variable 'v' has no value", HOLO_BAD_MODEL},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        HoloArena       arena = {0};
        HoloError       error = {0};
        HoloModelSource source;
        import_text(wrong[i].text, &arena, &source, &error, wrong[i].status, wrong[i].words);
        holo_arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),          cmocka_unit_test(test_loop_of_frames),
        cmocka_unit_test(test_branch_of_switches), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_open_sizes),         cmocka_unit_test(test_wrong_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
