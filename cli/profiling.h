// profiling.h - where the time of a model goes: by operator and by step.
#ifndef CLI_PROFILING_H
#define CLI_PROFILING_H

#include "cli.h"
#include "json.h"

typedef struct CliProfile {
    HoloProfiledStep *steps; // the longest first; texts are copies
    int               count;
    int64_t           runs;
    double            seconds; // of all steps
} CliProfile;

// Runs a session that is warm for some time, each step timed, and writes the trace to a file.
int  cli_profile(HoloSession *session, const char *name, const char *path, double seconds, CliProfile *out);
void cli_profile_print(FILE *out, const CliProfile *profile);
void cli_profile_json(Json *json, const CliProfile *profile);

#endif
