// main.cu - checks all heavy kernels against a reference in double, and measures them.
//
//     bench CUBINS [few] [check] [time] [explore] [csv=FILE]
#include "bench.cuh"

int   failures, checks;
FILE *csv;

static const char *folder;

int size_of_type(int type)
{
    return type == HOLO_CUDA_F32 || type == HOLO_CUDA_S32 ? 4 : type <= HOLO_CUDA_BF16 ? 2 : 1;
}

__global__ void random_kernel(void *at, size_t count, int type, uint32_t seed, float scale)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ull ^ (uint64_t)seed * 0xD1B54A32D192ED03ull;
        x ^= x >> 29, x *= 0xBF58476D1CE4E5B9ull, x ^= x >> 32;
        float f = ((float)(x & 0xffffff) / (float)0x800000 - 1) * scale;
        if (type == HOLO_CUDA_F32) ((float *)at)[i] = f;
        if (type == HOLO_CUDA_F16) ((__half *)at)[i] = __float2half(f);
        if (type == HOLO_CUDA_BF16) ((__nv_bfloat16 *)at)[i] = __float2bfloat16(f);
        if (type >= HOLO_CUDA_S8) ((int8_t *)at)[i] = (int8_t)(x % 255 - 127);
    }
}

void fill_random(void *at, size_t count, int type, uint32_t seed, float scale)
{
    random_kernel<<<1024, 256>>>(at, count, type, seed, scale);
    CHECK(cudaGetLastError());
}

void fill_byte(void *at, size_t bytes, int byte)
{
    CHECK(cudaMemset(at, byte, bytes));
}

double read_double(const void *host, size_t i, int type)
{
    switch (type) {
    case HOLO_CUDA_F32: return ((const float *)host)[i];
    case HOLO_CUDA_F16: return __half2float(((const __half *)host)[i]);
    case HOLO_CUDA_BF16: return __bfloat162float(((const __nv_bfloat16 *)host)[i]);
    case HOLO_CUDA_S8: return ((const int8_t *)host)[i];
    case HOLO_CUDA_S32: return ((const int32_t *)host)[i];
    default: return ((const uint8_t *)host)[i];
    }
}

CUfunction find_kernel(const HoloCudaLaunch *l)
{
    static struct Known {
        const char *kernel;
        CUfunction  function;
        Known      *next;
    } * known;
    for (Known *k = known; k; k = k->next)
        if (!strcmp(k->kernel, l->kernel)) return k->function;
    char     path[512];
    CUmodule module;
    Known   *k = new Known{l->kernel, 0, known};
    snprintf(path, sizeof path, "%s/%s.cubin", folder, l->module);
    CUresult code = cuModuleLoad(&module, path);
    if (code) snprintf(path, sizeof path, "%s/%s.ptx", folder, l->module), code = cuModuleLoad(&module, path);
    if (code || (code = cuModuleGetFunction(&k->function, module, l->kernel)))
        fprintf(stderr, "%s: %s: %d\n", path, l->kernel, code), exit(2);
    if (strstr(l->kernel, "x") || !strncmp(l->kernel, "attention", 9)) // tiles
        CHECK(cuFuncSetAttribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 226 * 1024));
    known = k;
    return k->function;
}

void launch(const HoloCudaLaunch *l, cudaStream_t stream)
{
    static int        overlap        = getenv("OVERLAP") != nullptr;
    void             *args[]         = {(void *)&l->params};
    CUlaunchAttribute attributes[2]  = {};
    CUlaunchConfig    c              = {};
    attributes[0].id                 = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    attributes[0].value.clusterDim.x = attributes[0].value.clusterDim.z = 1;
    attributes[0].value.clusterDim.y                                    = l->cluster;
    attributes[1].id                                           = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    c.gridDimX = l->grid[0], c.gridDimY = l->grid[1], c.gridDimZ = l->grid[2];
    c.blockDimX = l->block, c.blockDimY = c.blockDimZ = 1;
    c.sharedMemBytes = l->shared, c.hStream = stream;
    c.attrs = l->cluster > 1 ? attributes : attributes + 1, c.numAttrs = (l->cluster > 1) + overlap;
    CHECK(cuLaunchKernelEx(&c, find_kernel(l), args, nullptr));
}

void encode(const HoloCudaMap *map, const void *address, void *out)
{
    static const CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                                CU_TENSOR_MAP_DATA_TYPE_BFLOAT16};
    alignas(64) CUtensorMap made;
    void                   *at = (void *)address;
    if (map->is_image)
        CHECK(cuTensorMapEncodeIm2col(&made, types[map->type], map->rank, at, (const cuuint64_t *)map->size,
                                      (const cuuint64_t *)map->stride, map->lower, map->upper, map->box[0], map->box[1],
                                      map->step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    else
        CHECK(cuTensorMapEncodeTiled(&made, types[map->type], map->rank, at, (const cuuint64_t *)map->size,
                                     (const cuuint64_t *)map->stride, map->box, map->step,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    memcpy(out, &made, sizeof made);
}

uint32_t *counters()
{
    static uint32_t *at;
    if (!at) {
        CHECK(cudaMalloc(&at, HOLO_CUDA_COUNTERS * 4));
        CHECK(cudaMemset(at, 0, HOLO_CUDA_COUNTERS * 4));
    }
    return at;
}

void check_counters(const char *what)
{
    static uint32_t host[HOLO_CUDA_COUNTERS];
    CHECK(cudaMemcpy(host, counters(), sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < HOLO_CUDA_COUNTERS; i++)
        if (host[i]) {
            printf("FAIL %s: counter %d is left at %u\n", what, i, host[i]), failures++;
            CHECK(cudaMemset(counters(), 0, sizeof host));
            return;
        }
}

void judge(const char *name, const void *device, int type, const double *device_reference, size_t count,
           double tolerance)
{
    char   *got  = (char *)malloc(count * 4 + 1);
    double *want = (double *)malloc(count * 8 + 8), worst = 0, largest = 1e-30;
    size_t  at = 0, odd = count;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, device, count * size_of_type(type), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(want, device_reference, count * 8, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        if (isfinite(want[i])) largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < count; i++) {
        double g = read_double(got, i, type), w = want[i];
        if (!isfinite(w) || !isfinite(g)) {
            bool same = isnan(w) ? isnan(g) || (type >= HOLO_CUDA_S8 && g == -1) : // poison
                            isinf(w) ? g == w
                                     : false;
            if (!same && odd == count) odd = i;
        } else if (fabs(g - w) > worst) {
            worst = fabs(g - w), at = i;
        }
    }
    checks++;
    if (odd < count || worst > tolerance * largest) {
        failures++;
        if (odd < count)
            printf("FAIL %s: at %zu of %zu %g, not %g\n", name, odd, count, read_double(got, odd, type), want[odd]);
        if (worst > tolerance * largest)
            printf("FAIL %s: at %zu of %zu %g, not %g (largest %g)\n", name, at, count, read_double(got, at, type),
                   want[at], largest);
    }
    free(got);
    free(want);
}

int main(int argc, char **argv)
{
    bool check = false, time = false, explore = false, few = false;
    folder = argc > 1 ? argv[1] : ".";
    for (int i = 2; i < argc; i++) {
        check   = check || !strcmp(argv[i], "check");
        few     = few || !strcmp(argv[i], "few");
        time    = time || !strcmp(argv[i], "time");
        explore = explore || !strcmp(argv[i], "explore");
        if (!strncmp(argv[i], "csv=", 4)) csv = fopen(argv[i] + 4, "w");
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    if (few) check_few();
    if (check) check_products(), check_others();
    if (check || few) printf("%d checks, %d failures\n", checks, failures);
    time_one();
    if (time || explore) time_products(explore);
    if (time) time_others();
    if (csv) fclose(csv);
    return failures != 0;
}
