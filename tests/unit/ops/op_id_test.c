// op_id_test.c - identity and traits of operators: every id is that of a row, nodes have the id of their name, and what
// a row says of its operator is so.
#include "support/op_run.h"

#include "graph/facts.h"
#include "ops/op_id.h"

static const HoloOp *row_of(HoloOpId id)
{
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++)
            if (holo_op_is(op, id)) return op;
    return NULL;
}

static void test_every_id_is_an_operators(void **state)
{
    (void)state;
    for (int i = HOLO_ID_NONE + 1; i < HOLO_ID_COUNT; i++) {
        HoloOpId      id = (HoloOpId)i;
        const HoloOp *op = row_of(id);
        if (!op) fail_msg("op_ids.def names %s::%s, which no row is for", holo_op_id_domain(id), holo_op_id_name(id));
        if (holo_op_id(holo_op_id_domain(id), holo_op_id_name(id)) != id)
            fail_msg("op_ids.def is not sorted by name and domain at %s", holo_op_id_name(id));
        assert_ptr_equal(holo_op_of(id, op->since), holo_op_find(holo_op_id_domain(id), op->name, op->since));
    }
}

static void test_an_id_is_of_a_name_and_a_domain(void **state)
{
    (void)state;
    assert_int_equal(holo_op_id("", "Conv"), HOLO_ID_Conv);
    assert_int_equal(holo_op_id("hologram", "Conv"), HOLO_ID_HOLOGRAM_Conv);
    assert_int_equal(holo_op_id("com.example", "Conv"), HOLO_ID_NONE);
    assert_int_equal(holo_op_id("", "NoSuchOperator"), HOLO_ID_NONE);
    assert_null(holo_op_of(HOLO_ID_GridSample, 15)); // since 16
    assert_non_null(holo_op_of(HOLO_ID_GridSample, 16));
}

static void test_nodes_have_the_id_of_their_name(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena,
                         "graph g(x: f32[2,3]) -> (z) {\n y = Relu@14(x)\n w = com.example::Relu@1(y)\n"
                         " z = Transpose@13(w) {perm=[1,0]}\n}",
                         &graph, &error))
        fail_msg("%s", error.text);
    assert_true(HOLO_IS(graph->nodes[0], Relu));
    assert_int_equal(graph->nodes[1]->op_id, HOLO_ID_NONE);
    assert_true(HOLO_IS(graph->nodes[2], Transpose));
    assert_int_equal(holo_graph_verify(graph, &error), HOLO_OK);
    holo_node_become(graph->nodes[0], HOLO_ID_Sigmoid, 13);
    assert_true(HOLO_IS(graph->nodes[0], Sigmoid));
    assert_string_equal(graph->nodes[0]->type, "Sigmoid");
    assert_ptr_equal(graph->nodes[0]->op, holo_op_find("", "Sigmoid", 13));
    assert_int_equal(holo_graph_verify(graph, &error), HOLO_OK);
    graph->nodes[0]->op_id = HOLO_ID_Tanh;
    assert_int_not_equal(holo_graph_verify(graph, &error), HOLO_OK);
    assert_non_null(strstr(error.text, "another operator's id"));
    holo_arena_deinit(&arena);
}

static void test_moves(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena,
                         "graph g(x: f32[2,4]) -> (t, a, c, s) {\n t = Transpose@13(x)\n a = Abs@13(x)\n"
                         " c = Concat@13(x, x) {axis=0}\n s, r = Split@13(x) {axis=0}\n}",
                         &graph, &error))
        fail_msg("%s", error.text);
    static const bool moves[] = {true, false, false, false};
    for (int i = 0; i < HOLO_COUNT(moves); i++) assert_int_equal(holo_node_moves(graph->nodes[i], HOLO_F32), moves[i]);
    holo_arena_deinit(&arena);
}

// The same bits in whichever order the inputs are, of each type that the operator takes.
static void test_what_commutes(void **state)
{
    (void)state;
    static const HoloDtype dtypes[] = {HOLO_F32, HOLO_I32, HOLO_U8, HOLO_BOOL};
    const int64_t          dim[]    = {5, 7};
    int                    seen     = 0;
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++)
            for (int d = 0; d < HOLO_COUNT(dtypes) && op->flags & HOLO_OP_COMMUTES; d++) {
                if (!(op->types >> dtypes[d] & 1)) continue;
                HoloTensor a = test_noise(dtypes[d], 2, dim, 1), b = test_noise(dtypes[d], 2, dim, 2);
                TestOp     one = {.domain    = op->domain,
                                  .name      = op->name,
                                  .version   = op->since > 13 ? op->since : 13,
                                  .in        = {&a, &b},
                                  .in_count  = 2,
                                  .out_count = 1},
                       two     = one;
                two.in[0] = &b, two.in[1] = &a;
                assert_int_equal(test_run(&one), HOLO_OK);
                assert_int_equal(test_run(&two), HOLO_OK);
                assert_memory_equal(one.out[0].data, two.out[0].data, holo_tensor_bytes(&one.out[0]));
                seen++;
            }
    assert_true(seen > 20);
    holo_arena_deinit(&test_arena);
}

static void test_traits_go_together(void **state)
{
    (void)state;
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++) {
            uint32_t flags  = op->flags;
            bool     is_off = (flags & HOLO_OP_VIEW && !(flags & HOLO_OP_MOVES)) ||
                          (flags & HOLO_OP_POINTWISE && flags & HOLO_OP_REDUCES) ||
                          (flags & (HOLO_OP_QUANTIZES | HOLO_OP_DEQUANTIZES) && !(flags & HOLO_OP_SCALED)) ||
                          op->cost < 0 || op->cost > HOLO_COST_HEAVY;
            if (is_off) fail_msg("%s: what its row says of it does not go together", op->name);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_id_is_an_operators),
        cmocka_unit_test(test_an_id_is_of_a_name_and_a_domain),
        cmocka_unit_test(test_nodes_have_the_id_of_their_name),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_what_commutes),
        cmocka_unit_test(test_traits_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
