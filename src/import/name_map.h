// name_map.h - maps names to pointers. Names are borrowed and must outlive the map, which is in an arena.
#ifndef HOLO_IMPORT_NAME_MAP_H
#define HOLO_IMPORT_NAME_MAP_H

#include "base/base.h"

typedef struct HoloNameMap { // set to zeros first
    struct HoloNameSlot *slot;
    size_t               room, used; // room: a power of two
} HoloNameMap;

void *holo_name_map_find(const HoloNameMap *map, HoloString name); // NULL: there is none
// Sets the pointer of a name (not NULL). False: no memory.
bool holo_name_map_set(HoloNameMap *map, HoloArena *arena, HoloString name, void *value);

#endif
