// choose_rows.c - chooses take_rows for TakeRows. Its table is packed as the product does that shares it.
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"
#include "ops/hologram/rows_op.h"

bool holo_lower_take_rows(const HoloNode *node, HoloLowering *out)
{
    HoloError        ignored = {0};
    HoloCall         call    = holo_node_call(node);
    const HoloValue *table   = holo_node_in(node, HOLO_ROWS_TABLE);
    HoloTakenRows    rows;
    call.error = &ignored;
    if (!holo_value_is(table, (HoloDtype)table->type.dtype, 2, 2) || holo_rows_sizes(&call, &table->type, &rows))
        return false;
    out->params_size = sizeof out->take_rows;
    if (rows.type) {
        int64_t panel = holo_block_panel_bytes(rows.type, rows.count);
        bool    packed =
            table->is_constant && table->type.data && panel >= 0 && panel <= HOLO_PACK_PART && table->type.dim[0] > 0;
        if (!packed) return true;
        out->pack_input = HOLO_ROWS_TABLE;
        out->pack_type  = rows.type;
        out->pack_form  = HOLO_FORM_BLOCKS;
    } else if (holo_lower_pack(node, HOLO_ROWS_TABLE, true, out)) {
        out->take_rows.flags = holo_lower_narrow_type(&table->type, 0, out->pack_book);
        out->pack_form       = holo_lower_panels_form(out, &table->type);
    }
    if (out->pack_input >= 0) out->take_rows.flags |= HOLO_TAKE_ROWS_PACKED;
    return true;
}
