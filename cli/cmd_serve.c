// cmd_serve.c - hologram serve: starts the program hologram-serve, which lies beside this one.

#include "cli.h"
#include "serve_options.h"

#include "base/system.h"

#include <errno.h>
#include <string.h>

static int serve(Cli *cli)
{
    char **words   = cli_take((size_t)cli->given_count * 2 + (size_t)cli->arg_count + 3, sizeof *words);
    int    count   = 0;
    words[count++] = "hologram-serve";
    for (int i = 0; i < cli->given_count; i++) {
        const char *name = cli->given[i].option->name, *value = cli->given[i].value;
        words[count++] = value ? cli_format("--%s=%s", name, value) : cli_format("--%s", name);
    }
    words[count++] = "--";
    for (int i = 0; i < cli->arg_count; i++) words[count++] = (char *)cli->args[i];
    holo_program_replace("hologram-serve", words);
    return cli_fail(
        "it is built by make where libnghttp2-dev, libssl-dev, libprotobuf-c-dev and protobuf-c-compiler are installed",
        "the program hologram-serve, which should be beside this one, cannot be started: %s", strerror(errno));
}

#define NUMBER(field, option, value, help)                           {option, 0, value, help, .is_own = true},
#define BYTES(field, option, value, help)                            {option, 0, value, help, .is_own = true},
#define TEXT(field, option, value, help)                             {option, 0, value, help, .is_own = true},
#define FLAG(field, option, value, help)                             {option, 0, NULL, help, .is_own = true},
#define ROW(field, option, kind, value, least, most, fallback, help) kind(field, option, value, help)

static const CliOption options[] = {SERVE_OPTION_MAP(ROW){0}};

const CliCommand cli_serve = {
    .name      = "serve",
    .purpose   = "serve models over HTTP and gRPC",
    .arguments = "FOLDER|FILE...",
    .arg_min   = 1,
    .arg_max   = -1,
    .details   = "Clients of KServe, Triton, OpenAI and Prometheus can ask it. FOLDER has archives, or models, which\n"
                 "are compiled; sub-folders may have versions: NAME/1/model.onnx. It is watched: new models appear,\n"
                 "replaced ones change without a lost request, and if one is broken, the old one stays.",
    .examples  = "  hologram serve models\n"
                 "  hologram serve model.holo --port 9000 --threads 4\n"
                 "  hologram serve models --host 0.0.0.0 --keys keys.txt --tls-cert server.pem\n",
    .options   = options,
    .run       = serve,
};
