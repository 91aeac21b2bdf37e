// cmd_graph.c - hologram graph: a picture of the imported and of the planned graph.

#include "loading.h"

#include "base/system.h"
#include "picture.h"

#include <errno.h>
#include <string.h>

typedef void (*Writer)(FILE *out, Picture *const *pictures, int count);

static const struct {
    const char *ending;
    Writer      write;
    bool        needs_layout;
} formats[] = {
    {".svg", picture_write_svg, true},
    {".html", picture_write_html, true},
    {".dot", picture_write_dot, false},
};

static int find_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < CLI_COUNT(formats); i++)
        if (!strcmp(formats[i].ending, dot)) return i;
    return -1;
}

typedef struct Pages {
    Picture     *pictures[2];
    HoloListing *listings[2]; // pictures borrow their texts
    int          count;
} Pages;

static HoloStatus add(Pages *pages, const HoloCompiler *compiler, const char *path, HoloStage stage, HoloError *error)
{
    HoloStatus status = holo_listing_open(compiler, path, stage, &pages->listings[pages->count], error);
    if (status) return status;
    const char *word = stage == HOLO_STAGE_IMPORTED ? "as imported" : "as planned";
    pages->pictures[pages->count] =
        picture_make(pages->listings[pages->count], cli_format("%s, %s", holo_path_name(path), word));
    pages->count++;
    return HOLO_OK;
}

static int write_file(const char *path, int format, Picture *const *pictures, int count)
{
    CliFile file;
    if (cli_file_begin(path, &file)) return CLI_FAILED;
    formats[format].write(file.stream, pictures, count);
    return cli_file_end(&file);
}

static int collect(const Cli *cli, const HoloCompiler *compiler, bool is_archive, Pages *pages)
{
    const char *stage = cli_option(cli, "stage"), *path = cli->args[0];
    bool        both = !stage || !strcmp(stage, "both"), imported = both || !strcmp(stage, "imported");
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    if (imported && !is_archive) status = add(pages, compiler, path, HOLO_STAGE_IMPORTED, &error);
    if (!status && (both || !imported || is_archive)) {
        status = add(pages, compiler, path, HOLO_STAGE_PLANNED, &error);
        cli_progress_end();
    }
    if (!status) return CLI_OK;
    if (!pages->count) return cli_fail_error(path, &error, status);
    cli_fail_error(path, &error, status); // if it cannot be planned, it can still be drawn
    fputs("  drawing only the imported graph\n", stderr);
    return CLI_OK;
}

static int draw(const Cli *cli, const HoloCompiler *compiler, bool is_archive, const char *output)
{
    Pages pages  = {0};
    int   format = find_format(output), result = collect(cli, compiler, is_archive, &pages);
    for (int i = 0; !result && formats[format].needs_layout && i < pages.count; i++) picture_layout(pages.pictures[i]);
    if (!result) result = write_file(output, format, pages.pictures, pages.count);
    if (!result) printf("%s\n", output);
    for (int i = 0; i < pages.count; i++) holo_listing_close(pages.listings[i]);
    return result;
}

static int graph(Cli *cli)
{
    const char *output = cli_option(cli, "output"), *stage = cli_option(cli, "stage");
    if (!output) return cli_usage(cli, "the output file is missing: give -o FILE.svg, FILE.html or FILE.dot");
    if (find_format(output) < 0)
        return cli_usage(cli, "%s: the name of the picture must end with .svg, .html or .dot", output);
    HoloFileKind kind;
    int          result = cli_file_kind(cli, 0, &kind);
    if (result) return result;
    if (kind == HOLO_FILE_ARCHIVE && stage && !strcmp(stage, "imported"))
        return cli_fail("give the model instead", "an archive has only its planned graph");
    const char *idle = cli_option(cli, "input-shape") ? "input-shape" : cli_option(cli, "numeric") ? "numeric" : NULL;
    if (idle && stage && !strcmp(stage, "imported"))
        return cli_usage(cli, "--%s changes only the planned graph, not the imported one", idle);
    HoloCompiler *compiler;
    result = cli_compiler(cli, &compiler);
    if (result) return result;
    holo_compiler_set_verify(compiler, false);
    result = draw(cli, compiler, kind == HOLO_FILE_ARCHIVE, output);
    holo_compiler_destroy(compiler);
    return result;
}

static const CliOption options[] = {
    {"output", 'o', "FILE", "the picture to write: .svg, .html (you can move, zoom and\nsearch) or .dot",
     .writes = true},
    {"stage", 0, "STAGE", "imported, planned or both (default)", .choices = "imported planned both"},
    CLI_OPTION_MODEL_SHAPE,
    CLI_OPTION_MODEL_NUMERIC,
    {0},
};

const CliCommand cli_graph = {
    .name      = "graph",
    .purpose   = "draw the graph of a model, as imported and as planned",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is a model or an archive. An archive has only the planned graph. Constants are written\n"
                 "in the box of the node that uses them. In a planned graph, nodes in dashed boxes have no fast\n"
                 "kernel: they use the slower reference implementation.",
    .examples  = "  hologram graph resnet50.onnx -o resnet50.html\n"
                 "  hologram graph model.holo -o plan.svg\n"
                 "  hologram graph model.onnx --stage imported -o model.dot && dot -Tpdf model.dot -o model.pdf\n",
    .options   = options,
    .run       = graph,
};
