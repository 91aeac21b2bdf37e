// tables.c - the same plan with tables and without: how much faster the one is, run in turn.
#include "base/files.h"
#include "lookup.h"
#include "support/onnx_writer.h"

#include <string.h>

enum { ROUNDS = 15 };

// ---- models of one input, x, and one output, y

static void scales_add(OnnxGraph *graph)
{
    const float   scale = 0.05f;
    const uint8_t zero  = 128;
    onnx_constant(graph, "s", HOLO_F32, "", &scale, sizeof scale);
    onnx_constant(graph, "z", HOLO_U8, "", &zero, sizeof zero);
}

static void bytes_gelu(OnnxModel *m)
{
    onnx_opset(m, "", 20);
    onnx_input(&m->graph, "x", HOLO_U8, "1024,1024");
    onnx_output(&m->graph, "y", HOLO_U8, "1024,1024");
    scales_add(&m->graph);
    onnx_node(&m->graph, "DequantizeLinear", "x,s,z", "d", "");
    onnx_node(&m->graph, "Gelu", "d", "g", "");
    onnx_node(&m->graph, "QuantizeLinear", "g,s,z", "y", "");
}

// Both inputs are given the same bytes.
static void bytes_pair(OnnxModel *m)
{
    onnx_opset(m, "", 20);
    onnx_input(&m->graph, "x", HOLO_U8, "1024,1024");
    onnx_input(&m->graph, "b", HOLO_U8, "1024,1024");
    onnx_output(&m->graph, "y", HOLO_U8, "1024,1024");
    scales_add(&m->graph);
    onnx_node(&m->graph, "DequantizeLinear", "x,s,z", "c", "");
    onnx_node(&m->graph, "DequantizeLinear", "b,s,z", "d", "");
    onnx_node(&m->graph, "Mul", "c,d", "e", "");
    onnx_node(&m->graph, "Mish", "e", "f", "");
    onnx_node(&m->graph, "QuantizeLinear", "f,s,z", "y", "");
}

static void half_chain(OnnxModel *m)
{
    onnx_opset(m, "", 22);
    onnx_input(&m->graph, "x", HOLO_BF16, "1024,1024");
    onnx_output(&m->graph, "y", HOLO_BF16, "1024,1024");
    onnx_node(&m->graph, "Tanh", "x", "a", "");
    onnx_node(&m->graph, "Sigmoid", "a", "b", "");
    onnx_node(&m->graph, "Softplus", "b", "c", "");
    onnx_node(&m->graph, "Mish", "c", "y", "");
}

static void embedding(OnnxModel *m)
{
    onnx_input(&m->graph, "x", HOLO_I64, "64");
    onnx_output(&m->graph, "y", HOLO_F32, "64,1024");
    onnx_weights(&m->graph, "t", "30000,256", 1, 1);
    onnx_weights(&m->graph, "w", "256,1024", 2, 1);
    onnx_node(&m->graph, "Gather", "t,x", "g", "");
    onnx_node(&m->graph, "MatMul", "g,w", "y", "");
}

static void one_hot(OnnxModel *m)
{
    const int64_t depth    = 1000;
    const float   values[] = {0, 1};
    onnx_input(&m->graph, "x", HOLO_I64, "64");
    onnx_output(&m->graph, "y", HOLO_F32, "64,256");
    onnx_ints(&m->graph, "depth", "", &depth);
    onnx_constant(&m->graph, "values", HOLO_F32, "2", values, sizeof values);
    onnx_weights(&m->graph, "w", "1000,256", 1, 1);
    onnx_node(&m->graph, "OneHot", "x,depth,values", "h", "");
    onnx_node(&m->graph, "MatMul", "h,w", "y", "");
}

static void words_gelu(OnnxModel *m)
{
    const float    scale = 0.0005f;
    const uint16_t zero  = 32768;
    onnx_opset(m, "", 21);
    onnx_input(&m->graph, "x", HOLO_U16, "1024,1024");
    onnx_output(&m->graph, "y", HOLO_U16, "1024,1024");
    onnx_constant(&m->graph, "s", HOLO_F32, "", &scale, sizeof scale);
    onnx_constant(&m->graph, "z", HOLO_U16, "", &zero, sizeof zero);
    onnx_node(&m->graph, "DequantizeLinear", "x,s,z", "d", "");
    onnx_node(&m->graph, "Gelu", "d", "g", "");
    onnx_node(&m->graph, "QuantizeLinear", "g,s,z", "y", "");
}

// Weights of so many different numbers.
static void product_of(OnnxModel *m, int numbers)
{
    enum { SIDE = 4096 };
    float *w = malloc(sizeof *w * SIDE * SIDE);
    if (!w) exit(1);
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) w[i] = (float)((i * 2654435761 >> 7) % numbers) / 7 - 1;
    onnx_input(&m->graph, "x", HOLO_F32, "1,4096");
    onnx_output(&m->graph, "y", HOLO_F32, "1,4096");
    onnx_constant(&m->graph, "w", HOLO_F32, "4096,4096", w, sizeof *w * SIDE * SIDE);
    onnx_node(&m->graph, "MatMul", "x,w", "y", "");
    free(w);
}

static void few_numbers(OnnxModel *m)
{
    product_of(m, 16);
}

static void many_numbers(OnnxModel *m)
{
    product_of(m, 1000);
}

typedef struct Row {
    const char *name;
    void (*make)(OnnxModel *m);
    const char *off;             // the pass that is left out for comparison; NULL: --no-tables
    uint64_t    budget;          // of the one with tables
    double      wanted;          // times faster
    void (*other)(OnnxModel *m); // NULL: the same. Else the one without is this
} Row;

static const Row rows[] = {
    {"u8, 1 M: dequantize, Gelu, quantize", bytes_gelu, NULL, 0, 8, NULL},
    {"  beside kernels: --disable=tables", bytes_gelu, "tables", 0, 1, NULL},
    {"two of u8, 1 M: dequantize, Mul, Mish, quantize", bytes_pair, NULL, 0, 8, NULL},
    {"  beside kernels: --disable=pairs", bytes_pair, "pairs", 0, 1, NULL},
    {"bf16, 1 M: Tanh, Sigmoid, Softplus, Mish", half_chain, NULL, 0, 8, NULL},
    {"  beside kernels: --disable=tables", half_chain, "tables", 0, 1, NULL},
    {"Gather of 64 from 30,000 x 256, times 256 x 1,024", embedding, NULL, 0, 10, NULL},
    {"one-hot 64 x 1,000, times 1,000 x 256", one_hot, "onehot", 0, 10, NULL},
    {"u16, 1 M: dequantize, Gelu, quantize", words_gelu, NULL, 0, 8, NULL},
    {"  beside kernels: --disable=tables", words_gelu, "tables", 0, 1, NULL},
    {"1 x 4,096 x 4,096: weights of 16 numbers, of 1,000", few_numbers, NULL, 0, 2, many_numbers},
};

// ---- measuring

static HoloSession *session_of(const Row *row, bool with, HoloModel **out_model)
{
    HoloCompiler *compiler;
    HoloSession  *session;
    MUST(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false);
    holo_compiler_set_tables(compiler, with || row->off, row->budget);
    if (!with && row->off) MUST(holo_compiler_disable_pass(compiler, row->off, &error));
    MUST(holo_compile_model(compiler, path_of("tables.onnx"), out_model, NULL, &error));
    holo_compiler_destroy(compiler);
    MUST(holo_session_create(*out_model, NULL, &session, &error));
    return session;
}

static void row_time(const Row *row)
{
    HoloModel   *model[2];
    HoloSession *session[2];
    HoloTensors *inputs;
    double       least[2] = {1e9, 1e9};
    for (int with = 0; with < 2; with++) {
        OnnxModel m = {0};
        (!with && row->other ? row->other : row->make)(&m);
        onnx_save(&m, path_of("tables.onnx"));
        session[with] = session_of(row, with, &model[with]);
    }
    MUST(holo_tensors_seeded(&holo_model_input(model[0], 0)->type, 1, &inputs, &error));
    HoloTensor x = *holo_tensors_get(inputs, 0, NULL);
    if (x.dtype == HOLO_U8) // the seeds of bytes are few
        for (int64_t i = 0; i < holo_tensor_count(&x); i++) ((uint8_t *)x.data)[i] = (uint8_t)(i * 7 + i / 256);
    for (int with = 0; with < 2 && holo_model_input_count(model[0]) > 1; with++)
        MUST(holo_session_set_input(session[with], 1, &x, &error));
    for (int r = 0; r < ROUNDS; r++)
        for (int with = 0; with < 2; with++) {
            double start = holo_time_now();
            answer(session[with], &x);
            double seconds = holo_time_now() - start;
            if (seconds < least[with]) least[with] = seconds;
        }
    double times = least[0] / least[1];
    printf("  %-52s %10.1f us, %10.1f us without: %6.1f times   wanted %g%s\n", row->name, least[1] * 1e6,
           least[0] * 1e6, times, row->wanted, times >= row->wanted ? "" : ": missed");
    holo_tensors_destroy(inputs);
    for (int with = 0; with < 2; with++) {
        holo_session_destroy(session[with]);
        holo_model_close(model[with]);
    }
}

void tables_time(void)
{
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) row_time(&rows[i]);
}
