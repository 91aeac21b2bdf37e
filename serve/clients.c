// clients.c - keys and limits. See clients.h.
#include "clients.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GUESTS_MAX = 10000 }; // addresses that are remembered

struct Clients {
    Client        *keys, *guests;
    int            key_count, guest_count;
    const Options *options;
};

// ---- keys

static bool read_limit(Client *c, const char *word)
{
    const struct {
        const char *name;
        double      low, high;
        int        *whole;
        double     *real;
    } rows[] = {{"concurrency=", 1, 1e6, &c->concurrency, NULL},
                {"rate=", 1e-3, 1e9, NULL, &c->rate},
                {"weight=", 1e-3, 1e6, NULL, &c->weight},
                {"priority=", 1, 1000, &c->priority, NULL}};
    for (int i = 0; i < SERVE_COUNT(rows); i++) {
        size_t size = strlen(rows[i].name);
        char  *end;
        if (strncmp(word, rows[i].name, size)) continue;
        double number = strtod(word + size, &end);
        if (end == word + size || *end || !(number >= rows[i].low && number <= rows[i].high)) return false;
        if (rows[i].whole) *rows[i].whole = (int)number;
        if (rows[i].real) *rows[i].real = number;
        return true;
    }
    return false;
}

static bool read_line(Clients *c, char *line, const char *where, int number, char *why, size_t room)
{
    char *rest, *name = strtok_r(line, " \t", &rest), *key = name ? strtok_r(NULL, " \t", &rest) : NULL;
    if (!name || *name == '#') return true;
    if (!key || strlen(key) < 8 || strlen(name) >= sizeof((Client *)0)->name)
        return snprintf(why, room, "%s, line %d: a key is NAME KEY, with a key of at least 8 characters", where,
                        number),
               false;
    Client *client   = take(sizeof *client);
    client->has_key  = true;
    client->weight   = 1;
    client->priority = PRIORITY_BEST;
    snprintf(client->name, sizeof client->name, "%s", name);
    SHA256((const void *)key, strlen(key), client->digest);
    OPENSSL_cleanse(key, strlen(key));
    client->next = c->keys;
    c->keys      = client;
    c->key_count++;
    for (char *word; (word = strtok_r(NULL, " \t", &rest));)
        if (!read_limit(client, word))
            return snprintf(why, room, "%s, line %d: '%s' is no limit: concurrency=N, rate=N, weight=N, priority=N",
                            where, number, word),
                   false;
    return true;
}

static bool read_keys(Clients *c, char *text, const char *where, char *why, size_t room)
{
    char *rest, *line = strtok_r(text, "\r\n", &rest);
    for (int number = 1; line; line = strtok_r(NULL, "\r\n", &rest), number++)
        if (!read_line(c, line, where, number, why, room)) return false;
    return true;
}

static bool read_key_file(Clients *c, const char *path, char *why, size_t room)
{
    FILE *file = fopen(path, "r");
    Bytes text = {0};
    char  piece[4096];
    if (!file) return snprintf(why, room, "%s: the file of keys cannot be read: %m", path), false;
    for (size_t n; (n = fread(piece, 1, sizeof piece, file));) bytes_add(&text, piece, n);
    fclose(file);
    bool is_good = !text.data || read_keys(c, text.data, path, why, room);
    if (text.data) OPENSSL_cleanse(text.data, text.size);
    bytes_free(&text);
    if (is_good && !c->key_count) return snprintf(why, room, "%s: the file has no keys", path), false;
    return is_good;
}

Clients *clients_create(const Options *options, char *why, size_t room)
{
    Clients *c    = take(sizeof *c);
    char    *text = getenv("HOLOGRAM_SERVE_KEYS");
    bool     is   = true;
    c->options    = options;
    if (text && *text) {
        char *copy = take_text(text);
        for (char *p = copy; *p; p++)
            if (*p == ',') *p = '\n';
        is = read_keys(c, copy, "HOLOGRAM_SERVE_KEYS", why, room);
        free(copy);
        unsetenv("HOLOGRAM_SERVE_KEYS");
    }
    if (is && options->keys) is = read_key_file(c, options->keys, why, room);
    if (is) return c;
    clients_destroy(c);
    return NULL;
}

static void free_list(Client *client)
{
    for (Client *next; client; client = next) {
        next = client->next;
        free(client);
    }
}

void clients_destroy(Clients *c)
{
    if (!c) return;
    free_list(c->keys);
    free_list(c->guests);
    free(c);
}

int clients_keys(const Clients *c)
{
    return c->key_count;
}

// ---- who it is

// All keys are compared, and each in the same time, so that time tells nothing about them.
static Client *key_find(const Clients *c, const char *key)
{
    uint8_t digest[32];
    Client *found = NULL;
    SHA256((const void *)key, strlen(key), digest);
    for (Client *k = c->keys; k; k = k->next)
        if (!CRYPTO_memcmp(digest, k->digest, sizeof digest)) found = k;
    return found;
}

static const char *key_given(const Exchange *e)
{
    const char *bearer = exchange_header(e, "authorization"), *key = exchange_header(e, "x-api-key");
    if (bearer && !strncasecmp(bearer, "bearer ", 7)) return bearer + 7 + strspn(bearer + 7, " ");
    return key;
}

// Those that have nothing in progress and were not seen for the longest go first.
static void forget_guest(Clients *c)
{
    Client **oldest = NULL;
    for (Client **at = &c->guests; *at; at = &(*at)->next)
        if (!(*at)->open && (!oldest || (*at)->seen < (*oldest)->seen)) oldest = at;
    if (!oldest) return;
    Client *gone = *oldest;
    *oldest      = gone->next;
    free(gone);
    c->guest_count--;
}

static Client *guest_find(Clients *c, const char *name)
{
    for (Client **at = &c->guests; *at; at = &(*at)->next)
        if (!strcmp((*at)->name, name)) {
            Client *found    = *at; // to the front: those that ask often are found soon
            *at              = found->next;
            found->next      = c->guests;
            return c->guests = found;
        }
    if (c->guest_count >= GUESTS_MAX) forget_guest(c);
    Client *client      = take(sizeof *client);
    client->weight      = 1;
    client->priority    = PRIORITY_BEST;
    client->concurrency = c->options->client_concurrency;
    client->rate        = c->options->client_rate;
    snprintf(client->name, sizeof client->name, "%s", name);
    client->next = c->guests;
    c->guests    = client;
    c->guest_count++;
    return client;
}

// A bucket that holds as many requests as a second gives, and at least one.
static bool has_token(Client *c, double time)
{
    double room = c->rate > 1 ? c->rate : 1;
    if (!c->rate) return true;
    c->tokens   = c->requests ? c->tokens + (time - c->refilled) * c->rate : room;
    c->refilled = time;
    if (c->tokens > room) c->tokens = room;
    if (c->tokens < 1) return false;
    c->tokens -= 1;
    return true;
}

int clients_admit(Clients *c, Exchange *e, bool needs_key, const char **out_why)
{
    const char *key    = key_given(e);
    Client     *client = c->keys && key ? key_find(c, key) : NULL;
    for (Client *k = c->keys; !client && *e->owner && k; k = k->next)
        if (!strcmp(k->name, e->owner)) client = k; // a certificate with the name of a key has its limits
    if (!client && c->keys && needs_key && !*e->owner)
        return *out_why = key ? "the key is not known here" : "a key is needed: Authorization: Bearer KEY", 401;
    if (!client) client = guest_find(c, *e->owner ? e->owner : e->peer);
    e->client    = client;
    client->seen = now();
    if (!needs_key) return 0;
    if (client->concurrency && client->open >= client->concurrency)
        return *out_why = "this client has too many requests in progress", 429;
    if (!has_token(client, client->seen)) return *out_why = "this client asks too often", 429;
    client->requests++;
    client->open++;
    e->is_counted = true;
    return 0;
}

void clients_leave(Clients *c, Exchange *e)
{
    (void)c;
    if (e->is_counted) e->client->open--;
    e->is_counted = false;
}
