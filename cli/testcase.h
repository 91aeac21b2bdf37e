// testcase.h - one case of ONNX's test suites, and many of them in processes of their own.
#ifndef HOLO_CLI_TESTCASE_H
#define HOLO_CLI_TESTCASE_H

#include "compare.h"

typedef enum CaseVerdict { CASE_PASSED, CASE_FAILED, CASE_SKIPPED } CaseVerdict;

typedef struct CaseResult { // plain bytes: it goes through a pipe
    CaseVerdict verdict;
    double      seconds;
    int         data_sets;
    char        reason[4000]; // "" when passed
} CaseResult;

// Runs the case in `folder` (model.onnx and test_data_set_*) and compares.
void case_run(const Cli *cli, const char *folder, CaseResult *out);

// ---- many at once (jobs.c)

typedef struct Jobs {
    int    count, at_once;
    double timeout;                                                   // seconds a job
    void (*work)(void *context, int index, CaseResult *out);          // called in a process of its own
    void (*done)(void *context, int index, const CaseResult *result); // called here, as they end
    void *context;
} Jobs;

// A job that crashes or takes too long is CASE_FAILED. CLI_OK, or CLI_FAILED after a message when no process
// can be made.
int jobs_run(const Jobs *jobs);

#endif
