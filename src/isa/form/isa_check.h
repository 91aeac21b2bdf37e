// isa_check.h - what the parts of the validator share.
#ifndef HOLO_ISA_FORM_ISA_CHECK_H
#define HOLO_ISA_FORM_ISA_CHECK_H

#include "isa/isa.h"
#include "isa/isa_number.h"

// Fails with a message that names instruction `at`, and sets out_at.
HOLO_MUST HoloStatus holo_isa_wrong(HoloError *error, const HoloIsaProgram *program, int at, const char *what,
                                    int *out_at);

// Checks that all lanes of a block reach barriers, reductions and scans together. Everything else is checked already.
HOLO_MUST HoloStatus holo_isa_check_uniform(const HoloIsaProgram *program, int *out_at, HoloError *error);

#endif
