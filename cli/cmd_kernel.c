// cmd_kernel.c - hologram kernel: shows, runs and measures kernels, and begins new ones.

#include "kernel_args.h"
#include "loading.h"

#include "base/system.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- which kernel

// Finds a kernel by its program's name, or by its function's: then the type of the given arrays decides, or --type.
static int find(const Cli *cli, const HoloKernels *kernels, const char *name, int *out)
{
    HoloKernelInfo info;
    const char    *type = cli_option(cli, "type");
    HoloDtype      given;
    int            result = cli_kernel_type(cli, kernels, name, &given);
    if (result) return result;
    *out = -1;
    for (int i = 0; *out < 0 && holo_kernels_info(kernels, i, &info); i++) {
        bool wanted = type ? !strcmp(holo_dtype_name(info.type), type) : given == HOLO_NONE || info.type == given;
        if (!strcmp(info.name, name) || (!strcmp(info.function, name) && wanted)) *out = i;
    }
    bool is_other = *out >= 0 && type && strcmp(holo_dtype_name(info.type), type); // it was named by its whole name
    if (is_other) return cli_usage(cli, "%s has type %s, but --type says %s", name, holo_dtype_name(info.type), type);
    if (*out >= 0) return CLI_OK;
    char *names = cli_format("%s", "");
    for (int i = 0; i < 20 && holo_kernels_info(kernels, i, &info); i++)
        names = cli_format("%s%s%s", names, i ? ", " : "", info.name);
    return cli_fail(cli_format("there are: %s", names), "there is no kernel '%s'%s%s", name, type ? " of type " : "",
                    type ? type : "");
}

// ---- run

static int print_written(const Cli *cli, const HoloKernelInfo *info, const CliKernelArg *args)
{
    const char *folder = cli_option(cli, "output");
    for (int i = 0; i < info->param_count; i++) {
        if (!info->params[i].is_array || !info->params[i].is_written) continue;
        const HoloTensor *t     = &args[i].tensor;
        int64_t           count = holo_tensor_count(t), shown = count < 8 ? count : 8;
        double            number[8];
        holo_tensor_numbers(t, 0, shown, number);
        printf("%s: %s[%lld]", info->params[i].name, holo_dtype_name(t->dtype), (long long)count);
        for (int64_t e = 0; e < shown; e++) printf("%s%.9g", e ? ", " : " = ", number[e]);
        printf("%s\n", count > shown ? ", ..." : "");
        if (!folder) continue;
        HoloError  error  = {0};
        HoloStatus status = holo_tensor_write_npy(cli_format("%s/%s.npy", folder, info->params[i].name), t, &error);
        if (status) return cli_fail_error(NULL, &error, status);
    }
    return CLI_OK;
}

// The whole number of 1 or more that an option gives; if it is not given, *out stays.
static int read_number(const Cli *cli, const char *option, int64_t *out)
{
    const char *text = cli_option(cli, option);
    char       *end;
    if (!text) return CLI_OK;
    errno = 0;
    *out  = strtoll(text, &end, 10);
    return end == text || *end || errno || *out < 1
               ? cli_usage(cli, "--%s %s: expected a whole number, 1 or more", option, text)
               : CLI_OK;
}

static int read_block(const Cli *cli, HoloKernelLaunch *out)
{
    const char *text = cli_option(cli, "block"), *at = text;
    if (!text) return CLI_OK;
    out->block[1] = out->block[2] = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        long  size = strtol(at, &end, 10);
        if (end == at || size < 1 || size > INT_MAX) break;
        out->block[i] = (int)size;
        if (!*end) return CLI_OK;
        if (*end != ',') break;
        at = end + 1;
    }
    return cli_usage(cli, "--block %s: expected up to three sizes, for example 16,16", text);
}

static int launch_options(const Cli *cli, HoloKernelLaunch *out)
{
    *out       = (HoloKernelLaunch){0};
    int result = read_number(cli, "lanes", &out->lanes);
    if (!result) result = read_number(cli, "limit", &out->turns);
    return result ? result : read_block(cli, out);
}

// Launches as the options say, on a pool of its own.
static int launch_begin(const Cli *cli, HoloKernelLaunch *out)
{
    HoloError  error  = {0};
    int        result = launch_options(cli, out);
    HoloStatus status = result ? HOLO_OK : cli_pool(&out->pool, &error);
    return status ? cli_fail_error(NULL, &error, status) : result;
}

static int open_kernel(const Cli *cli, const char *path, const char *name, HoloKernels **kernels, int *index)
{
    HoloError    error = {0};
    HoloFileKind kind;
    int          result = CLI_OK;
    if (!holo_file_kind(path, &kind, NULL) && kind == HOLO_FILE_ARCHIVE)
        result = cli_options_fit(cli, path, CLI_ARCHIVES);
    if (result) return result;
    HoloStatus status = holo_kernels_open(path, cli_is("numeric", "exact") ? HOLO_EXACT : HOLO_FUSED, kernels, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    return name ? find(cli, *kernels, name, index) : CLI_OK;
}

static int run_with(const Cli *cli, HoloKernels *kernels, int index)
{
    HoloKernelInfo   info;
    HoloKernelLaunch launch;
    CliKernelArg    *args;
    HoloError        error = {0};
    holo_kernels_info(kernels, index, &info);
    int result = cli_make_folder(cli_option(cli, "output"));
    if (!result) result = launch_begin(cli, &launch);
    if (result) return result;
    result = cli_kernel_args(cli, &info, 0, &args);
    if (!result) {
        HoloStatus status =
            holo_kernels_run(kernels, index, cli_kernel_tensors(&info, args), info.param_count, &launch, &error);
        result = status ? cli_fail_error(NULL, &error, status) : print_written(cli, &info, args);
    }
    holo_pool_destroy(launch.pool);
    cli_kernel_args_free(&info, args);
    return result;
}

static int run_kernel(const Cli *cli)
{
    HoloKernels *kernels = NULL;
    int          index   = 0, result;
    if (cli->arg_count != 3) return cli_usage(cli, "FILE or NAME is missing: hologram kernel run FILE NAME");
    result = open_kernel(cli, cli->args[1], cli->args[2], &kernels, &index);
    if (!result) result = run_with(cli, kernels, index);
    holo_kernels_close(kernels);
    return result;
}

// ---- bench

static int bench_one(const Cli *cli, HoloKernels *kernels, int index, const HoloKernelLaunch *launch, int64_t size,
                     double budget)
{
    HoloKernelInfo info;
    CliKernelArg  *args;
    HoloError      error = {0};
    double         best = 0, all = 0;
    uint64_t       bytes = 0;
    int            runs  = 0, result;
    holo_kernels_info(kernels, index, &info);
    result = cli_kernel_args(cli, &info, size, &args);
    if (result) return result;
    const HoloTensor *const *tensors = cli_kernel_tensors(&info, args);
    HoloStatus               status  = HOLO_OK;
    for (; !status && (runs < 2 || all < budget); runs++) {
        double start = cli_now();
        status       = holo_kernels_run(kernels, index, tensors, info.param_count, launch, &error);
        double time  = cli_now() - start;
        if (!runs || time < best) best = time;
        all += time;
    }
    for (int i = 0; i < info.param_count; i++)
        if (info.params[i].is_array) bytes += holo_tensor_bytes(tensors[i]);
    CliText seconds;
    if (status)
        result = cli_fail_error(NULL, &error, status);
    else
        printf("%-32s %10s  %8.2f GB/s\n", info.name, cli_seconds(&seconds, best), (double)bytes / best * 1e-9);
    cli_kernel_args_free(&info, args);
    return result;
}

static int bench_kernels(const Cli *cli)
{
    HoloKernels   *kernels = NULL;
    HoloKernelInfo info;
    const char    *name  = cli->arg_count > 2 ? cli->args[2] : NULL;
    int64_t        size  = 1000000;
    int            index = 0, result;
    if (cli->arg_count < 2) return cli_usage(cli, "FILE is missing: hologram kernel bench FILE [NAME]");
    HoloKernelLaunch launch = {0};
    result                  = read_number(cli, "size", &size);
    if (!result) result = open_kernel(cli, cli->args[1], name, &kernels, &index);
    if (!result) result = launch_begin(cli, &launch);
    if (!result && name) result = bench_one(cli, kernels, index, &launch, size, 0.3);
    const char *type = cli_option(cli, "type");
    for (int i = 0; !result && !name && holo_kernels_info(kernels, i, &info); i++)
        if (!type || !strcmp(type, holo_dtype_name(info.type))) result = bench_one(cli, kernels, i, &launch, size, 0.1);
    holo_pool_destroy(launch.pool);
    holo_kernels_close(kernels);
    return result;
}

// ---- list, new

static int list_kernels(const Cli *cli)
{
    HoloKernels   *kernels = NULL;
    HoloKernelInfo info;
    int            index;
    if (cli->arg_count != 2) return cli_usage(cli, "give one FILE: hologram kernel list FILE");
    int result = open_kernel(cli, cli->args[1], NULL, &kernels, &index);
    for (int i = 0; !result && holo_kernels_info(kernels, i, &info); i++) {
        printf("%s(", info.name);
        for (int p = 0; p < info.param_count; p++)
            printf("%s%s: %s%s", p ? ", " : "", info.params[p].name, holo_dtype_name(info.params[p].type),
                   info.params[p].is_array ? "[]" : "");
        printf(")%s%s\n", *info.doc ? "  " : "", info.doc);
    }
    holo_kernels_close(kernels);
    return result;
}

static const char template[] =
    "# %s.py - a kernel: a function that runs once for each lane, all lanes at once.\n"
    "#\n"
    "#   hologram kernel run %s.py %s --arg x=zeros:8 --arg y=zeros:8 --arg n=8 --arg scale=2\n"
    "#   hologram compile %s.py --emit asm\n"
    "#\n"
    "# The language is described in docs/kernel-language.md.\n"
    "\n"
    "# The kernel is compiled once for each of these; T stands for the type.\n"
    "T = types(f32, f64)\n"
    "\n"
    "\n"
    "# Helpers are inlined where they are called.\n"
    "@inline\n"
    "def square(x):\n"
    "    return x * x\n"
    "\n"
    "\n"
    "# lanes= computes the number of lanes from the number arguments of the kernel.\n"
    "@kernel(lanes=n)\n"
    "def %s(x: DeviceArray[T], y: DeviceArray[T], n: i64, scale: T):\n"
    "    \"\"\"y = scale * x * x + 1\"\"\"\n"
    "    i = get_global_id()  # which lane this is\n"
    "    if i < n:  # there may be more lanes than elements\n"
    "        y[i] = scale * square(x[i]) + 1\n";

static int new_kernel(const Cli *cli)
{
    const char *name = cli->arg_count == 2 ? cli->args[1] : "";
    size_t      size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!*name || name[size] || (*name >= '0' && *name <= '9') || size > 60)
        return cli_usage(cli, "give the kernel a name of letters, digits and _: hologram kernel new NAME");
    char *path = cli_format("%s.py", name);
    if (holo_path_exists(path))
        return cli_fail("choose another name, or remove the file", "cannot create %s: it is there already", path);
    CliFile file;
    if (cli_file_begin(path, &file)) return CLI_FAILED;
    fprintf(file.stream, template, name, name, name, name, name);
    if (cli_file_end(&file)) return CLI_FAILED;
    printf("wrote %s; try: hologram kernel run %s %s --arg x=random:8 --arg y=zeros:8 --arg n=8 --arg scale=2\n", path,
           path, name);
    return CLI_OK;
}

static int kernel(Cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(const Cli *cli);
    } rows[]         = {{"run", run_kernel}, {"new", new_kernel}, {"bench", bench_kernels}, {"list", list_kernels}};
    const char *what = cli->args[0];
    for (int i = 0; i < CLI_COUNT(rows); i++)
        if (!strcmp(rows[i].name, what)) return rows[i].run(cli);
    return CLI_USAGE; // the table of verbs has no others
}

static const CliOption options[] = {
    {"arg", 'a', "NAME=VALUE",
     "an argument: a number, a .npy file, zeros:N, ones:N or random:N;\nmay be given several times", .many = true,
     .verbs = "run bench"},
    {"type", 0, "TYPE", "the type to run, for example f16 (default: that of the arrays)", .verbs = "run bench"},
    {"lanes", 0, "N", "how many lanes to launch (default: as the kernel says, or its\nfirst integer argument)",
     .verbs = "run bench"},
    {"block", 0, "X,Y,Z", "lanes per block (default: as the kernel says, or 256)", .verbs = "run bench"},
    {"limit", 0, "N", "fail if a lane takes more than N loop iterations", .verbs = "run bench"},
    {"size", 0, "N", "the value of n and the size of arrays (default a million)", .verbs = "bench", .is_own = true},
    {"output", 'o', "DIR", "write each array that the kernel wrote as NAME.npy", .verbs = "run"},
    {"threads", 't', "N", "threads to run on (default 0: one per core)", .verbs = "run bench"},
    {"numeric", 0, "CLASS", "fused (a * b + c is rounded once) or exact (twice)", .files = CLI_KERNELS,
     .verbs = "run bench"},
    {0},
};

const CliCommand cli_kernel = {
    .name      = "kernel",
    .purpose   = "create, run, measure and list your own kernels",
    .arguments = "run FILE NAME | new NAME | bench FILE [NAME] | list FILE",
    .verbs     = "run new bench list",
    .arg_min   = 1,
    .arg_max   = 3,
    .details = "A kernel is a function in a small subset of Python or C. FILE is a source (.py, .c, or the JSON form\n"
               ".json), a folder of sources, or an archive compiled from them. NAME is a kernel, or one of its\n"
               "types, for example vector_add_f16. `hologram compile FILE --emit asm` prints the compiled program.",
    .examples =
        "  hologram kernel new my_kernel\n"
        "  hologram kernel run my_kernel.py my_kernel --arg x=x.npy --arg y=zeros:1000 --arg n=1000 --arg scale=2\n"
        "  hologram kernel list kernels/stdlib\n"
        "  hologram kernel bench kernels/stdlib/vector vector_add\n",
    .options = options,
    .run     = kernel,
};
