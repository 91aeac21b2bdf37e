// net.h - listeners and connections, plain or with TLS.
#ifndef HOLO_SERVE_NET_H
#define HOLO_SERVE_NET_H

#include "server.h"

typedef struct Conn Conn;

typedef struct ConnProtocol {                   // HTTP/1.1, HTTP/2
    void (*input)(Conn *c);                     // something was read
    Bytes *(*place)(Conn *c, size_t *out_size); // where the next bytes go, and how many; may be NULL: they go to `in`
    void (*late)(Conn *c);                      // the deadline has passed
    void (*closed)(Conn *c);                    // it is about to be freed
    void (*drain)(Conn *c);                     // end after what is in progress
    void (*written)(Conn *c);                   // all of `out` was written; may be NULL
    void (*half)(Conn *c);                      // the client sends nothing more; it may still read
} ConnProtocol;

struct Conn {
    Server             *server;
    Watch               watch;
    Timer               timer;
    void               *tls;        // SSL; NULL: plain
    bool                is_shaking; // hands, for TLS
    Bytes               in, out;
    size_t              out_at; // written so far
    const ConnProtocol *protocol;
    void               *state;     // of the protocol
    bool                is_full;   // the protocol wants to read nothing more for now
    bool                is_half;   // the client has closed its sending side
    bool                closes;    // after all is written
    bool                is_broken; // it closes as soon as the loop comes round
    bool                waits_write;
    char                peer[64], owner[64];
    Conn               *previous, *next;
};

extern const ConnProtocol http1_protocol, http2_protocol;

Net *net_create(Server *server, char *why, size_t room); // NULL: `why` says why not
void net_stop_listening(Net *net);
void net_drain(Net *net); // idle connections end, and the others after their answers
void net_destroy(Net *net);
int  net_connections(const Net *net);
int  net_port(const Net *net); // of the first listener

void conn_flush(Conn *c);                    // writes what can be written
void conn_deadline(Conn *c, double seconds); // `late` is called then, unless another deadline is set before; 0: none
void conn_fail(Conn *c);                     // closes it soon
void conn_finish(Conn *c);                   // closes it as soon as all is written
void conn_full(Conn *c, bool is_full);

// ---- TLS (tls.c); the results are those of read and write
typedef struct TlsContext TlsContext;
TlsContext               *tls_create(const Options *options, char *why, size_t room);
void                      tls_destroy(TlsContext *context);
bool                      tls_begin(TlsContext *context, Conn *c);
int                       tls_shake(Conn *c); // 1: done, 0: not yet, -1: failed
long                      tls_read(Conn *c, void *data, size_t size);
long                      tls_write(Conn *c, const void *data, size_t size);
bool                      tls_is_http2(const Conn *c); // what both sides agreed on
void                      tls_end(Conn *c);

#endif
