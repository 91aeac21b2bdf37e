#!/usr/bin/env python3
"""Makes the dull part of the addon from include/hologram.json: one function for JavaScript for each plain function of C.

usage: make.py FOLDER [DESCRIPTION]     writes made.h, made.c, c.d.ts, c.mjs and enums.mjs there

A function keeps its name and the order of its parameters. Handles are numbers. Counts, errors and outs are no parameters: what a
function gives back is its result, an object where it is several things. A status becomes an exception. Structs that the library
allocates become plain objects, and are freed at once. What no rule can make stands in by_hand.py; a function that is neither made nor
there is an error.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]

import bindings  # noqa: E402
import by_hand  # noqa: E402
import made_types  # noqa: E402

# Parameters of these types may be left out: services that a caller need not have.
MAY_BE_NOTHING = {"HoloContext", "HoloPool", "HoloCompiler"}
# And these, as the headers say.
MAY_BE_NULL = {("holo_portable_find", "model"), ("holo_compiler_set_calibration", "path"), ("holo_tensors_read", "want"),
               ("holo_tensors_open", "want"), ("holo_pool_create_in", "cores")}
RANGES = {"int8_t": ("INT8_MIN", "INT8_MAX"), "int16_t": ("INT16_MIN", "INT16_MAX"), "int": ("INT32_MIN", "INT32_MAX"),
          "int32_t": ("INT32_MIN", "INT32_MAX"), "uint8_t": ("0", "UINT8_MAX"), "uint16_t": ("0", "UINT16_MAX"),
          "uint32_t": ("0", "UINT32_MAX"), "size_t": ("0", "0x1p64"), "uint64_t": ("0", "0x1p64"), "int64_t": ("-0x1p63", "0x1p63"),
          "double": ("-INFINITY", "INFINITY"), "float": ("-INFINITY", "INFINITY")}


def camel(name):
    """nodes_before -> nodesBefore"""
    return re.sub(r"_([a-z0-9])", lambda m: m.group(1).upper(), name)


# ---- structs

def number_out(value, base):
    if base == "bool":
        return f"js_bool(env, {value})"
    return f"js_big(env, {value} > 0x1p53, (uint64_t){value}, (double){value})" if base == "uint64_t" else f"js_number(env, (double){value})"


def field_out(field):
    """C that gives the value of a field for JavaScript."""
    at, kind = f"from->{field.name}", field.kind
    if kind in ("number", "enum"):
        return number_out(at, field.type.base)
    if kind == "string" or kind == "text":
        return f"js_text(env, {at})"
    if kind == "tensor":
        return f"js_type(env, &{at})"
    if kind == "struct":
        return f"{field.base}_out(env, &{at})"
    count = field.array if field.array is not None else f"from->{field.counted_by.name}"
    if kind == "numbers":
        return f"LIST({count}, {number_out(at + '[i]', field.type.base)})"
    if kind == "strings":
        return f"LIST({count}, js_text(env, {at}[i]))"
    return f"LIST({count}, {field.base}_out(env, &{at}[i]))"


def struct_out(api, name):
    lines = [f"napi_value {name}_out(napi_env env, const {name} *from)", "{",
             "    napi_value to = NULL, list;", "    (void)list;", "    napi_create_object(env, &to);"]
    for field in api.fields(name):
        if field.kind != "count":
            lines.append(f'    js_set(env, to, "{camel(field.name)}", {field_out(field)});')
    return "\n".join(lines + ["    return to;", "}", ""])


def can_be_read(api, name):
    return all(f.kind in ("number", "enum") or f.kind == "numbers" and f.array is not None or f.kind == "struct" and can_be_read(api, f.base)
               for f in api.fields(name))


def field_in(field):
    text = f'"{camel(field.name)}"'
    if field.kind == "struct":
        return f"js_field(env, from, {text}, &field) && {field.base}_in(env, field, &to->{field.name})"
    if field.type.base == "bool":
        return f"js_field(env, from, {text}, &field) && js_bool_get(env, field, {text}, &to->{field.name})"
    low, high = RANGES.get(field.type.base, ("0", "INT32_MAX"))
    if field.kind == "numbers":
        return f"NUMBERS_IN({field.type.text}, to->{field.name}, {field.array}, {text}, {low}, {high})"
    return f"NUMBER_IN({field.type.text}, to->{field.name}, {text}, {low}, {high})"


def struct_in(api, name):
    tests = " &&\n           ".join(field_in(f) for f in api.fields(name))
    return (f"static bool {name}_in(napi_env env, napi_value from, {name} *to)\n{{\n    napi_value field, item;\n    double     number;\n"
            f"    (void)item, (void)number;\n    *to = ({name}){{0}};\n    return {tests};\n}}\n")


# ---- functions

class Call:
    """One function of C, as C for JavaScript."""

    def __init__(self, api, function):
        self.api, self.function = api, function
        self.before, self.tests, self.passed, self.after, self.results = [], [], [], [], []
        self.count = 0  # of arguments
        for param in function.params:
            getattr(self, "param_" + param.kind.replace(" ", "_"))(param)

    def argument(self):
        self.count += 1
        return f"args[{self.count - 1}]"

    def may_be_null(self, param):
        return str(param.type.base in MAY_BE_NOTHING and param is not self.function.params[0] or (self.function.name, param.name) in MAY_BE_NULL or
                   self.function.owner is None and param.type.base in MAY_BE_NOTHING or
                   self.function.makes is not None and param.type.base in MAY_BE_NOTHING).lower()

    def param_error(self, param):
        self.passed.append("&error")

    def param_count(self, param):
        self.passed.append(f"({param.type.text}){param.counts.name}_count")

    def param_object(self, param):
        self.before.append(f"JsHolder *{param.name} = NULL;")
        self.tests.append(f"js_holder_get(env, {self.argument()}, JS_{param.type.base}, {self.may_be_null(param)}, &{param.name})")
        if param.type.base == "HoloLanguage" and not param.type.is_const:  # of others the library itself sees who uses them
            self.tests.append(f"js_holder_is_idle(env, {param.name})")
        self.passed.append(f"{param.name} ? {param.name}->object : NULL")

    def param_string(self, param):
        self.before.append(f"char *{param.name} = NULL;")
        self.tests.append(f'js_text_get(env, {self.argument()}, "{camel(param.name)}", {self.may_be_null(param)}, &{param.name})')
        self.passed.append(param.name)
        self.after.append(f"free({param.name});")

    def param_number(self, param):
        text = f'"{camel(param.name)}"'
        if param.type.base == "bool":
            self.before.append(f"bool {param.name} = false;")
            self.tests.append(f"js_bool_get(env, {self.argument()}, {text}, &{param.name})")
            self.passed.append(param.name)
            return
        low, high = RANGES.get(param.type.base, ("0", "INT32_MAX"))
        whole = param.type.base in ("int64_t", "uint64_t", "size_t")
        self.before.append(f"{'uint64_t' if whole else 'double'} {param.name} = 0;")
        get = f"js_whole_get(env, {self.argument()}, {text}, {str(param.type.base == 'int64_t').lower()}, &{param.name})" if whole else \
            f"js_number_get(env, {self.argument()}, {text}, {low}, {high}, &{param.name})"
        self.tests.append(get)
        self.passed.append(f"({param.type.text}){param.name}")

    param_enum = param_number

    def param_struct(self, param):
        name = param.type.base
        self.before.append(f"{name} {param.name} = {{0}};")
        self.tests.append(f"{name}_in(env, {self.argument()}, &{param.name})")
        self.passed.append(f"&{param.name}" if param.type.stars else param.name)

    def param_tensor(self, param):
        self.before.append(f"HoloTensor {param.name} = {{0}};\n    bool {param.name}_is_given = false;")
        kept = f"&{self.function.params[0].name}->pieces" if param in self.function.keeps else "NULL"
        self.tests.append(f'js_view_get(env, {self.argument()}, "{camel(param.name)}", {self.may_be_null(param)}, {kept}, &{param.name}, '
                          f"&{param.name}_is_given)")
        self.passed.append(f"{param.name}_is_given ? &{param.name} : NULL")

    def param_bytes(self, param):
        self.before.append(f"void *{param.name} = NULL;\n    size_t {param.name}_count = 0;")
        self.tests.append(f'js_bytes_get(env, {self.argument()}, "{camel(param.name)}", &{param.name}, &{param.name}_count)')
        if param in self.function.keeps:
            self.before.append("JsPiece *kept = NULL;")
            self.tests.append(f"js_bytes_keep(env, &kept, &{param.name}, {param.name}_count)")
        self.passed.append(param.name)

    def param_numbers(self, param):
        self.before.append(f"{param.type.base} *{param.name} = NULL;\n    size_t {param.name}_count = 0;")
        low, high = RANGES[param.type.base]
        self.tests.append(f'LIST_IN({param.type.base}, {self.argument()}, "{camel(param.name)}", {low}, {high}, {param.name})')
        self.passed.append(param.name)
        self.after.append(f"free({param.name});")

    def out(self, param, declared, passed, value):
        self.before.append(declared)
        self.passed.append(passed)
        self.results.append((camel(param.name[len("out_"):]), value))

    def param_number_out(self, param):
        base = param.type.base
        self.out(param, f"{base} {param.name} = 0;", f"&{param.name}", number_out(param.name, base))

    param_enum_out = param_number_out

    def param_string_out(self, param):
        self.out(param, f"const char *{param.name} = NULL;", f"&{param.name}", f"js_text(env, {param.name})")

    def param_struct_out(self, param):
        self.out(param, f"{param.type.base} {param.name} = {{0}};", f"&{param.name}", f"{param.type.base}_out(env, &{param.name})")

    def param_tensor_out(self, param):
        self.out(param, f"HoloTensor {param.name} = {{0}};", f"&{param.name}", f"js_view(env, &{param.name})")

    def param_numbers_out(self, param):
        item = number_out(f"{param.name}[i]", param.type.base)
        self.out(param, f"{param.type.base} {param.name}[{param.array}] = {{0}};\n    napi_value list = NULL;", param.name,
                 f"LIST({param.array}, {item})")

    def param_new_struct(self, param):
        name = param.type.base
        self.out(param, f"{name} *{param.name} = NULL;", f"&{param.name}", f"{param.name} ? {name}_out(env, {param.name}) : js_null(env)")
        self.after.append(f"{self.api.structs[name]['destroy']}({param.name});")

    def param_new_object(self, param):
        needs = [p.name for p in self.function.params if p.kind == "object"]
        listed = ", ".join(needs) or "NULL"
        kept = "&kept" if any(p.kind == "bytes" for p in self.function.keeps) else "NULL"
        self.out(param, f"{param.type.base} *{param.name} = NULL;", f"&{param.name}",
                 f"js_object(env, JS_{param.type.base}, {param.name}, (JsHolder *[]){{{listed}}}, {len(needs)}, {kept})")

    # ---- the C text

    def keep(self):
        """An object that the owner goes on using."""
        owner = self.function.params[0].name if self.function.params else None
        return [f"js_holder_need({owner}, {p.name});" for p in self.function.keeps if p.kind == "object" and not self.function.makes]

    def end(self):
        """Statements that put what the function gave into `result`."""
        f, results = self.function, list(self.results)
        if f.result not in ("none", "status") and not f.may_be_none:
            results.insert(0, ("value", value_out(f)))
        if not results:
            return ["napi_get_undefined(env, &result);"]
        if len(results) == 1:
            lines = [f"result = {results[0][1]};"]
        else:
            lines = ["napi_create_object(env, &result);"] + [f'js_set(env, result, "{name}", {value});' for name, value in results]
        if f.may_be_none:
            return ["result = js_null(env);", "if (value) {"] + ["    " + line for line in lines] + ["}"]
        return lines

    def text(self):
        f = self.function
        call = f"{f.name}({', '.join(self.passed)})"
        lines = ["napi_value result = NULL;"] + self.before
        if self.count:
            lines.insert(0, f"napi_value args[{self.count}];")
        if f.result == "status":
            lines.append("HoloError error = {0};")
        tests = ([f"js_args(env, info, {self.count}, args)"] if self.count else []) + self.tests
        lines.append(f"if ({' && '.join(tests) or 'true'}) {{")
        returned = {"none": call + ";", "status": f"HoloStatus status = {call};"}.get(f.result, f"{f.returns.text} value = {call};")
        body = [returned]
        if f.result == "status":
            inner = self.keep() + self.end()
            body += ["if (status) {", "    js_throw(env, status, error.text);", "} else {"] + ["    " + one for one in inner] + ["}"]
        else:
            body += self.end()
        lines += ["    " + one for one in body] + ["}"] + self.after
        if any(p.kind == "bytes" for p in f.keeps):
            lines.append("js_pieces_free(&kept);")
        lines.append("return result;")
        unused = "(void)info;" if not self.count else None
        body = "\n".join("    " + line for line in ([unused] if unused else []) + lines)
        return f"static napi_value {f.name}_js(napi_env env, napi_callback_info info)\n{{\n{body}\n}}\n"


def value_out(function):
    if function.result in ("number", "enum"):
        return number_out("value", function.returns.base)
    if function.result == "string":
        return "js_text(env, value)"
    if function.result == "tensor":
        return "value ? js_view(env, value) : js_null(env)"
    if function.returns.stars:
        return f"value ? {function.returns.base}_out(env, value) : js_null(env)"
    return f"{function.returns.base}_out(env, &value)"


def close_text(function):
    """A handle is closed: what needs the object keeps it."""
    return (f"static napi_value {function.name}_js(napi_env env, napi_callback_info info)\n{{\n    return js_close(env, info, "
            f"JS_{function.params[0].type.base});\n}}\n")


# ---- the files

def structs_used(api, functions):
    """Structs that go out and in, those inside of others first."""
    def add(name, into):
        for field in api.fields(name):
            if field.kind in ("struct", "structs"):
                add(field.base, into)
        if name not in into:
            into.append(name)
    outs, ins = [], []
    for function in functions:
        for param in function.params:
            if param.kind in ("struct out", "new struct"):
                add(param.type.base, outs)
            if param.kind == "struct":
                add(param.type.base, ins)
        if function.result == "struct":
            add(function.returns.base, outs)
    return outs, ins


def header(api, outs):
    kinds = "\n".join(f"    JS_{name}," for name in api.objects)
    structs = "\n".join(f"napi_value {name}_out(napi_env env, const {name} *from);" for name in outs)
    return ("// Made by bindings/node/make.py: kinds of handles, and structs for JavaScript.\n#ifndef HOLO_NODE_MADE_H\n#define HOLO_NODE_MADE_H\n\n"
            f"#include \"addon.h\"\n{api.includes()}\n"
            f"enum {{\n    JS_NONE,\n{kinds}\n}};\n\nconst char *js_kind_name(int kind);\nvoid js_kind_destroy(int kind, void *object);\n\n"
            f"{structs}\n\n#endif\n")


def source(api, functions, outs, ins):
    kinds = "\n".join(f'    [JS_{name}] = {{"{bindings.snake(name).replace("_", " ")}", (void (*)(void *)){by_hand.DESTROYED.get(name, one["destroy"])}}},'
                      for name, one in api.objects.items())
    parts = ['// Made by bindings/node/make.py.\n#include "made.h"\n#include "js_made.h"\n\n#include <math.h>\n#include <stdlib.h>\n',
             f"static const struct {{\n    const char *name;\n    void (*destroy)(void *);\n}} kinds[] = {{\n{kinds}\n}};\n",
             "const char *js_kind_name(int kind)\n{\n    return kinds[kind].name;\n}\n",
             "void js_kind_destroy(int kind, void *object)\n{\n    kinds[kind].destroy(object);\n}\n"]
    parts += [struct_out(api, name) for name in outs] + [struct_in(api, name) for name in ins]
    parts += [close_text(f) if f.is_destroy else Call(api, f).text() for f in functions]
    rows = "\n".join(f'    {{"{f.name}", {f.name}_js}},' for f in functions)
    parts.append(f"const JsFunction js_functions_made[] = {{\n{rows}\n    {{NULL, NULL}},\n}};\n")
    return "\n".join(parts)


def makeable(api, function):
    if function.why_by_hand:
        return function.why_by_hand
    for param in function.params:
        if param.kind == "struct" and not can_be_read(api, param.type.base):
            return f"{param.name}: {param.type.base} has texts or tensors, and somebody must own them"
        if param.kind == "numbers out" and param.array is None:
            return f"{param.name}: memory of the caller that is filled"
    return None


def choose(api):
    """The functions that are made. What is neither made nor written by hand, and what is both, is an error."""
    made, wrong = [], []
    names = {f.name for f in api.functions}
    wrong += [f"{name}: is in by_hand.py, and not in the description" for name in by_hand.FUNCTIONS if name not in names]
    for function in api.functions:
        why = makeable(api, function)
        if function.name in by_hand.FUNCTIONS:
            continue
        if why:
            wrong.append(f"{function.name}: no rule makes it ({why}), and it is not in by_hand.py")
        elif not (function.is_destroy and function.params[0].type.base in api.structs):
            made.append(function)
    if wrong:
        sys.exit("\n".join(wrong))
    return made


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    folder = sys.argv[1]
    api = bindings.load(*sys.argv[2:])
    functions = choose(api)
    outs, ins = structs_used(api, functions)
    os.makedirs(folder, exist_ok=True)
    for name, text in [("made.h", header(api, outs)), ("made.c", source(api, functions, outs, ins)),
                       ("c.d.ts", made_types.declarations(api, functions, outs, ins, camel)), ("c.mjs", made_types.module(api, functions)),
                       ("enums.mjs", made_types.enums(api))]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
