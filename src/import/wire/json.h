// json.h - JSON of untrusted files, by jansson: strict, with the line in errors.
#ifndef HOLO_IMPORT_WIRE_JSON_H
#define HOLO_IMPORT_WIRE_JSON_H

#include "base/base.h"

#include <jansson.h>

// An object, to be freed by json_decref. `name` is that of the file, for errors. Duplicate keys are refused.
HOLO_MUST HoloStatus holo_json_read(const char *name, const void *bytes, size_t size, json_t **out, HoloError *error);

#endif
