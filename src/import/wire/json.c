// json.c - JSON of untrusted files. See json.h.
#include "import/wire/json.h"

HoloStatus holo_json_read(const char *name, const void *bytes, size_t size, json_t **out, HoloError *error)
{
    json_error_t problem;
    *out = json_loadb(size ? bytes : "", size, JSON_REJECT_DUPLICATES, &problem);
    if (!*out && (json_error_code(&problem) == json_error_out_of_memory || !problem.text[0])) // it has no text
        return holo_fail_memory(error);
    if (!*out)
        return holo_fail(error, HOLO_BAD_MODEL, "%s, line %d: this is not JSON: %s", name, problem.line, problem.text);
    if (json_is_object(*out)) return HOLO_OK;
    json_decref(*out);
    *out = NULL;
    return holo_fail(error, HOLO_BAD_MODEL, "%s: it should be an object, { ... }, and is another kind of JSON", name);
}
