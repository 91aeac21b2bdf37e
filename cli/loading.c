// loading.c - a file on the command line to a model that runs: an archive is opened, a model compiled.

#include "loading.h"

#include <stdlib.h>
#include <string.h>

// "1,3,?,224" to sizes; -1 for '?'. False: it is no such list.
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
            size = strtoll(text, &end, 10);
            if (end == text || size < 0) return false;
        }
        out_dim[(*out_rank)++] = size;
        if (!*end) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
}

bool cli_read_bytes(const char *text, uint64_t *out)
{
    char              *end;
    unsigned long long number = strtoull(text, &end, 10);
    const char        *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    int                shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text || *text == '-' || (*end && (!unit || end[1])) || number > UINT64_MAX >> shift) return false;
    *out = (uint64_t)number << shift;
    return true;
}

int cli_memo(const Cli *cli, HoloSession *session)
{
    const char *text  = cli_option(cli, "memo");
    uint64_t    bytes = 0;
    HoloError   error = {0};
    if (text && (!cli_read_bytes(text, &bytes) || bytes > SIZE_MAX))
        return cli_usage(cli, "--memo takes a number of bytes, as 64M; '%s' is none", text);
    if (cli_option(cli, "save-memo") && !bytes)
        return cli_usage(cli, "--save-memo has nothing to save without --memo BYTES");
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

int cli_shapes(const Cli *cli, CliShape **out_shapes, int *out_count)
{
    *out_count  = 0;
    *out_shapes = cli_take((size_t)cli->given_count + 1, sizeof **out_shapes);
    const char *text;
    for (int cursor = 0; (text = cli_option_next(cli, "input-shape", &cursor));) {
        CliShape   *shape = &(*out_shapes)[(*out_count)++];
        const char *colon = strrchr(text, ':'); // names may have colons: "input:0"
        if (!colon || colon == text || !parse_dims(colon + 1, &shape->rank, shape->dim))
            return cli_usage(cli, "--input-shape %s: expected NAME:DIMS, as x:1,3,224,224", text);
        shape->name = cli_format("%.*s", (int)(colon - text), text);
    }
    return CLI_OK;
}

int cli_compiler(const Cli *cli, HoloCompiler **out_compiler)
{
    HoloError  error  = {0};
    HoloStatus status = holo_compiler_create(out_compiler);
    if (status) return cli_fail_error(NULL, &error, status);
    holo_compiler_set_numeric(*out_compiler, cli_is("numeric", "exact") ? HOLO_EXACT : HOLO_FUSED);
    holo_compiler_set_verify(*out_compiler, cli_is("verify", "true"));
    holo_compiler_set_threads(*out_compiler, (int)cli_number("threads"));
    holo_compiler_set_progress(*out_compiler, cli_progress, NULL);

    CliShape *shapes;
    int       count, result = cli_shapes(cli, &shapes, &count);
    for (int i = 0; !result && i < count; i++) {
        status = holo_compiler_set_shape(*out_compiler, shapes[i].name, shapes[i].rank, shapes[i].dim, &error);
        if (status) result = cli_fail_error(NULL, &error, status);
    }
    if (result) holo_compiler_destroy(*out_compiler);
    return result;
}

uint32_t cli_open_flags(const Cli *cli)
{
    return (cli_option(cli, "prefault") ? HOLO_OPEN_PREFAULT : 0) |
           (cli_option(cli, "huge-pages") ? HOLO_OPEN_HUGE : 0);
}

int cli_model_open(const Cli *cli, const char *path, HoloModel **out_model)
{
    HoloError    error = {0};
    HoloFileKind kind;
    HoloStatus   status = holo_file_kind(path, &kind, &error);
    if (!status && kind == HOLO_FILE_ARCHIVE) {
        status = holo_model_open_with(path, cli_open_flags(cli), out_model, &error);
    } else if (!status) {
        HoloCompiler *compiler;
        int           result = cli_compiler(cli, &compiler);
        if (result) return result;
        holo_compiler_set_verify(compiler, false); // one use does not pay for a proof
        status = holo_compile_model(compiler, path, out_model, NULL, &error);
        holo_compiler_destroy(compiler);
        cli_progress_end();
    }
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}
