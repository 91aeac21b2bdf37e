// targets.c - finds targets by name, and the one that runs a node.
#include "lower/target.h"

#include <string.h>

const HoloTargets holo_targets_cpu = {.list = {&holo_target_cpu}, .count = 1};

const HoloTarget *holo_target_find(const char *name)
{
    for (int i = 0; holo_targets[i]; i++)
        if (!strcmp(holo_targets[i]->name, name)) return holo_targets[i];
    return NULL;
}

int holo_targets_number(const HoloTargets *targets, const HoloNode *node)
{
    for (int i = 1; i < targets->count; i++)
        if (!targets->list[i]->can_run || targets->list[i]->can_run(node)) return i;
    return 0;
}

const HoloTarget *holo_targets_pick(const HoloTargets *targets, const HoloNode *node)
{
    return targets->list[holo_targets_number(targets, node)];
}
