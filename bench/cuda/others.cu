// others.cu - attention, norms, softmax, depthwise convolutions: against plain loops in double, and against the clock.
#include "bench.cuh"

static Block q_block, k_block, v_block, mask_block, out_block, again_block, truth_block, work_block, length_block,
    gain_block;

__device__ static double element(const void *p, int64_t at, int type)
{
    if (type == HOLO_CUDA_F32) return ((const float *)p)[at];
    if (type == HOLO_CUDA_F16) return __half2float(((const __half *)p)[at]);
    return __bfloat162float(((const __nv_bfloat16 *)p)[at]);
}

static HoloCudaWant want_of(int type, int numeric)
{
    HoloCudaWant w = {};
    w.type = type, w.numeric = numeric, w.align = 256, w.batch = 1, w.sms = 132;
    return w;
}

// Runs it twice into poisoned memory: near the reference, and the same bits.
static void run_twice(const char *name, HoloCudaPick *pick, void **out, size_t count, int type, double tolerance)
{
    static char bytes[2][1 << 20];
    size_t      size = count * size_of_type(type), some = size < sizeof bytes[0] ? size : sizeof bytes[0];
    for (int i = 0; i < 2; i++) {
        fill_byte(out_block.at, size, 0xff);
        *out = out_block.at;
        for (int j = 0; j < pick->count; j++) launch(&pick->launch[j], 0);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(bytes[i], out_block.at, some, cudaMemcpyDeviceToHost));
    }
    if (memcmp(bytes[0], bytes[1], some)) printf("FAIL %s: other bits the second time\n", name), failures++;
    judge(name, out_block.at, type, (double *)truth_block.at, count, tolerance);
    check_counters(name);
}

// ---- attention

__global__ void attention_reference(HoloCudaAttention p, int type, double *out)
{
    int64_t row = blockIdx.x, query = row % p.queries, head = row / p.queries % p.heads,
            batch = row / p.queries / p.heads;
    int64_t kv = head / (p.heads / p.kv_heads), keys = p.lengths ? min(p.lengths[batch], p.keys) : p.keys;
    int64_t past = p.past >= 0 ? p.past : keys - p.queries,
            end  = p.causal ? max(min(keys, query + past + 1), (int64_t)0) : keys;
    extern __shared__ double score[];
    double                   top = -INFINITY, sum = 0;
    for (int64_t k = threadIdx.x; k < end; k += blockDim.x) {
        double s = 0;
        for (int i = 0; i < p.size; i++)
            s += element(p.q, batch * p.q_stride[0] + head * p.q_stride[1] + query * p.q_stride[2] + i, type) *
                 element(p.k, batch * p.k_stride[0] + kv * p.k_stride[1] + k * p.k_stride[2] + i, type);
        s *= p.scale;
        int64_t at = batch * p.mask_stride[0] + head * p.mask_stride[1] + query * p.mask_stride[2] + k;
        if (p.mask_type == HOLO_CUDA_MASK_BOOL) s = ((const uint8_t *)p.mask)[at] ? s : -INFINITY;
        if (p.mask_type && p.mask_type != HOLO_CUDA_MASK_BOOL)
            s += element(p.mask, at, p.mask_type - HOLO_CUDA_MASK_F32);
        score[k] = s;
    }
    __syncthreads();
    for (int64_t k = 0; k < end; k++) top = fmax(top, score[k]);
    for (int64_t k = 0; k < end; k++) sum += top == -INFINITY ? 0 : exp(score[k] - top);
    for (int i = threadIdx.x; i < p.v_size; i += blockDim.x) {
        double x = 0;
        for (int64_t k = 0; k < end; k++)
            if (top != -INFINITY)
                x += exp(score[k] - top) *
                     element(p.v, batch * p.v_stride[0] + kv * p.v_stride[1] + k * p.v_stride[2] + i, type);
        out[batch * p.out_stride[0] + head * p.out_stride[1] + query * p.out_stride[2] + i] = sum == 0 ? 0 : x / sum;
    }
}

// [batch][row][heads][size], as models of text have it.
static HoloCudaAttention attention_of(int batch, int heads, int kv_heads, int queries, int keys, int size)
{
    HoloCudaAttention p = {};
    p.batch = batch, p.heads = heads, p.kv_heads = kv_heads, p.queries = queries, p.keys = keys,
    p.size = p.v_size = size;
    p.q_stride[2] = p.out_stride[2] = heads * size, p.q_stride[1] = p.out_stride[1] = size;
    p.q_stride[0] = p.out_stride[0] = (int64_t)queries * heads * size;
    p.k_stride[2] = p.v_stride[2] = kv_heads * size, p.k_stride[1] = p.v_stride[1] = size;
    p.k_stride[0] = p.v_stride[0] = (int64_t)keys * kv_heads * size;
    p.scale = 1 / sqrtf((float)size), p.past = keys - queries;
    return p;
}

static void attention_memory(HoloCudaAttention *p, int type)
{
    size_t q = (size_t)p->batch * p->queries * p->heads * p->size,
           k = (size_t)p->batch * p->keys * p->kv_heads * p->size;
    q_block.need(q * 4 + 16), k_block.need(k * 4 + 16), v_block.need(k * 4 + 16), out_block.need(q * 4 + 16),
        truth_block.need(q * 8 + 16);
    fill_random(q_block.at, q, type, 1, 3), fill_random(k_block.at, k, type, 2, 3),
        fill_random(v_block.at, k, type, 3, 1);
    mask_block.need((size_t)p->batch * p->queries * p->keys * 4 + 16);
    if (p->mask_type == HOLO_CUDA_MASK_BOOL) {
        fill_random(mask_block.at, (size_t)p->batch * p->queries * p->keys, HOLO_CUDA_S8, 4, 1);
    } else if (p->mask_type) {
        fill_random(mask_block.at, (size_t)p->batch * p->queries * p->keys, p->mask_type - HOLO_CUDA_MASK_F32, 4, 4);
    }
    p->q = q_block.at, p->k = k_block.at, p->v = v_block.at, p->mask = mask_block.at, p->out = out_block.at,
    p->counters = counters();
}

static void check_attention(HoloCudaAttention p, int type, int numeric, bool lengths)
{
    HoloCudaWant want = want_of(type, numeric);
    HoloCudaPick pick;
    char         name[160];
    size_t       count = (size_t)p.batch * p.queries * p.heads * p.size;
    attention_memory(&p, type);
    if (lengths) {
        int host[16];
        for (int i = 0; i < p.batch; i++) host[i] = p.keys - i * 7 > 1 ? p.keys - i * 7 : 1;
        length_block.need(64);
        CHECK(cudaMemcpy(length_block.at, host, sizeof host, cudaMemcpyHostToDevice));
        p.lengths = (int *)length_block.at;
    }
    attention_reference<<<p.batch * p.heads * p.queries, 64, p.keys * 8 + 8>>>(p, type, (double *)truth_block.at);
    CHECK(cudaDeviceSynchronize());
    if (!holo_cuda_pick_attention(&want, &p, &pick)) {
        printf("FAIL attention of %d is not picked\n", p.size), failures++;
        return;
    }
    work_block.need(pick.workspace + 256);
    fill_byte(work_block.at, pick.workspace, 0xff);
    pick.launch[0].params.attention.partial = (float *)work_block.at;
    snprintf(name, sizeof name, "%s b%d h%d/%d q%d k%d d%d mask %d causal %d splits %d", pick.launch[0].kernel, p.batch,
             p.heads, p.kv_heads, p.queries, p.keys, p.size, p.mask_type, p.causal,
             pick.launch[0].params.attention.splits);
    run_twice(name, &pick, &pick.launch[0].params.attention.out, count, type,
              type == HOLO_CUDA_F16               ? 2e-3
              : type                              ? 1.5e-2
              : numeric == HOLO_CUDA_NUMERIC_TF32 ? 5e-3
                                                  : 2e-5);
}

static void check_attentions(int type, int numeric)
{
    static const int shapes[][6] = {{1, 1, 1, 5, 1, 64},     {2, 3, 3, 64, 64, 64},     {1, 4, 2, 65, 129, 64},
                                    {2, 2, 1, 17, 300, 128}, {1, 2, 2, 100, 77, 40},    {1, 2, 2, 33, 50, 20},
                                    {1, 2, 1, 70, 70, 200},  {2, 12, 12, 197, 197, 64}, {1, 4, 4, 1, 513, 64},
                                    {2, 8, 1, 1, 1000, 64},  {3, 4, 2, 3, 65, 128},     {1, 2, 2, 1, 1, 36},
                                    {1, 6, 2, 2, 40, 96}};
    int              i           = 0;
    for (auto &s : shapes)
        for (int causal = 0; causal < 2; causal++, i++) {
            HoloCudaAttention p = attention_of(s[0], s[1], s[2], s[3], s[4], s[5]);
            p.causal = causal, p.mask_type = i % 5;
            if (p.past < 0) p.past = 0;
            p.mask_stride[0] = (int64_t)p.queries * p.keys, p.mask_stride[2] = p.keys;
            bool lengths = i % 3 == 1 && s[4] > s[3] + 7;
            if (lengths && causal) p.past = -1;
            check_attention(p, type, numeric, lengths);
        }
}

// ---- rows

__global__ void norm_reference(HoloCudaNorm p, double *out)
{
    int64_t row  = blockIdx.x;
    double  mean = 0, squares = 0, top = -INFINITY, sum = 0;
    auto    at = [&](int i) {
        return element(p.a, row * p.lda + i, p.a_type) + (p.more ? element(p.more, row * p.lda + i, p.a_type) : 0);
    };
    for (int i = 0; i < p.width; i++) mean += at(i), top = at(i) > top || isnan(at(i)) ? at(i) : top;
    mean = p.what == HOLO_CUDA_ROW_LAYER_NORM ? mean / p.width : 0;
    for (int i = 0; i < p.width; i++) squares += (at(i) - mean) * (at(i) - mean), sum += exp(at(i) - top);
    for (int i = threadIdx.x; i < p.width; i += blockDim.x) {
        double x = at(i), y;
        if (p.what == HOLO_CUDA_ROW_SOFTMAX)
            y = exp(x - top) / sum;
        else if (p.what == HOLO_CUDA_ROW_LOG_SOFTMAX)
            y = x - top - log(sum);
        else
            y = (x - mean) / sqrt(squares / p.width + p.epsilon) * (p.gain ? p.gain[i] + p.gain_add : 1) +
                (p.bias ? p.bias[i] : 0);
        out[row * p.ldc + i] = y;
    }
}

static void check_norm(int rows, int width, int what, int a_type, int c_type, bool more, int pad)
{
    HoloCudaNorm p    = {};
    HoloCudaWant want = want_of(a_type, 0);
    HoloCudaPick pick;
    char         name[160];
    size_t       in = (size_t)rows * (width + pad), out = (size_t)rows * (width + pad);
    q_block.need(in * 4 + 64), k_block.need(in * 4 + 64), v_block.need(in * 4 + 64), out_block.need(out * 4 + 64),
        truth_block.need(out * 8), gain_block.need(65536 * 8);
    fill_random(q_block.at, in, a_type, 5, 3), fill_random(k_block.at, in, a_type, 6, 3),
        fill_random(gain_block.at, 131072, HOLO_CUDA_F32, 7, 1);
    fill_byte(truth_block.at, out * 8, 0xff);
    p.a = q_block.at, p.rows = rows, p.width = width, p.lda = p.ldc = width + pad, p.epsilon = 1e-5f, p.what = what,
    p.a_type = a_type, p.c_type = c_type;
    p.gain = (float *)gain_block.at, p.bias = what ? nullptr : (float *)gain_block.at + 65536, p.gain_add = what == 1;
    if (more) p.more = k_block.at, p.sum = v_block.at;
    norm_reference<<<rows, 64>>>(p, (double *)truth_block.at);
    CHECK(cudaDeviceSynchronize());
    if (!holo_cuda_pick_norm(&want, &p, &pick)) {
        printf("FAIL norm is not picked\n"), failures++;
        return;
    }
    snprintf(name, sizeof name, "%s what %d of %dx%d more %d types %d %d", pick.launch[0].kernel, what, rows, width,
             more, a_type, c_type);
    run_twice(name, &pick, &pick.launch[0].params.norm.c, out, c_type,
              c_type == HOLO_CUDA_F32   ? 1e-5
              : c_type == HOLO_CUDA_F16 ? 1e-3
                                        : 8e-3);
}

static void check_norms()
{
    static const int shapes[][2] = {{1, 1},    {3, 15},    {17, 768},   {2000, 768}, {5, 1023},
                                    {9, 4099}, {2, 50257}, {1500, 197}, {40, 8192}};
    int              i           = 0;
    for (auto &s : shapes)
        for (int what = 0; what < 4; what++, i++)
            check_norm(s[0], s[1], what, i % 3, i % 2 ? i % 3 : 0, what < 2 && i % 4 == 1, i % 5 == 4 ? 3 : 0);
}

// ---- depthwise

__global__ void depthwise_reference(HoloCudaDepthwise p, int type, double *out)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= (int64_t)p.batch * p.out_h * p.out_w * p.channels) return;
    int64_t c = i % p.channels, x = i / p.channels % p.out_w, y = i / p.channels / p.out_w % p.out_h,
            b  = i / p.channels / p.out_w / p.out_h;
    double sum = p.bias[c];
    for (int ky = 0; ky < p.kernel_h; ky++)
        for (int kx = 0; kx < p.kernel_w; kx++) {
            int64_t iy = y * p.stride_h - p.pad_h + ky * p.dilation_h,
                    ix = x * p.stride_w - p.pad_w + kx * p.dilation_w;
            if (iy < 0 || ix < 0 || iy >= p.height || ix >= p.width) continue;
            sum += element(p.a, ((b * p.height + iy) * p.width + ix) * p.channels + c, type) *
                   element(p.b, (ky * p.kernel_w + kx) * p.channels + c, type);
        }
    if (p.more_how == HOLO_CUDA_MORE_ADD_BEFORE) sum += element(p.more, i, type);
    out[i] = p.act == HOLO_CUDA_ACT_CLIP ? fmin(fmax(sum, (double)p.low), (double)p.high) : sum;
}

static HoloCudaDepthwise depthwise_of(int batch, int side, int channels, int kernel, int stride, int pad, int dilation)
{
    HoloCudaDepthwise p = {};
    p.batch = batch, p.height = side, p.width = side + 1, p.channels = channels, p.kernel_h = p.kernel_w = kernel;
    p.stride_h = p.stride_w = stride, p.pad_h = p.pad_w = pad, p.dilation_h = p.dilation_w = dilation;
    p.out_h = (side + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    p.out_w = (side + 1 + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    p.low = 0, p.high = 6;
    return p;
}

static size_t depthwise_memory(HoloCudaDepthwise *p, int type)
{
    size_t in  = (size_t)p->batch * p->height * p->width * p->channels,
           out = (size_t)p->batch * p->out_h * p->out_w * p->channels;
    q_block.need(in * 4), k_block.need((size_t)p->kernel_h * p->kernel_w * p->channels * 4), v_block.need(out * 4),
        out_block.need(out * 4);
    truth_block.need(out * 8), gain_block.need(65536 * 8);
    fill_random(q_block.at, in, type, 8, 2),
        fill_random(k_block.at, (size_t)p->kernel_h * p->kernel_w * p->channels, type, 9, 1);
    fill_random(gain_block.at, 65536, HOLO_CUDA_F32, 10, 1), fill_random(v_block.at, out, type, 11, 1);
    p->a = q_block.at, p->b = k_block.at, p->c = out_block.at, p->bias = (float *)gain_block.at, p->more = v_block.at;
    return out;
}

static void check_depthwise(HoloCudaDepthwise p, int type, int act, int more)
{
    HoloCudaWant want = want_of(type, 0);
    HoloCudaPick pick;
    char         name[160];
    size_t       out = depthwise_memory(&p, type);
    p.act = act, p.more_how = more;
    depthwise_reference<<<(unsigned)((out + 127) / 128), 128>>>(p, type, (double *)truth_block.at);
    CHECK(cudaDeviceSynchronize());
    if (!holo_cuda_pick_depthwise(&want, &p, &pick)) {
        printf("FAIL depthwise is not picked\n"), failures++;
        return;
    }
    snprintf(name, sizeof name, "%s b%d %dx%d c%d k%d s%d d%d", pick.launch[0].kernel, p.batch, p.height, p.width,
             p.channels, p.kernel_h, p.stride_h, p.dilation_h);
    run_twice(name, &pick, &pick.launch[0].params.depthwise.c, out, type,
              type == HOLO_CUDA_F32   ? 1e-5
              : type == HOLO_CUDA_F16 ? 1e-3
                                      : 8e-3);
}

void check_others()
{
    check_attentions(HOLO_CUDA_F16, 0);
    check_attentions(HOLO_CUDA_BF16, 0);
    check_attentions(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED);
    check_attentions(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32);
    check_norms();
    for (int type = 0; type < 3; type++) {
        check_depthwise(depthwise_of(2, 14, 24, 3, 1, 1, 1), type, HOLO_CUDA_ACT_CLIP, 0);
        check_depthwise(depthwise_of(1, 15, 16, 3, 2, 1, 1), type, 0, HOLO_CUDA_MORE_ADD_BEFORE);
        check_depthwise(depthwise_of(1, 3, 8, 3, 1, 0, 1), type, 0, 0);
        check_depthwise(depthwise_of(2, 20, 40, 5, 2, 2, 1), type, HOLO_CUDA_ACT_CLIP, 0);
        check_depthwise(depthwise_of(1, 17, 8, 3, 1, 2, 2), type, 0, 0);
    }
}

// ---- the clock

static double time_pick(HoloCudaPick *pick)
{
    launch(&pick->launch[0], 0);
    CHECK(cudaDeviceSynchronize());
    return measure([&](int, cudaStream_t s) { launch(&pick->launch[0], s); }, 20);
}

void time_others()
{
    static const int shapes[][7] = {{1, 12, 12, 197, 197, 64, 0}, {32, 12, 12, 197, 197, 64, 0},
                                    {1, 12, 12, 128, 128, 64, 0}, {32, 12, 12, 128, 128, 64, 0},
                                    {1, 12, 12, 64, 64, 64, 1},   {1, 32, 4, 512, 512, 64, 1},
                                    {1, 32, 4, 1, 600, 64, 1},    {4, 16, 16, 4096, 4096, 128, 1}};
    static const int kinds[][2]  = {
         {HOLO_CUDA_F16, 0}, {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32}, {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED}};
    for (auto &kind : kinds)
        for (auto &s : shapes) {
            HoloCudaAttention p    = attention_of(s[0], s[1], s[2], s[3], s[4], s[5]);
            HoloCudaWant      want = want_of(kind[0], kind[1]);
            HoloCudaPick      pick;
            p.causal = s[6];
            attention_memory(&p, kind[0]);
            if (!holo_cuda_pick_attention(&want, &p, &pick)) continue;
            work_block.need(pick.workspace + 256);
            pick.launch[0].params.attention.partial = (float *)work_block.at;
            double t = time_pick(&pick), flops = 4.0 * s[0] * s[1] * s[3] * s[4] * s[5] * (s[6] && s[3] > 1 ? 0.5 : 1);
            printf("%-22s b%d h%d q%d k%d d%d causal %d: %.2f us %.1f TF\n", pick.launch[0].kernel, s[0], s[1], s[3],
                   s[4], s[5], s[6], t, flops / t * 1e-6);
        }
    for (int rows : {197, 6304}) {
        HoloCudaWant want = want_of(HOLO_CUDA_F16, 0);
        HoloCudaNorm p    = {};
        HoloCudaPick pick;
        q_block.need((size_t)rows * 768 * 4), out_block.need((size_t)rows * 768 * 4), gain_block.need(65536 * 8);
        fill_random(q_block.at, (size_t)rows * 768, HOLO_CUDA_F16, 1, 1);
        p.a = q_block.at, p.c = out_block.at, p.rows = rows, p.width = p.lda = p.ldc = 768, p.epsilon = 1e-5f,
        p.a_type = p.c_type = HOLO_CUDA_F16;
        p.gain = p.bias = (float *)gain_block.at;
        if (holo_cuda_pick_norm(&want, &p, &pick))
            printf("%-22s %dx768 f16: %.2f us\n", pick.launch[0].kernel, rows, time_pick(&pick));
    }
    for (int stride = 1; stride <= 2; stride++)
        for (int batch : {1, 32}) {
            HoloCudaDepthwise p    = depthwise_of(batch, 56, 144, 3, stride, 1, 1);
            HoloCudaWant      want = want_of(HOLO_CUDA_F16, 0);
            HoloCudaPick      pick;
            size_t            out = depthwise_memory(&p, HOLO_CUDA_F16);
            if (!holo_cuda_pick_depthwise(&want, &p, &pick)) continue;
            double t = time_pick(&pick);
            printf("%-22s b%d 56 c144: %.2f us %.2f TB/s\n", pick.launch[0].kernel, batch, t,
                   (out + (double)batch * 56 * 57 * 144) * 2 / t * 1e-6);
        }
}
