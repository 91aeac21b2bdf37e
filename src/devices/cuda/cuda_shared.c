// cuda_shared.c - opens a GPU for a model: finds the code for it in the archive, loads what is used, keeps the weights.
#include "devices/cuda/cuda_shared.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/library.h"
#include "base/memory.h"
#include "devices/cuda/cuda_panels.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGING = 4 << 20, POOL = 64 << 20, ALIGN = 256, CAPABILITY_LEAST = 80 };

// ---- opening

static HoloStatus device_open(HoloCudaShared *s, HoloError *error)
{
    int count = 0, major = 0, minor = 0;
    HOLO_CU_TRY(&s->cu, device_count(&count), error, "counting devices");
    if (s->number >= count)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "cuda: there is no device cuda:%d: this machine has %d, counted from 0", s->number, count);
    HOLO_CU_TRY(&s->cu, device_get(&s->device, s->number), error, "finding the device");
    HOLO_CU_TRY(&s->cu, device_name(s->name, sizeof s->name, s->device), error, "the name of the device");
    HOLO_CU_TRY(&s->cu, device_attribute(&s->multiprocessors, HOLO_CU_MULTIPROCESSORS, s->device), error, "the device");
    HOLO_CU_TRY(&s->cu, device_attribute(&major, HOLO_CU_CAPABILITY_MAJOR, s->device), error, "the device");
    HOLO_CU_TRY(&s->cu, device_attribute(&minor, HOLO_CU_CAPABILITY_MINOR, s->device), error, "the device");
    HOLO_CU_TRY(&s->cu, device_attribute(&s->shared_most, HOLO_CU_SHARED_OF_BLOCK, s->device), error, "the device");
    s->capability = major * 10 + minor;
    if (s->capability < CAPABILITY_LEAST)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "cuda: %s is sm_%d, and there is code for sm_%d and later ones alone: run the model on the CPU", s->name,
            s->capability, CAPABILITY_LEAST);
    HOLO_CU_TRY(&s->cu, context_retain(&s->context, s->device), error, "opening the device");
    HOLO_CU_TRY(&s->cu, context_push(s->context), error, "opening the device");
    HoloCuHandle ignored;
    HoloCuResult result = s->cu.stream_create(&s->streams[0], HOLO_CU_STREAM_OWN);
    if (!result) result = s->cu.stream_create(&s->streams[1], HOLO_CU_STREAM_OWN);
    if (!result) result = s->cu.host_take((void **)&s->staging, (size_t)2 * STAGING, HOLO_CU_HOST_PORTABLE);
    s->cu.context_pop(&ignored);
    return result ? holo_cu_fail(&s->cu, result, error, "opening the device") : HOLO_OK;
}

HoloStatus holo_cuda_share(const HoloDeviceSetup *setup, void **out_shared, HoloError *error)
{
    HoloCudaShared *s = *out_shared = holo_realloc(NULL, sizeof *s);
    if (!s) return holo_fail_memory(error);
    *s = (HoloCudaShared){.archive = setup->archive, .target = setup->target, .number = setup->number};
    holo_mutex_init(&s->lock);
    s->constants      = HOLO_NEW(&s->arena, HoloCuAddress, setup->archive->CONSTANTS_count + 1);
    s->sizes          = HOLO_NEW(&s->arena, size_t, setup->archive->CONSTANTS_count + 1);
    double     start  = holo_time_now();
    HoloStatus status = s->constants && s->sizes ? holo_cu_open(&s->cu, &s->library, error) : holo_fail_memory(error);
    double     driver = holo_time_now();
    if (!status) status = device_open(s, error);
    if (!status)
        holo_tell(HOLO_LOG_DEBUG, "cuda: the driver started in %.1f ms, the device in %.1f ms", (driver - start) * 1e3,
                  (holo_time_now() - driver) * 1e3);
    if (!status) return HOLO_OK;
    holo_cuda_unshare(s);
    *out_shared = NULL;
    return status;
}

void holo_cuda_unshare(void *shared)
{
    HoloCudaShared *s = shared;
    HoloCuHandle    ignored;
    if (!s) return;
    if (s->context && !s->cu.context_push(s->context)) {
        for (int i = 0; i < s->module_count; i++) s->cu.module_unload(s->modules[i].module);
        for (int i = 0; i < s->pool_count; i++) s->cu.give(s->pools[i]);
        if (s->staging) s->cu.host_give(s->staging);
        for (int i = 0; i < 2; i++)
            if (s->streams[i]) s->cu.stream_destroy(s->streams[i]);
        s->cu.context_pop(&ignored);
    }
    if (s->context) s->cu.context_release(s->device);
    holo_library_close(s->library);
    holo_mutex_deinit(&s->lock);
    holo_arena_deinit(&s->arena);
    holo_free(s);
}

// ---- code

// How well code fits this GPU: machine code of its own kind, then of an older one of the same generation, then PTX for it and
// later ones, as in "ptx_90", then any PTX. 0: not at all.
static int fitness(const HoloCudaShared *s, const char *kind)
{
    if (!strcmp(kind, "ptx")) return 1;
    if (!strncmp(kind, "ptx_", 4)) return s->capability >= atoi(kind + 4) ? 2 : 0;
    int made = strncmp(kind, "sm_", 3) ? 0 : atoi(kind + 3);
    return made / 10 == s->capability / 10 && made <= s->capability ? made : 0;
}

static const HoloCodeRecord *code_find(const HoloCudaShared *s, const char *module, char *have, size_t room)
{
    const HoloArchive    *a    = s->archive;
    const HoloCodeRecord *best = NULL;
    int                   most = 0;
    size_t                at   = 0;
    *have                      = 0;
    for (size_t i = 0; i < a->CODE_count; i++) {
        const HoloCodeRecord *r    = &a->CODE_at[i];
        const char           *kind = a->STRINGS_at + r->kind;
        if (r->target != s->target || strcmp(a->STRINGS_at + r->module, module)) continue;
        if (at < room) at += (size_t)snprintf(have + at, room - at, "%s%.16s", at ? ", " : "", kind);
        if (fitness(s, kind) <= most) continue;
        most = fitness(s, kind);
        best = r;
    }
    return best;
}

bool holo_cuda_has(const HoloCudaShared *s, const char *module)
{
    char have[200];
    return code_find(s, module, have, sizeof have) != NULL;
}

bool holo_cuda_has_clusters(const HoloCudaShared *s)
{
    const HoloArchive *a = s->archive;
    for (size_t i = 0; i < a->CODE_count; i++) {
        const char *kind = a->STRINGS_at + a->CODE_at[i].kind;
        if (a->CODE_at[i].target == s->target && !strcmp(kind, "sm_90") && fitness(s, kind)) return true;
    }
    return false;
}

static HoloStatus module_load(HoloCudaShared *s, const HoloCodeRecord *r, HoloCuHandle *out, HoloError *error)
{
    const HoloArchive *a    = s->archive;
    const char        *code = (const char *)a->CODE_DATA_at + r->offset;
    bool               text = !strncmp(a->STRINGS_at + r->kind, "ptx", 3);
    if (text && (!r->size || code[r->size - 1]))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "PTX must end with a 0 byte");
    if (!holo_hash_equal(holo_hash(code, r->size), (HoloHash){{r->hash[0], r->hash[1]}}))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the code of module %.40s is damaged: its hash differs",
                         a->STRINGS_at + r->module);
    double       start  = holo_time_now();
    HoloCuResult result = s->cu.module_load(out, code, 0, NULL, NULL);
    holo_tell(HOLO_LOG_DEBUG, "cuda: module %.40s, %zu bytes, in %.1f ms", a->STRINGS_at + r->module, (size_t)r->size,
              (holo_time_now() - start) * 1e3);
    if (result == HOLO_CU_BAD_PTX_VERSION)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "cuda: the driver is too old for the code of this archive: install a newer driver, or run the model "
            "on the CPU");
    char what[80];
    snprintf(what, sizeof what, "loading module %.40s", a->STRINGS_at + r->module);
    return result ? holo_cu_fail(&s->cu, result, error, what) : HOLO_OK;
}

static HoloStatus module_find(HoloCudaShared *s, const char *name, const HoloCudaModule **out, HoloError *error)
{
    char have[200];
    for (int i = 0; i < s->module_count; i++) {
        *out = &s->modules[i];
        if (!strcmp(s->modules[i].name, name)) return HOLO_OK;
    }
    const HoloCodeRecord *r = code_find(s, name, have, sizeof have);
    if (!r && !*have)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the archive has no code of module %.40s for cuda", name);
    if (!r)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "cuda: the archive has code for %s, but %s is sm_%d: compile the model again with --target "
                         "cuda:sm_%d",
                         have, s->name, s->capability, s->capability);
    if (!HOLO_GROW(&s->arena, s->modules, s->module_count, s->module_room)) return holo_fail_memory(error);
    HoloCudaModule *m    = &s->modules[s->module_count];
    const char     *kind = s->archive->STRINGS_at + r->kind;
    *m                   = (HoloCudaModule){.name     = s->archive->STRINGS_at + r->module,
                                            .is_early = !strcmp(kind, "sm_90") || !strcmp(kind, "ptx_90")};
    HOLO_TRY(module_load(s, r, &m->module, error));
    s->module_count++;
    *out = m;
    return HOLO_OK;
}

static HoloStatus function_add(HoloCudaShared *s, const char *module, const char *name, HoloCudaFunction **out,
                               HoloError *error)
{
    const HoloCudaModule *m = NULL;
    HOLO_TRY(module_find(s, module, &m, error));
    if (!HOLO_GROW(&s->arena, s->functions, s->function_count, s->function_room)) return holo_fail_memory(error);
    HoloCudaFunction *f = &s->functions[s->function_count];
    *f                  = (HoloCudaFunction){.module = m->name, .is_early = m->is_early};
    snprintf(f->name, sizeof f->name, "%s", name);
    HoloCuResult result = s->cu.function_get(&f->function, m->module, name);
    if (result == HOLO_CU_NOT_FOUND)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "module %.40s of the archive has no kernel %.60s", module, name);
    char what[120];
    snprintf(what, sizeof what, "kernel %.60s of module %.40s", name, module);
    if (result) return holo_cu_fail(&s->cu, result, error, what);
    s->function_count++;
    *out = f;
    return HOLO_OK;
}

static HoloStatus function_find(HoloCudaShared *s, const char *module, const char *name, uint32_t shared,
                                HoloCuHandle *out, bool *out_early, HoloError *error)
{
    enum { FREE = 48 << 10 }; // shared memory that every kernel may have
    HoloCudaFunction *f = NULL;
    for (int i = 0; i < s->function_count && !f; i++)
        if (!strcmp(s->functions[i].name, name) && !strcmp(s->functions[i].module, module)) f = &s->functions[i];
    if (!f) HOLO_TRY(function_add(s, module, name, &f, error));
    if (shared > FREE && shared > f->shared) {
        char what[120];
        snprintf(what, sizeof what, "%u bytes of shared memory for kernel %.60s", shared, name);
        HOLO_CU_TRY(&s->cu, function_set(f->function, HOLO_CU_SHARED_MOST, (int)shared), error, what);
        f->shared = shared;
    }
    *out       = f->function;
    *out_early = f->is_early;
    return HOLO_OK;
}

HoloStatus holo_cuda_function(HoloCudaShared *s, const char *module, const char *name, uint32_t shared,
                              HoloCuHandle *out, bool *out_early, HoloError *error)
{
    holo_mutex_lock(&s->lock);
    HoloStatus status = function_find(s, module, name, shared, out, out_early, error);
    holo_mutex_unlock(&s->lock);
    return status;
}

// ---- weights

// Many constants are small: they share blocks of memory.
static HoloStatus pool_take(HoloCudaShared *s, size_t size, HoloCuAddress *out, HoloError *error)
{
    size_t need = holo_align(size, ALIGN), block = need > POOL / 4 ? need : POOL;
    if (need > s->pool_left || block == need) {
        HoloCuAddress at;
        char          what[80];
        snprintf(what, sizeof what, "memory for weights, %zu bytes", block);
        if (!HOLO_GROW(&s->arena, s->pools, s->pool_count, s->pool_room)) return holo_fail_memory(error);
        HOLO_CU_TRY(&s->cu, take(&at, block), error, what);
        s->pools[s->pool_count++] = at;
        *out                      = at;
        if (block == need) return HOLO_OK;
        s->pool      = at;
        s->pool_left = block;
    }
    *out = s->pool;
    s->pool += need;
    s->pool_left -= need;
    return HOLO_OK;
}

// While one half of the pinned memory is on its way, the other is filled: with bytes of `from`, or with rows of panels.
static HoloStatus constant_bring(HoloCudaShared *s, const HoloCudaPanels *panels, const char *from, size_t size,
                                 HoloCuAddress to, HoloError *error)
{
    size_t row  = panels ? (size_t)(panels->bytes / panels->rows) : 1,
           most = panels ? STAGING / row / HOLO_PANEL * HOLO_PANEL * row : STAGING;
    int turn    = 0;
    for (size_t done = 0; done < size; done += most, turn = !turn) {
        size_t part = size - done < most ? size - done : most;
        char  *half = s->staging + (size_t)turn * STAGING;
        HOLO_CU_TRY(&s->cu, stream_wait(s->streams[turn]), error, "bringing weights");
        if (panels)
            holo_cuda_panels_turn(panels, from, (int64_t)(done / row), (int64_t)(part / row), half);
        else
            memcpy(half, from + done, part);
        HOLO_CU_TRY(&s->cu, copy_in(to + done, half, part, s->streams[turn]), error, "bringing weights");
    }
    for (int i = 0; i < 2; i++) HOLO_CU_TRY(&s->cu, stream_wait(s->streams[i]), error, "bringing weights");
    return HOLO_OK;
}

// Room for a constant. That of a product may be read with its rows as columns, which may take more.
static size_t room_of(const HoloCudaPanels *panels, size_t size)
{
    int64_t other = panels ? holo_cuda_packed_size(panels->k, panels->rows, panels->store) : 0;
    return (uint64_t)other > size && other > 0 ? (size_t)other : size;
}

HoloStatus holo_cuda_constant(HoloCudaShared *s, uint32_t number, const HoloCudaPanels *panels, const void *bytes,
                              size_t size, HoloCuAddress *out, HoloError *error)
{
    HoloStatus status = HOLO_OK;
    if (panels) size = (size_t)panels->bytes;
    holo_mutex_lock(&s->lock);
    HoloCuAddress at = s->constants[number];
    if (!at) {
        status = pool_take(s, room_of(panels, size) + 1, &at, error);
        if (!status) status = constant_bring(s, panels, bytes, size, at, error);
        if (!status) s->constants[number] = at, s->sizes[number] = size;
    } else if (s->sizes[number] != size) {
        status = holo_fail(error, HOLO_BAD_ARCHIVE, "constant %u is brought to cuda in two forms", number);
    }
    holo_mutex_unlock(&s->lock);
    *out = at;
    return status;
}
