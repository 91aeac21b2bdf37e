// kernel_args.c - arguments of kernels from the command line: numbers, files, and arrays made up.

#include "kernel_args.h"

#include <stdlib.h>
#include <string.h>

enum { MADE_UP_MOST = 1 << 26 }; // most elements of an array whose size nobody gave

// The value that --arg gives for a parameter; NULL: none.
static const char *given(const Cli *cli, const char *name)
{
    const char *text, *found = NULL;
    size_t      size = strlen(name);
    for (int cursor = 0; (text = cli_option_next(cli, "arg", &cursor));)
        if (!strncmp(text, name, size) && text[size] == '=') found = text + size + 1;
    return found;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && !strcmp(text + size - tail, end);
}

int cli_kernel_type(const Cli *cli, const HoloKernels *kernels, const char *function, HoloDtype *out)
{
    HoloKernelInfo info;
    *out = HOLO_NONE;
    for (int i = 0; holo_kernels_info(kernels, i, &info); i++) {
        if (strcmp(info.function, function) || info.type == HOLO_NONE) continue;
        for (int p = 0; p < info.param_count; p++) {
            const char *value = given(cli, info.params[p].name);
            if (!info.params[p].is_array || info.params[p].type != info.type || !value || !ends_with(value, ".npy"))
                continue;
            HoloError    error = {0};
            HoloTensors *file;
            HoloStatus   status = holo_tensors_read(value, NULL, &file, &error);
            if (status) return cli_fail_error(NULL, &error, status);
            *out = (HoloDtype)holo_tensors_get(file, 0, NULL)->dtype;
            holo_tensors_destroy(file);
            return CLI_OK;
        }
    }
    return CLI_OK;
}

// ---- one argument

// Sets element `at` of an array, as exactly as its type allows.
static void put_number(HoloTensor *t, int64_t at, double real, long long whole)
{
    int64_t bits = whole;
    if (t->dtype == HOLO_F16 || t->dtype == HOLO_BF16 || t->dtype == HOLO_F32 || t->dtype == HOLO_F64 ||
        t->dtype == HOLO_BOOL)
        holo_tensor_set_numbers(t, at, 1, &real);
    else
        memcpy((char *)t->data + (size_t)at * holo_dtype_size(t->dtype), &bits, holo_dtype_size(t->dtype));
}

static HoloTensor made(HoloDtype type, int64_t count)
{
    HoloTensor t = {.dtype = (uint8_t)type, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}};
    t.data       = cli_take((size_t)count + 1, holo_dtype_size(type));
    return t;
}

static int number(const Cli *cli, const HoloKernelParam *p, const char *text, HoloTensor *out)
{
    char     *end, *whole_end;
    double    real     = strtod(text, &end);
    long long whole    = strtoll(text, &whole_end, 0);
    bool      is_float = p->type == HOLO_F16 || p->type == HOLO_BF16 || p->type == HOLO_F32 || p->type == HOLO_F64;
    if (!*text || (is_float ? *end : *whole_end))
        return cli_usage(cli, "--arg %s=%s: %s must be a %snumber", p->name, text, p->name, is_float ? "" : "whole ");
    *out      = made(p->type, 1);
    out->rank = 0;
    put_number(out, 0, real, whole);
    return CLI_OK;
}

static void fill(HoloTensor *t, const char *how)
{
    uint32_t state = 1;
    if (!strcmp(how, "zeros")) return;
    for (int64_t i = 0; i < t->dim[0]; i++) {
        state         = state * 1664525u + 1013904223u; // the same numbers every time
        double random = (double)(state >> 8) / (1 << 23) - 1;
        bool   ones   = !strcmp(how, "ones");
        put_number(t, i, ones ? 1 : random, ones ? 1 : (long long)(random * 100));
    }
}

static int array(const Cli *cli, const HoloKernelParam *p, const char *text, CliKernelArg *out)
{
    static const char *const hows[] = {"zeros", "ones", "random"};
    const char              *colon  = strchr(text, ':');
    char                    *end;
    for (int i = 0; colon && i < CLI_COUNT(hows); i++) {
        if (strncmp(hows[i], text, (size_t)(colon - text)) || strlen(hows[i]) != (size_t)(colon - text)) continue;
        long long count = strtoll(colon + 1, &end, 10);
        if (end == colon + 1 || *end || count < 0 || count > (1LL << 33))
            return cli_usage(cli, "--arg %s=%s: expected a number of elements behind the colon, from 0 to 2^33",
                             p->name, text);
        out->tensor = made(p->type, count);
        fill(&out->tensor, hows[i]);
        return CLI_OK;
    }
    if (!ends_with(text, ".npy"))
        return cli_usage(cli, "--arg %s=%s: expected an array: a .npy file, zeros:N, ones:N or random:N", p->name,
                         text);
    HoloError  error  = {0};
    HoloStatus status = holo_tensors_read(text, NULL, &out->file, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    out->tensor  = *holo_tensors_get(out->file, 0, NULL);
    size_t bytes = holo_tensor_bytes(&out->tensor);
    void  *own   = cli_take(bytes + 64, 1); // the kernel may write
    memcpy(own, out->tensor.data, bytes);
    out->tensor.data = own;
    return CLI_OK;
}

// ---- all of them

static int known_names(const Cli *cli, const HoloKernelInfo *info)
{
    const char *text, *seen = "";
    for (int cursor = 0; (text = cli_option_next(cli, "arg", &cursor));) {
        const char *equals = strchr(text, '=');
        bool        found  = false;
        if (!equals) return cli_usage(cli, "--arg %s: expected NAME=VALUE", text);
        for (int i = 0; i < info->param_count; i++)
            found |= strlen(info->params[i].name) == (size_t)(equals - text) &&
                     !strncmp(info->params[i].name, text, (size_t)(equals - text));
        if (!found) return cli_usage(cli, "--arg %s: the kernel %s has no such parameter", text, info->function);
        char *name = cli_format("%.*s", (int)(equals - text), text);
        if (cli_has_word(seen, name)) return cli_usage(cli, "--arg is given twice for '%s'", name);
        seen = cli_format("%s %s", seen, name);
    }
    return CLI_OK;
}

static int missing(const Cli *cli, const HoloKernelInfo *info, int i, int64_t size, int64_t elements, CliKernelArg *out)
{
    const HoloKernelParam *p = &info->params[i];
    if (!size)
        return cli_usage(cli,
                         p->is_array ? "the array '%s' is missing: give --arg %s=FILE.npy, or zeros:N"
                                     : "the number '%s' is missing: give --arg %s=NUMBER",
                         p->name, p->name);
    if (!p->is_array)
        return number(cli, p, strcmp(p->name, "n") ? "1" : cli_format("%lld", (long long)size), &out->tensor);
    out->tensor = made(p->type, elements);
    fill(&out->tensor, p->is_read && p->type != HOLO_I64 ? "random" : "zeros");
    return CLI_OK;
}

int cli_kernel_args(const Cli *cli, const HoloKernelInfo *info, int64_t size, CliKernelArg **out)
{
    CliKernelArg *args     = cli_take((size_t)info->param_count + 1, sizeof *args);
    int           result   = known_names(cli, info);
    double        elements = size ? (double)size : 1;
    *out                   = args;
    for (int pass = 0; pass < 2; pass++) { // numbers first: they determine the sizes of arrays
        for (int i = 0; !result && i < info->param_count; i++) {
            const HoloKernelParam *p     = &info->params[i];
            const char            *value = given(cli, p->name);
            if (p->is_array != (pass == 1)) continue;
            if (!value)
                result =
                    missing(cli, info, i, size, elements > MADE_UP_MOST ? MADE_UP_MOST : (int64_t)elements, &args[i]);
            else
                result = p->is_array ? array(cli, p, value, &args[i]) : number(cli, p, value, &args[i].tensor);
            double one = 1;
            if (!result && !p->is_array && strcmp(p->name, "n")) holo_tensor_numbers(&args[i].tensor, 0, 1, &one);
            if (one > 1) elements *= one;
        }
    }
    return result;
}

void cli_kernel_args_free(const HoloKernelInfo *info, CliKernelArg *args)
{
    for (int i = 0; args && i < info->param_count; i++) holo_tensors_destroy(args[i].file);
}

const HoloTensor *const *cli_kernel_tensors(const HoloKernelInfo *info, const CliKernelArg *args)
{
    const HoloTensor **list = cli_take((size_t)info->param_count + 1, sizeof *list);
    for (int i = 0; i < info->param_count; i++) list[i] = &args[i].tensor;
    return list;
}
