#!/usr/bin/env python3
"""Reads include/hologram.json and says of each function what a binding must know to call it. Generators import this.

usage: bindings.py [--by-hand]     prints how each function is classified; --by-hand only those that no rule can make

    api = bindings.load()
    for function in api.functions:
        function.owner, function.short     "HoloModel", "input_count": the method that it is; owner None: of the module
        function.params                    each with its kind, see KINDS; what counts another parameter has kind "count"
        function.result                    how the value that C returns is seen: "none", "status", or a kind
        function.outs                      the parameters whose values a caller gets back, in order
        function.may_be_none               it returns false where there is nothing to give back
        function.keeps                     parameters that must live as long as the owner, or what is made
        function.why_by_hand               None: it follows the rules; else what in it does not
    api.includes()                         #include of every header, for C
    for field in api.fields("HoloPort"):   each with its kind, see FIELDS

A binding makes functions that follow the rules, and has one table of those that it writes by hand, with the reason.
"""

import json
import os
import re
import sys

DESCRIPTION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "include", "hologram.json")

KINDS = {
    "object": "a handle, or a struct that the library has allocated, in: HoloModel *",
    "new object": "a handle, out, for the caller to destroy: HoloModel **",
    "new struct": "a struct, out, that the library allocates and the caller destroys: HoloReport **",
    "string": "text that ends with 0, in: const char *",
    "string out": "text, out, that the library keeps: const char **",
    "number": "a number or bool, in",
    "number out": "a number or bool, out: int64_t *",
    "enum": "a value of an enum, in",
    "enum out": "a value of an enum, out",
    "struct": "a struct, in, by value or by const pointer",
    "struct out": "a struct, out, in memory of the caller",
    "tensor": "a view of memory, in: const HoloTensor *",
    "tensor out": "a view of memory, out: HoloTensor *",
    "bytes": "bytes or text to read, whose size is another parameter",
    "numbers": "several numbers to read, whose count is another parameter",
    "numbers out": "memory for numbers, whose count is another parameter, or fixed (array)",
    "structs": "several structs, whose count is another parameter",
    "tensors": "several tensors, whose count is another parameter",
    "memory": "memory of a meaning that its type does not say",
    "count": "the size or count of another parameter",
    "callback": "a function of the caller",
    "state": "what a callback is called with",
    "error": "HoloError *",
}
# What a rule can pass; all else is for hands.
PLAIN = {"object", "new object", "new struct", "string", "string out", "number", "number out", "enum", "enum out", "struct",
         "struct out", "tensor", "tensor out", "bytes", "numbers", "numbers out", "count", "error"}

FIELDS = {
    "number": "a number or bool",
    "enum": "a value of the enum `base`, in an enum or a number",
    "string": "text that ends with 0, or NULL",
    "struct": "a struct inside",
    "tensor": "a view of memory",
    "text": "text inside: char[array]",
    "numbers": "several numbers: inside (array), or behind a pointer (counted_by)",
    "strings": "several texts, in the same two ways",
    "structs": "several structs behind a pointer (counted_by)",
    "count": "the count of another field",
    "object": "a handle",
    "pointer": "something that its type does not say",
}
NUMBERS = {"bool": (1, False), "int": (4, True), "int8_t": (1, True), "int16_t": (2, True), "int32_t": (4, True), "int64_t": (8, True),
           "uint8_t": (1, False), "uint16_t": (2, False), "uint32_t": (4, False), "uint64_t": (8, False), "size_t": (8, False),
           "float": (4, True), "double": (8, True)}  # bytes, where pointers have 8; has a sign

# What an object goes on using after the call, beside what it was made of.
KEPT = {
    "holo_compiler_set_constant": ["tensor"],
    "holo_session_set_input": ["tensor"],
    "holo_session_set_output": ["data"],
    "holo_session_set_device_output": ["data"],
    "holo_session_set_stream": ["stream"],
    "holo_model_open_memory": ["bytes"],
    "holo_model_open_memory_in": ["bytes"],
    "holo_model_set_runs": ["pool"],
    "holo_context_set_log": ["state"],
    "holo_compiler_set_judge": ["context"],
    "holo_compiler_set_dump": ["context"],
    "holo_compiler_set_progress": ["context"],
    "holo_session_watch": ["context"],
}


class Type:
    """A C spelling taken apart: `const HoloTensor *const *` has base HoloTensor and 2 stars, and is const."""

    def __init__(self, text):
        self.text = text
        self.base = re.sub(r"\b(const|volatile)\b|\*", "", text).strip()
        self.stars = text.count("*")
        self.is_const = text.startswith("const ")


def snake(name):
    """HoloStepPrograms -> step_programs"""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name[len("Holo"):]).lower()


# ---- fields of structs

class Field:
    def __init__(self, data, api):
        self.name, self.type, self.array, self.doc = data["name"], Type(data["type"]), data["array"], data["doc"]
        self.base, self.counted_by = self.type.base, None
        self.kind = "pointer" if "returns" in data else self.kind_of(api)

    def kind_of(self, api):
        kind, said = self.type, re.match(r"\w*", self.doc).group()
        if kind.stars == 0 and kind.base in NUMBERS and self.array is None and said in api.enums:
            self.base = said
            return "enum"
        if kind.stars == 0:
            simple = api.simple_kind(kind)
            if kind.base == "char":
                return "text"
            return simple if self.array is None else {"number": "numbers"}.get(simple, "pointer")
        if kind.base in api.objects and kind.stars == 1:
            return "object"
        if kind.base == "char" and kind.is_const:
            return {(1, True): "string", (1, False): "strings", (2, True): "strings"}.get((kind.stars, self.array is None), "pointer")
        if kind.stars == 1 and kind.is_const and self.array is None:
            return {"number": "numbers", "struct": "structs"}.get(api.simple_kind(kind), "pointer")
        return "pointer"

    def find_count(self, fields):
        """`layers` is counted by `layer_count`; what nothing counts is a pointer."""
        if self.kind not in ("numbers", "strings", "structs") or self.array is not None:
            return
        singular = [self.name, self.name[:-1], self.name[:-2], re.sub("ves$", "f", self.name)]
        wanted = {one + "_count" for one in singular} | {"count"}
        found = [one for one in fields if one.name in wanted and one.type.text == "int"]
        if found:
            self.counted_by, found[0].kind = found[0], "count"
        else:
            self.kind = "pointer"


# ---- functions

class Param:
    def __init__(self, data):
        self.name, self.type, self.role, self.array = data["name"], Type(data["type"]), data["role"], data.get("array")
        self.kind = None
        self.counts = None  # of a count: the parameter that it counts
        self.counted_by = None


class Function:
    def __init__(self, data, api):
        self.name, self.doc, self.header, self.library = data["name"], data["doc"], data["header"], data["library"]
        self.must_check, self.returns = data["must_check"], Type(data["returns"])
        self.params = [Param(one) for one in data["params"]]
        for param in self.params:
            param.kind = api.param_kind(param)
        for index in range(len(self.params)):
            self.look_around(index)
        self.result = api.result_kind(self.returns)
        self.owner, self.short = self.place(api)
        self.outs = [p for p in self.params if p.kind.endswith(" out") or p.kind.startswith("new ")]
        self.makes = next((p for p in self.params if p.kind.startswith("new ")), None)
        self.may_be_none = self.returns.text == "bool" and bool(self.outs)
        self.takes_error = any(p.kind == "error" for p in self.params)
        self.is_destroy = self.name in api.destroyers
        self.keeps = [p for p in self.params if p.name in KEPT.get(self.name, []) or self.makes and p.kind == "object"]
        self.why_by_hand = self.reason(api)

    def look_around(self, index):
        """What a parameter is beside its neighbors."""
        param = self.params[index]
        after = self.params[index + 1] if index + 1 < len(self.params) else None
        before = self.params[index - 1] if index else None
        if param.kind == "callback" and after and after.type.text == "void *":
            after.kind = "state"
        elif param.kind == "string" and after and after.type.text == "size_t" and after.name == "size":
            param.kind = "bytes"
            self.count(param, after)
        elif param.kind in ("numbers", "number out", "structs", "tensors", "memory") and param.array is None:
            counter = next((p for p in (after, before) if p and self.is_count(p)), None)
            if counter:
                self.count(param, counter)
        if param.kind in ("numbers", "structs") and param.counted_by is None and param.array is None:
            param.kind = "struct" if param.kind == "structs" and param.type.is_const else "memory"

    @staticmethod
    def is_count(param):
        return (param.counts is None and param.type.text in ("int", "size_t", "int64_t") and
                re.search(r"^(size|count|rank|room)$|_(size|count)$", param.name))

    @staticmethod
    def count(param, counter):
        if param.kind == "memory" and param.type.base == "void" and counter.type.text != "size_t":
            return  # it counts elements of a type that only the object knows
        counter.kind, counter.counts, param.counted_by = "count", param, counter
        if param.kind == "memory" and param.type.is_const:
            param.kind = "bytes"
        elif param.kind == "number out" or param.kind == "memory" and param.role == "out" and param.type.base != "void":
            param.kind = "numbers out"

    def place(self, api):
        """The type whose method it is, by its name and its first parameter or what it makes; None: it is of the module."""
        name, makes = self.name[len("holo_"):], [p.type.base for p in self.params if p.kind.startswith("new ")]
        for owner in [self.params[0].type.base if self.params else None] + makes:
            if (owner in api.objects or owner in api.structs) and name.startswith(snake(owner) + "_"):
                return owner, name[len(snake(owner)) + 1:]
        return None, name

    def reason(self, api):
        for param in self.params:
            if param.kind not in PLAIN:
                return f"{param.name}: {KINDS[param.kind]}"
            if param.kind in ("struct", "struct out", "new struct") and not api.is_plain(param.type.base):
                return f"{param.name}: {param.type.base} has a field of a meaning that its type does not say"
        return f"returns {self.returns.text}" if self.result == "memory" else None


class Api:
    """The description, by name."""

    def __init__(self, data):
        self.data, self.version, self.headers = data, data["version"], data["headers"]
        self.constants = {one["name"]: one for one in data["constants"]}
        self.enums = {one["name"]: one for one in data["enums"]}
        self.objects = {one["name"]: one for one in data["objects"]}
        self.structs = {one["name"]: one for one in data["structs"]}
        self.callbacks = {one["name"]: one for one in data["callbacks"]}
        self.destroyers = {one["destroy"]: one["name"] for one in data["objects"] + data["structs"] if "destroy" in one}
        self.functions = [Function(one, self) for one in data["functions"]]

    def includes(self):
        return "".join(f'#include "{name}"\n' for name in self.headers)

    def fields(self, struct):
        fields = [Field(one, self) for one in self.structs[struct]["fields"]]
        for field in fields:
            field.find_count(fields)
        return fields

    def is_plain(self, struct):
        """Whether rules can turn the struct into values of another language, and back."""
        for field in self.fields(struct):
            if field.kind in ("pointer", "object"):
                return False
            if field.kind in ("struct", "structs") and not self.is_plain(field.base):
                return False
        return True

    def simple_kind(self, kind):
        if kind.base == "HoloTensor":
            return "tensor" if kind.stars == 0 else "struct"
        return "enum" if kind.base in self.enums else "number" if kind.base in NUMBERS else "struct" if kind.base in self.structs else "memory"

    def param_kind(self, param):
        """What a parameter is by itself."""
        kind, out = param.type, param.role == "out"
        if param.role == "error":
            return "error"
        if kind.base in self.callbacks:
            return "callback"
        if kind.base in self.objects:
            return "new object" if kind.stars == 2 else "object"
        if kind.base in self.destroyers.values() and kind.stars == 1 and not kind.is_const:
            return "object"
        if kind.base == "char" and kind.is_const:
            return "string out" if kind.stars == 2 and out else "string" if kind.stars == 1 else "memory"
        if kind.base == "HoloTensor" and kind.stars == 2:
            return "tensors"
        if kind.base == "HoloTensor" and kind.stars == 1:
            return "tensor out" if out else "tensor" if kind.is_const else "memory"
        return self.value_kind(param, self.simple_kind(kind), out)

    @staticmethod
    def value_kind(param, simple, out):
        stars = param.type.stars
        if simple == "memory" or stars == 0:
            return simple
        if stars == 2:
            return "new struct" if simple == "struct" and out else "memory"
        if param.array is not None:
            return "numbers out" if out else "numbers"
        if out:
            return simple + " out"
        return "structs" if simple == "struct" else "numbers" if param.type.is_const else "memory"

    def result_kind(self, kind):
        known = {"void": "none", "HoloStatus": "status", "const char *": "string"}
        if kind.text in known:
            return known[kind.text]
        if kind.base == "HoloTensor":
            return "tensor"
        simple = self.simple_kind(kind)
        return simple if kind.stars == 0 or simple == "struct" and kind.stars == 1 else "memory"


def load(path=DESCRIPTION):
    with open(path, encoding="utf-8") as file:
        return Api(json.load(file))


def main():
    if sys.argv[1:] not in ([], ["--by-hand"]):
        sys.exit(__doc__.split("\n\n")[1])
    for function in load().functions:
        if function.why_by_hand:
            print(f"{function.name}: by hand: {function.why_by_hand}")
        elif not sys.argv[1:]:
            kinds = ", ".join(f"{p.name}: {p.kind}" for p in function.params)
            print(f"{function.name}({kinds}) -> {function.result}")


if __name__ == "__main__":
    main()
