// products.cu - products and convolutions: against a plain loop in double, and against the clock.
#include "bench.cuh"

#include <cublasLt.h>

struct Case {
    const char     *name;
    HoloCudaWant    want;
    HoloCudaProduct p;
    bool            odd_numbers; // a NaN and an infinity in A
};

static const char *const type_names[] = {"f32", "f16", "bf16", "s8", "u8", "s32"};

// ---- the reference

__device__ double element(const void *p, int64_t at, int type)
{
    if (type == HOLO_CUDA_F32) return ((const float *)p)[at];
    if (type == HOLO_CUDA_F16) return __half2float(((const __half *)p)[at]);
    if (type == HOLO_CUDA_BF16) return __bfloat162float(((const __nv_bfloat16 *)p)[at]);
    return type == HOLO_CUDA_S8 ? ((const int8_t *)p)[at] : ((const uint8_t *)p)[at];
}

__device__ double act_double(double x, int what, double low, double high)
{
    switch (what) {
    case HOLO_CUDA_ACT_RELU: return x < 0 ? 0 : x;
    case HOLO_CUDA_ACT_CLIP: return x < low ? low : x > high ? high : x;
    case HOLO_CUDA_ACT_SIGMOID: return 1 / (1 + exp(-x));
    case HOLO_CUDA_ACT_SILU: return x / (1 + exp(-x));
    case HOLO_CUDA_ACT_GELU_ERF: return 0.5 * x * (1 + erf(x / sqrt(2.0)));
    case HOLO_CUDA_ACT_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    case HOLO_CUDA_ACT_TANH: return tanh(x);
    case HOLO_CUDA_ACT_HARD_SWISH: return x * fmin(1.0, fmax(0.0, x / 6 + 0.5));
    case HOLO_CUDA_ACT_LEAKY: return x < 0 ? x * low : x;
    default: return x;
    }
}

// A is as the caller has it: [image][channels][height][width] if `first`, with `real` channels. `plain`: B is [k][n].
__global__ void reference(HoloCudaProduct p, int type, int a_type, int first, int real, int plain, double *out, int z)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= (int64_t)p.m * p.n) return;
    int64_t m = i / p.n, n = i % p.n, a0 = z / p.inner * p.a_batch[0] + z % p.inner * p.a_batch[1];
    int64_t b0  = z / p.inner * p.b_batch[0] + z % p.inner * p.b_batch[1];
    double  sum = 0;
    for (int64_t k = 0; k < p.k; k++) {
        double a = 0;
        if (!p.height) {
            a = element(p.a, a0 + m * p.lda + k, type);
        } else {
            int64_t c = k % p.channels, x = k / p.channels % p.kernel_w, y = k / p.channels / p.kernel_w;
            int64_t image = m / (p.out_h * p.out_w), oy = m / p.out_w % p.out_h, ox = m % p.out_w;
            int64_t iy = oy * p.stride_h - p.pad_h + y * p.dilation_h,
                    ix = ox * p.stride_w - p.pad_w + x * p.dilation_w;
            if (iy < 0 || ix < 0 || iy >= p.height || ix >= p.width || c >= real) continue;
            if (first)
                a = element(p.a, ((image * real + c) * p.height + iy) * p.width + ix, a_type);
            else
                a = element(p.a, a0 + ((image * p.height + iy) * p.width + ix) * p.lda + c, type);
        }
        sum += a * element(p.b, plain ? b0 + k * p.ldb + n : b0 + n * p.ldb + k, min(type, (int)HOLO_CUDA_S8));
    }
    int64_t bias = z / p.inner * p.bias_batch[0] + z % p.inner * p.bias_batch[1] + n;
    sum          = sum * p.alpha * (p.scale ? p.scale[bias] : 1) + (p.bias ? p.bias[bias] : 0);
    double more  = 0;
    if (p.more)
        more = element(p.more, z / p.inner * p.more_batch[0] + z % p.inner * p.more_batch[1] + m * p.ldmore + n,
                       p.more_type);
    if (p.more_how == HOLO_CUDA_MORE_ADD_BEFORE) sum += more;
    sum = act_double(sum, p.act, p.low, p.high);
    if (p.more_how == HOLO_CUDA_MORE_ADD_AFTER) sum += more;
    if (p.more_how == HOLO_CUDA_MORE_MUL_AFTER) sum *= more;
    out[z / p.inner * p.c_batch[0] + z % p.inner * p.c_batch[1] + m * p.ldc + n] = sum;
}

// ---- one case

struct Memory {
    Block  a, b, c, again, bias, scale, more, work, truth;
    size_t c_count;
};

static size_t extent(int64_t rows, int64_t row, const int64_t batch[2], int outer, int inner)
{
    return (size_t)(rows * row + batch[0] * (outer - 1) + batch[1] * (inner - 1) + 16);
}

static void prepare(Case *c, Memory *x, uint32_t seed)
{
    HoloCudaProduct *p     = &c->p;
    int              outer = c->want.batch / p->inner, size = size_of_type(c->want.type);
    int64_t          rows = p->height ? (int64_t)p->m / (p->out_h * p->out_w) * p->height * p->width : p->m;
    size_t           a    = extent(rows, p->lda, p->a_batch, outer, p->inner),
           a_size         = c->want.a_first ? size_of_type(c->want.a_type) : size;
    size_t b              = extent(c->want.b_plain ? p->k : p->n, p->ldb, p->b_batch, outer, p->inner);
    size_t more           = extent(p->m, p->ldmore, p->more_batch, outer, p->inner);
    x->c_count            = extent(p->m, p->ldc, p->c_batch, outer, p->inner);
    x->a.need(a * a_size), x->b.need(b * size), x->c.need(x->c_count * 4), x->again.need(x->c_count * 4);
    x->bias.need(65536 * 4), x->scale.need(65536 * 4), x->more.need(more * 4);
    fill_random(x->a.at, a, c->want.a_first ? c->want.a_type : c->want.type, seed, 1);
    fill_random(x->b.at, b, c->want.type, seed + 1, 1);
    fill_random(x->bias.at, 65536, HOLO_CUDA_F32, seed + 2, 1);
    fill_random(x->scale.at, 65536, HOLO_CUDA_F32, seed + 3, 1);
    fill_random(x->more.at, more, p->more_type, seed + 4, 1);
    if (c->odd_numbers && p->m && p->k) {
        uint32_t words[2] = {0x7fc07fc0u, 0x7f807f80u}; // NaN, and infinity or NaN, in each type
        CHECK(cudaMemcpy(x->a.at + a * a_size / 3 / 4 * 4, words, 4, cudaMemcpyHostToDevice));
        if (c->want.type != HOLO_CUDA_F32)
            CHECK(cudaMemcpy(x->a.at + a * a_size / 2 / 4 * 4, words + 1, 4, cudaMemcpyHostToDevice));
    }
    p->a = x->a.at, p->b = x->b.at, p->c = x->c.at;
    if (p->more_how) p->more = x->more.at;
}

static void bind(HoloCudaPick *pick, const HoloCudaProduct *p, Memory *x, void *c)
{
    x->work.need(pick->workspace + 256);
    HoloCudaLaunch *l = &pick->launch[pick->count - 1];
    if (l->kind == HOLO_CUDA_ROWS) {
        HoloCudaRows *r = &l->params.rows;
        r->a = p->a, r->b = p->b, r->c = c, r->bias = p->bias, r->more = p->more;
    } else {
        HoloCudaProduct *r = l->kind == HOLO_CUDA_TILED ? &l->params.tiled.p : &l->params.product;
        if (l->kind == HOLO_CUDA_BYTES) l->params.bytes.s.y_type = HOLO_CUDA_S32; // sums as they are
        r->a = p->a, r->b = p->b, r->c = c, r->bias = p->bias, r->scale = p->scale, r->more = p->more;
        r->partial  = (float *)(x->work.at + pick->partial_at);
        r->counters = counters();
        if (pick->turned == 1) r->a = x->work.at;
        if (pick->turned == 2) r->b = x->work.at;
        if (l->kind == HOLO_CUDA_TILED) {
            encode(&l->map[0], r->a, l->params.tiled.a_map);
            encode(&l->map[1], r->b, l->params.tiled.b_map);
        }
    }
    if (pick->turned) {
        HoloCudaTurn *t = &pick->launch[0].params.turn;
        t->from = pick->turned == 1 ? p->a : p->b, t->to = x->work.at;
    }
}

static double tolerance(const Case *c, const char *kernel)
{
    if (c->p.c_type == HOLO_CUDA_S32) return 0;
    double out = c->p.c_type == HOLO_CUDA_F16    ? 1e-3
                 : c->p.c_type == HOLO_CUDA_BF16 ? 8e-3
                 : c->p.c_type == HOLO_CUDA_F32  ? 0
                                                 : 1e-2;
    return out + (strstr(kernel, "tf32") ? 6e-3 : 2e-5);
}

static void run_case(Case *c, Memory *x, const char *kernel, int splits)
{
    HoloCudaPick pick;
    char         name[160];
    if (getenv("ONLY") && (!kernel || strcmp(kernel, getenv("ONLY")))) return;
    if (getenv("SPLITS") && splits != atoi(getenv("SPLITS"))) return;
    if (!holo_cuda_pick_product_as(&c->want, &c->p, kernel, splits, &pick)) return;
    if (!pick.count) return;
    HoloCudaLaunch *l = &pick.launch[pick.count - 1];
    snprintf(name, sizeof name, "%s %s->%s m%d n%d k%d splits %u cluster %u", l->kernel, c->name,
             type_names[c->p.c_type], c->p.m, c->p.n, c->p.k, l->grid[1], l->cluster);
    void *const to[] = {x->c.at, x->again.at};
    for (int i = 0; i < 2; i++) {
        fill_byte(to[i], x->c_count * 4, 0xff);
        bind(&pick, &c->p, x, to[i]);
        fill_byte(x->work.at, pick.workspace, 0xff);
        for (int j = 0; j < pick.count; j++) launch(&pick.launch[j], 0);
    }
    judge(name, x->c.at, c->p.c_type, (double *)x->truth.at, x->c_count, tolerance(c, l->kernel));
    check_counters(name);
    static char bytes[2][1 << 20];
    size_t      some = x->c_count * size_of_type(c->p.c_type);
    if (some > sizeof bytes[0]) some = sizeof bytes[0];
    for (int i = 0; i < 2; i++) CHECK(cudaMemcpy(bytes[i], to[i], some, cudaMemcpyDeviceToHost));
    if (memcmp(bytes[0], bytes[1], some)) printf("FAIL %s: other bits the second time\n", name), failures++;
}

static const char *const kernels[] = {
    "product_f16_128x256",  "product_f16_128x128",  "product_f16_128x64",   "product_f16_64x64",
    "product_bf16_128x256", "product_bf16_128x128", "product_bf16_128x64",  "product_bf16_64x64",
    "product_tf32_128x256", "product_tf32_128x128", "product_tf32_128x64",  "product_tf32_64x64",
    "product_s8_128x128",   "product_s8_64x64",     "product_u8_128x128",   "product_u8_64x64", "product_parts_128x64", "product_parts_64x64",
    "product_fused_64x64",  "product_exact_64x64",
    "wide_f16_128x256", "wide_f16_128x160", "wide_f16_ping_128x128", "wide_f16_ping_128x96",
    "wide_f16_ping_128x64", "deep_f16_64x64", "deep_f16_64x128", "deep_f16_128x64",
    "wide_bf16_128x256", "wide_bf16_128x160", "wide_bf16_ping_128x128", "wide_bf16_ping_128x96",
    "wide_bf16_ping_128x64", "deep_bf16_64x64", "deep_bf16_64x128", "deep_bf16_128x64",
    "wide_tf32_128x256", "wide_tf32_128x160", "wide_tf32_ping_128x128", "wide_tf32_ping_128x96",
    "wide_tf32_ping_128x64", "deep_tf32_64x64", "deep_tf32_64x128", "deep_tf32_128x64",
};

static void check_case(Case c)
{
    static Memory    x;
    static uint32_t  seed = 1;
    HoloCudaProduct &p    = c.p;
    int              real = p.channels;
    prepare(&c, &x, seed += 16);
    p.bias = c.want.type >= HOLO_CUDA_S8 ? nullptr : (float *)x.bias.at; // of bytes it belongs to another end
    x.truth.need(x.c_count * 8);
    fill_byte(x.truth.at, x.c_count * 8, 0xff); // NaN where nothing is to be written
    HoloCudaProduct r = p;
    if (c.want.a_first) { // the kernels see padded channels, of which the weights are zeros or not
        int each   = 16 / size_of_type(c.want.type);
        r.channels = (real + each - 1) / each * each;
        r.k        = r.kernel_h * r.kernel_w * r.channels;
    }
    if ((int64_t)p.m * p.n)
        for (int z = 0; z < c.want.batch; z++)
            reference<<<(unsigned)(((int64_t)p.m * p.n + 127) / 128), 128>>>(
                r, c.want.type, c.want.a_type, c.want.a_first, real, c.want.b_plain, (double *)x.truth.at, z);
    CHECK(cudaDeviceSynchronize());
    for (const char *kernel : kernels)
        for (int cluster = 0; cluster < 2; cluster++)
            for (int splits : {1, 2, 4, 5, 8}) {
                c.want.cluster = cluster;
                if (splits > 1 || !cluster) run_case(&c, &x, kernel, splits);
            }
    run_case(&c, &x, nullptr, 0);
}

// ---- cases

static Case matrix(const char *name, int type, int numeric, int m, int n, int k)
{
    Case c      = {};
    int  each   = 16 / size_of_type(type);
    c.name      = name;
    c.want.type = type, c.want.numeric = numeric, c.want.align = 256, c.want.batch = 1, c.want.sms = 132,
    c.want.b_constant = 1, c.want.cluster = 1, c.want.tiled = 1;
    c.p.m = m, c.p.n = n, c.p.k = k, c.p.inner = 1;
    bool bytes = type >= HOLO_CUDA_S8;
    c.p.lda = k, c.p.ldb = (k + each - 1) / each * each + (bytes ? HOLO_CUDA_BYTES_MORE : 0), c.p.ldc = n, c.p.ldmore = n;
    c.p.alpha = bytes ? 1 : 0.5f, c.p.low = -1, c.p.high = 2;
    c.p.c_type = bytes ? HOLO_CUDA_S32 : type;
    return c;
}

static Case picture(const char *name, int type, int numeric, int images, int side, int channels, int n, int kernel,
                    int stride, int pad, int dilation)
{
    int out  = (side + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1,
        wide = (side + 2 + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    Case c   = matrix(name, type, numeric, images * out * wide, n, kernel * kernel * channels);
    c.p.lda = channels, c.p.height = side, c.p.width = side + 2, c.p.channels = channels,
    c.p.kernel_h = c.p.kernel_w = kernel;
    c.p.out_h = out, c.p.out_w = wide, c.p.stride_h = c.p.stride_w = stride, c.p.pad_h = c.p.pad_w = pad;
    c.p.dilation_h = c.p.dilation_w = dilation;
    return c;
}

static void check_type(int type, int numeric)
{
    static const int sizes[][3] = {{1, 1, 1},      {15, 17, 16},    {16, 16, 0},     {17, 15, 129},   {127, 129, 127},
                                   {129, 127, 64}, {128, 256, 192}, {300, 260, 520}, {1, 1000, 2048}, {64, 64, 4096},
                                   {7, 0, 5},      {200, 64, 72},   {3, 50, 300},    {8, 129, 1000},  {5, 33, 77},
                                   {9000, 260, 72}, {2100, 1032, 200}};
    int              i          = 0;
    for (auto &s : sizes) {
        Case c  = matrix("matrix", type, numeric, s[0], s[1], s[2]);
        c.p.act = i % HOLO_CUDA_ACTS, c.p.more_how = i % 4, c.p.more_type = i % 2 && type < 3 ? type : i % 3, c.odd_numbers = i % 5 == 3;
        if (type >= HOLO_CUDA_S8) c.p.act = c.p.more_how = 0;
        if (type < HOLO_CUDA_S8) c.p.c_type = i % 4 == 2 ? (type + 1) % 3 : type;
        if (i % 3 == 2) c.p.lda += 3, c.p.ldmore += 5;
        if (i % 3 == 2) c.p.ldc += 3;
        check_case(c), i++;
    }
    static const int acts[] = {HOLO_CUDA_ACT_NONE, HOLO_CUDA_ACT_RELU,     HOLO_CUDA_ACT_CLIP,
                               HOLO_CUDA_ACT_SILU, HOLO_CUDA_ACT_GELU_ERF, HOLO_CUDA_ACT_GELU_TANH};
    for (int what : acts)
        for (int how = 0; how < 4 && type < HOLO_CUDA_S8; how++) {
            Case c  = matrix("ends", type, numeric, 300, how % 2 ? 264 : 263, 136);
            c.p.act = what, c.p.more_how = how, c.p.more_type = type;
            check_case(c);
        }
    Case batch       = matrix("batch", type, numeric, 33, 40, 64); // [2][heads 3] interleaved as attention has them
    batch.want.batch = 6, batch.p.inner = 3, batch.p.lda = 192, batch.p.a_batch[0] = 33 * 192, batch.p.a_batch[1] = 64;
    batch.p.b_batch[0] = 0, batch.p.b_batch[1] = 40 * batch.p.ldb, batch.p.ldc = 120, batch.p.c_batch[0] = 33 * 120,
    batch.p.c_batch[1] = 40;
    check_case(batch);
    Case plain         = matrix("plain B", type, numeric, 50, 77, 45);
    plain.want.b_plain = 1, plain.p.ldb = 80, plain.want.batch = 2, plain.p.a_batch[0] = 50 * 45,
    plain.p.b_batch[0] = 45 * 80, plain.p.c_batch[0] = 50 * 77;
    if (type < HOLO_CUDA_S8) check_case(plain);
    check_case(picture("3x3", type, numeric, 2, 13, 32, 70, 3, 1, 1, 1));
    check_case(picture("3x3 stride 2", type, numeric, 3, 14, 64, 64, 3, 2, 1, 1));
    check_case(picture("3x3 dilated", type, numeric, 1, 15, 16, 130, 3, 1, 2, 2));
    check_case(picture("1x1 stride 2", type, numeric, 1, 9, 128, 40, 1, 2, 0, 1));
    check_case(picture("3x3, many", type, numeric, 8, 30, 72, 40, 3, 1, 1, 1));
    check_case(picture("3x3 stride 2, many", type, numeric, 16, 31, 64, 136, 3, 2, 1, 1));
    Case joined    = picture("7x7, joined taps", type, numeric, 2, 30, 1, 64, 7, 2, 3, 1); // of 16 bytes each
    int  pixel     = 16 / size_of_type(type);
    joined.p.width = 36, joined.p.out_w = 15, joined.p.m = 2 * joined.p.out_h * 15, joined.p.pad_w = 0, joined.p.kernel_w = 1;
    joined.p.channels = 7 * pixel, joined.p.lda = pixel, joined.p.k = 49 * pixel;
    joined.p.ldb = joined.p.k + (type >= HOLO_CUDA_S8 ? HOLO_CUDA_BYTES_MORE : 0);
    check_case(joined);
    check_case(picture("5x5, 3 channels", type, numeric, 1, 20, 3, 33, 5, 1, 2, 1));
    if (type < HOLO_CUDA_S8) {
        Case first         = picture("7x7 first", type, numeric, 2, 30, 3, 64, 7, 2, 3, 1);
        int  each          = 16 / size_of_type(type);
        first.want.a_first = 1, first.want.a_type = HOLO_CUDA_F32, first.p.ldb = 49 * each;
        check_case(first);
    }
    Case groups       = picture("groups", type, numeric, 2, 10, 16, 24, 3, 1, 1, 1); // 4 groups of 16 channels
    groups.want.batch = 4, groups.p.inner = 4, groups.p.lda = 64, groups.p.a_batch[1] = 16,
    groups.p.b_batch[1] = 24 * groups.p.ldb;
    groups.p.ldc = 96, groups.p.c_batch[1] = 24, groups.p.bias_batch[1] = 24;
    check_case(groups);
}

// The kernels of tiled.cuh on a few sizes: what is wrong in all of them shows here.
void check_few()
{
    check_case(matrix("few", HOLO_CUDA_F16, 0, 128, 256, 64));
    check_case(matrix("few", HOLO_CUDA_F16, 0, 300, 264, 136));
    check_case(matrix("few", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32, 300, 264, 136));
    check_case(picture("few", HOLO_CUDA_F16, 0, 2, 13, 64, 72, 3, 1, 1, 1));
    check_case(matrix("few", HOLO_CUDA_F16, 0, 9000, 260, 72));
    check_case(matrix("few", HOLO_CUDA_F16, 0, 6304, 2304, 768));
}

void check_products()
{
    check_type(HOLO_CUDA_F16, 0);
    check_type(HOLO_CUDA_BF16, 0);
    check_type(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED);
    check_type(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT);
    check_type(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32);
    check_type(HOLO_CUDA_S8, 0);
    check_type(HOLO_CUDA_U8, 0);
}

// ---- the clock

// What the vendor's library takes: the best of the ways that it proposes. Same layouts: B is [n][k].
static double peer(const Case *c, Memory *x)
{
    static cublasLtHandle_t handle;
    if (!handle) CHECK(cublasLtCreate(&handle));
    const HoloCudaProduct     &p    = c->p;
    cudaDataType_t             type = c->want.type == HOLO_CUDA_F16    ? CUDA_R_16F
                                      : c->want.type == HOLO_CUDA_BF16 ? CUDA_R_16BF
                                                                       : CUDA_R_32F;
    cublasComputeType_t        how  = c->want.type == HOLO_CUDA_F32 && c->want.numeric == HOLO_CUDA_NUMERIC_TF32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
    cublasLtMatmulDesc_t       desc;
    cublasLtMatrixLayout_t     la, lb, lc;
    cublasLtMatmulPreference_t pref;
    cublasOperation_t          turned = CUBLAS_OP_T;
    size_t                     room   = 64 << 20;
    static Block               work;
    work.need(room);
    CHECK(cublasLtMatmulDescCreate(&desc, how, CUDA_R_32F));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
    CHECK(cublasLtMatrixLayoutCreate(&la, type, p.k, p.n, p.ldb));
    CHECK(cublasLtMatrixLayoutCreate(&lb, type, p.k, p.m, p.lda));
    CHECK(cublasLtMatrixLayoutCreate(&lc, type, p.n, p.m, p.ldc));
    CHECK(cublasLtMatmulPreferenceCreate(&pref));
    CHECK(cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
    cublasLtMatmulHeuristicResult_t ways[6];
    int                             count = 0;
    float                           one = 1, zero = 0;
    double                          best = 1e30;
    cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, pref, 6, ways, &count);
    for (int i = 0; i < count; i++) {
        double t = measure(
            [&](int, cudaStream_t s) {
                cublasLtMatmul(handle, desc, &one, p.b, la, p.a, lb, &zero, x->c.at, lc, x->c.at, lc, &ways[i].algo,
                               work.at, room, s);
            },
            10);
        if (t < best) best = t;
    }
    cublasLtMatmulPreferenceDestroy(pref);
    cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc);
    cublasLtMatmulDescDestroy(desc);
    return count ? best : 0;
}

static double time_as(const Case *c, Memory *x, const char *kernel, int splits, HoloCudaPick *pick)
{
    if (!holo_cuda_pick_product_as(&c->want, &c->p, kernel, splits, pick)) return 0;
    bind(pick, &c->p, x, x->c.at);
    for (int j = 0; j < pick->count; j++) launch(&pick->launch[j], 0);
    CHECK(cudaDeviceSynchronize());
    int times = pick->cost > 200 ? 5 : 20;
    return measure(
        [&](int, cudaStream_t s) {
            for (int j = 0; j < pick->count; j++) launch(&pick->launch[j], s);
        },
        times);
}

static void time_case(Case c, bool explore)
{
    static Memory x;
    fflush(stdout);
    prepare(&c, &x, 7);
    c.p.bias = (float *)x.bias.at, c.p.act = HOLO_CUDA_ACT_RELU;
    HoloCudaPick pick, best                = {};
    double       flops = 2.0 * c.p.m * c.p.n * c.p.k * c.want.batch, ours = time_as(&c, &x, nullptr, 0, &pick),
           fastest = 1e30;
    if (explore)
        for (const char *kernel : kernels)
            for (int splits : {1, 2, 4, 8}) {
                if (getenv("QUICK") && !strncmp(kernel, "product", 7)) continue;
                HoloCudaPick other;
                double       t = time_as(&c, &x, kernel, splits, &other);
                if (t && csv)
                    fprintf(csv, "%s,%d,%d,%d,%d,%s,%d,%.2f,%.2f\n", c.name, c.p.m, c.p.n, c.p.k, c.p.height, kernel,
                            splits, t, other.cost);
                if (t && t < fastest) fastest = t, best = other;
            }
    double theirs = c.p.height && c.p.kernel_h > 1 ? 0 : peer(&c, &x);
    printf("%-22s %-5s m%-6d n%-5d k%-5d %8.2f us %6.1f TF (est %.1f) %s x%u", c.name,
           c.want.type                                ? type_names[c.want.type]
           : c.want.numeric == HOLO_CUDA_NUMERIC_TF32 ? "tf32"
                                                      : "f32",
           c.p.m, c.p.n, c.p.k, ours, flops / ours * 1e-6, pick.cost, pick.launch[pick.count - 1].kernel,
           pick.launch[pick.count - 1].grid[1]);
    if (theirs) printf("  peer %.2f us (%.2fx)", theirs, theirs / ours);
    if (explore && fastest < ours * 0.97)
        printf("  best %.2f us %s x%u", fastest, best.launch[best.count - 1].kernel,
               best.launch[best.count - 1].grid[1]);
    printf("\n");
}

// One product of f16 by one kernel, for a profiler: ONE="kernel m n k".
void time_one()
{
    static Memory x;
    char          kernel[80];
    int           m, n, k;
    HoloCudaPick  pick;
    if (!getenv("ONE") || sscanf(getenv("ONE"), "%79s %d %d %d", kernel, &m, &n, &k) != 4) return;
    Case c = matrix("one", HOLO_CUDA_F16, 0, m, n, k);
    prepare(&c, &x, 7);
    c.p.bias = (float *)x.bias.at, c.p.act = HOLO_CUDA_ACT_RELU;
    double t = time_as(&c, &x, kernel, 0, &pick);
    printf("%s m%d n%d k%d %.2f us %.1f TF\n", kernel, m, n, k, t, 2.0 * m * n * k / t * 1e-6);
}

// Layers of the models that issue 25 measures.
void time_products(bool explore)
{
    static const struct {
        const char *name;
        int         m, n, k;
    } matrices[] = {
        {"big", 8192, 8192, 8192},        {"vit qkv 32", 6304, 2304, 768},      {"vit out 32", 6304, 768, 768},
        {"vit mlp1 32", 6304, 3072, 768}, {"vit mlp2 32", 6304, 768, 3072},     {"bert mlp1 32", 4096, 3072, 768},
        {"gpt2 qkv 32", 2048, 2304, 768}, {"gpt2 logits 32", 2048, 50257, 768}, {"vit qkv 1", 197, 2304, 768},
        {"vit out 1", 197, 768, 768},     {"vit mlp1 1", 197, 3072, 768},       {"vit mlp2 1", 197, 768, 3072},
        {"bert mlp1 1", 128, 3072, 768},  {"gpt2 out 1", 64, 768, 768},         {"gpt2 logits 1", 64, 50257, 768},
        {"vgg fc 1", 1, 4096, 25088},     {"vgg fc 32", 32, 4096, 25088},       {"llama mlp 512", 512, 5632, 2048}};
    static const struct {
        const char *name;
        int         images, side, channels, n, kernel, stride;
    } pictures[] = {
        {"resnet 56 64 3x3 32", 32, 56, 64, 64, 3, 1},    {"resnet 28 128 3x3 32", 32, 28, 128, 128, 3, 1},
        {"resnet 14 256 3x3 32", 32, 14, 256, 256, 3, 1}, {"resnet 7 512 3x3 32", 32, 7, 512, 512, 3, 1},
        {"resnet 56 64>256 32", 32, 56, 64, 256, 1, 1},   {"resnet 14 1024>256 32", 32, 14, 1024, 256, 1, 1},
        {"resnet 56 64 3x3 1", 1, 56, 64, 64, 3, 1},      {"resnet 14 256 3x3 1", 1, 14, 256, 256, 3, 1},
        {"resnet 7 512 3x3 1", 1, 7, 512, 512, 3, 1},     {"resnet 14 1024>256 1", 1, 14, 1024, 256, 1, 1},
        {"resnet 7 512>2048 1", 1, 7, 512, 2048, 1, 1},   {"vgg 224 64 32", 32, 224, 64, 64, 3, 1},
        {"vgg 56 256 32", 32, 56, 256, 256, 3, 1},        {"vgg 28 512 1", 1, 28, 512, 512, 3, 1},
        {"mobile 56 24>144 32", 32, 56, 24, 144, 1, 1}};
    static const int kinds[][2] = {
        {HOLO_CUDA_F16, 0}, {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32}, {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED}};
    for (auto &kind : kinds) {
        if (getenv("QUICK") && kind[0] == HOLO_CUDA_F32 && kind[1] == HOLO_CUDA_NUMERIC_FUSED) continue;
        for (auto &m : matrices)
            time_case(matrix(m.name, kind[0], kind[1], m.m, m.n, m.k), explore && (int64_t)m.m * m.n * m.k < 3e11);
        for (auto &m : pictures) {
            Case c    = picture(m.name, kind[0], kind[1], m.images, m.side, m.channels, m.n, m.kernel, m.stride,
                                m.kernel / 2, 1);
            c.p.width = m.side, c.p.out_w = c.p.out_h;
            c.p.m = m.images * c.p.out_h * c.p.out_w;
            if (m.kernel == 1) c.p.height = 0;
            time_case(c, explore);
        }
    }
}
