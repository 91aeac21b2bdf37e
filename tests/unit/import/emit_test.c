// emit_test.c - graphs that importers build node by node: types at once, captures, names of outputs, failures that stay.
#include "import/emit.h"
#include "support/models.h"

#include <string.h>

typedef struct Case {
    HoloArena       arena;
    HoloError       error;
    HoloModelSource source;
    HoloImport      import;
    HoloEmit        e;
} Case;

static void begin(Case *c)
{
    memset(c, 0, sizeof *c);
    c->import = (HoloImport){.arena = &c->arena, .error = &c->error, .out = &c->source};
    holo_emit_begin(&c->e, &c->import, "test");
}

static void end(Case *c)
{
    holo_emit_end(&c->e);
    holo_arena_deinit(&c->arena);
}

static HoloValue *input(Case *c, const char *name, HoloDim a, HoloDim b)
{
    HoloTensor type = {.dtype = HOLO_F32, .rank = 2, .dim = {a, b}};
    return holo_emit_input(&c->e, name, &type);
}

static void evaluates_to(Case *c, const HoloTensor *const *in, const float *want, int count)
{
    HoloTensor out[2] = {0};
    assert_int_equal(c->e.status, HOLO_OK);
    assert_int_equal(holo_graph_verify(c->e.graph, &c->error), HOLO_OK);
    assert_int_equal(holo_graph_infer(c->e.graph, &c->error), HOLO_OK);
    assert_int_equal(holo_graph_eval(c->e.graph, in, out, &c->arena, NULL, &c->error), HOLO_OK);
    assert_int_equal(holo_tensor_count(&out[0]), count);
    for (int i = 0; i < count; i++) assert_true(((const float *)out[0].data)[i] == want[i]);
}

static void test_types_are_known_at_once(void **state)
{
    (void)state;
    Case    c;
    int64_t ints[4];
    int     count;
    begin(&c);
    HoloDim    n = holo_dims_symbol(c.e.graph->dims, "n");
    HoloValue *x = input(&c, "x", n, 6), *shape = holo_emit_shape(&c.e, x);
    HoloDim    sizes[3] = {n, 2, 3};
    HoloValue *y = holo_emit_reshape(&c.e, x, sizes, 3), *two = holo_emit_slice(&c.e, shape, 0, 1, 2, 1);
    assert_int_equal(holo_emit_rank(y), 3);
    assert_true(y->type.dim[0] == n && y->type.dim[2] == 3);
    assert_int_equal(holo_emit_dtype(holo_emit_cast(&c.e, y, HOLO_F16)), HOLO_F16);
    assert_true(holo_emit_cast(&c.e, y, HOLO_F32) == y);
    assert_false(holo_emit_known_ints(&c.e, shape, ints, 4, &count)); // one of them is an expression
    assert_true(holo_emit_known_ints(&c.e, two, ints, 4, &count));
    assert_true(count == 1 && ints[0] == 6);
    assert_false(holo_emit_known_ints(&c.e, two, ints, 0, &count));
    end(&c);
}

static void test_outputs_have_their_names(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    HoloValue *x = input(&c, "x", 1, 2);
    c.e.node     = "answer"; // a node of the model with the name of another's output
    HoloValue *y = holo_emit(&c.e, "Relu", HOLO_IN(x), NULL);
    c.e.node     = "last";
    HoloValue *z = holo_emit(&c.e, "Add", HOLO_IN(y, x), NULL);
    holo_emit_output(&c.e, z, "answer");
    holo_emit_output(&c.e, z, "again");
    holo_emit_output(&c.e, x, "same");
    assert_int_equal(c.e.status, HOLO_OK);
    assert_int_equal(c.e.graph->output_count, 3);
    assert_string_equal(c.e.graph->outputs[0]->name, "answer");
    assert_string_equal(c.e.graph->outputs[1]->name, "again");
    assert_string_equal(c.e.graph->outputs[2]->name, "same");
    assert_string_equal(x->name, "x");
    assert_int_equal(holo_graph_verify(c.e.graph, &c.error), HOLO_OK);
    end(&c);
}

// if (yes) y = x + 2 else y = x * w, where both bodies use values of the graph around them.
static void build_if(Case *c, HoloValue *x, HoloValue *w, HoloValue *yes)
{
    HoloEmit   plus, times;
    HoloValue *two = holo_emit_number(&c->e, HOLO_F32, 2), *y;
    holo_emit_begin_body(&plus, &c->e, "plus");
    holo_emit_output(&plus, holo_emit(&plus, "Add", HOLO_IN(x, two), NULL), NULL);
    holo_emit_begin_body(&times, &c->e, "times");
    holo_emit_output(&times, holo_emit(&times, "Mul", HOLO_IN(w, x), NULL), NULL);
    holo_emit_control(&c->e, "If", HOLO_IN(yes), NULL,
                      (HoloEmitBody[]){{"then_branch", &plus}, {"else_branch", &times}, {0}}, &y, 1);
    assert_int_equal(holo_emit_rank(y), 2);
    holo_emit_output(&c->e, y, "y");
    holo_emit_end(&plus);
    holo_emit_end(&times);
}

static void test_bodies_capture(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Case c;
        begin(&c);
        HoloTensor flag = {.dtype = HOLO_BOOL};
        HoloValue *x = input(&c, "x", 1, 2), *w = input(&c, "w", 1, 2), *yes = holo_emit_input(&c.e, "yes", &flag);
        build_if(&c, x, w, yes);
        float       a[] = {1, 2}, b[] = {3, 4};
        const float want[2][2] = {{3, 8}, {3, 4}};
        uint8_t     which      = (uint8_t)i;
        HoloTensor  in[3]      = {{.dtype = HOLO_F32, .rank = 2, .dim = {1, 2}, .data = a},
                                  {.dtype = HOLO_F32, .rank = 2, .dim = {1, 2}, .data = b},
                                  {.dtype = HOLO_BOOL, .data = &which}};
        evaluates_to(&c, (const HoloTensor *[]){&in[0], &in[1], &in[2]}, want[i], 2);
        end(&c);
    }
}

static void test_a_failure_stays(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    HoloValue *x = input(&c, "x", 2, 3), *y = input(&c, "y", 2, 3);
    c.e.node          = "product";
    HoloValue *broken = holo_emit(&c.e, "MatMul", HOLO_IN(x, y), NULL);
    assert_int_equal(c.e.status, HOLO_BAD_MODEL);
    assert_null(holo_emit(&c.e, "Relu", HOLO_IN(broken), NULL));
    assert_null(holo_emit_fail(&c.e, HOLO_UNSUPPORTED, "not told"));
    assert_non_null(strstr(c.error.text, "product"));
    holo_emit_output(&c.e, NULL, "out");
    assert_int_equal(c.e.graph->output_count, 0);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_are_known_at_once),
        cmocka_unit_test(test_outputs_have_their_names),
        cmocka_unit_test(test_bodies_capture),
        cmocka_unit_test(test_a_failure_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
