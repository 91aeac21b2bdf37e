// coding.h - compressed bodies: gzip and deflate, by zlib.
#ifndef HOLO_SERVE_CODING_H
#define HOLO_SERVE_CODING_H

#include "server.h"

bool coding_known(const char *coding); // of a header content-encoding
// Unpacks a body into `out`. 0, or the status to answer with: 400: it is damaged; 413: it would be larger than `limit`; 503.
int coding_unpack(const char *coding, const void *data, size_t size, size_t limit, Bytes *out);

// Does the client take gzip? By its header accept-encoding.
bool coding_accepts(const Exchange *e);
bool coding_pack(const void *data, size_t size, Bytes *out); // gzip

// Unpacks the body of a request on a worker and calls `then`, or answers that this cannot be. The exchange is held meanwhile.
void unpack_start(Exchange *e, const char *coding, void (*then)(Exchange *e));
void unpack_destroy(Server *server);

#endif
