// checkpoint_tensors.c - all tensors of a checkpoint by name: where they are among its values, and what they are called.
#include "import/wire/checkpoint.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 1 << 22, NAME_MAX = 1000 };

typedef struct Walk {
    HoloCheckpoint        *checkpoint;
    HoloCheckpointTensors *out;
    HoloNameMap            seen;
    int                    steps;
} Walk;

// Where checkpoints of training have the weights, in this order.
static const char *const inside[] = {"state_dict", "model_state_dict", "model",  "module", "net",
                                     "model_ema",  "params_ema",       "params", "weights"};

// What wrappers of modules put in front of every name.
static const char *const prefixes[] = {"module.", "_orig_mod."};

static bool has_tensor(const HoloPickle *dict)
{
    for (int i = 1; i < dict->count; i += 2)
        if (holo_checkpoint_is_tensor(dict->item[i])) return true;
    return false;
}

// The dict that has the weights.
static const HoloPickle *find_weights(const HoloPickle *dict)
{
    while (!has_tensor(dict)) { // it ends, since no value contains itself
        const HoloPickle *found = NULL;
        for (int i = 0; i < HOLO_COUNT(inside) && !found; i++) {
            found = holo_pickle_find(dict, inside[i]);
            if (found && found->kind != HOLO_PICKLE_DICT) found = NULL;
        }
        if (!found) break;
        dict = found;
    }
    return dict;
}

// The name of a weight: that of its dict, and its own.
static HoloStatus join(const HoloCheckpoint *c, const char *before, const HoloPickle *key, const char **out)
{
    bool is_number = key->kind == HOLO_PICKLE_INT;
    if (!is_number && strlen(before) + key->text.size > NAME_MAX)
        return holo_fail(c->error, HOLO_BAD_MODEL, "%s: the name of a tensor has more than %d bytes", c->file,
                         NAME_MAX);
    for (size_t i = 0; i < key->text.size; i++)
        if ((unsigned char)key->text.data[i] < ' ' || (unsigned char)key->text.data[i] > '~')
            return holo_fail(c->error, HOLO_BAD_MODEL, "%s: the name of a tensor has a byte %d: names are plain ASCII",
                             c->file, (unsigned char)key->text.data[i]);
    *out = is_number ? holo_arena_format(c->arena, "%s%lld", before, (long long)key->integer)
                     : holo_arena_format(c->arena, "%s%.*s", before, (int)key->text.size,
                                         key->text.size ? key->text.data : "");
    return *out ? HOLO_OK : holo_fail_memory(c->error);
}

static HoloStatus add(Walk *w, const char *name, const HoloPickle *value)
{
    HoloCheckpoint        *c = w->checkpoint;
    HoloCheckpointTensors *o = w->out;
    HoloString             s = {name, strlen(name)};
    if (holo_name_map_find(&w->seen, s))
        return holo_fail(c->error, HOLO_BAD_MODEL, "%s: the tensor '%.200s' is there twice", c->file, name);
    if (!HOLO_GROW(c->arena, o->entry, o->count, o->room) || !holo_name_map_set(&w->seen, c->arena, s, (void *)name))
        return holo_fail_memory(c->error);
    HOLO_TRY(holo_checkpoint_tensor(c, "data", name, value, &o->entry[o->count]));
    o->count++;
    return HOLO_OK;
}

static HoloStatus walk(Walk *w, const HoloPickle *dict, const char *before)
{
    HoloCheckpoint *c = w->checkpoint;
    for (int i = 0; i + 1 < dict->count; i += 2) {
        const HoloPickle *key = dict->item[i], *value = dict->item[i + 1];
        const char       *name;
        bool              is_dict = value->kind == HOLO_PICKLE_DICT;
        if (w->steps++ == STEPS_MAX) return holo_fail(c->error, HOLO_BAD_MODEL, "%s: its values are too many", c->file);
        if (!is_dict && !holo_checkpoint_is_tensor(value)) continue; // counts of steps, settings and the like
        if (key->kind != HOLO_PICKLE_TEXT && key->kind != HOLO_PICKLE_INT) continue;
        HOLO_TRY(join(c, before, key, &name));
        if (!is_dict) {
            HOLO_TRY(add(w, name, value));
            continue;
        }
        name = holo_arena_format(c->arena, "%s.", name);
        if (!name) return holo_fail_memory(c->error);
        HOLO_TRY(walk(w, value, name));
    }
    return HOLO_OK;
}

static bool strip(HoloCheckpointTensors *all, const char *prefix) // true: all names had it
{
    size_t size = strlen(prefix);
    for (int i = 0; i < all->count; i++)
        if (strncmp(all->entry[i].name, prefix, size)) return false;
    for (int i = 0; i < all->count; i++) all->entry[i].name += size;
    return all->count > 0;
}

void holo_checkpoint_strip(HoloCheckpointTensors *all)
{
    for (int i = 0; i < HOLO_COUNT(prefixes); i++)
        if (strip(all, prefixes[i])) i = -1; // they may stand one behind the other
}

HoloStatus holo_checkpoint_tensors(HoloCheckpoint *c, HoloCheckpointTensors *out)
{
    Walk w = {.checkpoint = c, .out = out};
    *out   = (HoloCheckpointTensors){0};
    if (c->root->kind != HOLO_PICKLE_DICT)
        return holo_fail(c->error, HOLO_UNSUPPORTED,
                         "%s: it is not a dict of weights: save model.state_dict() with torch.save", c->file);
    HOLO_TRY(walk(&w, find_weights(c->root), ""));
    if (!out->count) return holo_fail(c->error, HOLO_BAD_MODEL, "%s: it has no tensors", c->file);
    return HOLO_OK;
}
