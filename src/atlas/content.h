// content.h - content identity for code that already knows the hash of the bytes.
#ifndef HOLO_ATLAS_CONTENT_H
#define HOLO_ATLAS_CONTENT_H

#include "base/hash.h"
#include "hologram_atlas.h"

// As holo_content_id, from `type` (its data is not read) and the hash of its bytes.
HoloContentId holo_content_id_of_hash(const HoloTensor *type, HoloHash bytes);

#endif
