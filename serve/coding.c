// coding.c - compressed bodies. See coding.h.
#include "coding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

static const struct {
    const char *name;
    bool        is_gzip;
} codings[] = {{"gzip", true}, {"x-gzip", true}, {"deflate", false}};

bool coding_known(const char *coding)
{
    for (int i = 0; i < SERVE_COUNT(codings); i++)
        if (!strcasecmp(coding, codings[i].name)) return true;
    return false;
}

// ---- unpacking

// How zlib is told what comes: gzip; zlib's own form, as `deflate` is defined; or bare, as some clients send it.
static int form_of(const char *coding, const unsigned char *data, size_t size)
{
    for (int i = 0; i < SERVE_COUNT(codings); i++)
        if (!strcasecmp(coding, codings[i].name) && codings[i].is_gzip) return 15 + 16;
    bool is_zlib = size > 1 && (data[0] & 15) == 8 && (data[0] << 8 | data[1]) % 31 == 0;
    return is_zlib ? 15 : -15;
}

static int inflate_all(z_stream *z, size_t limit, bool is_gzip, Bytes *out)
{
    for (;;) {
        if (!bytes_reserve(out, out->size < 16384 ? 16384 : out->size)) return 503;
        size_t room = out->room - out->size - 1, most = limit - out->size + 1; // one more shows that it is too large
        z->next_out  = (unsigned char *)out->data + out->size;
        z->avail_out = (uInt)(room < most ? room : most);
        uInt before  = z->avail_out;
        int  status  = inflate(z, Z_NO_FLUSH);
        out->size += before - z->avail_out;
        if (out->size > limit) return 413;
        if (status == Z_MEM_ERROR) return 503;
        if (status == Z_STREAM_END) {
            if (!z->avail_in) return 0;
            if (!is_gzip || inflateReset(z)) return 400; // gzip may have several parts
        } else if (status != Z_OK || (!z->avail_in && z->avail_out)) {
            return 400;
        }
    }
}

int coding_unpack(const char *coding, const void *data, size_t size, size_t limit, Bytes *out)
{
    z_stream z    = {.next_in = (unsigned char *)data, .avail_in = (uInt)size};
    int      form = form_of(coding, data, size);
    if (size > UINT32_MAX || limit > UINT32_MAX - 1) return 413; // zlib counts in 32 bits
    if (inflateInit2(&z, form)) return 503;
    int status = inflate_all(&z, limit, form > 15, out);
    inflateEnd(&z);
    if (!status) out->data[out->size] = 0;
    return status;
}

// ---- packing

bool coding_accepts(const Exchange *e)
{
    const char *p = exchange_header(e, "accept-encoding");
    while (p && *p) {
        p += strspn(p, " \t,");
        size_t      name = strcspn(p, " \t,;"), all = strcspn(p, ",");
        const char *q = memmem(p, all, "q=", 2);
        if ((name == 4 && !strncasecmp(p, "gzip", 4)) || (name == 1 && *p == '*')) return !q || strtod(q + 2, NULL) > 0;
        p += all;
    }
    return false;
}

bool coding_pack(const void *data, size_t size, Bytes *out)
{
    z_stream z = {.next_in = (unsigned char *)data, .avail_in = (uInt)size};
    if (size > UINT32_MAX / 2 || deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY)) return false;
    bool is = bytes_reserve(out, deflateBound(&z, size));
    if (is) {
        z.next_out  = (unsigned char *)out->data;
        z.avail_out = (uInt)(out->room - 1);
        is          = deflate(&z, Z_FINISH) == Z_STREAM_END;
        out->size   = is ? z.total_out : 0;
    }
    deflateEnd(&z);
    return is;
}
