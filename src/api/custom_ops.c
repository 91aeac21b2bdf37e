// custom_ops.c - kernels as operators. A node that a kernel is bound to becomes hologram::Kernel, which holds the
// kernel's programs. Operators that Hologram knows stay as they are.

#include "api/custom_ops.h"
#include "api/compiler.h"
#include "lang/lang.h"
#include "ops/hologram/user_places.h"

#include <string.h>

enum { SUBGRAPHS_DEEP = 32 };

// ---- binding

static const HoloKernelProgram *shape_rule(const HoloKernelProgram *list, int count, const char *function)
{
    size_t size = strlen(function);
    for (int i = 0; i < count; i++)
        if (!strncmp(list[i].function->name, function, size) && !strcmp(list[i].function->name + size, "_shape"))
            return &list[i];
    return NULL;
}

static HoloStatus encode(HoloArena *arena, const HoloIsaProgram *program, HoloString *out, HoloError *error)
{
    uint8_t *bytes = NULL;
    *out           = (HoloString){"", 0};
    if (!program || !program->count) return HOLO_OK;
    HOLO_TRY(holo_isa_encode(arena, program, &bytes, &out->size, error));
    out->data = (const char *)bytes;
    return HOLO_OK;
}

static HoloStatus find_places(HoloArena *arena, const HoloKernelSource *source, const HoloKernelProgram *kernel,
                              HoloString *out, HoloError *error)
{
    int       count = kernel->program.count;
    uint32_t *lines = HOLO_NEW(arena, uint32_t, count + 1);
    if (!lines) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) lines[i] = holo_source_line(source, kernel->where[i]);
    return holo_user_places_make(arena, source->name, lines, count, out, error);
}

static HoloStatus bind(HoloCompiler *compiler, const HoloKernelSource *source, const HoloKernelProgram *list, int count,
                       int first, HoloError *error)
{
    const HoloAstFunction   *f     = list[first].function;
    HoloArena               *arena = &compiler->arena;
    const HoloKernelProgram *rule  = shape_rule(list, count, f->name);
    const char              *split = strstr(f->op_name, "::");
    if (compiler->kernel_count == HOLO_BOUND_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "at most %d kernels can implement operators", HOLO_BOUND_MAX);
    HoloBoundKernel *b = &compiler->kernels[compiler->kernel_count];
    *b                 = (HoloBoundKernel){.programs = HOLO_NEW(arena, HoloString, count),
                                           .lanes    = HOLO_NEW(arena, HoloString, count),
                                           .places   = HOLO_NEW(arena, HoloString, count)};
    b->domain          = holo_arena_text(arena, f->op_name, split ? (size_t)(split - f->op_name) : 0);
    b->type            = holo_arena_text(arena, split ? split + 2 : f->op_name, strlen(split ? split + 2 : f->op_name));
    if (!b->programs || !b->lanes || !b->places || !b->domain || !b->type) return holo_fail_memory(error);
    for (int i = first; i < count && list[i].function == f; i++, b->count++) {
        HOLO_TRY(encode(arena, &list[i].program, &b->programs[b->count], error));
        HOLO_TRY(encode(arena, &list[i].lanes, &b->lanes[b->count], error));
        HOLO_TRY(find_places(arena, source, &list[i], &b->places[b->count], error));
    }
    for (int i = 0; i < 3; i++) b->block[i] = f->block[i];
    HOLO_TRY(encode(arena, rule ? &rule->program : NULL, &b->shape, error));
    compiler->kernel_count++;
    return HOLO_OK;
}

HoloStatus holo_compiler_add_kernel(HoloCompiler *compiler, const char *path, HoloError *error)
{
    HoloMapping        mapping;
    HoloAstModule      module;
    HoloKernelProgram *list;
    int                count, bound = compiler->kernel_count;
    HOLO_TRY(holo_file_map(path, &mapping, error));
    HoloKernelSource source = {path, holo_arena_text(&compiler->arena, mapping.data, mapping.size), mapping.size};
    holo_file_unmap(&mapping);
    if (!source.text) return holo_fail_memory(error);
    HOLO_TRY(holo_kernel_parse(&compiler->arena, &source, holo_kernel_language_of(path), &module, error));
    HOLO_TRY(holo_kernel_compile(&compiler->arena, &module, compiler->numeric == HOLO_EXACT ? HOLO_KERNEL_EXACT : 0,
                                 &list, &count, error));
    for (int i = 0; i < count; i++)
        if (list[i].function->op_name && (i == 0 || list[i - 1].function != list[i].function))
            HOLO_TRY(bind(compiler, &source, list, count, i, error));
    if (bound == compiler->kernel_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "%s: no kernel names its operator: write @kernel(operator=\"my.domain::Name\")", path);
    return HOLO_OK;
}

// ---- models

static const HoloBoundKernel *find(const HoloCompiler *compiler, const HoloNode *node)
{
    for (int i = compiler->kernel_count; i-- > 0;)
        if (!strcmp(compiler->kernels[i].domain, node->domain) && !strcmp(compiler->kernels[i].type, node->type))
            return &compiler->kernels[i];
    return NULL;
}

static HoloStatus rewrite(HoloGraph *graph, HoloNode *node, const HoloBoundKernel *b, bool is_fused, HoloError *error)
{
    enum { OWN = 6 };
    HoloAttr *attr = HOLO_NEW(graph->arena, HoloAttr, node->attr_count + OWN);
    if (!attr) return holo_fail_memory(error);
    for (int i = 0; i < node->attr_count; i++) attr[OWN + i] = node->attr[i];
    attr[0]    = (HoloAttr){.name = "programs", .kind = HOLO_ATTR_STRINGS, .count = b->count, .strings = b->programs};
    attr[1]    = (HoloAttr){.name = "lanes", .kind = HOLO_ATTR_STRINGS, .count = b->count, .strings = b->lanes};
    attr[2]    = (HoloAttr){.name = "block", .kind = HOLO_ATTR_INTS, .count = 3, .ints = b->block};
    attr[3]    = (HoloAttr){.name = "shape", .kind = HOLO_ATTR_STRING, .count = 1, .s = b->shape};
    attr[4]    = (HoloAttr){.name = "fused", .kind = HOLO_ATTR_INT, .count = 1, .i = is_fused};
    attr[5]    = (HoloAttr){.name = "places", .kind = HOLO_ATTR_STRINGS, .count = b->count, .strings = b->places};
    node->attr = attr;
    node->attr_count += OWN;
    holo_node_become(node, HOLO_ID_HOLOGRAM_Kernel, 1);
    return HOLO_OK;
}

static HoloStatus apply(const HoloCompiler *compiler, HoloGraph *graph, int depth, HoloError *error)
{
    if (depth > SUBGRAPHS_DEEP) return HOLO_OK; // inference refuses such a graph
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *attr  = &node->attr[k];
            int             count = attr->kind == HOLO_ATTR_GRAPHS ? attr->count : attr->kind == HOLO_ATTR_GRAPH;
            for (int g = 0; g < count; g++)
                HOLO_TRY(
                    apply(compiler, attr->kind == HOLO_ATTR_GRAPH ? attr->graph : attr->graphs[g], depth + 1, error));
        }
        const HoloBoundKernel *b = find(compiler, node);
        if (b && !holo_op_find(node->domain, node->type, node->version))
            HOLO_TRY(rewrite(graph, node, b, compiler->numeric != HOLO_EXACT, error));
    }
    return HOLO_OK;
}

static bool is_used(const HoloBoundKernel *b, const HoloGraph *graph, int depth)
{
    for (int i = 0; i < graph->node_count && depth <= SUBGRAPHS_DEEP; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *attr  = &node->attr[k];
            int             count = attr->kind == HOLO_ATTR_GRAPHS ? attr->count : attr->kind == HOLO_ATTR_GRAPH;
            if (attr->kind == HOLO_ATTR_STRINGS && attr->strings == b->programs) return true;
            for (int g = 0; g < count; g++)
                if (is_used(b, attr->kind == HOLO_ATTR_GRAPH ? attr->graph : attr->graphs[g], depth + 1)) return true;
        }
    }
    return false;
}

void holo_compiler_note_kernels(const HoloCompiler *compiler, const HoloGraph *graph, HoloNotes *notes)
{
    for (int i = 0; i < compiler->kernel_count; i++) {
        const HoloBoundKernel *b = &compiler->kernels[i];
        char                   name[HOLO_NOTE_TEXT];
        if (is_used(b, graph, 0)) continue;
        holo_note_text(name, "%s%s%s", b->domain, *b->domain ? "::" : "", b->type);
        holo_notes_add(notes, &(HoloNote){.pass    = "kernel",
                                          .place   = name,
                                          .what    = name,
                                          .why     = "a kernel is given for it, but no node of the model needs it",
                                          .verdict = HOLO_VERDICT_UNFIT});
    }
}

HoloStatus holo_compiler_apply_kernels(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error)
{
    return compiler->kernel_count ? apply(compiler, graph, 0, error) : HOLO_OK;
}
