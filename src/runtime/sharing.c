// sharing.c - see sharing.h. What is shared is made by the first session that needs it, and stays as long as the model.
#include "runtime/sharing.h"

#include "base/threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICE_OPEN, CHOICE_HOST, CHOICE_DEVICE, CHOICE_FOUND }; // FOUND: nobody has chosen the device, but it is here

struct HoloSharing {
    atomic_int choice; // which of two plans new sessions run
    HoloMutex  lock;
    int        number[HOLO_TARGETS_MAX]; // which device of its kind
    void      *shared[HOLO_TARGETS_MAX];
    bool       is_made[HOLO_TARGETS_MAX];
};

HoloSharing *holo_sharing_create(void)
{
    HoloSharing *sharing = holo_realloc(NULL, sizeof *sharing);
    if (!sharing) return NULL;
    memset(sharing, 0, sizeof *sharing);
    atomic_init(&sharing->choice, CHOICE_OPEN);
    holo_mutex_init(&sharing->lock);
    return sharing;
}

void holo_sharing_destroy(HoloSharing *sharing, const HoloModel *model)
{
    if (!sharing) return;
    if (model->twin) model = model->twin;
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

// ---- the choice between two plans

// Are all devices of the plan here? Whatever else goes wrong with them is a failure.
static HoloStatus devices_look(const HoloModel *twin, bool *out_here, HoloError *error)
{
    HoloDeviceSetup ignored;
    *out_here = true;
    for (uint32_t i = 1; i < twin->device_count && *out_here; i++) {
        HoloError  why    = {0};
        HoloStatus status = holo_sharing_setup(twin, i, &ignored, &why);
        *out_here         = !status;
        if (status && status != HOLO_UNSUPPORTED) return holo_fail(error, status, "%s", why.text);
        if (status) holo_tell(HOLO_LOG_INFO, "the plan for the CPU runs: %s", why.text);
    }
    return HOLO_OK;
}

HoloStatus holo_sharing_choose(const HoloModel *model, const HoloModel **out, HoloError *error)
{
    int  choice = model->twin ? atomic_load(&model->sharing->choice) : CHOICE_HOST, open = CHOICE_OPEN;
    bool is_here;
    if (choice == CHOICE_OPEN) {
        HOLO_TRY(devices_look(model->twin, &is_here, error));
        choice = is_here ? CHOICE_FOUND : CHOICE_HOST;
        if (!atomic_compare_exchange_strong(&model->sharing->choice, &open, choice)) choice = open;
    }
    *out = choice == CHOICE_HOST ? model : model->twin;
    return HOLO_OK;
}

const HoloModel *holo_sharing_told(const HoloModel *model)
{
    return model->twin && atomic_load(&model->sharing->choice) == CHOICE_DEVICE ? model->twin : model;
}

void holo_sharing_name(const HoloModel *model, uint32_t target, char *text, size_t room)
{
    if (target)
        snprintf(text, room, "%s:%d", model->devices[target]->name, model->sharing->number[target]);
    else
        snprintf(text, room, "%s", model->devices[0]->name);
}

const char *holo_model_device(const HoloModel *model, int index)
{
    const HoloModel *all   = model->twin ? model->twin : model;
    int              count = (int)all->device_count - 1;
    if (index >= 0 && index < count) return all->devices[index + 1]->name;
    return index == count && (model->twin || !count) ? model->devices[0]->name : NULL;
}

// ---- by name

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
    HoloSharing     *sharing = model->sharing;
    const HoloModel *all     = model->twin ? model->twin : model;
    HoloStatus       status  = HOLO_OK;
    for (uint32_t i = 1; i < all->device_count; i++) {
        if (strncmp(all->devices[i]->name, name, size) || all->devices[i]->name[size]) continue;
        holo_mutex_lock(&sharing->lock);
        if (sharing->is_made[i] && sharing->number[i] != number)
            status = holo_fail(error, HOLO_BAD_ARGUMENT,
                               "the model already has sessions on %s:%d: choose the device before the first one",
                               all->devices[i]->name, sharing->number[i]);
        else
            sharing->number[i] = number;
        holo_mutex_unlock(&sharing->lock);
        if (!status) atomic_store(&sharing->choice, CHOICE_DEVICE);
        return status;
    }
    if (model->archive.DEVICE_PLANS_count && !model->twin)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "this program cannot run the model on %.*s: it lacks a device that the model was compiled "
                         "for; it can run it on the CPU",
                         (int)size, name);
    return holo_fail(error, HOLO_UNSUPPORTED, "the model has no steps for %.*s: compile it again with --target %.*s",
                     (int)size, name, (int)size, name);
}

static HoloStatus host_choose(HoloModel *model, int number, HoloError *error)
{
    if (number) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is one cpu: it has no number");
    if (model->device_count > 1)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model was compiled for %s: compile it again, without a target or with --target cpu,%s, "
                         "to run it on the CPU alone",
                         model->devices[1]->name, model->devices[1]->name);
    atomic_store(&model->sharing->choice, CHOICE_HOST);
    return HOLO_OK;
}

HoloStatus holo_model_set_device(HoloModel *model, const char *name, HoloError *error)
{
    size_t size;
    int    number;
    if (!device_read(name, &size, &number))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a device is named as cpu, cuda or cuda:1, not as '%.40s'", name);
    if (size == 3 && !strncmp(name, "cpu", 3)) return host_choose(model, number, error);
    return device_choose(model, name, size, number, error);
}
