// jobs.c - runs jobs in processes of their own, some at once, each with a time limit.

#include "testcase.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Child {
    pid_t      pid;
    int        pipe, index;
    double     start;
    bool       timed_out;
    size_t     received;
    CaseResult result;
} Child;

static void fail(CaseResult *result, const char *reason)
{
    result->verdict = CASE_FAILED;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

// There only in a build with the address sanitizer: tells on stderr of memory that nothing refers to any more.
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void child_main(const Jobs *jobs, int index, int pipe)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    CaseResult result = {0};
    jobs->work(jobs->context, index, &result);
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) fail(&result, "it leaks memory");
    const char *bytes = (const char *)&result;
    for (size_t sent = 0; sent < sizeof result;) {
        ssize_t n = write(pipe, bytes + sent, sizeof result - sent);
        if (n <= 0) _exit(CLI_FAILED);
        sent += (size_t)n;
    }
    _exit(CLI_OK); // without the ceremony of exit: buffers and memory are the parent's
}

static bool start(const Jobs *jobs, int index, Child *child)
{
    int ends[2];
    if (pipe(ends)) return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child_main(jobs, index, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *child = (Child){.pid = pid, .pipe = ends[0], .index = index, .start = cli_now()};
    return true;
}

// The pipe is closed: the process has ended, or is ending.
static void finish(const Jobs *jobs, Child *child)
{
    int status = 0;
    close(child->pipe);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) continue;
    CaseResult *result = &child->result;
    if (child->timed_out)
        fail(result, cli_format("took longer than %g seconds", jobs->timeout));
    else if (WIFSIGNALED(status))
        fail(result, cli_format("crashed: %s", strsignal(WTERMSIG(status))));
    else if (child->received < sizeof *result || WEXITSTATUS(status))
        fail(result, cli_format("its process ended with status %d", WEXITSTATUS(status)));
    result->reason[sizeof result->reason - 1] = 0;
    result->seconds                           = cli_now() - child->start;
    child->pid                                = 0;
    jobs->done(jobs->context, child->index, result);
}

// Takes what has come from a child; false when there will be no more.
static bool receive(Child *child)
{
    char    rest[256], *to = (char *)&child->result + child->received;
    size_t  room = sizeof child->result - child->received;
    ssize_t n    = room ? read(child->pipe, to, room) : read(child->pipe, rest, sizeof rest);
    if (n < 0) return errno == EINTR;
    if (room) child->received += (size_t)n;
    return n > 0;
}

static void end_late(const Jobs *jobs, Child *children)
{
    for (int i = 0; i < jobs->at_once; i++) {
        Child *child = &children[i];
        if (!child->pid || child->timed_out || cli_now() - child->start < jobs->timeout) continue;
        child->timed_out = true;
        kill(child->pid, SIGKILL);
    }
}

int jobs_run(const Jobs *jobs)
{
    Child         *children = cli_take((size_t)jobs->at_once, sizeof *children);
    struct pollfd *watched  = cli_take((size_t)jobs->at_once, sizeof *watched);
    int            next = 0, running = 0, result = CLI_OK;
    while (running || (next < jobs->count && !result)) {
        for (int i = 0; i < jobs->at_once && next < jobs->count && !result; i++) {
            if (children[i].pid) continue;
            if (start(jobs, next, &children[i]))
                next++, running++;
            else
                result = cli_fail(NULL, "no process for the next case: %s", strerror(errno));
        }
        for (int i = 0; i < jobs->at_once; i++)
            watched[i] = (struct pollfd){.fd = children[i].pid ? children[i].pipe : -1, .events = POLLIN};
        poll(watched, (nfds_t)jobs->at_once, 100);
        for (int i = 0; i < jobs->at_once; i++) {
            if (!children[i].pid || !watched[i].revents || receive(&children[i])) continue;
            finish(jobs, &children[i]);
            running--;
        }
        end_late(jobs, children);
    }
    return result;
}
