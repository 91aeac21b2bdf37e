// record_layout.c - the layout of every record of a .holo file, as numbers. Whoever changes a record changes them here,
// and the version of the format with them. There is no padding: each field begins where the one before it ends.
#include "format/holo.h"

#include <stddef.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read in place and are little-endian");

#define SIZE(type, bytes)       _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #field " of " #type " has moved")

SIZE(HoloHeader, 56);
AT(HoloHeader, magic, 0);
AT(HoloHeader, major, 8);
AT(HoloHeader, minor, 10);
AT(HoloHeader, header_size, 12);
AT(HoloHeader, flags_must, 16);
AT(HoloHeader, flags_may, 20);
AT(HoloHeader, file_size, 24);
AT(HoloHeader, section_count, 32);
AT(HoloHeader, reserved, 36);
AT(HoloHeader, hash, 40);

SIZE(HoloSectionRecord, 40);
AT(HoloSectionRecord, id, 0);
AT(HoloSectionRecord, flags, 4);
AT(HoloSectionRecord, offset, 8);
AT(HoloSectionRecord, size, 16);
AT(HoloSectionRecord, hash, 24);

SIZE(HoloDimRecord, 24);
AT(HoloDimRecord, op, 0);
AT(HoloDimRecord, reserved, 4);
AT(HoloDimRecord, a, 8);
AT(HoloDimRecord, b, 16);

SIZE(HoloOpRecord, 16);
AT(HoloOpRecord, domain, 0);
AT(HoloOpRecord, name, 4);
AT(HoloOpRecord, version, 8);
AT(HoloOpRecord, reserved, 12);

SIZE(HoloPlanRecord, 56);
AT(HoloPlanRecord, name, 0);
AT(HoloPlanRecord, value_first, 4);
AT(HoloPlanRecord, value_count, 8);
AT(HoloPlanRecord, step_first, 12);
AT(HoloPlanRecord, step_count, 16);
AT(HoloPlanRecord, input_first, 20);
AT(HoloPlanRecord, input_count, 24);
AT(HoloPlanRecord, output_first, 28);
AT(HoloPlanRecord, output_count, 32);
AT(HoloPlanRecord, flags, 36);
AT(HoloPlanRecord, arena_bytes, 40);
AT(HoloPlanRecord, naive_bytes, 48);

SIZE(HoloValueRecord, 32);
AT(HoloValueRecord, name, 0);
AT(HoloValueRecord, dtype, 4);
AT(HoloValueRecord, kind, 5);
AT(HoloValueRecord, inner, 6);
AT(HoloValueRecord, rank, 7);
AT(HoloValueRecord, storage, 8);
AT(HoloValueRecord, space, 10);
AT(HoloValueRecord, size_first, 12);
AT(HoloValueRecord, step_from, 16);
AT(HoloValueRecord, step_to, 20);
AT(HoloValueRecord, at, 24);

SIZE(HoloStepRecord, 40);
AT(HoloStepRecord, op, 0);
AT(HoloStepRecord, kernel, 4);
AT(HoloStepRecord, target, 6);
AT(HoloStepRecord, name, 8);
AT(HoloStepRecord, operand_first, 12);
AT(HoloStepRecord, in_count, 16);
AT(HoloStepRecord, out_count, 18);
AT(HoloStepRecord, capture_count, 20);
AT(HoloStepRecord, attr_count, 22);
AT(HoloStepRecord, attr_first, 24);
AT(HoloStepRecord, params, 28);
AT(HoloStepRecord, params_size, 32);
AT(HoloStepRecord, program, 36);

SIZE(HoloAttrRecord, 24);
AT(HoloAttrRecord, name, 0);
AT(HoloAttrRecord, kind, 4);
AT(HoloAttrRecord, reserved, 6);
AT(HoloAttrRecord, count, 8);
AT(HoloAttrRecord, reserved2, 12);
AT(HoloAttrRecord, value, 16);

SIZE(HoloSpan, 8);
AT(HoloSpan, offset, 0);
AT(HoloSpan, size, 4);

SIZE(HoloTensorRecord, 136);
AT(HoloTensorRecord, dtype, 0);
AT(HoloTensorRecord, kind, 1);
AT(HoloTensorRecord, inner, 2);
AT(HoloTensorRecord, rank, 3);
AT(HoloTensorRecord, constant, 4);
AT(HoloTensorRecord, dim, 8);

SIZE(HoloMetaRecord, 8);
AT(HoloMetaRecord, key, 0);
AT(HoloMetaRecord, value, 4);

SIZE(HoloConstantRecord, 48);
AT(HoloConstantRecord, offset, 0);
AT(HoloConstantRecord, size, 8);
AT(HoloConstantRecord, count, 16);
AT(HoloConstantRecord, dtype, 24);
AT(HoloConstantRecord, packed, 28);
AT(HoloConstantRecord, hash, 32);

SIZE(HoloMemoRecord, 24);
AT(HoloMemoRecord, key, 0);
AT(HoloMemoRecord, tensor_first, 16);
AT(HoloMemoRecord, reserved, 20);

SIZE(HoloMemoTensor, 168);
AT(HoloMemoTensor, dtype, 0);
AT(HoloMemoTensor, rank, 1);
AT(HoloMemoTensor, reserved, 2);
AT(HoloMemoTensor, reserved2, 4);
AT(HoloMemoTensor, offset, 8);
AT(HoloMemoTensor, size, 16);
AT(HoloMemoTensor, hash, 24);
AT(HoloMemoTensor, dim, 40);

SIZE(HoloNoteRecord, 40);
AT(HoloNoteRecord, pass, 0);
AT(HoloNoteRecord, place, 4);
AT(HoloNoteRecord, what, 8);
AT(HoloNoteRecord, why, 12);
AT(HoloNoteRecord, verdict, 16);
AT(HoloNoteRecord, reserved, 20);
AT(HoloNoteRecord, count, 24);
AT(HoloNoteRecord, bytes, 32);

SIZE(HoloProgramRecord, 40);
AT(HoloProgramRecord, name, 0);
AT(HoloProgramRecord, doc, 4);
AT(HoloProgramRecord, program, 8);
AT(HoloProgramRecord, program_size, 12);
AT(HoloProgramRecord, lanes, 16);
AT(HoloProgramRecord, lanes_size, 20);
AT(HoloProgramRecord, block, 24);
AT(HoloProgramRecord, reserved, 36);

SIZE(HoloAssetRecord, 24);
AT(HoloAssetRecord, name, 0);
AT(HoloAssetRecord, reserved, 4);
AT(HoloAssetRecord, offset, 8);
AT(HoloAssetRecord, size, 16);

SIZE(HoloEntryRecord, 8);
AT(HoloEntryRecord, name, 0);
AT(HoloEntryRecord, plan, 4);

SIZE(HoloCodeRecord, 48);
AT(HoloCodeRecord, target, 0);
AT(HoloCodeRecord, module, 4);
AT(HoloCodeRecord, kind, 8);
AT(HoloCodeRecord, reserved, 12);
AT(HoloCodeRecord, offset, 16);
AT(HoloCodeRecord, size, 24);
AT(HoloCodeRecord, hash, 32);

SIZE(HoloTargetRecord, 8);
AT(HoloTargetRecord, name, 0);
AT(HoloTargetRecord, reserved, 4);
