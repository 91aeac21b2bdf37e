// jobs.c - runs cases in separate processes, several at once, each with a time limit.

#include "testcase.h"

#include "base/system.h"

#include <errno.h>
#include <string.h>

static void fail(CaseResult *result, const char *reason)
{
    result->verdict = CASE_FAILED;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

static void work(void *context, int index, void *result)
{
    const Jobs *jobs = context;
    jobs->work(jobs->context, index, result);
    if (holo_memory_leaks()) fail(result, "it leaks memory");
}

static void done(void *context, int index, void *bytes, const HoloEnded *end)
{
    const Jobs *jobs   = context;
    CaseResult *result = bytes;
    if (end->how == HOLO_END_LATE)
        fail(result, cli_format("took longer than %g seconds", jobs->timeout));
    else if (end->how == HOLO_END_CRASHED)
        fail(result, cli_format("crashed: %s", holo_crash_name(end->code)));
    else if (end->how == HOLO_END_EXITED)
        fail(result, cli_format("its process ended with status %d", end->code));
    result->reason[sizeof result->reason - 1] = 0;
    result->seconds                           = end->seconds;
    jobs->done(jobs->context, index, result);
}

int jobs_run(const Jobs *jobs)
{
    HoloWork all = {jobs->count, jobs->at_once, jobs->timeout, sizeof(CaseResult), work, done, (void *)(uintptr_t)jobs};
    return holo_work_run(&all) ? CLI_OK
                               : cli_fail(NULL, "cannot start a process for the next case: %s", strerror(errno));
}
