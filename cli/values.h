// values.h - what constants are made of: for hologram inspect --values.
#ifndef HOLO_CLI_VALUES_H
#define HOLO_CLI_VALUES_H

#include "json.h"

void cli_values_print(const HoloModel *model);
void cli_values_json(Json *json, const HoloModel *model); // keys "values", "equal" and "equal_bytes"

#endif
