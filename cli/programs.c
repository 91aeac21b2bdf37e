// programs.c - the portable programs of an archive, as text and in JSON.
#include "programs.h"

#include <string.h>

// What a program is to its step, behind the step's operator and kernel.
static const char *role_text(const char *role)
{
    static const struct {
        const char *role, *text;
    } rows[] = {{"pointwise", ""}, {"tail", ", its tail"}, {"kernel", ", a user's kernel"}, {"stored", ""}};
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++)
        if (!strcmp(rows[i].role, role)) return rows[i].text;
    return "";
}

void cli_programs_print(const HoloStepPrograms *programs)
{
    printf("\n%sprograms%s\n", cli_color(stdout, "bold"), cli_color(stdout, "reset"));
    if (!programs->count) printf("  none\n");
    for (int i = 0; i < programs->count; i++) {
        const HoloStepProgram *p = &programs->programs[i];
        printf("%s# %s%s", i ? "\n" : "", cli_color(stdout, "cyan"), *p->step ? p->step : "(no name)");
        printf("%s", cli_color(stdout, "reset"));
        if (*p->op) printf("  %s%s%s by %s%s", p->domain, *p->domain ? "::" : "", p->op, p->runs, role_text(p->role));
        printf("\n%s", p->text);
    }
}

void cli_programs_json(Json *json, const HoloStepPrograms *programs)
{
    json_open(json, "programs", '[');
    for (int i = 0; i < programs->count; i++) {
        const HoloStepProgram *p = &programs->programs[i];
        json_open(json, NULL, '{');
        json_text(json, "step", p->step);
        json_text(json, "op", p->op);
        json_text(json, "domain", p->domain);
        json_text(json, "runs", p->runs);
        json_text(json, "role", p->role);
        json_text(json, "text", p->text);
        json_close(json, '}');
    }
    json_close(json, ']');
}
