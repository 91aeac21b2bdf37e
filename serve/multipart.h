// multipart.h - the fields of a form: multipart/form-data. Nothing is copied.
#ifndef HOLO_SERVE_MULTIPART_H
#define HOLO_SERVE_MULTIPART_H

#include "bytes.h"

enum { MULTIPART_FIELDS = 32 };

typedef struct FormField {
    char        name[64];
    const char *data;
    size_t      size;
} FormField;

typedef struct Form {
    FormField field[MULTIPART_FIELDS];
    int       count;
} Form;

// `type` is the header content-type. False: the body is no such form.
bool             form_read(const char *type, const char *body, size_t size, Form *out);
const FormField *form_find(const Form *form, const char *name);             // NULL: there is none
bool form_text(const Form *form, const char *name, char *out, size_t room); // "" if there is none; false: too long

#endif
