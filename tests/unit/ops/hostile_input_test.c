// hostile_input_test.c - numbers that come with an input and say how large something is to be, or where it lies:
// whatever they are, a run fails in words or gives an output that is whole.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/base.h"
#include "base/dim/dim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case {
    const char *op, *attributes;
    const char
        *inputs; // "x" is data, f32[2,3]; others are lists of run-time numbers, i64[?], or, in capitals, one number
} Case;

static const Case cases[] = {
    {"Reshape", "", "x,shape"},
    {"Reshape", "allowzero=1", "x,shape"},
    {"Expand", "", "x,shape"},
    {"Tile", "", "x,repeats"},
    {"ConstantOfShape", "", "shape"},
    {"Range", "", "START,LIMIT,DELTA"},
    {"Pad", "", "x,pads"},
    {"Pad", "mode='reflect'", "x,pads"},
    {"Pad", "mode='wrap'", "x,pads"},
    {"Resize", "mode='nearest'", "x,,,sizes"},
    {"Resize", "mode='linear'", "x,,,sizes"},
    {"OneHot", "", "shape,DEPTH,pair"},
    {"Unsqueeze", "", "x,axes"},
    {"Squeeze", "", "x,axes"},
    {"Slice", "", "x,starts,ends,axes,steps"},
    {"Slice", "", "x,starts,ends"},
    {"Split", "axis=1", "x,split"},
    {"SplitToSequence", "axis=1", "x,split"},
    {"TopK", "", "x,K"},
    {"Trilu", "", "x,K"},
    {"ReduceSum", "", "x,axes"},
    {"CumSum", "", "x,AXIS"},
    {"Gather", "axis=1", "x,indices"},
    {"GatherElements", "axis=0", "x,indices"},
    {"HannWindow", "", "SIZE"},
    {"DFT", "", "x3,LENGTH,AXIS"},
    {"CenterCropPad", "", "x,shape"},
    {"Col2Im", "", "x3,image,block"},
    {"AffineGrid", "", "theta,size"},
    {"ReverseSequence", "", "x,lengths"},
    {"MaxUnpool", "kernel_shape=[2,2]", "x4,i4,shape"},
    {"NonMaxSuppression", "", "boxes,scores,MAX"},
};

// None between a few and what no memory holds.
static const int64_t evil[] = {0,
                               1,
                               2,
                               3,
                               -1,
                               -2,
                               6,
                               (INT64_C(1) << 44) + 1,
                               INT64_C(1) << 61,
                               (INT64_C(1) << 61) + 1,
                               INT64_C(1) << 62,
                               INT64_MAX,
                               INT64_MAX - 1,
                               INT64_MIN,
                               INT64_MIN + 1,
                               HOLO_DIM_UNKNOWN,
                               HOLO_DIM_BASE,
                               HOLO_DIM_BASE + 5};

static bool is_number(const char *name)
{
    return name[0] >= 'A' && name[0] <= 'Z';
}

// The type of an input, by its name.
static void input_add(OnnxGraph *g, const char *name)
{
    static const struct {
        const char *name, *shape;
        int         dtype;
    } fixed[] = {{"x", "2,3", HOLO_F32},       {"x3", "1,4,2", HOLO_F32},    {"x4", "1,1,2,2", HOLO_F32},
                 {"i4", "1,1,2,2", HOLO_I64},  {"pair", "2", HOLO_F32},      {"theta", "1,2,3", HOLO_F32},
                 {"boxes", "1,3,4", HOLO_F32}, {"scores", "1,2,3", HOLO_F32}};
    for (int i = 0; i < HOLO_COUNT(fixed); i++)
        if (!strcmp(name, fixed[i].name)) {
            onnx_input(g, name, fixed[i].dtype, fixed[i].shape);
            return;
        }
    onnx_input(g, name, HOLO_I64, is_number(name) ? "" : strcmp(name, "indices") ? "n" : "2,n");
}

static HoloModel *model_of_case(const Case *c, const char *names)
{
    OnnxModel     m    = {0};
    const char   *path = temp_path("case.onnx");
    char          list[128], *rest = list;
    HoloCompiler *compiler;
    HoloModel    *model;
    snprintf(list, sizeof list, "%s", names);
    for (char *name; (name = strsep(&rest, ","));)
        if (*name) input_add(&m.graph, name);
    onnx_output(&m.graph, "y", HOLO_NONE, NULL);
    onnx_node(&m.graph, c->op, names, !strcmp(c->op, "TopK") ? "y,z" : "y", c->attributes);
    onnx_opset(&m, "", 20);
    onnx_save(&m, path);
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false);
    holo_compiler_set_threads(compiler, 1);
    HoloError  error  = {0};
    HoloStatus status = holo_compile_model(compiler, path, &model, NULL, &error);
    holo_compiler_destroy(compiler);
    if (status) fail_msg("%s: %s", c->op, error.text);
    return model;
}

static void read_whole(const HoloTensor *t)
{
    static volatile uint8_t sum;
    int64_t                 count = holo_tensor_count(t);
    assert_true(count >= 0);
    for (int64_t i = 0; t->kind == HOLO_SEQUENCE && i < count; i++) read_whole((const HoloTensor *)t->data + i);
    if (t->kind != HOLO_TENSOR) return;
    for (size_t i = 0; i < holo_tensor_bytes(t); i++) sum = (uint8_t)(sum + ((const uint8_t *)t->data)[i]);
}

// An input with random numbers, in memory of just its size.
static HoloTensor input_make(const HoloPort *port, HoloRandom *random)
{
    HoloTensor t = port->type;
    for (int d = 0; d < t.rank; d++)
        if (t.dim[d] < 0) t.dim[d] = (int64_t)(holo_random_next(random) % 5);
    t.data = malloc(holo_tensor_bytes(&t) ? holo_tensor_bytes(&t) : 1);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        if (t.dtype == HOLO_I64)
            ((int64_t *)t.data)[i] = evil[holo_random_next(random) % (uint64_t)HOLO_COUNT(evil)];
        else
            ((float *)t.data)[i] = (float)holo_random_unit(random);
    return t;
}

static int run_once(HoloSession *session, const HoloModel *model, HoloRandom *random)
{
    HoloTensor in[8];
    HoloError  error  = {0};
    HoloStatus status = HOLO_OK;
    int        count  = holo_model_input_count(model);
    for (int i = 0; i < count; i++) in[i] = input_make(holo_model_input(model, i), random);
    for (int i = 0; i < count && !status; i++) status = holo_session_set_input(session, i, &in[i], &error);
    if (!status) {
        status = holo_session_run(session, &error);
        if (status) assert_true(*error.text != 0);
        for (int i = 0; i < holo_model_output_count(model) && !status; i++) {
            HoloTensor view;
            EXPECT_OK(holo_session_output(session, i, &view, &error));
            read_whole(&view);
        }
    }
    for (int i = 0; i < count; i++) free(in[i].data);
    return !status;
}

static void test_numbers_of_every_size(void **state)
{
    (void)state;
    int well = 0; // cases of which a run succeeds
    for (int c = 0; c < HOLO_COUNT(cases); c++) {
        HoloModel   *model = model_of_case(&cases[c], cases[c].inputs);
        HoloSession *session;
        HoloRandom   random = {(uint64_t)c + 1};
        int          good   = 0;
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        for (int i = 0; i < 3000; i++) good += run_once(session, model, &random);
        well += good > 0;
        holo_session_destroy(session);
        holo_model_close(model);
    }
    assert_true(well >= 24);
}

// As many elements as the product of the sizes says, whether that fits or not.
static void test_reshape_keeps_its_elements(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{4, INT64_C(1) << 62, 0},
                                        {INT64_C(1) << 62, 4, 0},
                                        {0, INT64_C(1) << 62, 4},
                                        {INT64_C(1) << 62, 4, 1},
                                        {3, 2, 0},
                                        {INT64_MAX, INT64_MAX, 6}};
    HoloModel           *model       = model_of_case(&cases[1], cases[1].inputs);
    HoloSession         *session;
    float                x[6] = {1, 2, 3, 4, 5, 6};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        HoloTensor data = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = x};
        HoloTensor list = {.dtype = HOLO_I64, .rank = 1, .dim = {3}, .data = (void *)(uintptr_t)shapes[i]};
        EXPECT_OK(holo_session_set_input(session, 0, &data, &error));
        EXPECT_OK(holo_session_set_input(session, 1, &list, &error));
        assert_int_not_equal(holo_session_run(session, NULL), HOLO_OK);
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

// Sizes beside a 0 are sizes, too.
static void test_sizes_of_what_is_empty(void **state)
{
    (void)state;
    HoloTensor t = {.dtype = HOLO_F32, .rank = 3, .dim = {INT64_C(1) << 62, 4, 0}};
    assert_int_equal(holo_tensor_count(&t), -1);
    t.dim[0] = 5;
    assert_int_equal(holo_tensor_count(&t), 0);
    t.dim[2] = -1;
    assert_int_equal(holo_tensor_count(&t), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_every_size),
        cmocka_unit_test(test_reshape_keeps_its_elements),
        cmocka_unit_test(test_sizes_of_what_is_empty),
    };
    return cmocka_run_group_tests_name("hostile_input", tests, NULL, NULL);
}
