// server.h - the server: what its parts share. The rooms are
//
//   loop, net, tls           descriptors, connections
//   http1, http1_parse, http2, exchange    requests and answers
//   routes                   the table of protocols: kserve*, grpc*, openai*, admin
//   repository               models, and the folder that they come from
//   schedule, batch          queues, workers, batches
//   coding, unpack           compressed bodies
//   clients, sandbox         keys and limits; what the process may do
//   metrics, journal, traces what is said of it all
#ifndef HOLO_SERVE_SERVER_H
#define HOLO_SERVE_SERVER_H

#include "exchange.h"
#include "loop.h"
#include "options.h"

typedef struct Repository Repository;
typedef struct Schedule   Schedule;
typedef struct Metrics    Metrics;
typedef struct Traces     Traces;
typedef struct Clients    Clients;
typedef struct Shared     Shared; // regions of shared memory
typedef struct Net        Net;
typedef struct Queue      Queue;

struct Server {
    Options     options;
    Loop       *loop;
    Net        *net;
    Repository *repository;
    Schedule   *schedule;
    Metrics    *metrics;
    Traces     *traces; // NULL: none are sent
    Clients    *clients;
    Shared     *shared;
    Queue      *unpacking;   // compressed bodies; NULL: there were none
    bool        is_draining; // no new requests
    int         open;        // exchanges that have not ended
    double      began;
};

// A request is complete, or, on a route that reads its body in pieces, its headers are.
void server_request(Server *server, Exchange *e);
// Which route reads the body in pieces? It is asked when the headers are there.
const Route *server_route(Server *server, Exchange *e);
// An exchange has ended, or its client went away: it is counted and logged.
void server_ended(Server *server, Exchange *e);

#endif
