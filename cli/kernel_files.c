// kernel_files.c - hologram compile of kernels: programs as text, as JSON or in an archive.

#include "kernel_files.h"

#include "base/system.h"

#include <string.h>

// A folder with a model: scripts beside it are not kernels.
static bool has_model(const char *path, const HoloFolder *folder)
{
    HoloFileKind kind;
    bool         found = !holo_file_kind(path, &kind, NULL) && kind == HOLO_FILE_MODEL;
    for (int i = 0; i < folder->count && !found; i++) {
        const char *entry = cli_format("%s/%s", path, folder->name[i]);
        found             = !holo_kernel_path(entry) && !holo_file_kind(entry, &kind, NULL) && kind == HOLO_FILE_MODEL;
    }
    return found;
}

bool cli_is_kernels(const char *path)
{
    HoloFolder   folder;
    HoloFileKind kind;
    if (holo_folder_list(path, &folder, NULL)) // a .json may be a model of TensorFlow.js
        return holo_kernel_path(path) && (holo_file_kind(path, &kind, NULL) || kind != HOLO_FILE_MODEL);
    bool is_model = has_model(path, &folder);
    holo_folder_free(&folder);
    return !is_model;
}

static int write_text(const char *path, const char *text)
{
    CliFile file;
    if (cli_file_begin(path, &file)) return CLI_FAILED;
    fputs(text, file.stream);
    return cli_file_end(&file);
}

// The path of a kernel's text below the folder `to`: folders are kept, and created.
static char *place(const char *from, const char *file, const char *to, const char *end)
{
    const char *rest = file + strlen(from);
    while (*rest == '/') rest++;
    if (!*rest) rest = holo_path_name(file);
    char *path = cli_format("%s/%s", to, rest), *dot = strrchr(path, '.');
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        holo_folder_make(path, false); // existing ones stay; a failure shows when the file is written
        *slash = '/';
    }
    *dot = '\0';
    return cli_format("%s.%s", path, end);
}

// All programs of one file, one after the other.
static char *assembly_of(const HoloKernels *kernels, const char *file)
{
    HoloKernelInfo info;
    char          *text = cli_format("%s", "");
    for (int i = 0; holo_kernels_info(kernels, i, &info); i++)
        if (!strcmp(info.file, file)) text = cli_format("%s%s%s", text, *text ? "\n" : "", info.assembly);
    return text;
}

static int emit_texts(const Cli *cli, const HoloKernels *kernels, bool json)
{
    const char *path = cli->args[0], *output = cli_option(cli, "output"), *file = "", *text;
    bool        several = holo_kernels_json(kernels, 1, NULL) != NULL;
    for (int i = 0; (text = holo_kernels_json(kernels, i, &file)); i++) {
        if (!json) text = assembly_of(kernels, file);
        int result = CLI_OK;
        if (!output)
            printf("%s%s", i && !json ? "\n" : "", text);
        else
            result = write_text(several ? place(path, file, output, json ? "json" : "asm") : output, text);
        if (result) return result;
    }
    return CLI_OK;
}

static int emit_archive(const Cli *cli, const HoloKernels *kernels)
{
    const char *path = cli->args[0], *output = cli_option(cli, "output");
    HoloError   error = {0};
    if (!output) {
        size_t size = strlen(path);
        while (size > 1 && path[size - 1] == '/') size--;
        const char *base = path + size;
        while (base > path && base[-1] != '/') base--;
        int stem = (int)(path + size - base);
        for (int i = stem; i-- > 1;)
            if (base[i] == '.') stem = i;
        output = cli_format("%.*s.holo", stem, base);
    }
    HoloStatus status = holo_kernels_write(kernels, output, &error);
    if (status) return cli_fail_error(output, &error, status);
    if (!cli_option(cli, "quiet"))
        printf("%s: %d %s\n", output, holo_kernels_count(kernels),
               holo_kernels_count(kernels) == 1 ? "program" : "programs");
    return CLI_OK;
}

int cli_compile_kernels(const Cli *cli)
{
    const char  *emit = cli_option(cli, "emit");
    HoloKernels *kernels;
    HoloError    error = {0};
    bool         json = emit && !strcmp(emit, "json"), text = emit && !strcmp(emit, "asm");
    int          result = cli_options_only(cli, "output numeric emit quiet", cli->args[0], CLI_KERNELS);
    if (result) return result;
    if ((json || text) && cli_option(cli, "quiet") && !cli_option(cli, "output"))
        return cli_usage(cli, "--emit %s with --quiet prints nothing: also give -o FILE", emit);
    HoloStatus status =
        holo_kernels_open(cli->args[0], cli_is("numeric", "exact") ? HOLO_EXACT : HOLO_FUSED, &kernels, &error);
    if (status) {
        cli_fail_error(NULL, &error, status);
        if (status == HOLO_NO_FILE)
            cli_advice("to compile a model, give its file or folder: hologram compile FILE.onnx");
        return CLI_FAILED;
    }
    result = json || text ? emit_texts(cli, kernels, json) : emit_archive(cli, kernels);
    holo_kernels_close(kernels);
    return result;
}
