// os_process.c - runs work in separate processes, with time limits. See system.h.
#include "base/system.h"

#include <errno.h>
#include <string.h>

#if defined _WIN32 || defined __wasm__

bool holo_work_run(const HoloWork *work)
{
    char *result = holo_realloc(NULL, work->result_size);
    for (int i = 0; i < work->count && result; i++) {
        double start = holo_time_now();
        memset(result, 0, work->result_size);
        work->work(work->context, i, result);
        work->done(work->context, i, result, &(HoloEnded){.seconds = holo_time_now() - start});
    }
    holo_free(result);
    if (!result) errno = ENOMEM;
    return result;
}

const char *holo_crash_name(int code)
{
    (void)code;
    return "a crash";
}

#else
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Child {
    pid_t  pid;
    int    pipe, index;
    double start;
    bool   is_late;
    size_t received;
    char  *result;
} Child;

enum { FAILED = 1 }; // exit status of a copy that cannot say more

static _Noreturn void child_main(const HoloWork *work, int index, int pipe, char *result)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    memset(result, 0, work->result_size);
    work->work(work->context, index, result);
    for (size_t sent = 0; sent < work->result_size;) {
        ssize_t n = write(pipe, result + sent, work->result_size - sent);
        if (n <= 0) _exit(FAILED);
        sent += (size_t)n;
    }
    _exit(0); // without the cleanup of exit: buffers and memory are the parent's
}

static bool start(const HoloWork *work, int index, Child *child)
{
    int ends[2];
    if (pipe(ends)) return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child_main(work, index, ends[1], child->result);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *child = (Child){.pid = pid, .pipe = ends[0], .index = index, .start = holo_time_now(), .result = child->result};
    return true;
}

// The pipe is closed: the process has ended, or is ending.
static void finish(const HoloWork *work, Child *child)
{
    int       status = 0;
    HoloEnded end    = {0};
    close(child->pipe);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) continue;
    if (child->is_late)
        end.how = HOLO_END_LATE;
    else if (WIFSIGNALED(status))
        end = (HoloEnded){.how = HOLO_END_CRASHED, .code = WTERMSIG(status)};
    else if (child->received < work->result_size || WEXITSTATUS(status))
        end = (HoloEnded){.how = HOLO_END_EXITED, .code = WEXITSTATUS(status)};
    end.seconds = holo_time_now() - child->start;
    child->pid  = 0;
    work->done(work->context, child->index, child->result, &end);
}

// Reads what a child has sent. False: there will be no more.
static bool receive(const HoloWork *work, Child *child)
{
    char    rest[256];
    size_t  room = work->result_size - child->received;
    ssize_t n = room ? read(child->pipe, child->result + child->received, room) : read(child->pipe, rest, sizeof rest);
    if (n < 0) return errno == EINTR;
    if (room) child->received += (size_t)n;
    return n > 0;
}

static void end_late(const HoloWork *work, Child *children)
{
    for (int i = 0; i < work->at_once; i++) {
        Child *child = &children[i];
        if (!child->pid || child->is_late || holo_time_now() - child->start < work->seconds) continue;
        child->is_late = true;
        kill(child->pid, SIGKILL);
    }
}

static bool run(const HoloWork *work, Child *children, struct pollfd *watched)
{
    int next = 0, running = 0, why = 0;
    while (running || (next < work->count && !why)) {
        for (int i = 0; i < work->at_once && next < work->count && !why; i++) {
            if (children[i].pid) continue;
            if (start(work, next, &children[i]))
                next++, running++;
            else
                why = errno;
        }
        for (int i = 0; i < work->at_once; i++)
            watched[i] = (struct pollfd){.fd = children[i].pid ? children[i].pipe : -1, .events = POLLIN};
        poll(watched, (nfds_t)work->at_once, 100);
        for (int i = 0; i < work->at_once; i++) {
            if (!children[i].pid || !watched[i].revents || receive(work, &children[i])) continue;
            finish(work, &children[i]);
            running--;
        }
        end_late(work, children);
    }
    errno = why;
    return !why;
}

bool holo_work_run(const HoloWork *work)
{
    size_t         count    = (size_t)work->at_once;
    Child         *children = holo_realloc(NULL, count * sizeof *children);
    struct pollfd *watched  = holo_realloc(NULL, count * sizeof *watched);
    char          *results  = holo_realloc(NULL, count * work->result_size);
    bool           is_done  = children && watched && results;
    for (size_t i = 0; i < count && is_done; i++) children[i] = (Child){.result = results + i * work->result_size};
    if (is_done)
        is_done = run(work, children, watched);
    else
        errno = ENOMEM;
    int why = errno;
    holo_free(children);
    holo_free(watched);
    holo_free(results);
    errno = why;
    return is_done;
}

const char *holo_crash_name(int code)
{
    return strsignal(code);
}
#endif
