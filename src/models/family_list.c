// family_list.c - lists in the text of a family: whole numbers, numbers, texts.
#include "models/family.h"

bool holo_item_is_number(const HoloItem *item)
{
    return item->kind == HOLO_ITEM_INT || item->kind == HOLO_ITEM_FLOAT;
}

double holo_item_number(const HoloItem *item)
{
    return item->kind == HOLO_ITEM_INT ? (double)item->i : item->f;
}

bool holo_item_is_list(const HoloItem *item)
{
    return item->kind == HOLO_ITEM_LIST || item->kind == HOLO_ITEM_FLOATS || item->kind == HOLO_ITEM_TEXTS;
}

HoloItem holo_item_at(const HoloItem *list, int i)
{
    if (list->kind == HOLO_ITEM_TEXTS) return (HoloItem){.kind = HOLO_ITEM_TEXT, .text = list->texts[i].data};
    if (list->kind == HOLO_ITEM_FLOATS) return (HoloItem){.kind = HOLO_ITEM_FLOAT, .f = (double)list->floats[i]};
    return (HoloItem){.kind = HOLO_ITEM_INT, .i = list->list[i]};
}

// Of whole numbers where all items are such, else of numbers.
HoloStatus holo_family_list(HoloFamilyReader *r, const HoloItem *items, int count, HoloItem *out)
{
    bool     is_whole = true;
    int64_t *ints     = HOLO_NEW(r->scan.arena, int64_t, count + 1);
    float   *floats   = HOLO_NEW(r->scan.arena, float, count + 1);
    if (!ints || !floats) return holo_fail_memory(r->scan.error);
    for (int i = 0; i < count; i++) {
        if (!holo_item_is_number(&items[i])) return holo_family_wrong(r, "a list is of numbers");
        is_whole  = is_whole && items[i].kind == HOLO_ITEM_INT;
        ints[i]   = items[i].i;
        floats[i] = (float)holo_item_number(&items[i]);
    }
    *out = (HoloItem){.kind   = is_whole ? HOLO_ITEM_LIST : HOLO_ITEM_FLOATS,
                      .list   = is_whole ? ints : NULL,
                      .floats = is_whole ? NULL : floats,
                      .count  = count};
    return HOLO_OK;
}

// list[i]: item is the list, and the text goes on behind the name of it.
HoloStatus holo_family_index(HoloFamilyReader *r, HoloItem *item)
{
    HoloItem list = *item, index;
    HOLO_TRY(holo_family_expect(r, "["));
    HOLO_TRY(holo_family_expression(r, &index));
    HOLO_TRY(holo_family_expect(r, "]"));
    if (index.kind != HOLO_ITEM_INT || index.i < 0 || index.i >= list.count)
        return holo_family_wrong(r, "a list of %d items has no such item", list.count);
    *item = holo_item_at(&list, (int)index.i);
    return HOLO_OK;
}
