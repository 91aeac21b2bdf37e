// step_programs_test.c - what an archive says its steps do, as portable programs, is what they do: the programs of
// compiled models are run and compared with the models.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, OPEN = 3 }; // OPEN: what dynamic sizes are

typedef struct Ran { // a model, and its tensors in a run
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   in[INPUTS], out;
} Ran;

// Inputs of one name are the same in every model.
static Ran run(const char *path)
{
    Ran r = {.model = compiled(path, HOLO_EXACT)};
    EXPECT_OK(holo_session_create(r.model, NULL, &r.session, &error));
    for (int i = 0; i < holo_model_input_count(r.model); i++) {
        const HoloPort *port = holo_model_input(r.model, i);
        r.in[i]              = made(&port->type, (uint64_t)port->name[0], OPEN);
        EXPECT_OK(holo_session_set_input(r.session, i, &r.in[i], &error));
    }
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_output(r.session, 0, &r.out, &error));
    return r;
}

static void ran_end(Ran *r)
{
    for (int i = 0; i < INPUTS; i++) free(r->in[i].data);
    holo_session_destroy(r->session);
    holo_model_close(r->model);
}

// The model's input that operand `k` of its only node of this operator is.
static const HoloTensor *operand(const Ran *r, const char *op, int k)
{
    HoloListing      *listing;
    const HoloTensor *found = NULL;
    EXPECT_OK(holo_listing_model(r->model, &listing, &error));
    for (int i = 0; i < listing->node_count; i++) {
        const HoloListingNode *node = &listing->nodes[i];
        if (strcmp(node->op, op)) continue;
        assert_true(k < node->in_count);
        const char *name = listing->values[node->in[k]].name;
        for (int p = 0; p < holo_model_input_count(r->model); p++)
            if (!strcmp(holo_model_input(r->model, p)->name, name)) found = &r->in[p];
    }
    holo_listing_close(listing);
    assert_non_null(found);
    return found;
}

// Runs the model's only program over `out`; x0 is operand `first` of the step.
static void run_program(const Ran *r, const char *role, const char *op, int first, HoloTensor *out)
{
    HoloStepPrograms *programs;
    HoloIsaProgram    program;
    HoloArena         arena                     = {0};
    HoloIsaArg        args[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch     launch                    = {{1, 1, 1}, {(uint32_t)holo_tensor_count(out) + 3, 1, 1}, 0};
    EXPECT_OK(holo_step_programs_open(r->model, &programs, &error));
    assert_int_equal(programs->count, 1);
    const HoloStepProgram *p = &programs->programs[0];
    assert_string_equal(p->role, role);
    assert_string_equal(p->op, op);
    EXPECT_OK(holo_isa_parse(&arena, p->text, strlen(p->text), &program, &error));
    for (int i = 0; i < program.param_count; i++) {
        const char       *name = program.params[i].name, *size = strchr(name, '_');
        const HoloTensor *t = *name == 'y' ? out : operand(r, op, first + name[1] - '0');
        if (size)
            args[i].bits = (uint64_t)t->dim[atoi(size + 1)];
        else
            args[i] = (HoloIsaArg){.data = t->data, .count = holo_tensor_count(t)};
    }
    EXPECT_OK(holo_isa_reference(&program, &launch, args, &error));
    holo_arena_deinit(&arena);
    holo_step_programs_close(programs);
}

// ---- a chain

static void expect_chain(const char *batch)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("chain.onnx");
    char        shape[32];
    snprintf(shape, sizeof shape, "%s,3,4", batch);
    onnx_input(&m.graph, "a", HOLO_F32, shape);
    onnx_input(&m.graph, "b", HOLO_F32, "3,1");
    onnx_input(&m.graph, "c", HOLO_F32, "4");
    onnx_output(&m.graph, "y", HOLO_F32, shape);
    onnx_node(&m.graph, "Mul", "a,b", "t", "");
    onnx_node(&m.graph, "Add", "t,c", "u", "");
    onnx_node(&m.graph, "Sigmoid", "u", "v", "");
    onnx_node(&m.graph, "Mul", "u,v", "w", "");
    onnx_node(&m.graph, "Softplus", "w", "y", "");
    onnx_save(&m, path);
    Ran        r   = run(path);
    HoloTensor got = r.out;
    got.data       = calloc(1, holo_tensor_bytes(&got));
    run_program(&r, "pointwise", "Pointwise", 0, &got);
    assert_memory_equal(got.data, r.out.data, holo_tensor_bytes(&got));
    free(got.data);
    ran_end(&r);
}

static void test_chain(void **state)
{
    (void)state;
    expect_chain("2");
    expect_chain("N");
}

// A chain of other types than f32, whose program is that of its step.
static void test_other_types(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("types.onnx");
    int64_t     one  = 1;
    onnx_input(&m.graph, "a", HOLO_I64, "30,20");
    onnx_input(&m.graph, "b", HOLO_F64, "30,20");
    onnx_output(&m.graph, "y", HOLO_F64, "30,20");
    onnx_constant(&m.graph, "k", HOLO_I64, "1", &one, sizeof one);
    onnx_node(&m.graph, "Add", "a,k", "t", "");
    onnx_node(&m.graph, "Cast", "t", "u", "to=11");
    onnx_node(&m.graph, "Div", "b,u", "y", "");
    onnx_save(&m, path);
    Ran        r   = run(path);
    HoloTensor got = r.out;
    got.data       = calloc(1, holo_tensor_bytes(&got));
    run_program(&r, "pointwise", "Kernel", 0, &got);
    assert_memory_equal(got.data, r.out.data, holo_tensor_bytes(&got));
    free(got.data);
    ran_end(&r);
}

// ---- a tail

static const char *model_product(bool has_tail)
{
    OnnxModel   m    = {0};
    const char *path = temp_path(has_tail ? "tail.onnx" : "product.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "5,10");
    if (has_tail) onnx_input(&m.graph, "s", HOLO_F32, "5,1");
    onnx_output(&m.graph, "y", HOLO_F32, "5,17");
    onnx_weights(&m.graph, "w", "10,17", 1, 1);
    onnx_node(&m.graph, "MatMul", "x,w", has_tail ? "p" : "y", "");
    if (has_tail) {
        onnx_node(&m.graph, "Tanh", "p", "q", "");
        onnx_node(&m.graph, "Mul", "q,s", "y", "");
    }
    onnx_save(&m, path);
    return path;
}

static void test_tail(void **state)
{
    (void)state;
    Ran        product = run(model_product(false)), r = run(model_product(true));
    HoloTensor got = product.out;
    got.data       = malloc(holo_tensor_bytes(&got));
    memcpy(got.data, product.out.data, holo_tensor_bytes(&got));
    run_program(&r, "tail", "MatMul", 2, &got); // x0 is the product, x1 the fourth input
    assert_memory_equal(got.data, r.out.data, holo_tensor_bytes(&got));
    free(got.data);
    ran_end(&product);
    ran_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain), cmocka_unit_test(test_other_types),
                                       cmocka_unit_test(test_tail)};
    return cmocka_run_group_tests_name("step_programs", tests, NULL, NULL);
}
