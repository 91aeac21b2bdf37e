// trace.c - a library that writes when each kernel of a program ran: which overlap, and what is between them. NVIDIA's driver loads it:
//
//   gcc -O2 -shared -fPIC -I/usr/local/cuda/include -o trace.so bench/cuda/trace.c -L/usr/local/cuda/lib64 -lcupti
//   CUDA_INJECTION64_PATH=$PWD/trace.so TRACE=kernels.txt hologram bench model.holo --device cuda:0
//
// A line for each kernel, in the order of their starts: start and time in nanoseconds, blocks, name; kernels of a graph are apart.
#include <cupti.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8 << 20 };

static FILE *out;

static void CUPTIAPI buffer_give(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size   = *buffer ? BUFFER : 0;
    *most   = 0;
}

static void CUPTIAPI buffer_take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)record;
            fprintf(out, "%llu %llu %d %s\n", (unsigned long long)k->start, (unsigned long long)(k->end - k->start),
                    k->gridX * k->gridY * k->gridZ, k->name);
        } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            const CUpti_ActivityMemcpy6 *m = (const CUpti_ActivityMemcpy6 *)record;
            fprintf(out, "%llu %llu %llu copy\n", (unsigned long long)m->start, (unsigned long long)(m->end - m->start),
                    (unsigned long long)m->bytes);
        }
    }
    free(buffer);
}

static void finish(void)
{
    cuptiActivityFlushAll(1);
    fclose(out);
}

int InitializeInjection(void)
{
    const char *path = getenv("TRACE");
    out              = fopen(path ? path : "kernels.txt", "w");
    if (!out) return 0;
    cuptiActivityRegisterCallbacks(buffer_give, buffer_take);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    atexit(finish);
    return 1;
}
