// isa_lanes.c - how a kernel is launched by default: as many lanes as it asks for, in blocks of the size that it asks
// for.
#include "format/dtype.h"
#include "isa/isa.h"
#include "isa/isa_number.h"

enum {
    BLOCK      = 256,
    RULE_TURNS = 1 << 20
}; // lanes of a block; turns of loops that a rule may take: it can come from a file

static bool is_whole(const HoloIsaParam *p)
{
    return p->access == HOLO_ISA_VALUE && (HOLO_TYPES_INT | HOLO_TYPES_UINT) >> p->type & 1;
}

HoloStatus holo_isa_lanes(const HoloIsaProgram *program, const HoloIsaProgram *rule, const HoloIsaArg *args,
                          int64_t *out_lanes, HoloError *error)
{
    HoloIsaArg    of[HOLO_ISA_MAX_PARAMS + 1] = {0};
    int           count                       = 0;
    HoloIsaLaunch once                        = {{1, 1, 1}, {1, 1, 1}, RULE_TURNS};
    *out_lanes                                = 0;
    if (rule->count) {
        for (int i = 0; i < program->param_count; i++)
            if (program->params[i].access == HOLO_ISA_VALUE) of[count++] = args[i];
        of[count] = (HoloIsaArg){.data = out_lanes, .count = 1};
        if (rule->param_count != count + 1 || rule->params[count].type != HOLO_I64)
            return holo_fail(error, HOLO_BAD_INPUT,
                             "program %s: the program that computes its number of lanes does not fit it",
                             program->name);
        return holo_isa_reference(rule, &once, of, error);
    }
    for (int i = 0; i < program->param_count; i++) {
        if (!is_whole(&program->params[i])) continue;
        *out_lanes = holo_isa_to_i64(program->params[i].type, args[i].bits);
        return HOLO_OK;
    }
    return holo_fail(error, HOLO_BAD_INPUT, "%s has no whole number among its parameters: say how many lanes to launch",
                     program->name);
}

HoloStatus holo_isa_grid(int64_t lanes, const uint32_t block[3], HoloIsaLaunch *out, HoloError *error)
{
    int64_t size = 1;
    *out         = (HoloIsaLaunch){{1, 1, 1}, {BLOCK, 1, 1}, 0};
    if (lanes > 0 && lanes < BLOCK) out->block[0] = (uint32_t)lanes;
    for (int i = 0; i < 3; i++) {
        if (block[i]) out->block[i] = block[i];
        if (!holo_mul(size, out->block[i], &size))
            return holo_fail(error, HOLO_BAD_INPUT, "the block has too many lanes");
    }
    int64_t blocks = lanes <= 0 ? 0 : (lanes - 1) / size + 1;
    if (blocks > UINT32_MAX) return holo_fail(error, HOLO_BAD_INPUT, "%lld lanes are too many", (long long)lanes);
    out->grid[0] = (uint32_t)blocks;
    return HOLO_OK;
}
