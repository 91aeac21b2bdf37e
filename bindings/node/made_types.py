"""The parts of make.py for TypeScript and JavaScript: c.d.ts, the types of the functions it makes, and enums.mjs."""

import os
import re


def comment(text, indent=""):
    if not text:
        return ""
    words, lines, line = text.replace("*/", "*\\/").split(), [], ""
    for word in words:
        if line and len(line) + len(word) > 110:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    lines.append(line)
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {one}\n" for one in lines) + f"{indent} */\n"


# ---- types

def number_type(base):
    return "boolean" if base == "bool" else "number | bigint" if base == "uint64_t" else "number"


def field_type(field):
    kind = field.kind
    if kind in ("number", "enum"):
        return number_type(field.type.base)
    if kind in ("string", "text"):
        return "string | null" if kind == "string" else "string"
    if kind == "tensor":
        return "ViewType"
    if kind == "struct":
        return field.base
    item = {"numbers": number_type(field.type.base), "strings": "string | null"}.get(kind, field.base)
    return f"Array<{item}>"


def interface(api, name, camel):
    fields = "".join(comment(f.doc, "  ") + f"  {camel(f.name)}: {field_type(f)};\n" for f in api.fields(name) if f.kind != "count")
    return comment(api.structs[name]["doc"]) + f"export interface {name} {{\n{fields}}}\n"


def param_type(param):
    kind = param.kind
    if kind == "object":
        return f"Handle<\"{param.type.base}\">"
    if kind in ("number", "enum"):
        return "boolean" if param.type.base == "bool" else "number | bigint" if "64" in param.type.base or param.type.base == "size_t" else "number"
    return {"string": "string", "tensor": "View", "bytes": "Uint8Array", "numbers": "readonly number[]"}.get(kind, param.type.base)


def out_type(param):
    base = param.type.base
    return {"number out": number_type(base), "enum out": "number", "string out": "string | null", "struct out": base, "tensor out": "View",
            "numbers out": "number[]", "new object": f"Handle<\"{base}\">"}.get(param.kind, base + " | null")


def result_type(function, camel):
    results = [(camel(p.name[len("out_"):]), out_type(p)) for p in function.outs]
    if function.result not in ("none", "status") and not function.may_be_none:
        kind = {"string": "string | null", "tensor": "View | null", "number": number_type(function.returns.base), "enum": "number"}.get(
            function.result, function.returns.base + (" | null" if function.returns.stars else ""))
        results.insert(0, ("value", kind))
    text = "void" if not results else results[0][1] if len(results) == 1 else "{ " + "; ".join(f"{n}: {t}" for n, t in results) + " }"
    return text + " | null" if function.may_be_none else text


def optional(param):
    return param.kind == "object" and param.type.base in ("HoloContext", "HoloPool", "HoloCompiler")


def function_text(function, camel):
    params = [p for p in function.params if p.kind not in ("error", "count") and p not in function.outs]
    texts = [f"{safe(camel(p.name))}: {param_type(p)}{' | null' if optional(p) else ''}" for p in params]
    return comment(function.doc) + f"export function {function.name}({', '.join(texts)}): {result_type(function, camel)};\n"


def safe(name):
    return name + "_" if name in ("in", "with", "default", "function") else name


HEAD = """// The plain functions of the C library, under their own names. Made by bindings/node/make.py.
//
// They are for what the face of the package does not have. Handles are numbers; close each by its function. Calls block the thread.

/** An object of the library. */
export type Handle<Kind extends string> = number & { readonly __kind?: Kind };
/** The type of a value: HoloDtype, HoloKind, and a shape in which -1 is not fixed. */
export interface ViewType { dtype: number; kind: number; inner: number; shape: number[] | null }
/** A tensor: data is a typed array, or an array of strings; of a result an ArrayBuffer. */
export interface View { dtype: number; kind?: number; shape: readonly number[]; data?: ArrayBufferView | ArrayBuffer | string[] | null }
"""


def enum_type(name, values):
    rows = "; ".join(f"readonly {short}: {value['value']}" for short, value in zip(short_names(values), values))
    return f"export const {name}: {{ {rows} }};"


def declarations(api, functions, outs, ins, camel):
    parts = [HEAD] + [interface(api, name, camel) for name in outs + [one for one in ins if one not in outs]]
    parts += [enum_type(name, one["values"]) for name, one in api.enums.items()]
    parts += [function_text(f, camel) for f in functions]
    return "\n".join(parts)


def module(api, functions):
    """c.mjs: the functions and enums by their names."""
    names = ", ".join(f.name for f in functions)
    return ("// hologram/c: the plain functions of the C library, for what the face of the package does not have. Made by bindings/node/make.py.\n"
            'import { backend } from "./backend.mjs";\n'
            f'import {{ {", ".join(api.enums)} }} from "./enums.mjs";\n\n'
            f"export const {{ {names} }} = backend.native;\nexport {{ {', '.join(api.enums)} }};\n")


# ---- numbers with names

def short_names(values):
    """HOLO_QUANTIZE_INT8 -> INT8: without what all of them begin with, up to a _."""
    names = [one["name"] for one in values]
    prefix = os.path.commonprefix([n for n in names if n not in ("HOLO_NONE", "HOLO_DTYPE_COUNT")])
    prefix = prefix[:prefix.rfind("_") + 1]
    return [n[len(prefix):] if n.startswith(prefix) else re.sub("^HOLO_", "", n) for n in names]


def enums(api):
    parts = ["// The enums of the C library. Made by bindings/node/make.py.\n"]
    for name, one in api.enums.items():
        rows = ", ".join(f"{short}: {value['value']}" for short, value in zip(short_names(one["values"]), one["values"]))
        parts.append(f"export const {name} = Object.freeze({{ {rows} }});")
    return "\n".join(parts) + "\n"
