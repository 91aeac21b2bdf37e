// stdlib_test.c - every kernel of kernels/stdlib against the operators' eval, in all its types, on sizes around those
// of vectors and tiles, and in one type with a million elements. Kernels run by the plain interpreter, where there are few
// elements, and by the fast one with 1, 2 and 4 threads, which give the same bits.
#include "base/system.h"
#include "graph/graph.h"
#include "lang/lang.h"
#include "ops/op.h"
#include "runtime/pool.h"
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

// A kernel beside a graph of operators that does the same. Arrays are those of the kernel, in its order, as the graph's
// inputs; the last one is what comes out. Sizes are letters of `sizes`, or n; scalars of the kernel are found there,
// too.
typedef struct Row {
    const char *kernel;
    const char *arrays;    // "a[m,k] b[k,n] c[m,n]"; behind ':' how an array is filled, see fill()
    const char *sizes;     // "m=5 k=7 eps=0.0009765625"
    const char *graph;     // the statements; what comes out is called out, T is the kernel's type
    int         low, high; // sizes; high 0: any
} Row;

enum { MILLION = 1000000 }; // this size is elements of the largest array, and n what makes it so

static const Row rows[] = {
    {"vector_add", "a[n] b[n] c[n]", "", "out = Add@14(a, b)", 0, 0},
    {"vector_sub", "a[n] b[n] c[n]", "", "out = Sub@14(a, b)", 0, 0},
    {"vector_mul", "a[n] b[n] c[n]", "", "out = Mul@14(a, b)", 0, 0},
    {"vector_div", "a[n] b[n]:p c[n]", "", "out = Div@14(a, b)", 0, 0},
    {"vector_min", "a[n] b[n] c[n]", "", "out = Min@13(a, b)", 0, 0},
    {"vector_max", "a[n] b[n] c[n]", "", "out = Max@13(a, b)", 0, 0},
    {"vector_pow", "a[n]:p b[n] c[n]", "", "out = Pow@15(a, b)", 0, 0},
    {"vector_abs", "x[n] y[n]", "", "out = Abs@13(x)", 0, 0},
    {"vector_neg", "x[n] y[n]", "", "out = Neg@13(x)", 0, 0},
    {"vector_exp", "x[n] y[n]", "", "out = Exp@13(x)", 0, 0},
    {"vector_log", "x[n]:p y[n]", "", "out = Log@13(x)", 0, 0},
    {"vector_sin", "x[n] y[n]", "", "out = Sin@7(x)", 0, 0},
    {"vector_cos", "x[n] y[n]", "", "out = Cos@7(x)", 0, 0},
    {"vector_sqrt", "x[n]:p y[n]", "", "out = Sqrt@13(x)", 0, 0},
    {"vector_rsqrt", "x[n]:p y[n]", "", "s = Sqrt@13(x)\n    out = Reciprocal@13(s)", 0, 0},
    {"vector_sum", "x[n] y[1]", "", "out = ReduceSum@13(x) {keepdims=1}", 0, 0},
    {"vector_dot", "a[n] b[n] c[1]", "", "p = Mul@14(a, b)\n    out = ReduceSum@13(p) {keepdims=1}", 0, 0},
    {"vector_layer_norm", "x[n] y[n]", "eps=0.0009765625",
     "m = ReduceMean@18(x) {keepdims=1}\n    d = Sub@14(x, m)\n    q = Mul@14(d, d)\n    v = ReduceMean@18(q) {keepdims=1}\n"
     "    const e: T[1] = {0.0009765625}\n    w = Add@14(v, e)\n    s = Sqrt@13(w)\n    out = Div@14(d, s)",
     0, 0},
    {"matrix_gemm", "a[m,k] b[k,n] c[m,n]", "m=5 k=7 lda=7 ldb=n ldc=n", "out = MatMul@13(a, b)", 0, 0},
    {"matrix_gemm_tiled", "a[m,k] b[k,n] c[m,n]", "m=19 k=33", "out = MatMul@13(a, b)", 0, 0},
    {"matrix_gemv", "a[m,n] x[n] y[m]", "m=9", "out = MatMul@13(a, x)", 0, 0},
    {"matrix_transpose", "x[m,n] y[n,m]", "m=37", "out = Transpose@13(x)", 0, 0},
    {"activation_relu", "x[n] y[n]", "", "out = Relu@14(x)", 0, 0},
    {"activation_sigmoid", "x[n] y[n]", "", "out = Sigmoid@13(x)", 0, 0},
    {"activation_tanh", "x[n] y[n]", "", "out = Tanh@13(x)", 0, 0},
    {"activation_leaky_relu", "x[n] y[n]", "alpha=0.25", "out = LeakyRelu@16(x) {alpha=0.25}", 0, 0},
    {"activation_gelu", "x[n] y[n]", "", "out = Gelu@20(x)", 0, 0},
    {"activation_gelu_tanh", "x[n] y[n]", "", "out = Gelu@20(x) {approximate=\"tanh\"}", 0, 0},
    {"activation_silu", "x[n] y[n]", "", "s = Sigmoid@13(x)\n    out = Mul@14(x, s)", 0, 0},
    {"activation_softplus", "x[n] y[n]", "", "out = Softplus@1(x)", 0, 0},
    {"activation_elu", "x[n] y[n]", "alpha=0.5", "out = Elu@6(x) {alpha=0.5}", 0, 0},
    {"activation_hard_sigmoid", "x[n] y[n]", "alpha=0.25 beta=0.5", "out = HardSigmoid@6(x) {alpha=0.25, beta=0.5}", 0,
     0},
    {"activation_softmax", "x[rows,n] y[rows,n]", "rows=3", "out = Softmax@13(x) {axis=-1}", 0, 0},
    {"reduction_sum", "x[rows,n] y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceSum@13(x, axes) {keepdims=0}", 0, 0},
    {"reduction_mean", "x[rows,n] y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceMean@18(x, axes) {keepdims=0}", 0, 0},
    {"reduction_prod", "x[rows,n] y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceProd@18(x, axes) {keepdims=0}", 0, 20},
    {"reduction_prod", "x[rows,n]:s y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceProd@18(x, axes) {keepdims=0}", 1000, 0},
    {"reduction_max", "x[rows,n] y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceMax@18(x, axes) {keepdims=0}", 1, 0},
    {"reduction_min", "x[rows,n] y[rows]", "rows=3",
     "const axes: i64[1] = {1}\n    out = ReduceMin@18(x, axes) {keepdims=0}", 1, 0},
    {"reduction_tree", "x[n] y[1]", "", "out = ReduceSum@13(x) {keepdims=1}", 0, 0},
    {"reduction_argmax", "x[rows,n] y[rows]", "rows=3", "out = ArgMax@13(x) {axis=1, keepdims=0}", 1, 0},
    {"normalization_layer", "x[rows,n] gain[n] bias[n] y[rows,n]", "rows=3 eps=0.0009765625",
     "out = LayerNormalization@17(x, gain, bias) {axis=-1, epsilon=0.0009765625}", 0, 0},
    {"normalization_rms", "x[rows,n] gain[n] y[rows,n]", "rows=3 eps=0.0009765625",
     "out = RMSNormalization@23(x, gain) {axis=-1, epsilon=0.0009765625}", 0, 0},
    {"normalization_instance", "x[2,channels,n] gain[channels] bias[channels] y[2,channels,n]",
     "rows=6 channels=3 eps=0.0009765625", "out = InstanceNormalization@6(x, gain, bias) {epsilon=0.0009765625}", 0, 0},
    {"normalization_group", "x[2,channels,size] gain[channels] bias[channels] y[2,channels,size]",
     "rows=4 n=20 size=10 channels=4 eps=0.0009765625",
     "out = GroupNormalization@21(x, gain, bias) {epsilon=0.0009765625, num_groups=2}", 1, 1},
    {"normalization_group", "x[2,channels,size] gain[channels] bias[channels] y[2,channels,size]",
     "rows=4 n=250000 size=125000 channels=4 eps=0.0009765625",
     "out = GroupNormalization@21(x, gain, bias) {epsilon=0.0009765625, num_groups=2}", MILLION, 0},
    {"normalization_batch",
     "x[2,channels,size] gain[channels] bias[channels] mean[channels] variance[channels]:p y[2,channels,size]",
     "n=60 size=10 channels=3 eps=0.0009765625",
     "out = BatchNormalization@15(x, gain, bias, mean, variance) {epsilon=0.0009765625}", 1, 1},
    {"normalization_batch",
     "x[2,channels,size] gain[channels] bias[channels] mean[channels] variance[channels]:p y[2,channels,size]",
     "n=1000002 size=166667 channels=3 eps=0.0009765625",
     "out = BatchNormalization@15(x, gain, bias, mean, variance) {epsilon=0.0009765625}", MILLION, 0},
    {"convolution_2d", "x[2,ci,h,w] filters[co,2,kh,kw] bias[co] y[2,co,oh,ow]",
     "n=2 ci=4 h=9 w=7 co=6 kh=3 kw=2 oh=5 ow=7 groups=2 stride_y=2 stride_x=1 pad_y=2 pad_x=1 dilation_y=2 dilation_x=2",
     "out = Conv@11(x, filters, bias) {group=2, pads=[2,1,2,1], strides=[2,1], dilations=[2,2]}", 1, 1},
    {"convolution_2d", "x[1,ci,h,w] filters[co,2,kh,kw] bias[co] y[1,co,oh,ow]",
     "n=1 ci=4 h=333 w=751 co=4 kh=3 kw=2 oh=333 ow=750 groups=2 stride_y=1 stride_x=1 pad_y=1 pad_x=0 dilation_y=1 dilation_x=1",
     "out = Conv@11(x, filters, bias) {group=2, pads=[1,0,1,0]}", MILLION, 0},
    {"convolution_max_pool", "x[1,channels,h,w] y[1,channels,oh,ow]",
     "channels=3 h=9 w=7 kh=3 kw=2 oh=5 ow=8 stride_y=2 stride_x=1 pad_y=1 pad_x=1",
     "out = MaxPool@12(x) {kernel_shape=[3,2], pads=[1,1,1,1], strides=[2,1]}", 1, 1},
    {"convolution_max_pool", "x[1,channels,h,w] y[1,channels,oh,ow]",
     "channels=3 h=577 w=578 kh=3 kw=2 oh=577 ow=577 stride_y=1 stride_x=1 pad_y=1 pad_x=0",
     "out = MaxPool@12(x) {kernel_shape=[3,2], pads=[1,0,1,0]}", MILLION, 0},
    {"convolution_average_pool", "x[1,channels,h,w] y[1,channels,oh,ow]",
     "channels=3 h=9 w=7 kh=3 kw=2 oh=5 ow=8 stride_y=2 stride_x=1 pad_y=1 pad_x=1",
     "out = AveragePool@11(x) {kernel_shape=[3,2], pads=[1,1,1,1], strides=[2,1]}", 1, 1},
    {"convolution_average_pool", "x[1,channels,h,w] y[1,channels,oh,ow]",
     "channels=3 h=577 w=578 kh=3 kw=2 oh=577 ow=577 stride_y=1 stride_x=1 pad_y=1 pad_x=0",
     "out = AveragePool@11(x) {kernel_shape=[3,2], pads=[1,0,1,0]}", MILLION, 0},
    {"attention_scaled", "q[1,heads,queries,size] k[1,heads,n,size] v[1,heads,n,size] y[1,heads,queries,size]",
     "heads=2 queries=3 keys=n size=5 scale=0.25", "out, _, _, _ = Attention@23(q, k, v) {scale=0.25}", 1, 0},
    {"loss_mse", "x[n] target[n] y[1]", "",
     "d = Sub@14(x, target)\n    q = Mul@14(d, d)\n    out = ReduceMean@18(q) {keepdims=1}", 0, 0},
    {"loss_binary_cross_entropy", "x[n]:u target[n]:u y[1]", "",
     "const one: T[1] = {1.0}\n    l = Log@13(x)\n    a = Mul@14(target, l)\n    r = Sub@14(one, x)\n    s = Log@13(r)\n"
     "    t = Sub@14(one, target)\n    b = Mul@14(t, s)\n    c = Add@14(a, b)\n    m = ReduceMean@18(c) {keepdims=1}\n    out = Neg@13(m)",
     0, 0},
    {"loss_cross_entropy", "x[rows,n] label[rows]:i y[1]", "rows=5",
     "l = SoftmaxCrossEntropyLoss@13(x, label)\n    const one: i64[1] = {1}\n    out = Reshape@14(l, one)", 1, 0},
    {"memory_copy", "x[n] y[n]", "", "out = Identity@14(x)", 0, 0},
    {"memory_clip", "x[n] y[n]", "low=-1 high=2",
     "const a: T[] = {-1}\n    const b: T[] = {2}\n    out = Clip@13(x, a, b)", 0, 0},
    {"memory_gather", "x[m,n] index[rows]:j y[rows,n]", "m=7 rows=4", "out = Gather@13(x, index) {axis=0}", 0, 0},
    {"memory_fill", "y[n]", "value=3", "const v: T[] = {3}\n    const size: i64[1] = {n}\n    out = Expand@13(v, size)",
     0, 0},
    {"memory_scatter_add", "x[n] index[n]:j y[m]:z", "m=4",
     "const y: T[4] = {0, 0, 0, 0}\n    out = ScatterElements@18(y, index, x) {axis=0, reduction=\"add\"}", 0, 0},
};

// ---- a case: a row with its sizes as numbers

enum { SYMBOLS = 24, ARRAYS = 8 };

typedef struct Symbol {
    char   name[24];
    double value;
} Symbol;

typedef struct Case {
    const Row               *row;
    const HoloKernelProgram *kernel;
    HoloArena               *arena;
    Symbol                   symbol[SYMBOLS];
    int                      symbol_count;
    HoloTensor               array[ARRAYS];
    char                     name[ARRAYS][16];
    int                      array_count;
} Case;

static double value_of(const Case *c, const char *text, size_t size)
{
    char *end, word[32];
    snprintf(word, sizeof word, "%.*s", (int)size, text);
    double number = strtod(word, &end);
    if (end != word && !*end) return number;
    for (int i = c->symbol_count; i-- > 0;)
        if (!strcmp(c->symbol[i].name, word)) return c->symbol[i].value;
    fail_msg("%s: what is %s?", c->row->kernel, word);
    return 0;
}

static void read_symbols(Case *c, int64_t n)
{
    c->symbol[c->symbol_count++] = (Symbol){"n", (double)n};
    for (const char *at = c->row->sizes; *at;) {
        size_t  size = strcspn(at, " "), equals = strcspn(at, "=");
        Symbol *s = &c->symbol[c->symbol_count];
        s->value  = value_of(c, at + equals + 1, size - equals - 1);
        snprintf(s->name, sizeof s->name, "%.*s", (int)equals, at);
        c->symbol_count++;
        at += size + strspn(at + size, " ");
    }
}

// p positive, u in (0, 1), s -1 or 1, z 0, i an index below n, j one below m; else any. Of many elements those behind
// the first few thousand are these again.
static void fill(const Case *c, HoloTensor *t, char how, HoloRandom *random)
{
    enum { PERIOD = 8191 };
    bool    is_float = t->dtype == HOLO_F32 || t->dtype == HOLO_F64 || t->dtype == HOLO_F16 || t->dtype == HOLO_BF16;
    int64_t count = holo_tensor_count(t), size = (int64_t)holo_dtype_size(t->dtype);
    for (int64_t i = 0; i < count && i < PERIOD; i++) {
        double x = is_float ? holo_random_normal(random) : floor(holo_random_unit(random) * 11) - 5;
        if (how == 'p') x = fabs(x) + 0.125;
        if (how == 'u') x = 0.0625 + 0.875 * holo_random_unit(random);
        if (how == 's') x = holo_random_unit(random) < 0.5 ? -1 : 1;
        if (how == 'z') x = 0;
        if (how == 'i') x = floor(holo_random_unit(random) * value_of(c, "n", 1));
        if (how == 'j') x = floor(holo_random_unit(random) * value_of(c, "m", 1));
        holo_put_f(t, i, x);
    }
    for (int64_t i = PERIOD; i < count; i += PERIOD)
        memcpy((char *)t->data + i * size, t->data, (size_t)((count - i < PERIOD ? count - i : PERIOD) * size));
}

// "x[m,n]:p"
static const char *read_array(Case *c, const char *at, HoloRandom *random)
{
    int                 number = c->array_count++;
    HoloTensor         *t      = &c->array[number];
    const HoloAstParam *param  = NULL;
    size_t              size   = strcspn(at, "[");
    snprintf(c->name[number], sizeof c->name[number], "%.*s", (int)size, at);
    for (int i = 0; i < c->kernel->function->param_count; i++)
        if (!strcmp(c->kernel->function->params[i].name, c->name[number])) param = &c->kernel->function->params[i];
    if (!param) fail_msg("%s has no %s", c->row->kernel, c->name[number]);
    *t = (HoloTensor){.dtype = param->dtype == HOLO_TYPE_VAR ? c->kernel->type : param->dtype, .kind = HOLO_TENSOR};
    for (at += size; *at != ']';) {
        size_t part            = strcspn(at + 1, ",]");
        t->dim[(int)t->rank++] = (int64_t)value_of(c, at + 1, part);
        at += part + 1;
    }
    t->data = holo_arena_take(c->arena, holo_tensor_bytes(t) + 64);
    fill(c, t, at[1] == ':' ? at[2] : ' ', random);
    return at + strcspn(at, " ") + strspn(at + strcspn(at, " "), " ");
}

static void make_case(Case *c, const Row *row, const HoloKernelProgram *kernel, int64_t n, HoloArena *arena)
{
    HoloRandom random = {(uint64_t)n * 31 + kernel->type};
    *c                = (Case){.row = row, .kernel = kernel, .arena = arena};
    read_symbols(c, n);
    for (const char *at = row->arrays; *at;) at = read_array(c, at, &random);
}

// ---- running a kernel

static void arguments(const Case *c, const HoloIsaProgram *program, HoloIsaArg *out)
{
    for (int i = 0; i < program->param_count; i++) {
        const HoloIsaParam *p = &program->params[i];
        if (p->access == HOLO_ISA_VALUE) {
            out[i].bits = holo_isa_bits_of_float(p->type, value_of(c, p->name, strlen(p->name)));
            continue;
        }
        for (int k = 0; k < c->array_count; k++)
            if (!strcmp(c->name[k], p->name))
                out[i] = (HoloIsaArg){.data = c->array[k].data, .count = holo_tensor_count(&c->array[k])};
    }
}

static int64_t lanes_of(const Case *c)
{
    HoloIsaArg    arg[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch launch                   = {{1, 1, 1}, {1, 1, 1}, 0};
    int64_t       lanes                    = 0;
    HoloError     error                    = {0};
    arguments(c, &c->kernel->lanes, arg);
    arg[c->kernel->lanes.param_count - 1] = (HoloIsaArg){.data = &lanes, .count = 1};
    if (holo_isa_reference(&c->kernel->lanes, &launch, arg, &error)) fail_msg("%s", error.text);
    return lanes;
}

static void team_run(void *team, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    holo_pool_run(team, count, work, arg);
}

// By the plain interpreter where threads is 0, else by the fast one.
static void run(const Case *c, int threads)
{
    HoloIsaArg arg[HOLO_ISA_MAX_PARAMS] = {0};
    HoloError  error                    = {0};
    HoloStatus status                   = HOLO_OK;
    int64_t    lanes = lanes_of(c), block = c->kernel->function->block[0] ? c->kernel->function->block[0] : 64;
    if (lanes == 0) return;
    HoloIsaLaunch launch = {{(uint32_t)((lanes + block - 1) / block), 1, 1}, {(uint32_t)block, 1, 1}, 0};
    arguments(c, &c->kernel->program, arg);
    if (!threads) {
        status = holo_isa_reference(&c->kernel->program, &launch, arg, &error);
    } else {
        HoloPool     *pool;
        HoloIsaCode  *code  = NULL;
        HoloIsaFrame *frame = NULL;
        assert_int_equal(holo_pool_create(threads, &pool), HOLO_OK);
        HoloIsaTeam team = {team_run, pool, threads};
        status           = holo_isa_code_create(&c->kernel->program, &code, &error);
        if (!status) status = holo_isa_frame_create(code, threads, &frame, &error);
        if (!status) status = holo_isa_run(code, frame, &team, &launch, arg, &error);
        holo_isa_frame_destroy(frame);
        holo_isa_code_destroy(code);
        holo_pool_destroy(pool);
    }
    if (status) fail_msg("%s: %s", c->kernel->name, error.text);
}

// ---- what eval gives

static void append(char *text, size_t room, const char *format, ...)
{
    va_list args;
    size_t  used = strlen(text);
    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

static void graph_text(const Case *c, char *text, size_t room)
{
    text[0] = '\0';
    append(text, room, "graph t(");
    for (int i = 0; i + 1 < c->array_count; i++) {
        append(text, room, "%s%s: %s[", i ? ", " : "", c->name[i], holo_dtype_name(c->array[i].dtype));
        for (int d = 0; d < c->array[i].rank; d++)
            append(text, room, "%s%lld", d ? "," : "", (long long)c->array[i].dim[d]);
        append(text, room, "]");
    }
    append(text, room, ") -> (out) {\n    ");
    for (const char *at = c->row->graph; *at; at++)
        if (at[0] == 'T' && at[1] == '[')
            append(text, room, "%s", holo_dtype_name(c->kernel->type));
        else if (at[0] == 'n' && at[1] == '}')
            append(text, room, "%lld", (long long)value_of(c, "n", 1));
        else
            append(text, room, "%c", *at);
    append(text, room, "\n}\n");
}

static HoloTensor expected(const Case *c)
{
    char              text[4096];
    HoloError         error = {0};
    HoloGraph        *graph;
    HoloTensor        out = {0};
    const HoloTensor *in[ARRAYS];
    graph_text(c, text, sizeof text);
    for (int i = 0; i < c->array_count; i++) in[i] = &c->array[i];
    if (holo_graph_parse(c->arena, text, &graph, &error) ||
        holo_graph_eval(graph, in, &out, c->arena, &(HoloEvalOptions){0}, &error))
        fail_msg("%s: %s\n%s", c->row->kernel, error.text, text);
    return out;
}

// How far results may be apart, in parts of the largest: kernels round each step, and add in another order.
static double tolerance(uint8_t type)
{
    return type == HOLO_F64 ? 1e-12 : type == HOLO_F32 ? 2e-5 : type == HOLO_F16 ? 4e-3 : type == HOLO_BF16 ? 3e-2 : 0;
}

static void compare(const Case *c, const HoloTensor *want)
{
    const HoloTensor *got   = &c->array[c->array_count - 1];
    int64_t           count = holo_tensor_count(got);
    double            most  = 0;
    assert_int_equal(count, holo_tensor_count(want));
    if (count == 0 || !memcmp(got->data, want->data, holo_tensor_bytes(got))) return;
    for (int64_t i = 0; i < count; i++) {
        double y = holo_get_f(want, i);
        if (isfinite(y) && fabs(y) > most) most = fabs(y);
    }
    double limit = tolerance(c->kernel->type) * most;
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(got, i), y = holo_get_f(want, i);
        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= limit) continue;
        fail_msg("%s, n = %.0f: element %lld is %.9g and should be %.9g", c->kernel->name, value_of(c, "n", 1),
                 (long long)i, x, y);
    }
}

// ---- all kernels

typedef struct Library {
    HoloArena          arena;
    HoloKernelProgram *kernel[512];
    int                count, tested;
} Library;

static void add_file(Library *l, const char *path)
{
    HoloError          error   = {0};
    HoloMapping       *mapping = HOLO_NEW(&l->arena, HoloMapping, 1);
    HoloKernelSource  *source  = HOLO_NEW(&l->arena, HoloKernelSource, 1);
    HoloAstModule     *module  = HOLO_NEW(&l->arena, HoloAstModule, 1);
    HoloKernelProgram *kernel;
    int                count = 0;
    if (holo_file_map(path, mapping, &error)) fail_msg("%s", error.text);
    *source = (HoloKernelSource){path, holo_arena_text(&l->arena, mapping->data, mapping->size), mapping->size};
    holo_file_unmap(mapping);
    if (holo_kernel_parse(&l->arena, source, holo_kernel_language_of(path), module, &error) ||
        holo_kernel_compile(&l->arena, module, 0, &kernel, &count, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < count; i++) {
        const char *name = strrchr(path, '/') + 1; // file, kernel and folder agree
        assert_memory_equal(name, kernel[i].function->name, strlen(kernel[i].function->name));
        assert_true(kernel[i].function->doc[0] && kernel[i].lanes.count);
        l->kernel[l->count++] = &kernel[i];
    }
}

static void add_folder(Library *l, const char *path, int depth)
{
    HoloFolder folder;
    if (holo_folder_list(path, &folder, NULL)) fail_msg("%s is not there", path);
    for (int i = 0; i < folder.count; i++) {
        char below[512];
        snprintf(below, sizeof below, "%s/%s", path, folder.name[i]);
        if (folder.name[i][0] == '.') continue;
        if (strchr(folder.name[i], '.'))
            add_file(l, below);
        else if (depth < 2)
            add_folder(l, below, depth + 1);
    }
    holo_folder_free(&folder);
}

static int setup(void **state)
{
    Library *l = calloc(1, sizeof *l);
    add_folder(l, "kernels/stdlib", 0);
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    Library *l = *state;
    holo_arena_deinit(&l->arena);
    free(l);
    return 0;
}

// The first run is held against eval, those with other numbers of threads against the first, bit by bit.
static void test_case(const Row *row, const HoloKernelProgram *kernel, int64_t n, bool is_small)
{
    static const int threads[] = {1, 2, 4, 0};
    HoloArena        arena     = {0};
    Case             c;
    make_case(&c, row, kernel, n, &arena);
    HoloTensor *got = &c.array[c.array_count - 1], want = expected(&c);
    size_t      size  = holo_tensor_bytes(got);
    char       *first = holo_arena_take(&arena, size + 1), *start = holo_arena_take(&arena, size + 1);
    memcpy(start, got->data, size);
    for (int t = 0; t < HOLO_COUNT(threads); t++) {
        if (!threads[t] && !is_small) break; // the plain interpreter takes its time
        memcpy(got->data, start, size);
        run(&c, threads[t]);
        if (t == 0) memcpy(first, got->data, size);
        if (t == 0 || !threads[t])
            compare(&c, &want);
        else if (size && memcmp(got->data, first, size))
            fail_msg("%s: %d threads give other bits than 1", kernel->name, threads[t]);
    }
    holo_arena_deinit(&arena);
}

// What n is for so many elements of the largest array.
static int64_t size_of(const Row *row, const HoloKernelProgram *kernel, int64_t elements)
{
    HoloArena arena = {0};
    Case      c;
    int64_t   most = 1;
    make_case(&c, row, kernel, 1, &arena);
    for (int i = 0; i < c.array_count; i++)
        if (holo_tensor_count(&c.array[i]) > most) most = holo_tensor_count(&c.array[i]);
    holo_arena_deinit(&arena);
    return elements / most;
}

static void test_row(Library *l, const Row *row, int64_t million)
{
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 1000, MILLION};
    static int           step;
    int                  types = 0;
    if (!step) step = watched_step("the types of kernels", 3);
    for (int k = 0; k < l->count; k++) {
        const HoloKernelProgram *kernel = l->kernel[k];
        if (strcmp(kernel->function->name, row->kernel)) continue;
        int64_t many = types ? million / 20 : million; // other types are the same loops
        if (types++ % step) continue;
        for (int i = 0; i < HOLO_COUNT(sizes); i++) {
            if (sizes[i] < row->low || (row->high && sizes[i] > row->high)) continue;
            test_case(row, kernel, sizes[i] == MILLION ? size_of(row, kernel, many) : sizes[i], sizes[i] <= 17);
        }
    }
    if (!types) fail_msg("there is no kernel %s", row->kernel);
}

static void test_against_eval(void **state)
{
    int64_t million = MILLION / watched_step("the million elements", 200);
    for (int i = 0; i < HOLO_COUNT(rows); i++) test_row(*state, &rows[i], million);
}

// Every kernel of the library has a row, and one for a million elements.
static void test_all_are_tested(void **state)
{
    Library *l = *state;
    for (int k = 0; k < l->count; k++) {
        const char *name  = l->kernel[k]->function->name;
        bool        found = false;
        for (int i = 0; i < HOLO_COUNT(rows); i++) found |= !rows[i].high && !strcmp(rows[i].kernel, name);
        if (!found) fail_msg("%s has no test", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_tested),
        cmocka_unit_test(test_against_eval),
    };
    return cmocka_run_group_tests_name("stdlib", tests, setup, teardown);
}
