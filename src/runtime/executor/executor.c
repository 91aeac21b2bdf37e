// executor.c - executors and their buffers: the pool of classes, and buffers with memory of their own.
#include "runtime/executor/executor.h"
#include "runtime/pool.h"

#include <string.h>

static const size_t CLASSES_BYTES = (size_t)HOLO_EXECUTOR_CLASSES * HOLO_CLASS_BYTES;

static HoloStatus device_find(const char *backend, const HoloDevice **out, HoloError *error)
{
    char there[200];
    *out = !backend ? NULL : strcmp(backend, "auto") ? holo_device_find(backend) : holo_devices[0];
    if (*out && (*out)->programs) return HOLO_OK;
    holo_device_names(there, sizeof there);
    if (*out)
        return holo_fail(error, HOLO_UNSUPPORTED, "backend %s runs no portable programs: write cpu or auto", backend);
    return holo_fail(error, HOLO_UNSUPPORTED, "there is no backend %s here: write auto, or one of %s",
                     backend ? backend : "NULL", there);
}

HoloStatus holo_executor_create_in(HoloContext *context, const char *backend, HoloPool *pool,
                                   HoloExecutor **out_executor, HoloError *error)
{
    HOLO_IN(holo_context_account(context));
    const HoloDevice *device = NULL;
    HOLO_TRY(device_find(backend, &device, error));
    HoloExecutor *e = holo_realloc(NULL, sizeof *e);
    if (!e) return holo_fail_memory(error);
    *e         = (HoloExecutor){.pool = pool, .device = device, .free_count = HOLO_EXECUTOR_CLASSES};
    e->account = holo_context_account(context);
    e->team    = holo_pool_team(pool);
    if (device == holo_devices[0]) e->kernels = holo_kernels(0);
    for (int i = 0; i < HOLO_EXECUTOR_CLASSES; i++) e->free[i] = (uint8_t)(HOLO_EXECUTOR_CLASSES - 1 - i);
    HoloStatus status = device->open ? device->open(&(HoloDeviceSetup){0}, &e->self, error) : HOLO_OK;
    if (status) {
        holo_free(e);
        return status;
    }
    e->classes = device->take(e->self, CLASSES_BYTES, 0);
    if (!e->classes) {
        holo_executor_destroy(e);
        return holo_fail_memory(error);
    }
    *out_executor = e;
    return HOLO_OK;
}

HoloStatus holo_executor_create(const char *backend, HoloPool *pool, HoloExecutor **out_executor, HoloError *error)
{
    return holo_executor_create_in(NULL, backend, pool, out_executor, error);
}

void holo_executor_destroy(HoloExecutor *executor)
{
    if (!executor) return;
    for (int i = 0; i < HOLO_EXECUTOR_MADE; i++) holo_portable_destroy(executor->made[i]);
    for (int i = 0; i < HOLO_DTYPE_COUNT; i++) {
        holo_portable_destroy(executor->loss[i]);
        for (int k = 0; k < HOLO_EXECUTOR_KERNELS; k++) holo_portable_destroy(executor->library[k][i]);
    }
    holo_arena_deinit(&executor->work);
    executor->device->give(executor->self, executor->classes, CLASSES_BYTES);
    if (executor->device->close) executor->device->close(executor->self);
    holo_free(executor);
}

const char *holo_executor_backend(const HoloExecutor *executor)
{
    return executor->device->name;
}

int holo_executor_free_classes(const HoloExecutor *executor)
{
    return executor->free_count;
}

// ---- classes

static bool class_take(HoloExecutor *e, int class_id) // false: it is not free
{
    for (int i = 0; i < e->free_count; i++) {
        if (e->free[i] != class_id) continue;
        memmove(&e->free[i], &e->free[i + 1], (size_t)(--e->free_count - i));
        return true;
    }
    return false;
}

// The first of `count` neighboring free classes; -1: there are none. A single class is the one freed last.
static int classes_find(const HoloExecutor *e, int count)
{
    bool is_free[HOLO_EXECUTOR_CLASSES] = {false};
    if (count == 1) return e->free_count ? e->free[e->free_count - 1] : -1;
    for (int i = 0; i < e->free_count; i++) is_free[e->free[i]] = true;
    for (int i = 0, run = 0; i < HOLO_EXECUTOR_CLASSES; i++) {
        run = is_free[i] ? run + 1 : 0;
        if (run == count) return i + 1 - count;
    }
    return -1;
}

// The memory of a new buffer is zero.
static HoloStatus memory_clear(const HoloExecutor *e, uint8_t *to, size_t size, HoloError *error)
{
    static const uint8_t zeros[4096];
    for (size_t at = 0, part; at < size; at += part) {
        part = size - at < sizeof zeros ? size - at : sizeof zeros;
        HOLO_TRY(e->device->transfer(e->self, HOLO_TRANSFER_IN, to + at, zeros, part, error));
    }
    return HOLO_OK;
}

static HoloStatus buffer_in_classes(HoloBuffer *b, int first, int count, HoloError *error)
{
    HoloExecutor *e = b->executor;
    for (int i = 0; i < count; i++) (void)class_take(e, first + i);
    b->info.class_id = first, b->info.class_count = count;
    b->data = e->classes + (size_t)first * HOLO_CLASS_BYTES;
    return memory_clear(e, b->data, (size_t)count * HOLO_CLASS_BYTES, error);
}

static HoloStatus buffer_alone(HoloBuffer *b, HoloError *error)
{
    HoloExecutor *e    = b->executor;
    size_t        size = b->info.bytes + 64;
    b->data            = e->device->take(e->self, size, 0);
    if (!b->data) return holo_fail_memory(error);
    b->own = size;
    return memory_clear(e, b->data, size, error);
}

// ---- buffers

static HoloStatus buffer_new(HoloExecutor *e, HoloDtype dtype, int64_t count, HoloBuffer **out, HoloError *error)
{
    size_t bytes = 0;
    if (!holo_isa_is_type(dtype))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer holds numbers or bool, not %s", holo_dtype_name(dtype));
    if (count < 0 || !holo_size_mul((size_t)count, holo_dtype_size(dtype), &bytes) ||
        (uint64_t)bytes > UINT64_C(1) << 46)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer cannot have %lld elements", (long long)count);
    HoloBuffer *b = holo_realloc(NULL, sizeof *b);
    if (!b) return holo_fail_memory(error);
    *b = (HoloBuffer){
        .executor = e,
        .info     = {.dtype = dtype, .count = count, .bytes = bytes, .id = ++e->ids, .class_id = HOLO_CLASS_FREE}};
    *out = b;
    return HOLO_OK;
}

HoloStatus holo_buffer_create(HoloExecutor *executor, HoloDtype dtype, int64_t count, HoloBuffer **out_buffer,
                              HoloError *error)
{
    HOLO_IN(executor->account);
    HoloBuffer *b = NULL;
    HOLO_TRY(buffer_new(executor, dtype, count, &b, error));
    size_t classes = (b->info.bytes + HOLO_CLASS_BYTES - 1) / HOLO_CLASS_BYTES;
    if (!classes) classes = 1;
    int        first  = classes <= HOLO_EXECUTOR_RUN ? classes_find(executor, (int)classes) : -1;
    HoloStatus status = first >= 0 ? buffer_in_classes(b, first, (int)classes, error) : buffer_alone(b, error);
    if (status)
        holo_buffer_destroy(b);
    else
        *out_buffer = b;
    return status;
}

HoloStatus holo_buffer_create_boundary(HoloExecutor *executor, HoloDtype dtype, int class_id, int pages, int bytes,
                                       HoloBuffer **out_buffer, HoloError *error)
{
    HOLO_IN(executor->account);
    if (class_id < 0 || class_id >= HOLO_EXECUTOR_CLASSES || pages < 1 || pages > 48 || bytes < 1 || bytes > 256)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "a boundary buffer needs a class from 0 to 95, 1 to 48 pages and 1 to 256 bytes");
    HoloBuffer *b    = NULL;
    size_t      size = holo_dtype_size(dtype) ? holo_dtype_size(dtype) : 1;
    HOLO_TRY(buffer_new(executor, dtype, (int64_t)(((size_t)(pages - 1) * 256 + (size_t)bytes) / size), &b, error));
    bool is_free = false;
    for (int i = 0; i < executor->free_count; i++) is_free |= executor->free[i] == class_id;
    if (!is_free) {
        holo_buffer_destroy(b);
        return holo_fail(error, HOLO_BAD_ARGUMENT, "class %d is already in use", class_id);
    }
    HoloStatus status   = buffer_in_classes(b, class_id, 1, error);
    b->info.is_boundary = true;
    if (status)
        holo_buffer_destroy(b);
    else
        *out_buffer = b;
    return status;
}

HoloStatus holo_buffer_create_part(HoloBuffer *whole, size_t byte, HoloDtype dtype, int64_t count,
                                   HoloBuffer **out_buffer, HoloError *error)
{
    HOLO_IN(whole->executor->account);
    HoloBuffer *b = NULL;
    HOLO_TRY(buffer_new(whole->executor, dtype, count, &b, error));
    size_t bytes = b->info.bytes;
    if (byte > whole->info.bytes || bytes > whole->info.bytes - byte || byte % holo_dtype_size(dtype)) {
        holo_buffer_destroy(b);
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "%zu bytes at byte %zu do not fit into a buffer of %zu, or are not aligned for %s", bytes,
                         byte, whole->info.bytes, holo_dtype_name(dtype));
    }
    b->data     = whole->data + byte;
    *out_buffer = b;
    return HOLO_OK;
}

void holo_buffer_destroy(HoloBuffer *buffer)
{
    if (!buffer) return;
    HoloExecutor *e = buffer->executor;
    for (int i = buffer->info.class_count - 1; i >= 0; i--)
        e->free[e->free_count++] = (uint8_t)(buffer->info.class_id + i);
    if (buffer->own) e->device->give(e->self, buffer->data, buffer->own);
    holo_free(buffer);
}

void holo_buffer_info(const HoloBuffer *buffer, HoloBufferInfo *out_info)
{
    *out_info = buffer->info;
}

void *holo_buffer_map(HoloBuffer *buffer)
{
    return buffer->executor->kernels ? buffer->data : NULL;
}

static HoloStatus range_check(const HoloBuffer *b, int64_t first, int64_t count, HoloError *error)
{
    if (first >= 0 && count >= 0 && first <= b->info.count && count <= b->info.count - first) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "elements %lld to %lld are not all inside a buffer of %lld",
                     (long long)first, (long long)first + (long long)count, (long long)b->info.count);
}

HoloStatus holo_buffer_write(HoloBuffer *buffer, int64_t first, int64_t count, const void *data, HoloError *error)
{
    const HoloExecutor *e    = buffer->executor;
    size_t              size = holo_dtype_size(buffer->info.dtype);
    HOLO_TRY(range_check(buffer, first, count, error));
    return e->device->transfer(e->self, HOLO_TRANSFER_IN, buffer->data + (size_t)first * size, data,
                               (size_t)count * size, error);
}

HoloStatus holo_buffer_read(const HoloBuffer *buffer, int64_t first, int64_t count, void *out_data, HoloError *error)
{
    const HoloExecutor *e    = buffer->executor;
    size_t              size = holo_dtype_size(buffer->info.dtype);
    HOLO_TRY(range_check(buffer, first, count, error));
    HOLO_TRY(e->device->transfer(e->self, HOLO_TRANSFER_OUT, out_data, buffer->data + (size_t)first * size,
                                 (size_t)count * size, error));
    return e->device->wait(e->self, error);
}
