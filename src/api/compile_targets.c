// compile_targets.c - the targets to compile for, by name.
#include "api/compiler.h"

#include <stdio.h>
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

// "sm_90" of "cuda:sm_90".
static HoloStatus kind_set(HoloCompiler *compiler, const HoloTarget *target, const char *kind, HoloError *error)
{
    if (!target->has_kind)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "target %s has no kinds of machines, such as '%.40s'", target->name,
                         kind);
    if (!target->has_kind(kind))
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "target %s knows no machines of the kind '%.40s'; sm_80 and sm_90 are known", target->name,
                         kind);
    snprintf(compiler->target_kind, sizeof compiler->target_kind, "%s", kind);
    return HOLO_OK;
}

static HoloStatus target_add(HoloCompiler *compiler, HoloTargets *targets, char *name, bool *has_host, HoloError *error)
{
    char *kind = strchr(name, ':');
    if (kind) *kind++ = 0;
    const HoloTarget *target = holo_target_find(name);
    if (!target) return unknown(name, error);
    bool twice = target == &holo_target_cpu && *has_host;
    for (int i = 1; i < targets->count; i++) twice = twice || targets->list[i] == target;
    if (twice) return holo_fail(error, HOLO_BAD_ARGUMENT, "target %s is named twice", name);
    if (kind) HOLO_TRY(kind_set(compiler, target, kind, error));
    if (target == &holo_target_cpu) { // it is always the last; named beside others, it gets a plan of its own
        *has_host = true;
        return HOLO_OK;
    }
    if (targets->count == HOLO_TARGETS_USED)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "more than %d targets are named", HOLO_TARGETS_USED - 1);
    targets->list[targets->count++] = target;
    return HOLO_OK;
}

void holo_targets_classify(HoloCompiler *compiler)
{
    for (int i = 1; i < compiler->targets.count; i++) {
        const HoloTarget *target = compiler->targets.list[i];
        const HoloTarget *row    = target->of_class ? target->of_class(holo_numeric_name(compiler->numeric)) : NULL;
        if (row) compiler->targets.list[i] = row;
    }
}

bool holo_compiler_is_bf16(const HoloCompiler *compiler)
{
    for (int i = 1; i < compiler->targets.count; i++)
        if (compiler->targets.list[i]->of_class) return false;
    return compiler->numeric == HOLO_NUMERIC_BF16;
}

HoloNumeric holo_compiler_host_numeric(const HoloCompiler *compiler)
{
    bool is_device = compiler->numeric == HOLO_NUMERIC_TF32 || compiler->numeric == HOLO_NUMERIC_F16;
    return is_device ? HOLO_FUSED : compiler->numeric;
}

HoloStatus holo_targets_check(const HoloCompiler *compiler, HoloError *error)
{
    const char *numeric = holo_numeric_name(compiler->numeric);
    bool found = compiler->numeric != HOLO_NUMERIC_TF32 && compiler->numeric != HOLO_NUMERIC_F16; // the CPU's, too
    for (int i = 1; i < compiler->targets.count; i++) {
        const HoloTarget *target = compiler->targets.list[i];
        if (!target->of_class) continue;
        if (!target->of_class(numeric))
            return holo_fail(error, HOLO_UNSUPPORTED, "target %s has no numeric class %s", target->name, numeric);
        found = true;
    }
    return found ? HOLO_OK
                 : holo_fail(error, HOLO_BAD_ARGUMENT, "numeric class %s is for GPUs: compile with --target cuda",
                             numeric);
}

HoloStatus holo_compiler_set_targets(HoloCompiler *compiler, const char *names, HoloError *error)
{
    HoloTargets targets      = holo_targets_cpu;
    bool        has_host     = false;
    compiler->target_kind[0] = 0;
    for (const char *at = names;; at++) {
        size_t size     = strcspn(at, ",");
        char   name[64] = "";
        memcpy(name, at, size < sizeof name ? size : sizeof name - 1);
        HOLO_TRY(target_add(compiler, &targets, name, &has_host, error));
        at += size;
        if (!*at) break;
    }
    compiler->targets  = targets;
    compiler->has_host = has_host && targets.count > 1;
    holo_targets_classify(compiler);
    return HOLO_OK;
}
