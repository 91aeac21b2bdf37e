// programs.h - steps as portable programs: for hologram inspect --programs.
#ifndef HOLO_CLI_PROGRAMS_H
#define HOLO_CLI_PROGRAMS_H

#include "json.h"

void cli_programs_print(const HoloStepPrograms *programs);
void cli_programs_json(Json *json, const HoloStepPrograms *programs); // key "programs"

#endif
