// clients.h - who asks: keys, and how much each client may ask for.
#ifndef HOLO_SERVE_CLIENTS_H
#define HOLO_SERVE_CLIENTS_H

#include "server.h"

enum { PRIORITY_BEST = 1 }; // that a client may ask for, unless its key says otherwise

struct Client {
    Client *next;
    char    name[64];   // of the key, of the certificate, or the address
    uint8_t digest[32]; // SHA-256 of the key
    bool    has_key;
    int     concurrency; // requests at once; 0: any number
    double  rate;        // requests a second; 0: any number
    double  weight;      // of its part when there is a queue
    int     priority;    // the best that it may ask for

    int      open;             // requests in progress
    double   tokens, refilled; // of the rate
    double   served;           // for fair queues; with the schedule's lock
    double   seen;
    uint64_t requests;
};

// Reads the keys: one in a line, NAME KEY [concurrency=N] [rate=N] [weight=N] [priority=N]. NULL: `why` says what is wrong.
Clients *clients_create(const Options *options, char *why, size_t room);
void     clients_destroy(Clients *c);
int      clients_keys(const Clients *c);

// Whose request it is. 0: *out_client is set. Otherwise the status to answer with, and *out_why says why.
int  clients_admit(Clients *c, Exchange *e, bool needs_key, const char **out_why);
void clients_leave(Clients *c, Exchange *e); // the request has ended

#endif
