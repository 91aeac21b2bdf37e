// compile_targets.c - the targets to compile for, by name.
#include "api/compiler.h"

#include <string.h>

const char *holo_target_name(int index)
{
    int count = 0;
    while (holo_targets[count]) count++;
    return index >= 0 && index < count ? holo_targets[index]->name : NULL;
}

static HoloStatus unknown(const char *name, HoloError *error)
{
    HoloText   names = {0};
    HoloStatus status;
    for (int i = 0; holo_targets[i]; i++) holo_text_add(&names, "%s%s", i ? ", " : "", holo_targets[i]->name);
    status = holo_fail(error, HOLO_BAD_ARGUMENT, "there is no target '%s'; there are: %s", name,
                       names.data ? names.data : holo_target_cpu.name);
    holo_text_deinit(&names);
    return status;
}

static HoloStatus target_add(HoloTargets *targets, const char *name, HoloError *error)
{
    const HoloTarget *target = holo_target_find(name);
    if (!target) return unknown(name, error);
    for (int i = 1; i < targets->count; i++)
        if (targets->list[i] == target) return holo_fail(error, HOLO_BAD_ARGUMENT, "target %s is named twice", name);
    if (target == &holo_target_cpu) return HOLO_OK; // the CPU is always the last
    if (targets->count == HOLO_TARGETS_USED)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "more than %d targets are named", HOLO_TARGETS_USED - 1);
    targets->list[targets->count++] = target;
    return HOLO_OK;
}

HoloStatus holo_compiler_set_targets(HoloCompiler *compiler, const char *names, HoloError *error)
{
    HoloTargets targets = holo_targets_cpu;
    for (const char *at = names;; at++) {
        size_t size     = strcspn(at, ",");
        char   name[64] = "";
        memcpy(name, at, size < sizeof name ? size : sizeof name - 1);
        HOLO_TRY(target_add(&targets, name, error));
        at += size;
        if (!*at) break;
    }
    compiler->targets = targets;
    return HOLO_OK;
}
