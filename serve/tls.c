// tls.c - connections with TLS, by OpenSSL. See net.h.
#include "net.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TlsContext {
    SSL_CTX *ssl;
};

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_size, const unsigned char *in,
                           unsigned in_size, void *state)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    (void)ssl, (void)state;
    int found = SSL_select_next_proto((unsigned char **)out, out_size, ours, sizeof ours - 1, in, in_size);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static bool failed(const char *file, const char *what, char *why, size_t room)
{
    FILE *f = fopen(file, "r");
    if (f)
        snprintf(why, room, "%s: %s", file, what);
    else
        snprintf(why, room, "%s: %m", file);
    if (f) fclose(f);
    ERR_clear_error();
    return false;
}

static bool read_files(SSL_CTX *ssl, const Options *o, char *why, size_t room)
{
    const char *key = o->tls_key ? o->tls_key : o->tls_cert;
    if (SSL_CTX_use_certificate_chain_file(ssl, o->tls_cert) != 1)
        return failed(o->tls_cert, "there is no certificate in it, as PEM", why, room);
    if (SSL_CTX_use_PrivateKey_file(ssl, key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ssl) != 1)
        return failed(key,
                      o->tls_key ? "there is no private key of the certificate in it, as PEM"
                                 : "there is no private key in it, so --tls-key must name the file of one",
                      why, room);
    if (!o->tls_client_ca) return true;
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(o->tls_client_ca);
    if (!names || SSL_CTX_load_verify_locations(ssl, o->tls_client_ca, NULL) != 1)
        return failed(o->tls_client_ca, "there are no certificates in it, as PEM", why, room);
    SSL_CTX_set_client_CA_list(ssl, names);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return true;
}

TlsContext *tls_create(const Options *o, char *why, size_t room)
{
    TlsContext *t = take(sizeof *t);
    t->ssl        = SSL_CTX_new(TLS_server_method());
    if (!t->ssl || !read_files(t->ssl, o, why, room)) return tls_destroy(t), NULL;
    SSL_CTX_set_min_proto_version(t->ssl, TLS1_2_VERSION);
    SSL_CTX_set_options(t->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                    SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(t->ssl,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_id_context(t->ssl, (const unsigned char *)"hologram", 8);
    SSL_CTX_set_alpn_select_cb(t->ssl, choose_protocol, NULL);
    return t;
}

void tls_destroy(TlsContext *t)
{
    if (!t) return;
    SSL_CTX_free(t->ssl);
    free(t);
}

bool tls_begin(TlsContext *t, Conn *c)
{
    SSL *ssl = SSL_new(t->ssl);
    c->tls   = ssl;
    if (!ssl || SSL_set_fd(ssl, c->watch.fd) != 1) return false;
    SSL_set_accept_state(ssl);
    return true;
}

// The name in the client's certificate: whose requests these are.
static void owner_find(Conn *c)
{
    X509 *certificate = SSL_get1_peer_certificate(c->tls);
    if (!certificate) return;
    if (X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, c->owner, sizeof c->owner) <= 0)
        snprintf(c->owner, sizeof c->owner, "certificate");
    X509_free(certificate);
}

static long result(Conn *c, int n)
{
    int why = SSL_get_error(c->tls, n);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return errno = EAGAIN, -1;
    ERR_clear_error();
    if (why == SSL_ERROR_ZERO_RETURN) return 0;
    errno = EPIPE;
    return -1;
}

int tls_shake(Conn *c)
{
    int n = SSL_do_handshake(c->tls);
    if (n == 1) return owner_find(c), 1;
    return result(c, n) < 0 && errno == EAGAIN ? 0 : -1;
}

long tls_read(Conn *c, void *data, size_t size)
{
    int n = SSL_read(c->tls, data, size > 1 << 30 ? 1 << 30 : (int)size);
    return n > 0 ? n : result(c, n);
}

long tls_write(Conn *c, const void *data, size_t size)
{
    int n = SSL_write(c->tls, data, size > 1 << 30 ? 1 << 30 : (int)size);
    return n > 0 ? n : result(c, n);
}

bool tls_is_http2(const Conn *c)
{
    const unsigned char *name;
    unsigned             size;
    SSL_get0_alpn_selected(c->tls, &name, &size);
    return size == 2 && !memcmp(name, "h2", 2);
}

void tls_end(Conn *c)
{
    SSL_shutdown(c->tls);
    ERR_clear_error();
    SSL_free(c->tls);
}
