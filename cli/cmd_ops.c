// cmd_ops.c - hologram ops: the operators that are supported, from the table itself.

#include "json.h"
#include "ops_text.h"

#include <string.h>
#include <strings.h>

// ---- rows in words

const char *op_domain(const HoloOpInfo *op)
{
    return *op->domain ? op->domain : "ai.onnx";
}

char *op_versions(const HoloOpInfo *op)
{
    return op->until ? cli_format("%d-%d", op->since, op->until) : cli_format("%d+", op->since);
}

char *op_types(const HoloOpInfo *op)
{
    static const struct {
        const char *name;
        HoloDtype   first[10];
    } families[] = {
        {"float", {HOLO_F16, HOLO_BF16, HOLO_F32, HOLO_F64}},
        {"int", {HOLO_I8, HOLO_I16, HOLO_I32, HOLO_I64}},
        {"uint", {HOLO_U8, HOLO_U16, HOLO_U32, HOLO_U64}},
        {"f8", {HOLO_F8E4M3FN, HOLO_F8E4M3FNUZ, HOLO_F8E5M2, HOLO_F8E5M2FNUZ}},
        {"complex", {HOLO_C64, HOLO_C128}},
    };
    uint64_t all = (UINT64_C(1) << HOLO_DTYPE_COUNT) - 2, types = op->types;
    char    *text = "";
    if (!types || (types & all) == all) return "any";
    for (int i = 0; i < CLI_COUNT(families); i++) {
        uint64_t set = 0;
        for (int k = 0; families[i].first[k]; k++) set |= UINT64_C(1) << families[i].first[k];
        if ((types & set) != set) continue;
        text = cli_format("%s%s%s", text, *text ? " " : "", families[i].name);
        types &= ~set;
    }
    for (int dtype = 1; dtype < HOLO_DTYPE_COUNT; dtype++)
        if (types >> dtype & 1) text = cli_format("%s%s%s", text, *text ? " " : "", holo_dtype_name((HoloDtype)dtype));
    return text;
}

// ---- the command

static bool is_called(const HoloOpInfo *op, const char *name)
{
    return !strcasecmp(name, op->name) || !strcmp(name, op_domain(op));
}

static bool wanted(const Cli *cli, const HoloOpInfo *op)
{
    for (int i = 0; i < cli->arg_count; i++)
        if (is_called(op, cli->args[i])) return true;
    return cli->arg_count == 0;
}

static bool is_known(const char *name)
{
    HoloOpInfo op;
    for (int i = 0; holo_op_info(i, &op); i++)
        if (is_called(&op, name)) return true;
    return false;
}

static void print_json(const Cli *cli)
{
    Json       json = {.out = stdout};
    HoloOpInfo op;
    json_open(&json, NULL, '[');
    for (int i = 0; holo_op_info(i, &op); i++) {
        if (!wanted(cli, &op)) continue;
        json_open(&json, NULL, '{');
        json_text(&json, "domain", op_domain(&op));
        json_text(&json, "name", op.name);
        json_int(&json, "since", op.since);
        if (op.until) json_int(&json, "until", op.until);
        json_open(&json, "types", '[');
        for (int dtype = 1; dtype < HOLO_DTYPE_COUNT; dtype++)
            if (op.types >> dtype & 1) json_text(&json, NULL, holo_dtype_name((HoloDtype)dtype));
        json_close(&json, ']');
        json_text(&json, "runs", op.runs);
        json_close(&json, '}');
    }
    json_close(&json, ']');
}

static void print_table(const Cli *cli)
{
    const char *domain = NULL;
    HoloOpInfo  op;
    int         shown = 0;
    for (int i = 0; holo_op_info(i, &op); i++) {
        if (!wanted(cli, &op)) continue;
        if (!domain || strcmp(domain, op.domain))
            printf("%s%s%s%s\n", shown ? "\n" : "", cli_color(stdout, "bold"), op_domain(&op),
                   cli_color(stdout, "reset"));
        domain = op.domain;
        printf("  %s%-28s%s %-7s %-7s %s\n", cli_color(stdout, "cyan"), op.name, cli_color(stdout, "reset"),
               op_versions(&op), op.runs, op_types(&op));
        shown++;
    }
    if (shown) printf("\n%d operators\n", shown);
}

static int unknown(const char *name)
{
    HoloOpInfo op;
    int        count = 0;
    while (holo_op_info(count, &op)) count++;
    const char **names = cli_take((size_t)count + 1, sizeof *names);
    for (int i = 0; holo_op_info(i, &op); i++) names[i] = op.name;
    const char *nearest = cli_nearest(name, names);
    return cli_fail("`hologram ops` lists all",
                    nearest ? "there is no operator '%s'; did you mean '%s'?" : "there is no operator '%s'", name,
                    nearest);
}

static int ops(Cli *cli)
{
    if (cli_option(cli, "markdown")) {
        if (cli->arg_count) return cli_usage(cli, "--markdown always lists all operators: remove '%s'", cli->args[0]);
        ops_markdown();
        return CLI_OK;
    }
    for (int i = 0; i < cli->arg_count; i++)
        if (!is_known(cli->args[i])) return unknown(cli->args[i]);
    if (cli_option(cli, "json"))
        print_json(cli);
    else
        print_table(cli);
    return CLI_OK;
}

static const CliOption options[] = {
    {"json", 0, NULL, "print JSON"},
    {"markdown", 0, NULL, "print docs/operators.md; run it in the source folder, where it counts the tests",
     .without = "json"},
    {0},
};

const CliCommand cli_ops = {
    .name      = "ops",
    .purpose   = "list the supported operators",
    .arguments = "[NAME...]",
    .arg_max   = -1,
    .details   = "Each line shows the operator, its versions, how it runs, and the element types that its\n"
                 "first input may have. How it runs: kernel (a fast kernel for the usual cases), eval (the slower\n"
                 "reference implementation), body (as other operators), or refused. NAME is an operator or a domain.",
    .examples  = "  hologram ops\n"
                 "  hologram ops Conv MatMul\n"
                 "  hologram ops ai.onnx.ml --json\n",
    .options   = options,
    .run       = ops,
};
