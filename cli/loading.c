// loading.c - opens a file of the command line as a model that runs: opens an archive, or compiles a model.

#include "loading.h"

#include "base/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// "1,3,?,224" to sizes, with -1 for '?'. False: it is not such a list.
static bool parse_dims(const char *text, int *out_rank, int64_t *out_dim)
{
    *out_rank = 0;
    if (!*text) return true;
    for (;;) {
        if (*out_rank == HOLO_MAX_RANK) return false;
        char     *end;
        long long size = -1;
        if (*text == '?') {
            end = (char *)text + 1;
        } else {
            errno = 0;
            size  = strtoll(text, &end, 10);
            if (end == text || size < 0 || errno) return false;
        }
        out_dim[(*out_rank)++] = size;
        if (!*end) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
}

int cli_memo(const Cli *cli, HoloSession *session)
{
    const char *text  = cli_option(cli, "memo");
    uint64_t    bytes = 0;
    HoloError   error = {0};
    if (text && (!cli_read_bytes(text, &bytes) || bytes > SIZE_MAX))
        return cli_usage(cli, "--memo: " CLI_BYTES_WRONG, text);
    if (cli_option(cli, "save-memo") && !bytes) return cli_usage(cli, "--save-memo has nothing to save with --memo 0");
    HoloStatus status = text ? holo_session_set_memo(session, (size_t)bytes, &error) : HOLO_OK;
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

int cli_memo_save(const Cli *cli, const HoloSession *session)
{
    const char *path   = cli_option(cli, "save-memo");
    HoloError   error  = {0};
    HoloStatus  status = path ? holo_session_save_memo(session, path, &error) : HOLO_OK;
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

static int shape_without_name(const Cli *cli, const char *text)
{
    const char *equals = strrchr(text, '=');
    return equals && equals > text
               ? cli_usage(cli, "--input-shape %s: expected NAME:DIMS; did you mean %.*s:%s?", text,
                           (int)(equals - text), text, equals + 1)
               : cli_usage(cli, "--input-shape %s: expected NAME:DIMS, for example x:1,3,224,224", text);
}

int cli_shapes(const Cli *cli, CliShape **out_shapes, int *out_count)
{
    *out_count  = 0;
    *out_shapes = cli_take((size_t)cli->given_count + 1, sizeof **out_shapes);
    const char *text;
    for (int cursor = 0; (text = cli_option_next(cli, "input-shape", &cursor));) {
        CliShape   *shape = &(*out_shapes)[(*out_count)++];
        const char *colon = strrchr(text, ':'); // names may have colons: "input:0"
        if (!colon || colon == text) return shape_without_name(cli, text);
        if (!parse_dims(colon + 1, &shape->rank, shape->dim))
            return cli_usage(cli,
                             "--input-shape %s: expected NAME:DIMS, sizes with commas between them, for example "
                             "%.*s:1,3,224,224; ? leaves a size as it is",
                             text, (int)(colon - text), text);
        shape->name = cli_format("%.*s", (int)(colon - text), text);
        for (CliShape *other = *out_shapes; other < shape; other++)
            if (!strcmp(other->name, shape->name))
                return cli_usage(cli, "--input-shape is given twice for the input '%s'", shape->name);
    }
    return CLI_OK;
}

HoloNumeric cli_numeric(void)
{
    static const struct {
        const char *name;
        HoloNumeric is;
    } classes[] = {
        {"exact", HOLO_EXACT}, {"bf16", HOLO_NUMERIC_BF16}, {"tf32", HOLO_NUMERIC_TF32}, {"f16", HOLO_NUMERIC_F16}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (cli_is("numeric", classes[i].name)) return classes[i].is;
    return HOLO_FUSED;
}

int cli_compiler(const Cli *cli, HoloCompiler **out_compiler)
{
    HoloError  error  = {0};
    HoloStatus status = holo_compiler_create(out_compiler);
    if (status) return cli_fail_error(NULL, &error, holo_fail(&error, status, "out of memory for a compiler"));
    holo_compiler_set_numeric(*out_compiler, cli_numeric());
    holo_compiler_set_size(*out_compiler, cli_is("size", "small")  ? HOLO_SIZE_SMALL
                                          : cli_is("size", "fast") ? HOLO_SIZE_FAST
                                                                   : HOLO_SIZE_BALANCED);
    holo_compiler_set_verify(*out_compiler, cli_is("verify", "true"));
    holo_compiler_set_threads(*out_compiler, (int)cli_number("threads"));
    holo_compiler_set_memory_limit(*out_compiler, cli_size("memory-limit"));
    holo_compiler_set_progress(*out_compiler, cli_progress, NULL);

    const char *targets = cli_option(cli, "target");
    CliShape   *shapes;
    int         count, result = cli_shapes(cli, &shapes, &count);
    if (!result && targets && holo_compiler_set_targets(*out_compiler, targets, &error))
        result = cli_usage(cli, "--target %s: %s", targets, error.text);
    for (int i = 0; !result && i < count; i++) {
        status = holo_compiler_set_shape(*out_compiler, shapes[i].name, shapes[i].rank, shapes[i].dim, &error);
        if (status) result = cli_fail_error(NULL, &error, status);
    }
    if (result) holo_compiler_destroy(*out_compiler);
    return result;
}

HoloStatus cli_pool(HoloPool **out_pool, HoloError *error)
{
    return holo_pool_create_in(NULL, (int)cli_number("threads"), NULL, 0, out_pool, error);
}

uint32_t cli_open_flags(const Cli *cli)
{
    return (cli_option(cli, "prefault") ? HOLO_OPEN_PREFAULT : 0) |
           (cli_option(cli, "huge-pages") ? HOLO_OPEN_HUGE : 0);
}

int cli_make_folder(const char *path)
{
    bool is_there = path && holo_path_exists(path);
    if (!path || holo_path_is_folder(path) || (!is_there && holo_folder_make(path, false))) return CLI_OK;
    return is_there ? cli_fail("give the name of a folder", "%s is not a folder", path)
                    : cli_fail(NULL, "cannot create the folder %s: %s", path, strerror(errno));
}

int cli_temporary_failed(const char *path)
{
    return cli_fail("set TMPDIR in the environment to another folder", "%s: %s", path, strerror(errno));
}

// Copies the standard input to a file without a name, which replaces it.
static int keep_input(void)
{
    char    buffer[1 << 16], path[CLI_PATH];
    ssize_t got;
    int     file = holo_temporary_stream(path, sizeof path), result = CLI_OK;
    if (file < 0) return cli_temporary_failed(path);
    while (!result && (got = read(STDIN_FILENO, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) result = cli_fail(NULL, "cannot read the standard input: %s", strerror(errno));
        for (ssize_t at = 0, put; at < got; at += put)
            if ((put = write(file, buffer + at, (size_t)(got - at))) < 0)
                return cli_fail(NULL, "cannot store the standard input: %s", strerror(errno));
    }
    if (!result && dup2(file, STDIN_FILENO) < 0) result = cli_fail(NULL, "%s", strerror(errno));
    close(file);
    return result;
}

int cli_standard_input(const char **path)
{
    static const char name[] = "/dev/stdin";
    static bool       is_used;
    struct stat       info;
    if (*path == name || (strcmp(*path, "-") && strcmp(*path, name))) return CLI_OK; // done before, or another file
    if (is_used) return cli_fail("put one of them into a file", "the standard input can be used only once");
    if (isatty(STDIN_FILENO))
        return cli_fail("give a file, or redirect one: ... < FILE", "- means the standard input, which is a terminal");
    if (fstat(STDIN_FILENO, &info)) return cli_fail("give a file", "- means the standard input, which is closed");
    bool is_file = S_ISREG(info.st_mode) && !lseek(STDIN_FILENO, 0, SEEK_CUR);
    *path        = name;
    is_used      = true;
    return is_file ? CLI_OK : keep_input();
}

// What to do if the path is a folder and not a model; NULL: it is not a folder, or has no model in it.
static const char *model_inside(const char *path)
{
    HoloFolder   folder;
    HoloFileKind kind;
    const char  *found = NULL;
    (void)holo_folder_list(path, &folder, NULL);
    for (int i = 0; i < folder.count && !found; i++) {
        const char *entry = cli_format("%s/%s", path, folder.name[i]);
        if (!holo_file_kind(entry, &kind, NULL) && kind != HOLO_FILE_OTHER)
            found = cli_format(holo_path_is_folder(entry) ? "give the folder: %s" : "give the file: %s", entry);
    }
    holo_folder_free(&folder);
    return found;
}

int cli_file_kind(const Cli *cli, int arg, HoloFileKind *out_kind)
{
    HoloError error  = {0};
    int       result = cli_standard_input(&cli->args[arg]);
    if (result) return result;
    HoloStatus status = holo_file_kind(cli->args[arg], out_kind, &error);
    if (status) {
        cli_fail_error(cli->args[arg], &error, status);
        cli_advice(model_inside(cli->args[arg]));
        return CLI_FAILED;
    }
    return cli_options_fit(cli, cli->args[arg], *out_kind == HOLO_FILE_ARCHIVE ? CLI_ARCHIVES : CLI_MODELS);
}

HoloStatus cli_device_set(const Cli *cli, HoloModel *model, HoloError *error)
{
    const char *device = cli_option(cli, "device");
    return device ? holo_model_set_device(model, device, error) : HOLO_OK;
}

int cli_model_open(const Cli *cli, int arg, HoloModel **out_model)
{
    HoloError    error  = {0};
    HoloStatus   status = HOLO_OK;
    HoloFileKind kind;
    int          result = cli_file_kind(cli, arg, &kind);
    const char  *path   = cli->args[arg];
    if (result) return result;
    if (kind == HOLO_FILE_ARCHIVE) {
        status = holo_model_open_with(path, cli_open_flags(cli), out_model, &error);
    } else {
        HoloCompiler *compiler;
        result = cli_compiler(cli, &compiler);
        if (result) return result;
        holo_compiler_set_verify(compiler, false); // verification is not worth it for a single use
        status = holo_compile_model(compiler, path, out_model, NULL, &error);
        holo_compiler_destroy(compiler);
        cli_progress_end();
    }
    if (!status) status = cli_device_set(cli, *out_model, &error);
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

int cli_entry_find(const Cli *cli, const HoloModel *model, const HoloModel **out_entry)
{
    const char *name  = cli_option(cli, "entry");
    char       *names = "";
    *out_entry        = name ? holo_model_entry(model, name) : model;
    if (*out_entry) return CLI_OK;
    for (int i = 0; i < holo_model_entry_count(model); i++)
        names = cli_format("%s%s\"%s\"", names, i ? ", " : "", holo_model_entry_name(model, i));
    return cli_fail(cli_format("its entries are: %s", names), "%s has no entry %s", cli->args[0], name);
}
