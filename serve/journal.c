// journal.c - the log. See journal.h.
#include "journal.h"
#include "clients.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const levels[] = {"debug", "info", "warning", "error"};

static struct {
    int             fd;
    JournalLevel    least;
    pthread_mutex_t lock;
} log_ = {2, JOURNAL_INFO, PTHREAD_MUTEX_INITIALIZER};

bool journal_open(const char *path, const char *level, char *why, size_t room)
{
    int found = -1;
    for (int i = 0; i < SERVE_COUNT(levels); i++)
        if (!strcmp(level, levels[i])) found = i;
    if (found < 0)
        return snprintf(why, room, "--log-level is '%s': the levels are debug, info, warning and error", level), false;
    log_.least = (JournalLevel)found;
    if (strcmp(path, "-")) log_.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (log_.fd < 0) snprintf(why, room, "--log: %s cannot be written: %m", path);
    return log_.fd >= 0;
}

void journal_close(void)
{
    if (log_.fd > 2) close(log_.fd);
    log_.fd = 2;
}

bool journal_has(JournalLevel level)
{
    return level >= log_.least;
}

static void line_begin(Bytes *b, JournalLevel level, const char *event)
{
    struct timespec t;
    struct tm       parts;
    char            text[32];
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    bytes_format(b, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\"", text, t.tv_nsec / 1000000,
                 levels[level], event);
}

// One write a line, so that lines of several threads stay whole. A full disk loses lines of the log, and nothing else.
static void line_end(Bytes *b)
{
    bytes_add(b, "}\n", 2);
    if (!b->failed) {
        pthread_mutex_lock(&log_.lock);
        ssize_t written = write(log_.fd, b->data, b->size);
        (void)written;
        pthread_mutex_unlock(&log_.lock);
    }
    bytes_free(b);
}

void journal(JournalLevel level, const char *event, ...)
{
    Bytes   b = {0};
    va_list args;
    if (level < log_.least) return;
    line_begin(&b, level, event);
    va_start(args, event);
    for (const char *name; (name = va_arg(args, const char *));) {
        const char *text = va_arg(args, const char *);
        bytes_format(&b, ",\"%s\":", name);
        bytes_json(&b, text ? text : "", text ? strlen(text) : 0);
    }
    va_end(args);
    line_end(&b);
}

static void add(Bytes *b, const char *name, const char *text)
{
    if (!text || !*text) return;
    bytes_format(b, ",\"%s\":", name);
    bytes_json(b, text, strlen(text));
}

void journal_request(const Exchange *e)
{
    JournalLevel level = e->status >= 500 ? JOURNAL_WARNING : JOURNAL_INFO;
    Bytes        b     = {0};
    char         trace[33];
    if (level < log_.least) return;
    line_begin(&b, level, "request");
    add(&b, "client", e->client ? e->client->name : e->peer);
    add(&b, "method", e->method);
    add(&b, "path", e->path);
    add(&b, "model", e->model);
    bytes_format(&b, ",\"status\":%d,\"seconds\":%.6f", e->status, now() - e->began);
    if (e->compute_seconds)
        bytes_format(&b, ",\"queue_seconds\":%.6f,\"compute_seconds\":%.6f", e->queue_seconds, e->compute_seconds);
    for (int i = 0; i < 16; i++) snprintf(trace + 2 * i, 3, "%02x", e->trace[i]);
    if (e->is_traced) add(&b, "trace", trace);
    if (e->status >= 400) add(&b, "why", e->note);
    line_end(&b);
}
