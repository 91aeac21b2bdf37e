// keras_config.c - what layers ask of their configurations, and of the weights of a file. See keras.h.
#include "import/keras/keras.h"

#include <stdio.h>

// ---- reading configurations

int64_t holo_keras_int(const HoloKerasCall *c, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(c->config, key);
    return json_is_integer(value) ? json_integer_value(value)
           : json_is_real(value) && json_real_value(value) > -1e15 && json_real_value(value) < 1e15
               ? (int64_t)json_real_value(value)
               : fallback;
}

double holo_keras_float(const HoloKerasCall *c, const char *key, double fallback)
{
    const json_t *value = json_object_get(c->config, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool holo_keras_bool(const HoloKerasCall *c, const char *key, bool fallback)
{
    const json_t *value = json_object_get(c->config, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *holo_keras_text(const HoloKerasCall *c, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(c->config, key);
    return json_is_string(value) ? json_string_value(value) : fallback;
}

void holo_keras_ints(const HoloKerasCall *c, const char *key, int64_t *out, int count, int64_t fallback)
{
    const json_t *value = json_object_get(c->config, key);
    for (int i = 0; i < count; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, (size_t)i) : value;
        out[i]             = json_is_integer(item) ? json_integer_value(item) : fallback;
    }
}

bool holo_keras_is_first(const HoloKerasCall *c)
{
    return !strcmp(holo_keras_text(c, "data_format", "channels_last"), "channels_first");
}

// ---- weights

// Is `part` one of the parts of the path? The last one may end with ":0".
static bool has_part(HoloString path, const char *part)
{
    size_t size = strlen(part), at = 0;
    while (at < path.size) {
        const char *slash  = memchr(path.data + at, '/', path.size - at);
        size_t      length = slash ? (size_t)(slash - path.data) - at : path.size - at;
        if (length == size && !memcmp(path.data + at, part, size)) return true;
        at += length + 1;
    }
    return false;
}

// Does the path end with the name, which may have several parts?
static bool ends_with(HoloString path, const char *name)
{
    size_t size = strlen(name);
    if (path.size > 2 && !memcmp(path.data + path.size - 2, ":0", 2)) path.size -= 2;
    if (path.size < size || memcmp(path.data + path.size - size, name, size)) return false;
    return path.size == size || path.data[path.size - size - 1] == '/';
}

int holo_keras_find(const HoloKerasPool *pool, const HoloKerasPlace *place, const char *name)
{
    int best = -1, best_score = 0;
    for (int i = 0; i < pool->count; i++) {
        int score = 0, worth = 64;
        if (!ends_with(pool->name[i], name)) continue;
        for (const HoloKerasPlace *p = place; p && worth; p = p->outer, worth /= 2)
            if (p->name && has_part(pool->name[i], p->name)) score += worth;
        if (score >= 64 || (score && !place->outer))
            score += 1;
        else if (!score)
            continue;
        if (score > best_score) {
            best       = i;
            best_score = score;
        }
    }
    return best;
}

HoloValue *holo_keras_weight(HoloKerasCall *c, const char *name)
{
    HoloTensor tensor = {0};
    bool       found  = false;
    char       text[256];
    if (c->e->status) return NULL;
    HoloStatus status = c->k->weight(c->k, c->place, name, c->weight_next++, &tensor, &found);
    if (status) {
        c->e->status = status;
        return NULL;
    }
    if (!found) return holo_emit_fail(c->e, HOLO_BAD_MODEL, "the file has no weight '%s' of this layer", name);
    snprintf(text, sizeof text, "%.180s/%.60s", c->place->name ? c->place->name : "", name);
    return holo_emit_constant(c->e, text, &tensor);
}
