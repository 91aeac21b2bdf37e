// shared.h - regions of shared memory that clients have named, to give and take tensors without sending them.
//
// A region is read and written through its descriptor, not mapped: a client that makes it smaller in the middle of a request
// gets an error, and the server no signal. The list changes on the network's thread alone; any thread may read and write.
#ifndef HOLO_SERVE_SHARED_H
#define HOLO_SERVE_SHARED_H

#include "server.h"

typedef struct Region {
    struct Region *next;
    char          *name, *key;
    int            fd;
    uint64_t       offset, size;
} Region;

Shared *shared_create(void);
void    shared_destroy(Shared *s);
// 0, or the status to answer with and `why`. The key is a name of POSIX shared memory, such as "/input".
int           shared_register(Shared *s, const char *name, const char *key, uint64_t offset, uint64_t size, char *why,
                              size_t room);
void          shared_unregister(Shared *s, const char *name); // NULL: all of them
const Region *shared_first(const Shared *s);
const Region *shared_find(const Shared *s, const char *name); // NULL: there is none
bool shared_read(Shared *s, const char *name, uint64_t offset, void *data, uint64_t size, char *why, size_t room);
bool shared_write(Shared *s, const char *name, uint64_t offset, const void *data, uint64_t size, char *why,
                  size_t room);

#endif
