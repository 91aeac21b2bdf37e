// serve_options.h - the options of `hologram serve`: one table for the command, which explains them, and for the program
// hologram-serve, which obeys them.
#ifndef HOLO_CLI_SERVE_OPTIONS_H
#define HOLO_CLI_SERVE_OPTIONS_H

// X(field, option, kind, value, least, most, default, help). The kinds: NUMBER, BYTES, TEXT and FLAG; times are in seconds.
// clang-format off
#define SERVE_OPTION_MAP(X) \
    X(host, "host", TEXT, "ADDRESS", 0, 0, "localhost", "the address to listen at; 0.0.0.0 or :: for every one\n(default localhost)") \
    X(port, "port", NUMBER, "N", 0, 65535, "8000", "the port; 0 takes a free one (default 8000)") \
    X(name, "name", TEXT, "NAME", 0, 0, NULL, "what the model is called, if there is only one (default: as its\nfile or folder)") \
    X(threads, "threads", NUMBER, "N", 0, 1024, "0", "cores to compute on (default 0: all of them)") \
    X(batch_max, "max-batch", NUMBER, "N", 1, 256, "16", "the most requests that share a run, if the model's batch\ndimension is open (default 16)") \
    X(batch_delay, "batch-delay", NUMBER, "SECONDS", 0, 10, "0", "how long a request waits for others to share its run\n(default 0: not at all)") \
    X(texts, "texts", NUMBER, "N", 1, 1024, "8", "texts that a language model continues at once (default 8)") \
    X(context, "context", NUMBER, "N", 0, 1e9, "0", "the most tokens of a text (default: the model's)") \
    X(max_queue, "max-queue", NUMBER, "N", 1, 1e6, "1024", "requests that wait for a model; more are told 503 at once\n(default 1024)") \
    X(max_body, "max-body", BYTES, "BYTES", 1024, 1e12, "64M", "the largest body of a request (default 64M)") \
    X(max_connections, "max-connections", NUMBER, "N", 1, 1e6, "16384", "connections at once; more are closed at once\n(default 16384)") \
    X(timeout, "timeout", NUMBER, "SECONDS", 0.001, 86400, "300", "how long a request may take, with its wait; then it is told\n504 and stops being computed (default 300)") \
    X(drain, "drain", NUMBER, "SECONDS", 0, 86400, "30", "how long requests in progress may go on after SIGTERM\n(default 30)") \
    X(client_concurrency, "client-concurrency", NUMBER, "N", 0, 1e6, "0", "requests in progress of a client without a key\n(default 0: any number)") \
    X(client_rate, "client-rate", NUMBER, "N", 0, 1e9, "0", "requests a second of a client without a key (default 0: any\nnumber)") \
    X(keys, "keys", TEXT, "FILE", 0, 0, NULL, "who may ask: lines of NAME KEY [concurrency=N] [rate=N]\n[weight=N] [priority=N]; HOLOGRAM_SERVE_KEYS has such lines,\ntoo, with commas between them") \
    X(cors, "cors", TEXT, "ORIGINS", 0, 0, NULL, "web pages that may ask: https://a.example,https://b.example, or *") \
    X(tls_cert, "tls-cert", TEXT, "FILE", 0, 0, NULL, "the certificate of the server (PEM): it then speaks TLS alone") \
    X(tls_key, "tls-key", TEXT, "FILE", 0, 0, NULL, "its private key (default: in the file of the certificate)") \
    X(tls_client_ca, "tls-client-ca", TEXT, "FILE", 0, 0, NULL, "clients need a certificate that one of these signed (PEM)") \
    X(no_watch, "no-watch", FLAG, NULL, 0, 0, NULL, "do not watch the folder for new and replaced models") \
    X(shared_memory, "shared-memory", FLAG, NULL, 0, 0, NULL, "let clients give and take tensors in shared memory of this\nmachine") \
    X(no_control, "no-control", FLAG, NULL, 0, 0, NULL, "clients may not load and unload models") \
    X(user, "user", TEXT, "NAME", 0, 0, NULL, "the user to become after the port is open") \
    X(no_sandbox, "no-sandbox", FLAG, NULL, 0, 0, NULL, "do not give up rights that serving needs not") \
    X(log, "log", TEXT, "FILE", 0, 0, "-", "a line of JSON for each request; - is the standard error\n(default -)") \
    X(log_level, "log-level", TEXT, "LEVEL", 0, 0, "info", "the least that is logged: debug, info, warning or error\n(default info)") \
    X(otlp, "otlp", TEXT, "URL", 0, 0, NULL, "send traces there, such as http://localhost:4318/v1/traces") \
    X(memory_limit, "memory-limit", BYTES, "BYTES", 0, 1e15, "0", "the most memory to hold (default: nine tenths of what is left)")
// clang-format on

#endif
