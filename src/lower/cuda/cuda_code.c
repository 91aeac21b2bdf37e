// cuda_code.c - the device code that goes into an archive: the built modules that its steps use, and a module with the
// portable programs, which is written here.
#include "devices/cuda/cuda_blocks.h"
#include "devices/cuda/cuda_pick.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"
#include "lower/cuda/ptx.h"

#include <stdio.h>
#include <string.h>

typedef struct Code {
    const HoloTargetUse *use;
    HoloTargetCode      *out;
    int                  count;
    HoloText             text[HOLO_PTX_FORS]; // the same kernels for several machines
    const char         **names;               // of kernels in the text
    int                  name_count, name_room;
    uint32_t             calls; // functions that they call
    HoloError           *error;
} Code;

static HoloStatus code_add(Code *c, const HoloTargetCode *code)
{
    if (c->count == HOLO_TARGET_CODES) return holo_fail(c->error, HOLO_INTERNAL, "cuda: too many modules");
    c->out[c->count++] = *code;
    return HOLO_OK;
}

// ---- built modules

static bool is_wanted(const Code *c, const char *kind)
{
    return !*c->use->kind || !strncmp(kind, "ptx", 3) || !strcmp(kind, c->use->kind);
}

static HoloStatus module_add(Code *c, const char *module)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->out[i].module, module)) return HOLO_OK;
    for (const HoloCudaBuilt *b = holo_cuda_built; b->module; b++) {
        if (strcmp(b->module, module) || !is_wanted(c, b->kind)) continue;
        HOLO_TRY(code_add(c, &(HoloTargetCode){b->module, b->kind, b->begin, (size_t)(b->end - b->begin)}));
    }
    return HOLO_OK;
}

// Products and attention of a class use the modules of that class alone; weights of few bits, those of their type.
static bool is_of_class(const char *module, const HoloCudaStepParams *p)
{
    static const struct {
        const char *module;
        uint8_t     store, numeric;
    } of[]     = {{"product_f32", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED},
                  {"product_f32", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT},
                  {"product_tf32", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32},
                  {"product_f16", HOLO_CUDA_F16, HOLO_CUDA_NUMERIC_FUSED},
                  {"product_bf16", HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED},
                  {"tiled_tf32_sm90", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32},
                  {"tiled_f16_sm90", HOLO_CUDA_F16, HOLO_CUDA_NUMERIC_FUSED},
                  {"tiled_bf16_sm90", HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED},
                  {"attention_32", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED},
                  {"attention_32", HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32},
                  {"attention_16", HOLO_CUDA_F16, HOLO_CUDA_NUMERIC_FUSED},
                  {"attention_16", HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED}};
    bool named = false;
    if (!strncmp(module, "blocks_", 7)) return !strcmp(module, holo_cuda_block_module(p->layout));
    for (int i = 0; i < HOLO_COUNT(of); i++) {
        if (strcmp(of[i].module, module)) continue;
        named = true;
        if (of[i].store == p->store && (p->store != HOLO_CUDA_F32 || of[i].numeric == p->numeric)) return true;
    }
    return !named;
}

// ---- programs

// The functions that are called, from the PTX of math.cu: what begins with ".func" and ends with "}" at the start of a line.
static HoloStatus math_add(const Code *c, HoloText *out)
{
    const HoloCudaBuilt *math = holo_cuda_built;
    while (math->module && strcmp(math->module, "math")) math++;
    if (!c->calls) return HOLO_OK;
    if (!math->module) return holo_fail(c->error, HOLO_INTERNAL, "cuda: the module math is missing");
    const char *text = (const char *)math->begin, *end = (const char *)math->end - 1;
    for (const char *line = text, *next; line < end; line = next) {
        next             = memchr(line, '\n', (size_t)(end - line));
        next             = next ? next + 1 : end;
        const char *func = ".visible .func", *data = ".global";
        if (!strncmp(line, data, strlen(data))) holo_text_add(out, "%.*s", (int)(next - line), line);
        if (strncmp(line, func, strlen(func))) continue;
        const char *stop   = strstr(line, "\n}\n");
        bool        wanted = false;
        for (int i = 0; holo_ptx_functions[i]; i++) {
            char   name[40];
            size_t size = (size_t)snprintf(name, sizeof name, "holo_math_%s(", holo_ptx_functions[i]);
            for (const char *at = line; at + size < next && c->calls >> i & 1; at++) wanted |= !strncmp(at, name, size);
        }
        if (!stop) break;
        next = stop + 3;
        if (wanted) holo_text_add(out, ".func%.*s", (int)(next - line - (ptrdiff_t)strlen(func)), line + strlen(func));
    }
    return HOLO_OK;
}

// Which parameters lie in the narrow type: not constants.
static uint64_t narrow_of(const HoloNode *node, const HoloIsaProgram *program, bool is_tail)
{
    uint64_t narrow = 0;
    for (int i = 0; i < program->param_count; i++) {
        int              operand  = holo_cuda_program_operand(program->params[i].name, is_tail);
        const HoloValue *v        = operand >= 0 ? holo_cuda_origin(holo_node_in(node, operand)) : NULL;
        bool             is_array = program->params[i].access != HOLO_ISA_VALUE && program->params[i].type == HOLO_F32;
        if (is_array && (operand == -1 || (v && !v->is_constant))) narrow |= UINT64_C(1) << i;
    }
    return narrow;
}

static HoloStatus program_add(Code *c, const HoloLoweredNode *of)
{
    HoloBytes          bytes;
    HoloIsaProgram     program;
    HoloCudaStepParams p = holo_cuda_params(&of->lowering);
    char               name[HOLO_CUDA_NAME];
    HOLO_TRY(holo_cuda_node_program(of->node, &of->lowering, c->use->arena, &bytes, c->error));
    if (!bytes.size) return HOLO_OK;
    HOLO_TRY(holo_isa_decode(c->use->arena, bytes.data, bytes.size, &program, c->error));
    uint64_t narrow = narrow_of(of->node, &program, p.flags & HOLO_CUDA_FLAG_TAIL);
    holo_cuda_program_name(bytes.data, bytes.size, p.store, narrow, name);
    for (int i = 0; i < c->name_count; i++)
        if (!strcmp(c->names[i], name)) return HOLO_OK;
    if (!HOLO_GROW(c->use->arena, c->names, c->name_count, c->name_room)) return holo_fail_memory(c->error);
    c->names[c->name_count++] = holo_arena_text(c->use->arena, name, strlen(name));
    c->calls |= holo_ptx_calls(&program);
    for (int i = 0; i < HOLO_PTX_FORS; i++)
        HOLO_TRY(holo_ptx_kernel(&c->text[i], name, &program, (HoloPtxFor)i, (HoloPtxStore)p.store, narrow, c->error));
    return HOLO_OK;
}

static HoloStatus programs_end(Code *c, HoloPtxFor machine, const char *kind)
{
    HoloText all = {0};
    if (!c->name_count) return HOLO_OK;
    holo_ptx_begin(&all, machine);
    HoloStatus status = math_add(c, &all);
    holo_text_add(&all, "%s", c->text[machine].data ? c->text[machine].data : "");
    char *kept = all.data ? holo_arena_text(c->use->arena, all.data, strlen(all.data)) : NULL;
    if (!status && !kept) status = holo_fail_memory(c->error);
    if (!status) status = code_add(c, &(HoloTargetCode){"programs", kind, kept, strlen(kept) + 1});
    holo_text_deinit(&all);
    return status;
}

// ---- the whole

static HoloStatus node_add(Code *c, const HoloLoweredNode *of)
{
    const HoloCudaKernel *kernel = holo_cuda_kernel(of->lowering.kernel);
    HoloCudaStepParams    p      = holo_cuda_params(&of->lowering);
    bool crosses = HOLO_IS(of->node, HOLOGRAM_Transfer); // if it is packed, its kernel is another node's
    if (!kernel || (crosses && of->lowering.kernel != HOLO_CUDA_STEP_TRANSFER)) return HOLO_OK;
    for (int i = 0; kernel->modules[i]; i++)
        if (is_of_class(kernel->modules[i], &p)) HOLO_TRY(module_add(c, kernel->modules[i]));
    return program_add(c, of);
}

HoloStatus holo_cuda_code(const HoloTargetUse *use, HoloTargetCode *out, int *out_count, HoloError *error)
{
    Code       c      = {.use = use, .out = out, .error = error};
    HoloStatus status = HOLO_OK;
    if (!holo_cuda_built[0].module)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "this program was built without code for cuda: build it with 'make cuda', which needs NVIDIA's "
            "compiler nvcc");
    for (int g = 0; g < use->count; g++)
        for (int i = 0; i < use->lowered[g]->count && !status; i++) {
            const HoloLoweredNode *of = &use->lowered[g]->nodes[i];
            if (!strcmp(holo_lowered_target(use->lowered[g], of)->name, "cuda")) status = node_add(&c, of);
        }
    if (!status) status = programs_end(&c, HOLO_PTX_SM_80, "ptx");
    if (!status && (!*use->kind || !strcmp(use->kind, "sm_90"))) status = programs_end(&c, HOLO_PTX_SM_90, "ptx_90");
    for (int i = 0; i < HOLO_PTX_FORS; i++) holo_text_deinit(&c.text[i]);
    *out_count = c.count;
    return status;
}
