// isa_check.h - the halves of the validator, for each other.
#ifndef HOLO_ISA_FORM_ISA_CHECK_H
#define HOLO_ISA_FORM_ISA_CHECK_H

#include "isa/isa.h"
#include "isa/isa_number.h"

// Fails with words that name instruction `at`, which is given to out_at.
HOLO_MUST HoloStatus holo_isa_wrong(HoloError *error, const HoloIsaProgram *program, int at, const char *what,
                                    int *out_at);

// Barriers, reductions and scans stand where all lanes of a block come together. The program is right otherwise.
HOLO_MUST HoloStatus holo_isa_check_uniform(const HoloIsaProgram *program, int *out_at, HoloError *error);

#endif
