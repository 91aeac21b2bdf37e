// testcase.h - one case of ONNX's test suites, and many of them in processes of their own.
#ifndef HOLO_CLI_TESTCASE_H
#define HOLO_CLI_TESTCASE_H

#include "cli.h"

typedef enum CaseVerdict { CASE_PASSED, CASE_FAILED, CASE_SKIPPED } CaseVerdict;

typedef struct CaseResult { // plain bytes: it goes through a pipe
    CaseVerdict verdict;
    double      seconds;
    int         data_sets;
    char        reason[4000]; // "" when passed
} CaseResult;

// Runs the case in `folder` (model.onnx and test_data_set_*) and compares.
void case_run(const Cli *cli, const char *folder, CaseResult *out);

// ---- comparing (compare.c)

typedef enum CompareResult {
    COMPARE_SAME,
    COMPARE_OTHER_TYPE,   // kind, dtype or shape
    COMPARE_OTHER_VALUES, // of the right type
} CompareResult;

// |got - want| <= atol + rtol * |want| for every element, where rtol is at least 2^-6 of bf16, or 0; NaN equals NaN; strings and
// bools exactly.
// `reason` says where and how they differ.
CompareResult compare_values(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason);
// Are all numbers inside the bounds? For what is random by definition.
bool compare_bounds(const HoloTensor *got, double low, double high, CliText *reason);

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
