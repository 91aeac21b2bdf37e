// atlas_class.c - the 96 classes of bytes and the group of 192 transforms that acts on them.
//
// Bits 7 and 6 of a byte are its scope, 5 and 4 its modality, 3 to 1 its slot; bit 0 does not matter. Modality 3 does
// not exist and counts as 0, so 256 bytes fall into 4 * 3 * 8 classes.
#include "hologram_atlas.h"

enum { SCOPES = 4, MODALITIES = 3, SLOTS = 8 };

static bool is_class(int class_id)
{
    return class_id >= 0 && class_id < HOLO_ATLAS_CLASSES;
}

static int join(int scope, int modality, int slot)
{
    return (scope * MODALITIES + modality) * SLOTS + slot;
}

static HoloAtlasParts split(int class_id)
{
    return (HoloAtlasParts){(uint8_t)(class_id / SLOTS / MODALITIES), (uint8_t)(class_id / SLOTS % MODALITIES),
                            (uint8_t)(class_id % SLOTS)};
}

int holo_atlas_class(uint8_t byte)
{
    return join(byte >> 6, (byte >> 4 & 3) % MODALITIES, byte >> 1 & 7);
}

int holo_atlas_byte(int class_id)
{
    if (!is_class(class_id)) return -1;
    HoloAtlasParts p = split(class_id);
    return p.scope << 6 | p.modality << 4 | p.slot << 1;
}

bool holo_atlas_parts(int class_id, HoloAtlasParts *out_parts)
{
    if (!is_class(class_id)) return false;
    *out_parts = split(class_id);
    return true;
}

int holo_atlas_members(int class_id, uint8_t out_bytes[HOLO_ATLAS_MEMBERS_MAX])
{
    int count = 0;
    for (int byte = 0; byte < 256 && is_class(class_id); byte++)
        if (holo_atlas_class((uint8_t)byte) == class_id) out_bytes[count++] = (uint8_t)byte;
    return count;
}

// ---- transforms

static uint8_t modulo(int64_t n, int m)
{
    return (uint8_t)((n % m + m) % m);
}

HoloTransform holo_transform(int64_t r, int64_t d, int64_t t, bool m)
{
    return (HoloTransform){modulo(r, SCOPES), modulo(d, MODALITIES), modulo(t, SLOTS), m};
}

// After a mirror, D acts in the opposite direction: M D = D^-1 M.
HoloTransform holo_transform_then(HoloTransform first, HoloTransform next)
{
    int d = first.m ? -next.d : next.d;
    return holo_transform(first.r + next.r, first.d + d, first.t + next.t, first.m ^ next.m);
}

HoloTransform holo_transform_inverse(HoloTransform a)
{
    return holo_transform(-a.r, a.m ? a.d : -a.d, -a.t, a.m);
}

int holo_transform_class(HoloTransform a, int class_id)
{
    if (!is_class(class_id)) return -1;
    HoloAtlasParts p        = split(class_id);
    int            modality = (p.modality + a.d) % MODALITIES;
    if (a.m) modality = modulo(-modality, MODALITIES);
    return join((p.scope + a.r) % SCOPES, modality, (p.slot + a.t) % SLOTS);
}
