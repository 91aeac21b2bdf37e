// name_map.c - a hash table with open addressing that only grows.
#include "import/name_map.h"

#include "base/hash.h"

#include <string.h>

struct HoloNameSlot {
    HoloString name;
    uint64_t   hash;
    void      *value; // NULL: an empty slot
};

// The slot of the name, or the empty slot where it would go. The map has an empty slot.
static struct HoloNameSlot *slot_of(const HoloNameMap *map, HoloString name, uint64_t hash)
{
    for (size_t i = hash & (map->room - 1);; i = (i + 1) & (map->room - 1)) {
        struct HoloNameSlot *slot = &map->slot[i];
        if (!slot->value) return slot;
        if (slot->hash == hash && slot->name.size == name.size && !memcmp(slot->name.data, name.data, name.size))
            return slot;
    }
}

void *holo_name_map_find(const HoloNameMap *map, HoloString name)
{
    return map->room ? slot_of(map, name, holo_hash_name(name.data, name.size))->value : NULL;
}

static bool grow(HoloNameMap *map, HoloArena *arena)
{
    HoloNameMap more = {.room = map->room ? map->room * 2 : 16, .used = map->used};
    more.slot        = HOLO_NEW(arena, struct HoloNameSlot, more.room);
    if (!more.slot) return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->slot[i].value) *slot_of(&more, map->slot[i].name, map->slot[i].hash) = map->slot[i];
    *map = more;
    return true;
}

bool holo_name_map_set(HoloNameMap *map, HoloArena *arena, HoloString name, void *value)
{
    if (map->used * 2 >= map->room && !grow(map, arena)) return false;
    uint64_t             hash = holo_hash_name(name.data, name.size);
    struct HoloNameSlot *slot = slot_of(map, name, hash);
    if (!slot->value) map->used++;
    *slot = (struct HoloNameSlot){name, hash, value};
    return true;
}
