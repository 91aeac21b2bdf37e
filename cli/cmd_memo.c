// cmd_memo.c - hologram memo: writes an archive again, with answers to given inputs in it.

#include "loading.h"

#include <inttypes.h>
#include <stdint.h>

static int learn(const Cli *cli, const HoloModel *model, HoloSession *session)
{
    HoloError   error  = {0};
    HoloStatus  status = holo_session_set_memo(session, SIZE_MAX, &error);
    const char *path, *out = cli_option(cli, "output");
    int         patterns = 0;
    uint64_t    known    = 0;
    for (int cursor = 0; !status && (path = cli_option_next(cli, "patterns", &cursor));) {
        int count = 0;
        status    = holo_session_learn(session, model, path, &count, &error);
        patterns += count;
    }
    if (!status) status = holo_session_save_memo(session, out, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    holo_session_memo_counts(session, &known, NULL);
    if (!cli_option(cli, "quiet"))
        printf("%s: %d pattern%s, %" PRIu64 " of them already known, added to the %" PRId64 " of %s\n", out, patterns,
               patterns == 1 ? "" : "s", known, holo_model_memo_count(model), cli->args[0]);
    return CLI_OK;
}

static int open_and_learn(const Cli *cli)
{
    HoloError    error   = {0};
    HoloModel   *model   = NULL;
    HoloPool    *pool    = NULL;
    HoloSession *session = NULL;
    HoloStatus   status  = holo_model_open(cli->args[0], &model, &error);
    if (!status) status = cli_pool(&pool, &error);
    if (!status) status = holo_session_create(model, pool, &session, &error);
    int result = status ? cli_fail_error(cli->args[0], &error, status) : learn(cli, model, session);
    holo_session_destroy(session);
    holo_pool_destroy(pool);
    holo_model_close(model);
    return result;
}

static int memo(Cli *cli)
{
    HoloFileKind kind;
    int          result = cli_file_kind(cli, 0, &kind);
    if (result) return result;
    if (kind != HOLO_FILE_ARCHIVE)
        return cli_fail("hologram compile MODEL --patterns FILE.npz does both", "%s is not an archive", cli->args[0]);
    if (!cli_option(cli, "output")) return cli_usage(cli, "the output file is missing: give -o NEW.holo");
    if (!cli_option(cli, "patterns")) return cli_usage(cli, "the inputs are missing: give --patterns FILE.npz");
    return open_and_learn(cli);
}

static const CliOption options[] = {
    {"output", 'o', "NEW.holo", "the archive to write; it may be FILE itself"},
    CLI_OPTION_PATTERNS,
    CLI_OPTION_THREADS,
    {"quiet", 'q', NULL, "print nothing"},
    {0},
};

const CliCommand cli_memo_command = {
    .name      = "memo",
    .purpose   = "store the answers to given inputs in a .holo file",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "Runs the archive on the given inputs and writes a new archive that also holds the outputs. A run\n"
                 "with exactly these inputs then computes nothing. All other runs stay as they are.",
    .examples  = "  hologram memo net.holo --patterns faq.npz -o net.holo\n"
                 "  hologram memo net.holo --patterns samples -o answered.holo\n",
    .options   = options,
    .run       = memo,
};
