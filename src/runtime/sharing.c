// sharing.c - see sharing.h. What is shared is made by the first session that needs it, and stays as long as the model.
#include "runtime/sharing.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

struct HoloSharing {
    HoloMutex lock;
    int       number[HOLO_TARGETS_MAX]; // which device of its kind
    void     *shared[HOLO_TARGETS_MAX];
    bool      is_made[HOLO_TARGETS_MAX];
};

HoloSharing *holo_sharing_create(void)
{
    HoloSharing *sharing = holo_realloc(NULL, sizeof *sharing);
    if (!sharing) return NULL;
    memset(sharing, 0, sizeof *sharing);
    holo_mutex_init(&sharing->lock);
    return sharing;
}

void holo_sharing_destroy(HoloSharing *sharing, const HoloModel *model)
{
    if (!sharing) return;
    for (uint32_t i = 0; i < model->device_count; i++)
        if (sharing->is_made[i]) model->devices[i]->unshare(sharing->shared[i]);
    holo_mutex_deinit(&sharing->lock);
    holo_free(sharing);
}

HoloStatus holo_sharing_setup(const HoloModel *model, uint32_t target, HoloDeviceSetup *out, HoloError *error)
{
    HoloSharing      *sharing = model->sharing;
    const HoloDevice *device  = model->devices[target];
    HoloStatus        status  = HOLO_OK;
    holo_mutex_lock(&sharing->lock);
    *out = (HoloDeviceSetup){.archive = &model->archive, .target = target, .number = sharing->number[target]};
    if (device->share && !sharing->is_made[target]) {
        status                   = device->share(out, &sharing->shared[target], error);
        sharing->is_made[target] = !status;
    }
    out->shared = sharing->shared[target];
    holo_mutex_unlock(&sharing->lock);
    return status;
}

// "cuda" or "cuda:1": its length without the number, and the number. False: it is neither.
static bool device_read(const char *text, size_t *out_size, int *out_number)
{
    const char *colon = strchr(text, ':');
    char       *end   = NULL;
    *out_size         = colon ? (size_t)(colon - text) : strlen(text);
    *out_number       = 0;
    if (!colon) return *out_size > 0;
    long number = strtol(colon + 1, &end, 10);
    *out_number = (int)number;
    return *out_size && colon[1] >= '0' && colon[1] <= '9' && !*end && number <= 1 << 16;
}

static HoloStatus device_choose(HoloModel *model, const char *name, size_t size, int number, HoloError *error)
{
    HoloSharing *sharing = model->sharing;
    HoloStatus   status  = HOLO_OK;
    for (uint32_t i = 1; i < model->device_count; i++) {
        if (strncmp(model->devices[i]->name, name, size) || model->devices[i]->name[size]) continue;
        holo_mutex_lock(&sharing->lock);
        if (sharing->is_made[i] && sharing->number[i] != number)
            status = holo_fail(error, HOLO_BAD_ARGUMENT,
                               "the model already has sessions on %s:%d: choose the device before the first one",
                               model->devices[i]->name, sharing->number[i]);
        else
            sharing->number[i] = number;
        holo_mutex_unlock(&sharing->lock);
        return status;
    }
    return holo_fail(error, HOLO_UNSUPPORTED, "the model has no steps for %.*s: compile it again with --target %.*s",
                     (int)size, name, (int)size, name);
}

HoloStatus holo_model_set_device(HoloModel *model, const char *name, HoloError *error)
{
    size_t size;
    int    number;
    if (!device_read(name, &size, &number))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a device is named as cpu, cuda or cuda:1, not as '%.40s'", name);
    if (size == 3 && !strncmp(name, "cpu", 3)) {
        if (model->device_count == 1 && !number) return HOLO_OK;
        if (number) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is one cpu: it has no number");
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model was compiled for %s: compile it again, without a target, to run it on the CPU alone",
            model->devices[1]->name);
    }
    return device_choose(model, name, size, number, error);
}
