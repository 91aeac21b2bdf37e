// kernels.c - users' kernels: compiles files and folders of them, shows, writes and runs them. It implements the
// kernels of hologram_compiler.h.

#include "archive/archive.h"
#include "base/system.h"
#include "hologram_compiler.h"
#include "lang/lang.h"
#include "runtime/pool.h"
#include "runtime/programs.h"

#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, FOLDERS_DEEP = 8, PROGRAMS_MAX = 4096 };

typedef struct KernelFile {
    const char      *path;
    HoloKernelSource source;
    HoloAstModule    module;
    const char      *json;
} KernelFile;

typedef struct Compiled {
    HoloKernelProgram kernel;
    const KernelFile *file;
    const char       *text; // as assembly text
    HoloIsaCode      *code; // prepared by the first run
    HoloIsaFrame     *frame;
    int               threads; // the number of threads that the frame has memory for
    HoloKernelParam  *params;
} Compiled;

struct HoloKernels {
    HoloArena   arena;
    KernelFile *files;
    int         file_count;
    Compiled   *list;
    int         count, room;
};

// ---- files

static int by_name(const void *a, const void *b)
{
    return strcmp(((const KernelFile *)a)->path, ((const KernelFile *)b)->path);
}

static HoloStatus add_file(HoloKernels *k, const char *path, HoloError *error)
{
    if (k->file_count == FILES_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "more than %d files of kernels", FILES_MAX);
    k->files[k->file_count++] = (KernelFile){.path = path};
    return HOLO_OK;
}

static HoloStatus add_folder(HoloKernels *k, const char *path, int depth, HoloError *error)
{
    HoloFolder folder;
    HoloStatus status = holo_folder_list(path, &folder, error);
    for (int i = 0; i < folder.count && !status; i++) {
        if (folder.name[i][0] == '.') continue;
        const char *below = holo_arena_format(&k->arena, "%s/%s", path, folder.name[i]);
        if (!below)
            status = holo_fail_memory(error);
        else if (holo_path_is_folder(below) && depth < FOLDERS_DEEP)
            status = add_folder(k, below, depth + 1, error);
        else if (holo_kernel_language_of(below) != HOLO_LANGUAGE_NONE)
            status = add_file(k, below, error);
    }
    holo_folder_free(&folder);
    return status;
}

static HoloStatus find_files(HoloKernels *k, const char *path, HoloError *error)
{
    k->files = HOLO_NEW(&k->arena, KernelFile, FILES_MAX);
    path     = holo_arena_text(&k->arena, path, strlen(path));
    if (!k->files || !path) return holo_fail_memory(error);
    if (!holo_path_is_folder(path)) return add_file(k, path, error);
    HOLO_TRY(add_folder(k, path, 0, error));
    qsort(k->files, (size_t)k->file_count, sizeof *k->files, by_name);
    if (!k->file_count)
        return holo_fail(error, HOLO_NO_FILE,
                         "%s has no model that can be read, and no kernels (.py, .c or .json files)", path);
    return HOLO_OK;
}

// ---- compiling

static HoloStatus add_kernel(HoloKernels *k, const KernelFile *file, const HoloKernelProgram *kernel, HoloError *error)
{
    if (!HOLO_GROW(&k->arena, k->list, k->count, k->room)) return holo_fail_memory(error);
    for (int i = 0; i < k->count; i++)
        if (!strcmp(k->list[i].kernel.name, kernel->name))
            return holo_fail(error, HOLO_BAD_MODEL, "%s and %s both have a kernel '%s': rename one of them",
                             k->list[i].file->path, file->path, kernel->name);
    Compiled *c = &k->list[k->count++];
    *c          = (Compiled){.kernel = *kernel, .file = file};
    c->text     = holo_isa_print(&k->arena, &c->kernel.program, NULL);
    c->params   = HOLO_NEW(&k->arena, HoloKernelParam, kernel->program.param_count + 1);
    if (!c->text || !c->params) return holo_fail_memory(error);
    for (int i = 0; i < kernel->program.param_count; i++) {
        const HoloIsaParam *p = &kernel->program.params[i];
        c->params[i]          = (HoloKernelParam){p->name, (HoloDtype)p->type, p->access != HOLO_ISA_VALUE,
                                                  (p->access & HOLO_ISA_IN) != 0, (p->access & HOLO_ISA_OUT) != 0};
    }
    return HOLO_OK;
}

static HoloStatus compile_file(HoloKernels *k, KernelFile *file, HoloNumeric numeric, HoloError *error)
{
    HoloMapping        mapping;
    HoloKernelProgram *kernels;
    int                count;
    HOLO_TRY(holo_file_map(file->path, &mapping, error));
    file->source = (HoloKernelSource){file->path, holo_arena_text(&k->arena, mapping.data, mapping.size), mapping.size};
    holo_file_unmap(&mapping);
    if (!file->source.text) return holo_fail_memory(error);
    HOLO_TRY(holo_kernel_parse(&k->arena, &file->source, holo_kernel_language_of(file->path), &file->module, error));
    HOLO_TRY(holo_kernel_compile(&k->arena, &file->module, numeric == HOLO_EXACT ? HOLO_KERNEL_EXACT : 0, &kernels,
                                 &count, error));
    for (int i = 0; i < count; i++) HOLO_TRY(add_kernel(k, file, &kernels[i], error));
    file->json = holo_ast_to_json(&k->arena, &file->module);
    return file->json ? HOLO_OK : holo_fail_memory(error);
}

// ---- archives

static bool is_archive(const char *path)
{
    size_t size = strlen(path);
    return size > 5 && !strcmp(path + size - 5, ".holo");
}

static HoloStatus add_program_of(HoloKernels *k, const KernelFile *file, const HoloArchive *archive, size_t index,
                                 HoloError *error)
{
    HoloStoredProgram stored;
    HoloAstFunction  *f = HOLO_NEW(&k->arena, HoloAstFunction, 1);
    HOLO_TRY(holo_program_get(archive, index, &k->arena, &stored, error));
    if (!f) return holo_fail_memory(error);
    f->name = holo_arena_text(&k->arena, stored.name, strlen(stored.name));
    f->doc  = holo_arena_text(&k->arena, stored.doc, strlen(stored.doc));
    if (!f->name || !f->doc) return holo_fail_memory(error);
    for (int i = 0; i < 3; i++) f->block[i] = stored.block[i] <= HOLO_LANG_BLOCK ? (int)stored.block[i] : 0;
    HoloKernelProgram kernel = {.name = f->name, .function = f, .program = stored.program, .lanes = stored.lanes};
    return add_kernel(k, file, &kernel, error);
}

static HoloStatus read_archive(HoloKernels *k, const KernelFile *file, HoloError *error)
{
    HoloMapping mapping;
    HoloArchive archive;
    size_t      kernels = 0;
    HOLO_TRY(holo_file_map(file->path, &mapping, error));
    HoloStatus status = holo_archive_open(mapping.data, mapping.size, &archive, error);
    for (size_t i = 0; !status && i < archive.PROGRAMS_count; i++) kernels += holo_program_is_named(&archive, i);
    if (!status && !kernels) status = holo_fail(error, HOLO_BAD_MODEL, "%s holds no kernels", file->path);
    if (!status && kernels > PROGRAMS_MAX)
        status = holo_fail(error, HOLO_BAD_MODEL, "%s holds more than %d kernels", file->path, PROGRAMS_MAX);
    for (size_t i = 0; !status && i < archive.PROGRAMS_count; i++)
        if (holo_program_is_named(&archive, i)) status = add_program_of(k, file, &archive, i, error);
    holo_file_unmap(&mapping);
    return status;
}

bool holo_kernel_path(const char *path)
{
    return holo_kernel_language_of(path) != HOLO_LANGUAGE_NONE;
}

HoloStatus holo_kernels_open(const char *path, HoloNumeric numeric, HoloKernels **out, HoloError *error)
{
    HoloKernels *k = holo_realloc(NULL, sizeof *k);
    *out           = NULL;
    if (!k) return holo_fail_memory(error);
    *k                = (HoloKernels){0};
    HoloStatus status = find_files(k, path, error);
    for (int i = 0; !status && i < k->file_count; i++) {
        KernelFile *file = &k->files[i];
        status = is_archive(file->path) ? read_archive(k, file, error) : compile_file(k, file, numeric, error);
    }
    if (status)
        holo_kernels_close(k);
    else
        *out = k;
    return status;
}

void holo_kernels_close(HoloKernels *k)
{
    if (!k) return;
    for (int i = 0; i < k->count; i++) {
        holo_isa_frame_destroy(k->list[i].frame);
        holo_isa_code_destroy(k->list[i].code);
    }
    holo_arena_deinit(&k->arena);
    holo_free(k);
}

// ---- information

int holo_kernels_count(const HoloKernels *k)
{
    return k->count;
}

bool holo_kernels_info(const HoloKernels *k, int index, HoloKernelInfo *out)
{
    if (index < 0 || index >= k->count) return false;
    const Compiled *c = &k->list[index];
    *out              = (HoloKernelInfo){.name        = c->kernel.name,
                                         .function    = c->kernel.function->name,
                                         .file        = c->file->path,
                                         .doc         = c->kernel.function->doc,
                                         .type        = (HoloDtype)c->kernel.type,
                                         .param_count = c->kernel.program.param_count,
                                         .params      = c->params,
                                         .assembly    = c->text};
    for (int i = 0; i < 3; i++) out->block[i] = c->kernel.function->block[i];
    return true;
}

const char *holo_kernels_json(const HoloKernels *k, int file, const char **out_path)
{
    if (file < 0 || file >= k->file_count) return NULL;
    if (out_path) *out_path = k->files[file].path;
    return k->files[file].json;
}

// ---- running

static HoloStatus argument(const HoloIsaParam *p, const HoloTensor *given, HoloIsaArg *out, HoloError *error)
{
    if (!given) return holo_fail(error, HOLO_BAD_INPUT, "the argument '%s' is missing", p->name);
    if (given->dtype != p->type)
        return holo_fail(error, HOLO_BAD_INPUT, "'%s' is %s, but %s is given", p->name, holo_dtype_name(p->type),
                         holo_dtype_name(given->dtype));
    int64_t count = holo_tensor_count(given);
    if (count < 0 || (count > 0 && !given->data))
        return holo_fail(error, HOLO_BAD_INPUT, "'%s' has no elements", p->name);
    *out = (HoloIsaArg){.data = given->data, .count = count};
    if (p->access != HOLO_ISA_VALUE) return HOLO_OK;
    if (count != 1) return holo_fail(error, HOLO_BAD_INPUT, "'%s' must be one number", p->name);
    memcpy(&out->bits, given->data, holo_dtype_size(p->type)); // everything is little-endian
    return HOLO_OK;
}

static HoloStatus launch_of(const HoloKernelProgram *kernel, const HoloIsaArg *args, const HoloKernelLaunch *wish,
                            HoloIsaLaunch *out, HoloError *error)
{
    int64_t  lanes = wish ? wish->lanes : 0;
    uint32_t block[3];
    if (lanes <= 0) HOLO_TRY(holo_isa_lanes(&kernel->program, &kernel->lanes, args, &lanes, error));
    for (int i = 0; i < 3; i++)
        block[i] = (uint32_t)(wish && wish->block[0] ? wish->block[i] : kernel->function->block[i]);
    HOLO_TRY(holo_isa_grid(lanes, block, out, error));
    out->turns = wish ? wish->turns : 0;
    return HOLO_OK;
}

static HoloStatus make_ready(Compiled *c, int threads, HoloError *error)
{
    if (!c->code) HOLO_TRY(holo_isa_code_create(&c->kernel.program, &c->code, error));
    if (c->frame && c->threads >= threads) return HOLO_OK;
    holo_isa_frame_destroy(c->frame);
    c->frame   = NULL;
    c->threads = threads;
    return holo_isa_frame_create(c->code, threads, &c->frame, error);
}

// Reports what ended a run, with the line of the source.
static HoloStatus told_with_place(const Compiled *c, HoloStatus status, const HoloError *problem, HoloError *error)
{
    int at = holo_isa_frame_failed(c->frame);
    if (at < 0 || !c->kernel.where) return holo_fail(error, status, "%s", problem->text);
    HoloStatus told = holo_source_fail(&c->file->source, c->kernel.where[at], NULL, error, "%s", problem->text);
    if (told && error) error->status = status;
    return status;
}

HoloStatus holo_kernels_run(HoloKernels *k, int index, const HoloTensor *const *args, int arg_count,
                            const HoloKernelLaunch *launch, HoloError *error)
{
    HoloIsaArg    of[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch how;
    if (index < 0 || index >= k->count) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no kernel %d", index);
    Compiled                *c      = &k->list[index];
    const HoloKernelProgram *kernel = &c->kernel;
    if (arg_count != kernel->program.param_count)
        return holo_fail(error, HOLO_BAD_INPUT, "%s takes %d arguments, not %d", kernel->name,
                         kernel->program.param_count, arg_count);
    for (int i = 0; i < arg_count; i++) HOLO_TRY(argument(&kernel->program.params[i], args[i], &of[i], error));
    HOLO_TRY(launch_of(kernel, of, launch, &how, error));
    if (!how.grid[0]) return HOLO_OK;
    HoloIsaTeam team = holo_pool_team(launch ? launch->pool : NULL);
    HOLO_TRY(make_ready(c, team.threads, error));
    HoloError  problem = {0};
    HoloStatus status  = holo_isa_run(c->code, c->frame, &team, &how, of, &problem);
    return status ? told_with_place(c, status, &problem, error) : HOLO_OK;
}

// ---- writing

static HoloStatus add_program(HoloPlan *plan, const Compiled *c, HoloArena *arena, HoloError *error)
{
    HoloPlanProgram program = {.name = c->kernel.name, .doc = c->kernel.function->doc};
    uint8_t        *bytes = NULL, *lanes = NULL;
    memcpy(program.block, c->kernel.function->block, sizeof program.block);
    HOLO_TRY(holo_isa_encode(arena, &c->kernel.program, &bytes, &program.program_size, error));
    if (c->kernel.lanes.count) HOLO_TRY(holo_isa_encode(arena, &c->kernel.lanes, &lanes, &program.lanes_size, error));
    program.program = bytes;
    program.lanes   = lanes;
    return holo_plan_program(plan, &program, error);
}

static HoloStatus write_plan(const HoloKernels *k, HoloPlan *plan, HoloArena *arena, const char *path, HoloError *error)
{
    HoloFileWriter *file;
    uint64_t        size;
    for (int i = 0; i < k->count; i++) HOLO_TRY(add_program(plan, &k->list[i], arena, error));
    HOLO_TRY(holo_plan_meta(plan, "producer", "hologram", error));
    HOLO_TRY(holo_file_writer_open(path, &file, error));
    HoloStatus status = holo_archive_write(plan, file, NULL, &size, error);
    HoloStatus closed = holo_file_writer_close(file, !status, error);
    return status ? status : closed;
}

HoloStatus holo_kernels_write(const HoloKernels *k, const char *path, HoloError *error)
{
    HoloArena   arena = {0};
    HoloGraph  *graph;
    HoloLowered lowered = {0};
    HoloPlan    plan    = {0};
    HoloStatus  status  = holo_graph_parse(&arena, "graph kernels() -> () {\n}\n", &graph, error);
    if (!status) status = holo_lower_graph(graph, NULL, &lowered, error);
    if (!status) status = holo_plan_create(graph, &lowered, &plan, error);
    if (!status) status = write_plan(k, &plan, &arena, path, error);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
    return status;
}
