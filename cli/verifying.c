// verifying.c - see verifying.h.
#include "verifying.h"
#include "prepared.h"

#include <inttypes.h>

int cli_verify_choose(const Cli *cli, HoloCompiler *compiler)
{
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *path;
    bool        verifies = cli_is("verify", "true"), strict = cli_is("strict", "true");
    if (!verifies && strict)
        return cli_usage(cli, "strict (%s) needs verification, but verify (%s) turns it off",
                         cli_setting_source("strict"), cli_setting_source("verify"));
    if (!verifies && cli_option(cli, "verify-with"))
        return cli_usage(cli, "--verify-with needs verification, but verify (%s) turns it off",
                         cli_setting_source("verify"));
    holo_compiler_set_strict(compiler, strict);
    for (int cursor = 0; !status && (path = cli_option_next(cli, "verify-with", &cursor));) {
        int result = cli_prepare(cli, compiler, path, &path);
        if (result) return result;
        status = holo_compiler_add_verify_inputs(compiler, path, &error);
    }
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

// What was compared; then what differs most, and why that is allowed.
static void print_agrees(FILE *out, const HoloReport *r)
{
    cli_row(out, "verified",
            "%sagrees%s with the model on %s: %d output%s (%" PRIu64 " elements), %d step%s by themselves",
            cli_color(out, "green"), cli_color(out, "reset"), r->verify_inputs ? r->verify_inputs : "its inputs",
            r->verify_outputs, plural(r->verify_outputs), r->checked, r->verify_nodes, plural(r->verify_nodes));
    if (r->worst_at)
        cli_row(out, "", "worst: %.2g at %s, %.2g of the largest value there, %.4g; allowed: %.2g (%s)",
                r->worst_absolute, r->worst_at, r->worst_relative, r->worst_top, r->allowed, r->allowed_by);
    else
        cli_row(out, "", "nothing differs");
    if (r->verify_left_out) cli_row(out, "", "not compared because they are random: %s", r->verify_left_out);
}

static void print_not(FILE *out, const char *title, const char *what, const char *why)
{
    cli_row(out, title, "%s%sno%s%s%s", what, cli_color(out, "yellow"), cli_color(out, "reset"), why ? ": " : "",
            why ? why : "");
}

void cli_verify_print(FILE *out, const HoloReport *report)
{
    if (report->verified)
        print_agrees(out, report);
    else
        print_not(out, "verified", "", report->verify_why_not);
    if (report->device && report->device_verified)
        cli_row(out, "", "the plan for %s %sagrees%s, too", report->device, cli_color(out, "green"),
                cli_color(out, "reset"));
    else if (report->device)
        print_not(out, "", cli_format("the plan for %s: ", report->device), report->device_why_not);
}

void cli_verify_json(Json *json, const HoloReport *report)
{
    json_bool(json, "verified", report->verified);
    json_text(json, "verify_inputs", report->verify_inputs);
    json_int(json, "verify_outputs", report->verify_outputs);
    json_int(json, "verify_nodes", report->verify_nodes);
    json_int(json, "checked", (int64_t)report->checked);
    json_int(json, "judged", (int64_t)report->judged);
    json_number(json, "worst_absolute", report->worst_absolute);
    json_number(json, "worst_relative", report->worst_relative);
    json_text(json, "worst_at", report->worst_at);
    json_number(json, "worst_largest", report->worst_top);
    json_number(json, "allowed", report->allowed);
    json_text(json, "allowed_by", report->allowed_by);
    json_text(json, "verify_left_out", report->verify_left_out);
    json_text(json, "verify_why_not", report->verify_why_not);
    json_number(json, "verify_seconds", report->verify_seconds);
    if (!report->device) return;
    json_bool(json, "device_verified", report->device_verified);
    json_text(json, "device_why_not", report->device_why_not);
}

static void warn_device(const char *model, const HoloReport *r)
{
    if (!r->device_why_not) return;
    cli_warn("%s: the plan for %s was not verified: %s", model, r->device, r->device_why_not);
    cli_advice("compile it on a machine that has the device; with --strict this is an error");
}

void cli_verify_warn(const char *model, const HoloReport *r)
{
    warn_device(model, r);
    if (r->verified ? !r->verify_left_out : !r->verify_why_not) return; // verified, or not asked for
    if (r->verified)
        cli_warn("%s: random outputs were not verified: %s", model, r->verify_left_out);
    else
        cli_warn("%s was not verified: %s", model, r->verify_why_not);
    cli_advice(r->verify_left_out ? "with --strict this is an error"
               : r->verify_over_limit
                   ? "--memory-limit SIZE allows more; with --strict this is an error"
                   : "give inputs that the model accepts: --verify-with FILE; with --strict this is an error");
}
