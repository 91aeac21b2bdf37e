// profiling.c - where the time of a model goes: by operator and by step.
#include "profiling.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 1 << 18, STEPS = 20 }; // recorded at most; shown in the table

static int by_time(const void *a, const void *b)
{
    double x = ((const HoloProfiledStep *)a)->seconds, y = ((const HoloProfiledStep *)b)->seconds;
    return (x < y) - (x > y);
}

static void take(const HoloSession *session, CliProfile *out)
{
    out->count = holo_session_profile_steps(session);
    out->steps = cli_grow(NULL, 0, (size_t)out->count + 1, sizeof *out->steps);
    for (int i = 0; i < out->count; i++) {
        HoloProfiledStep *s = &out->steps[i];
        holo_session_profile_step(session, i, s);
        s->name   = cli_format("%s", s->name);
        s->op     = cli_format("%s", s->op);
        s->kernel = cli_format("%s", s->kernel);
        s->shapes = cli_format("%s", s->shapes);
        s->fused  = cli_format("%s", s->fused);
        out->seconds += s->seconds;
    }
    qsort(out->steps, (size_t)out->count, sizeof *out->steps, by_time);
}

int cli_profile(HoloSession *session, const char *name, const char *path, double seconds, CliProfile *out)
{
    HoloError  error  = {0};
    HoloStatus status = HOLO_OK;
    double     start  = cli_now();
    int        steps  = 1;
    *out              = (CliProfile){0};
    holo_session_profile(session, true);
    for (; !status && (out->runs < 3 || cli_now() - start < seconds); out->runs++) {
        if (out->runs >= 3 && out->runs * steps > EVENTS) break;
        status = holo_session_run(session, &error);
        steps  = holo_session_profile_steps(session) + 1;
        cli_progress(NULL, name, (cli_now() - start) / seconds);
    }
    cli_progress_end();
    holo_session_profile(session, false);
    if (!status) status = holo_session_profile_write(session, path, &error);
    if (!status) take(session, out);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// The steps of one operator and kernel as one, the longest first.
static HoloProfiledStep *operators(const CliProfile *p, int *out_count)
{
    HoloProfiledStep *list  = cli_grow(NULL, 0, (size_t)p->count + 1, sizeof *list);
    int               count = 0;
    for (int i = 0; i < p->count; i++) {
        const HoloProfiledStep *s  = &p->steps[i];
        int                     at = 0;
        while (at < count && (strcmp(list[at].op, s->op) || strcmp(list[at].kernel, s->kernel))) at++;
        if (at == count) list[count++] = (HoloProfiledStep){.op = s->op, .kernel = s->kernel};
        list[at].runs++; // steps
        list[at].seconds += s->seconds;
        list[at].flops += s->flops * (double)s->runs;
        list[at].bytes += s->bytes * s->runs;
    }
    qsort(list, (size_t)count, sizeof *list, by_time);
    *out_count = count;
    return list;
}

static double share(const CliProfile *p, double seconds)
{
    return p->seconds > 0 ? 100 * seconds / p->seconds : 0;
}

static const char *rate(CliText *out, double amount, double seconds)
{
    if (amount > 0 && seconds > 0)
        snprintf(out->data, sizeof out->data, "%.1f", amount / seconds / 1e9);
    else
        snprintf(out->data, sizeof out->data, "-");
    return out->data;
}

void cli_profile_print(FILE *out, const CliProfile *p)
{
    CliText           a, b, c;
    int               count;
    HoloProfiledStep *ops  = operators(p, &count);
    double            runs = (double)(p->runs ? p->runs : 1);
    fprintf(out, "\n%sby operator%s  %lld runs, %s per run in steps\n", cli_color(out, "bold"), cli_color(out, "reset"),
            (long long)p->runs, cli_seconds(&a, p->seconds / runs));
    fprintf(out, "  %6s %10s %9s %7s %6s  %s\n", "share", "a run", "GFLOP/s", "GB/s", "steps", "operator, kernel");
    for (int i = 0; i < count; i++)
        fprintf(out, "  %5.1f%% %10s %9s %7s %6llu  %s, %s\n", share(p, ops[i].seconds),
                cli_seconds(&a, ops[i].seconds / runs), rate(&b, ops[i].flops, ops[i].seconds),
                rate(&c, (double)ops[i].bytes, ops[i].seconds), (unsigned long long)ops[i].runs, ops[i].op,
                ops[i].kernel);
    fprintf(out, "\n%sby step%s\n", cli_color(out, "bold"), cli_color(out, "reset"));
    fprintf(out, "  %6s %10s %9s %7s  %s\n", "share", "least", "GFLOP/s", "GB/s", "step");
    for (int i = 0; i < p->count && i < STEPS; i++) {
        const HoloProfiledStep *s = &p->steps[i];
        fprintf(out, "  %5.1f%% %10s %9s %7s  %s %s, %s\n", share(p, s->seconds), cli_seconds(&a, s->least),
                rate(&b, s->flops, s->least), rate(&c, (double)s->bytes, s->least), s->op, s->name, s->kernel);
        const char *then = !s->fused[0] ? "" : strcmp(s->op, "Pointwise") ? "; then " : "; ";
        fprintf(out, "  %36s  %s%s%s\n", "", s->shapes, then, s->fused);
    }
    if (p->count > STEPS) fprintf(out, "  and %d more: --json has all\n", p->count - STEPS);
}

static void json_rates(Json *json, const CliProfile *p, double seconds, double flops, double bytes)
{
    json_number(json, "share", share(p, seconds) / 100);
    json_number(json, "us", seconds / (double)(p->runs ? p->runs : 1) * 1e6);
    if (flops > 0) json_number(json, "gflops", flops / seconds / 1e9);
    json_number(json, "gbytes", bytes / seconds / 1e9);
}

void cli_profile_json(Json *json, const CliProfile *p)
{
    int               count;
    HoloProfiledStep *ops = operators(p, &count);
    json_open(json, "profile", '{');
    json_int(json, "runs", p->runs);
    json_open(json, "operators", '[');
    for (int i = 0; i < count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "op", ops[i].op);
        json_text(json, "kernel", ops[i].kernel);
        json_int(json, "steps", (int64_t)ops[i].runs);
        json_rates(json, p, ops[i].seconds, ops[i].flops, (double)ops[i].bytes);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "steps", '[');
    for (int i = 0; i < p->count; i++) {
        const HoloProfiledStep *s = &p->steps[i];
        json_open(json, NULL, '{');
        json_text(json, "name", s->name);
        json_text(json, "op", s->op);
        json_text(json, "kernel", s->kernel);
        json_text(json, "shapes", s->shapes);
        json_text(json, "fused", s->fused);
        json_number(json, "min_us", s->least * 1e6);
        json_number(json, "flops", s->flops);
        json_int(json, "bytes", (int64_t)s->bytes);
        json_rates(json, p, s->seconds, s->flops * (double)s->runs, (double)s->bytes * (double)s->runs);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}
