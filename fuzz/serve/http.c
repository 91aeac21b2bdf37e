// http.c - fuzzes what reads requests of HTTP/1.1: heads, chunks, targets, forms. Chunks give the same in two pieces as in one.
#include "exchange.h"
#include "http1_parse.h"
#include "multipart.h"
#include "server.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void chunks(const char *data, size_t size)
{
    Bytes       whole = {0}, parts = {0};
    Http1Chunks a = {0}, b = {0};
    bool        done = false, done_b = false;
    int         status, cut          = size ? (unsigned char)data[0] : 0;
    int64_t     n     = http1_chunks(&a, data, size, 1000, &whole, &done, &status);
    size_t      first = (size_t)cut < size ? (size_t)cut : size;
    int64_t     m     = http1_chunks(&b, data, first, 1000, &parts, &done_b, &status);
    if (m >= 0 && !done_b) {
        int64_t rest = http1_chunks(&b, data + m, size - (size_t)m, 1000, &parts, &done_b, &status);
        m            = rest < 0 ? -1 : m + rest;
    }
    if ((n < 0) != (m < 0) || (n >= 0 && (n != m || done != done_b))) abort();
    if (whole.size > 1000 ||
        (n >= 0 && (whole.size != parts.size || (whole.size && memcmp(whole.data, parts.data, whole.size)))))
        abort();
    bytes_free(&whole);
    bytes_free(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static Server server;
    char         *data = malloc(size + 1); // no byte behind it may be read
    Http1Head     head;
    Form          form;
    memcpy(data, bytes, size);
    data[size] = 0;
    int n      = http1_parse(data, size, &head);
    if (n > (int)size) abort();
    if (n > 0) {
        Exchange *e = exchange_create(&server, NULL, NULL);
        for (int i = 0; i < head.count; i++) {
            if (head.value[i].at + head.value[i].size > (size_t)n) abort();
            exchange_header_add(e, data + head.name[i].at, head.name[i].size, data + head.value[i].at,
                                head.value[i].size);
        }
        (void)exchange_target(e, data + head.target.at, head.target.size);
        (void)form_read(exchange_header(e, "content-type"), data + n, size - (size_t)n, &form);
        exchange_release(e);
        chunks(data + n, size - (size_t)n);
    }
    free(data);
    return 0;
}
