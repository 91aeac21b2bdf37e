// fake_driver.c - a library with the name of NVIDIA's driver, for machines without one. It has memory, streams and graphs
// that are counted. Kernels of modules that have been compiled for the CPU (see on_cpu/on_cpu.h) run there; others are only counted.
//
// Addresses of its memory lie where nobody else may touch them. A stream does at once what it is asked to do, except while
// it is recorded.
#include "fake_driver.h"

#include "devices/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum {
    FAILED           = 1,
    WHILE_RECORDED   = 900,
    INVALID_VALUE    = 1,
    BAD_HANDLE       = 400,
    UNKNOWN_FUNCTION = HOLO_CU_NOT_FOUND,
    STEPS            = 256,
    FUNCTIONS        = 256,
    TOUCHED          = 1 << 18,
    FREE_SHARED      = 48 << 10 // that every function may have
};
static const uint64_t SHIFT = UINT64_C(1) << 62;

typedef struct Function {
    void         *kernel; // NULL: it is only counted
    HoloOnCpuRun *run;
    int           shared; // dynamic shared memory that was asked for
} Function;

typedef struct Launch {
    const Function *function;
    uint32_t        grid[3], block;
    uint8_t         args[512];
} Launch;

typedef struct Graph {
    Launch list[STEPS];
    int    count;
} Graph;

typedef struct Module {
    void     *library; // NULL: none of its kernels runs on the CPU
    Function *functions[FUNCTIONS];
    int       count;
} Module;

typedef struct Piece { // of memory
    uint64_t      at, size;
    struct Piece *next;
} Piece;

typedef struct Thing { // that a context has: it goes with it
    void *what;
    void (*drop)(void *what);
    struct Thing *next;
} Thing;

static HoloFakeDriver fake = {.version = 13000, .devices = 1, .capability = 90, .memory_left = (size_t)1 << 40};
static Graph         *recording;
static Piece         *pieces;
static Thing         *things;

EXPORT HoloFakeDriver *holo_fake_driver(void)
{
    return &fake;
}

// Counts a call. Those that shall fail do nothing, as a rule: see HoloFakeDriver.fails_at.
static int call_begin(const char *name)
{
    bool is_it = ++fake.calls == fake.fails_at;
    if (is_it) snprintf(fake.failed, sizeof fake.failed, "%s", name);
    return is_it || (fake.fails_on && fake.fails_at && fake.calls > fake.fails_at) ? fake.fails_with : 0;
}

#define TRY()                               \
    do {                                    \
        int result_ = call_begin(__func__); \
        if (result_) return result_;        \
    } while (0)

static void *thing_add(void *what, void (*drop)(void *))
{
    Thing *t = malloc(sizeof *t);
    *t       = (Thing){what, drop, things};
    return (things = t)->what;
}

static void thing_drop(void *what)
{
    for (Thing **t = &things; *t; t = &(*t)->next) {
        if ((*t)->what != what) continue;
        Thing *gone = *t;
        *t          = gone->next;
        gone->drop(what);
        free(gone);
        return;
    }
    fprintf(stderr, "fake driver: something is given back that it does not have\n");
    abort();
}

// What nobody gave back, of a context that is gone.
static void things_lose(void)
{
    for (; things; fake.lost++) thing_drop(things->what);
    fake.held = fake.modules = fake.streams = fake.graphs = 0;
}

static void *there(uint64_t address)
{
    return (void *)(uintptr_t)(address - SHIFT);
}

// ---- the machine

EXPORT int cuInit(unsigned flags)
{
    TRY();
    (void)flags;
    return fake.devices ? 0 : HOLO_CU_NO_DEVICE;
}

EXPORT int cuDriverGetVersion(int *out)
{
    TRY();
    *out = fake.version;
    return 0;
}

EXPORT int cuDeviceGetCount(int *out)
{
    TRY();
    *out = fake.devices;
    return 0;
}

EXPORT int cuDeviceGet(int *out, int number)
{
    TRY();
    *out = number;
    return 0;
}

EXPORT int cuDeviceGetName(char *out, int room, int device)
{
    TRY();
    (void)device;
    strncpy(out, "Fake GPU", (size_t)room);
    return 0;
}

// Shared memory of a block, on an H200 and a B200, an A100, and the small ones of sm_86, sm_89 and sm_120.
static int shared_most(void)
{
    return fake.capability == 80                                     ? 163 << 10
           : fake.capability / 10 == 9 || fake.capability / 10 == 10 ? 227 << 10
                                                                     : 99 << 10;
}

EXPORT int cuDeviceGetAttribute(int *out, int what, int device)
{
    TRY();
    (void)device;
    *out = what == HOLO_CU_MULTIPROCESSORS    ? 132
           : what == HOLO_CU_CAPABILITY_MAJOR ? fake.capability / 10
           : what == HOLO_CU_CAPABILITY_MINOR ? fake.capability % 10
           : what == HOLO_CU_SHARED_OF_BLOCK  ? shared_most()
                                              : 0;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **out, int device)
{
    TRY();
    (void)device;
    fake.contexts++;
    *out = &fake;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    int result = call_begin(__func__);
    (void)device;
    if (!--fake.contexts) things_lose();
    return result;
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    TRY();
    fake.depth++;
    return context == &fake ? 0 : BAD_HANDLE;
}

EXPORT int cuCtxPopCurrent_v2(void **out)
{
    int result = call_begin(__func__);
    fake.depth--;
    *out = &fake;
    return result;
}

// ---- memory

EXPORT int cuMemGetInfo_v2(size_t *out_free, size_t *out_all)
{
    TRY();
    *out_free = *out_all = (size_t)1 << 40;
    return 0;
}

static void piece_drop(void *piece)
{
    Piece **p = &pieces;
    while (*p != piece) p = &(*p)->next;
    *p = (*p)->next;
    free(there(((Piece *)piece)->at));
    free(piece);
}

EXPORT int cuMemAlloc_v2(uint64_t *out, size_t size)
{
    TRY();
    if (recording) return WHILE_RECORDED;
    void *memory = fake.memory_left < size ? NULL : malloc(size);
    if (!memory) return HOLO_CU_OUT_OF_MEMORY;
    Piece *piece = malloc(sizeof *piece);
    fake.takes++;
    fake.held++;
    *out   = (uint64_t)(uintptr_t)memory + SHIFT;
    *piece = (Piece){*out, size, pieces};
    pieces = piece;
    thing_add(piece, piece_drop);
    memset(memory, 0xff, size < TOUCHED ? size : TOUCHED); // NaN, and no index
    return 0;
}

EXPORT int cuMemFree_v2(uint64_t address)
{
    int    result = call_begin(__func__);
    Piece *p      = pieces;
    while (p && p->at != address) p = p->next;
    thing_drop(p);
    fake.held--;
    return result;
}

EXPORT int cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    TRY();
    (void)flags;
    fake.takes++;
    fake.held++;
    *out = thing_add(malloc(size), free);
    return 0;
}

EXPORT int cuMemFreeHost(void *memory)
{
    int result = call_begin(__func__);
    thing_drop(memory);
    fake.held--;
    return result;
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
    TRY();
    fake.copies_in++;
    fake.stream = stream;
    memcpy(there(to), from, size);
    return 0;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream)
{
    TRY();
    fake.copies_out++;
    fake.stream = stream;
    memcpy(to, there(from), size);
    return 0;
}

EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream)
{
    TRY();
    fake.copies_within++;
    fake.stream = stream;
    memmove(there(to), there(from), size);
    return 0;
}

EXPORT int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream)
{
    TRY();
    uint32_t *words = there(to);
    (void)stream;
    for (size_t i = 0; i < count; i++) words[i] = value;
    return 0;
}

EXPORT int cuTensorMapEncodeTiled(void *out, int type, uint32_t rank, void *address, const uint64_t *size,
                                  const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
                                  int swizzle, int promotion, int fill)
{
    TRY();
    (void)stride, (void)step, (void)interleave, (void)promotion, (void)fill;
    if ((uintptr_t)out % 64 || (uintptr_t)address % 16 || rank != 3 || swizzle != 3 || box[2] > 256 || !size[0] ||
        !size[2])
        return INVALID_VALUE;
    memset(out, type, 128);
    fake.maps++;
    return 0;
}

EXPORT int cuTensorMapEncodeIm2col(void *out, int type, uint32_t rank, void *address, const uint64_t *size,
                                   const uint64_t *stride, const int32_t *lower, const int32_t *upper,
                                   uint32_t channels, uint32_t pixels, const uint32_t *step, int interleave,
                                   int swizzle, int promotion, int fill)
{
    TRY();
    (void)size, (void)stride, (void)step, (void)interleave, (void)promotion, (void)fill, (void)channels;
    if ((uintptr_t)out % 64 || (uintptr_t)address % 16 || rank != 4 || swizzle != 3 || pixels > 256)
        return INVALID_VALUE;
    for (int i = 0; i < 2; i++)
        if (lower[i] < -128 || lower[i] > 127 || upper[i] < -128 || upper[i] > 127) return INVALID_VALUE;
    memset(out, type, 128);
    fake.maps++;
    return 0;
}

EXPORT int cuPointerGetAttribute(void *out, int what, uint64_t address)
{
    TRY();
    (void)out, (void)what, (void)address;
    return BAD_HANDLE;
}

// ---- kernels

// Addresses among the parameters, as the host has them.
static void addresses_find(uint64_t *words, int count)
{
    for (int i = 0; i < count; i++)
        for (const Piece *p = pieces; p; p = p->next)
            if (words[i] >= p->at && words[i] < p->at + p->size + 1) {
                words[i] -= SHIFT;
                break;
            }
}

static void compute(const Launch *l)
{
    uint64_t args[sizeof l->args / sizeof(uint64_t)];
    fake.kernels++;
    if (!l->function->kernel) return;
    memcpy(args, l->args, sizeof args);
    addresses_find(args, (int)(sizeof args / sizeof *args));
    l->function->run(l->function->kernel, args, l->grid, l->block, fake.is_backwards);
    fake.computed++;
}

// The "code" of a module is its name, and its kernels are in the library of that name beside this one, if there is one.
static void *library_open(const char *module)
{
    char        path[1024];
    Dl_info     self;
    const char *slash = NULL;
    if (dladdr((void *)(uintptr_t)&pieces, &self)) slash = strrchr(self.dli_fname, '/');
    if (!slash || strlen(module) > 40) return NULL;
    snprintf(path, sizeof path, "%.*s/%s.so", (int)(slash - self.dli_fname), self.dli_fname, module);
    return access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void module_drop(void *module)
{
    Module *m = module;
    for (int i = 0; i < m->count; i++) free(m->functions[i]);
    if (m->library) dlclose(m->library);
    free(m);
}

EXPORT int cuModuleLoadDataEx(void **out, const void *code, unsigned count, int *options, void **values)
{
    TRY();
    (void)count, (void)options, (void)values;
    if (fake.module_fails) return fake.module_fails;
    Module *m  = calloc(1, sizeof *m);
    m->library = library_open(code);
    fake.modules++;
    *out = thing_add(m, module_drop);
    return 0;
}

EXPORT int cuModuleUnload(void *module)
{
    int result = call_begin(__func__);
    thing_drop(module);
    fake.modules--;
    return result;
}

EXPORT int cuModuleGetFunction(void **out, void *module, const char *name)
{
    TRY();
    Module   *m = module;
    Function *f = m->count < FUNCTIONS ? calloc(1, sizeof *f) : NULL;
    if (!f) return UNKNOWN_FUNCTION;
    *out = m->functions[m->count++] = f;
    snprintf(fake.function, sizeof fake.function, "%s", name);
    if (!m->library) return 0;
    f->kernel         = dlsym(m->library, name);
    *(void **)&f->run = dlsym(m->library, "holo_on_cpu");
    return f->kernel && f->run ? 0 : UNKNOWN_FUNCTION;
}

EXPORT int cuFuncSetAttribute(void *function, int what, int value)
{
    TRY();
    Function *f = function;
    if (what != HOLO_CU_SHARED_MOST || value > shared_most()) return INVALID_VALUE;
    f->shared = value;
    return 0;
}

EXPORT int cuLaunchKernelEx(const HoloCuLaunchConfig *config, void *function, void **args, void **more)
{
    TRY();
    Launch l = {
        .function = function, .grid = {config->grid[0], config->grid[1], config->grid[2]}, .block = config->block[0]};
    (void)more;
    if ((int)config->shared > (l.function->shared > FREE_SHARED ? l.function->shared : FREE_SHARED))
        return INVALID_VALUE;
    for (uint32_t i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id == HOLO_CU_LAUNCH_CLUSTER && ++fake.clusters && fake.capability < 90)
            return INVALID_VALUE;
    memcpy(l.args, args[0], sizeof l.args);
    fake.launches++;
    fake.stream = config->stream;
    if (fake.launch_fails) return fake.launch_fails;
    if (!recording)
        compute(&l);
    else if (recording->count == STEPS)
        return FAILED;
    else
        recording->list[recording->count++] = l;
    return 0;
}

// ---- streams and graphs

EXPORT int cuStreamCreate(void **out, unsigned flags)
{
    TRY();
    (void)flags;
    fake.streams++;
    *out = thing_add(malloc(1), free);
    return 0;
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    int result = call_begin(__func__);
    thing_drop(stream);
    fake.streams--;
    return result;
}

EXPORT int cuStreamSynchronize(void *stream)
{
    TRY();
    (void)stream;
    fake.waits++;
    return recording ? WHILE_RECORDED : fake.wait_fails;
}

EXPORT int cuStreamBeginCapture_v2(void *stream, int how)
{
    TRY();
    (void)stream, (void)how;
    if (recording) return WHILE_RECORDED;
    recording = thing_add(calloc(1, sizeof *recording), free);
    fake.graphs++;
    return 0;
}

EXPORT int cuStreamEndCapture(void *stream, void **out)
{
    int result = call_begin(__func__);
    (void)stream;
    *out = recording;
    if (result && recording) { // a recording that failed has ended
        thing_drop(recording);
        fake.graphs--;
        *out = NULL;
    }
    recording = NULL;
    return result;
}

EXPORT int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags)
{
    TRY();
    Graph *made = malloc(sizeof *made);
    (void)flags;
    *made = *(Graph *)graph;
    fake.graphs++;
    *out = thing_add(made, free);
    return 0;
}

EXPORT int cuGraphUpload(void *graph, void *stream)
{
    TRY();
    (void)graph, (void)stream;
    return 0;
}

EXPORT int cuGraphLaunch(void *graph, void *stream)
{
    TRY();
    const Graph *g = graph;
    fake.graph_launches++;
    fake.stream = stream;
    for (int i = 0; i < g->count; i++) compute(&g->list[i]);
    return 0;
}

EXPORT int cuGraphDestroy(void *graph)
{
    int result = call_begin(__func__);
    thing_drop(graph);
    fake.graphs--;
    return result;
}

EXPORT int cuGraphExecDestroy(void *graph)
{
    int result = call_begin(__func__);
    thing_drop(graph);
    fake.graphs--;
    return result;
}

EXPORT int cuGetErrorString(int result, const char **out)
{
    *out = result == HOLO_CU_OUT_OF_MEMORY ? "out of memory" : "something failed";
    return 0;
}

EXPORT int cuGetErrorName(int result, const char **out)
{
    (void)result;
    *out = "CUDA_ERROR";
    return 0;
}
