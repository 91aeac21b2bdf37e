// options.h - what the command line says. The table of options is in cli/serve_options.h.
#ifndef HOLO_SERVE_OPTIONS_H
#define HOLO_SERVE_OPTIONS_H

#include "bytes.h"

typedef struct Options {
    const char  *host, *name, *keys, *cors, *tls_cert, *tls_key, *tls_client_ca, *user, *log, *log_level, *otlp;
    int          port, threads, batch_max, texts, max_queue, max_connections, client_concurrency;
    double       batch_delay, timeout, drain, client_rate;
    int64_t      context;
    uint64_t     max_body, memory_limit;
    bool         no_watch, shared_memory, no_control, no_sandbox;
    const char **paths;
    int          path_count;
} Options;

// 0: they are read. Otherwise the exit status, after a message or the help.
int options_read(int argc, char **argv, Options *out, bool *out_done);

#endif
