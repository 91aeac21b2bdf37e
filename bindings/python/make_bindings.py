#!/usr/bin/env python3
"""Writes the dull part of the extension, made.c, from the description of the C API (include/hologram.json).

usage: make_bindings.py FILE.c

Each function of the API becomes a function of `hologram._hologram.capi` with the name that it has in C. Handles go in and out as
objects, tensors as arrays, structs as dicts; values that C gives back by pointers are returned, and a status that is not HOLO_OK
is raised. `None` stands for NULL where the description says that this may be. What no rule can make is in BY_HAND, with the
reason; a function that is in neither is an error.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import bindings  # noqa: E402  (tools/bindings.py)

BATCH = "py_batch.c: Model.batch"
READER = "py_reader.c: Model.embed and Model.classify"
PICTURE = "py_picture.c: Model.imagine"
TEXT = "left out: Model.generate does all of it"
DEVICE = "left out: it is about addresses of a device's memory; runs take and give arrays of the host"

# What is written by hand, and where; or left out, and why.
BY_HAND = {
    "holo_context_create": "left out: Python frees all objects itself, and sets limits with memory_set_limit",
    "holo_context_set_log": "left out: it belongs to contexts",
    "holo_context_destroy": "left out: it belongs to contexts",
    "holo_tensor_to_dlpack": "exchange.c: Tensor.__dlpack__",
    "holo_tensor_from_dlpack": "exchange.c: values with __dlpack__",
    "holo_tensor_set_numbers": "left out: arrays are written as arrays",
    "holo_session_create": "session.c: Session",
    "holo_session_set_input": "run.c: Session.run",
    "holo_session_set_output": "run.c: Session.run(out=...)",
    "holo_session_set_device_input": "run.c: Session.run, arrays on a GPU",
    "holo_session_set_device_output": "run.c: Session.run(out=...), arrays on a GPU",
    "holo_session_set_stream": "run.c: Session.run, in CUDA's default stream",
    "holo_session_device_take": "left out: arrays on a GPU come from libraries that have them",
    "holo_session_device_give": "left out: arrays on a GPU come from libraries that have them",
    "holo_session_state_type": "left out: Session.state gives states of the host, and languages save and load theirs",
    "holo_session_state_read": "left out: Session.state gives states of the host, and languages save and load theirs",
    "holo_session_state_write": "left out: Session.state gives states of the host, and languages save and load theirs",
    "holo_session_state_copy": "left out: Session.state gives states of the host, and languages save and load theirs",
    "holo_session_device_copy": "left out: arrays on a GPU come from libraries that have them",
    "holo_session_input": "left out: it is memory that the session frees; Session.run takes arrays without a copy",
    "holo_session_run": "run.c: Session.run",
    "holo_session_output": "run.c: Session.run",
    "holo_session_set_device_input": DEVICE,
    "holo_session_set_device_output": DEVICE,
    "holo_session_set_stream": DEVICE,
    "holo_session_device_take": DEVICE,
    "holo_session_device_give": DEVICE,
    "holo_session_device_copy": DEVICE,
    "holo_session_watch": "session.c: Session.watch",
    "holo_model_entry": "model.c: Model.entry",
    "holo_sound_read": "py_speech.c: Model.transcribe",
    "holo_sound_read_memory": "py_speech.c: Model.transcribe",
    "holo_samples_free": "py_speech.c: Model.transcribe",
    "holo_transcribe": "py_speech.c: Model.transcribe",
    "holo_reader_create": READER,
    "holo_reader_cancel": READER,
    "holo_embed": "py_reader.c: Model.embed",
    "holo_classify": READER,
    "holo_classify_picture": READER,
    "holo_classify_tensor": "left out: Model.classify reads picture files; Model.run takes pictures as arrays",
    "holo_imagine_can": PICTURE,
    "holo_imagine_defaults": PICTURE,
    "holo_imagine": PICTURE + ", which goes step by step",
    "holo_image_free": PICTURE,
    "holo_picture_create": PICTURE,
    "holo_picture_destroy": PICTURE,
    "holo_picture_step": PICTURE,
    "holo_picture_see": PICTURE,
    "holo_model_open": "model.c: hologram.open",
    "holo_model_open_with": "model.c: hologram.open",
    "holo_model_open_memory": "model.c: hologram.open",
    "holo_model_open_in": "left out: it belongs to contexts",
    "holo_model_open_memory_in": "left out: it belongs to contexts",
    "holo_model_set_runs": "model.c: hologram.open(threads=...)",
    "holo_model_run": "run.c: Model.run",
    "holo_port_fits": "left out: runs say what does not fit",
    "holo_run_outputs_free": "outputs.c: when an output is freed",
    "holo_buffer_map": "left out: it is memory that the executor frees",
    "holo_buffer_write": "left out: @hologram.kernel runs kernels on arrays, without buffers",
    "holo_buffer_read": "left out: @hologram.kernel runs kernels on arrays, without buffers",
    "holo_executor_launch": "left out: @hologram.kernel runs kernels on arrays, without buffers",
    "holo_executor_run": "left out: @hologram.kernel runs kernels on arrays, without buffers",
    "holo_compiler_create": "compile.c: Compiler",
    "holo_compiler_set_judge": "compile.c: hologram.compile(judge=...)",
    "holo_compiler_set_dump": "compile.c: hologram.compile(dump=...)",
    "holo_compiler_set_progress": "compile.c: hologram.compile(progress=...)",
    "holo_compiler_cancel": "compile.c: Ctrl-C",
    "holo_compiler_add_sample": "compile.c: hologram.compile(calibration=...)",
    "holo_compile_file": "compile.c: hologram.compile",
    "holo_compile_model": "compile.c: hologram.open",
    "holo_compile_memory": "compile.c: hologram.open",
    "holo_reference_watch": "left out: hologram.reference gives the outputs",
    "holo_model_asset": "py_text.c: the tokenizer and the template of a model",
    "holo_tokenizer_block": "left out: a tokenizer is kept in an archive",
    "holo_tokenizer_encode": "py_text.c: Tokenizer.encode",
    "holo_ids_free": "py_text.c: Tokenizer.encode",
    "holo_tokenizer_decode": "py_text.c: Tokenizer.decode",
    "holo_text_free": "py_text.c: Tokenizer.decode",
    "holo_tokenizer_token": "py_text.c: Tokenizer.token",
    "holo_tokenizer_token_bytes": TEXT,
    "holo_text_stream_create": TEXT,
    "holo_text_stream_add": TEXT,
    "holo_text_stream_end": TEXT,
    "holo_stopper_create": TEXT,
    "holo_stopper_add": TEXT,
    "holo_stopper_end": TEXT,
    "holo_stopper_reset": TEXT,
    "holo_sampler_defaults": TEXT,
    "holo_sampler_create": TEXT,
    "holo_sampler_fork": TEXT,
    "holo_sampler_reset": TEXT,
    "holo_sampler_accept_prompt": TEXT,
    "holo_sampler_accept": TEXT,
    "holo_sampler_choose": TEXT,
    "holo_grammar_block": "left out: a grammar is compiled in an instant",
    "holo_token_tree_create": TEXT,
    "holo_token_tree_create_from": TEXT,
    "holo_grammar_set_tokens": TEXT,
    "holo_grammar_state_accept_bytes": TEXT,
    "holo_grammar_state_mask": TEXT,
    "holo_grammar_state_forced": TEXT,
    "holo_mask_apply": TEXT,
    "holo_template_compile_text": "left out: holo_template_compile reads a file",
    "holo_template_block": "left out: a template is kept in an archive",
    "holo_template_render": "py_text.c: Model.chat",
    "holo_language_open": "py_generate.c: Model.language",
    "holo_language_tokenizer": "left out: Model.tokenizer opens one that lives as long as it is used",
    "holo_language_ends": "py_generate.c: Language.ends",
    "holo_language_sampler": TEXT,
    "holo_language_read": "py_generate.c: Language.read",
    "holo_language_read_last": "left out: Language.read gives the logits behind one token",
    "holo_language_read_choice": "left out: Language.generate with a temperature of 0 gives it",
    "holo_language_read_all": "left out: Language.read reads one text",
    "holo_language_cancel": "py_generate.c: Language.cancel",
    "holo_generate_defaults": "py_generate.c: Model.generate",
    "holo_generate": "py_generate.c: Model.generate goes step by step",
    "holo_answer_create": "py_generate.c: Model.generate",
    "holo_answer_step": "py_generate.c: Model.generate",
    "holo_text_batch_create": BATCH,
    "holo_text_batch_destroy": BATCH,
    "holo_text_batch_language": BATCH,
    "holo_text_batch_add": BATCH,
    "holo_text_batch_cancel": BATCH,
    "holo_text_batch_step": BATCH,
    "holo_text_batch_state": BATCH,
    "holo_kernels_run": "kernels.c: it writes to the caller's arrays",
}

INTEGERS = {"bool": "p", "int": "i", "int8_t": "q", "int16_t": "q", "int32_t": "q", "int64_t": "q", "uint8_t": "K", "uint16_t": "K",
            "uint32_t": "K", "uint64_t": "K", "size_t": "K"}


class Writer:
    def __init__(self, api):
        self.api, self.lines, self.structs, self.needed = api, [], [], set()

    def put(self, text=""):
        self.lines.append(text)


def kind_name(base):
    return "py_kind_" + bindings.snake(base)


def number_from(base, expression):
    if base == "bool":
        return f"PyBool_FromLong({expression})"
    if base in ("double", "float"):
        return f"PyFloat_FromDouble((double)({expression}))"
    return f"PyLong_FromUnsignedLongLong({expression})" if base in ("uint64_t", "size_t") else f"PyLong_FromLongLong((long long)({expression}))"


# ---- structs as dicts

def field_from(writer, field):
    """An expression of C for a field of `s`."""
    access = f"s->{field.name}"
    count = f"s->{field.counted_by.name}" if field.counted_by else str(field.array)
    if field.kind in ("number", "enum"):
        return number_from(field.type.base if field.kind == "number" else "int", access)
    if field.kind in ("string", "text"):
        return f"text_from({access})"
    if field.kind == "tensor":
        return f"tensor_from(&{access})"
    if field.kind == "struct":
        return f"{from_struct(writer, field.base)}(&{access})"
    if field.kind == "structs" and field.base == "HoloTensor":
        return f"list_from({access}, {count}, sizeof *{access}, each_tensor)"
    if field.kind == "structs":
        return f"list_from({access}, {count}, sizeof *{access}, {each_struct(writer, field.base)})"
    if field.kind == "numbers":
        return f"list_from({access}, {count}, sizeof *{access}, each_{field.type.base})"
    if field.kind == "strings":
        return f"list_from({access}, {count}, sizeof *{access}, each_text)"
    raise SystemExit(f"{field.name}: a field of kind {field.kind}")


def from_struct(writer, base):
    """Makes sure that there is a function that makes a dict of the struct; returns its name."""
    name = "from_" + base
    if base in writer.needed:
        return name
    writer.needed.add(base)
    fields = [f for f in writer.api.fields(base) if f.kind != "count"]
    values = [field_from(writer, f) for f in fields]  # before: what it calls comes first
    rows = "".join(f'\n           || put(dict, "{f.name}", {value})' for f, value in zip(fields, values))
    writer.put(f"static PyObject *{name}(const {base} *s)\n{{\n    PyObject *dict = PyDict_New();\n    if (!dict{rows}) Py_CLEAR(dict);\n    return dict;\n}}\n")
    return name


def each_struct(writer, base):
    inner, name = from_struct(writer, base), "each_" + base
    if name not in writer.needed:
        writer.needed.add(name)
        writer.put(f"static PyObject *{name}(const void *s)\n{{\n    return {inner}(s);\n}}\n")
    return name


def into_struct(writer, base):
    """A function that fills the struct from a dict, for numbers and texts; what the dict has not is 0."""
    name = "into_" + base
    if name in writer.needed:
        return name
    writer.needed.add(name)
    rows = []
    for field in writer.api.fields(base):
        if field.kind in ("number", "enum"):
            rows.append(f'    if (get_number(dict, "{field.name}", &number)) return -1;\n    out->{field.name} = ({field.type.text})number;')
        elif field.kind == "numbers" and field.array is not None:
            rows.append(f'    for (int i = 0; i < {field.array}; i++) {{\n        if (get_item(dict, "{field.name}", i, &number)) return -1;\n'
                        f"        out->{field.name}[i] = ({field.type.text})number;\n    }}")
        elif field.kind == "string":
            rows.append(f'    if (get_text(dict, "{field.name}", &out->{field.name})) return -1;')
        else:
            raise SystemExit(f"{base}.{field.name}: a field of kind {field.kind} cannot be given")
    body = "\n".join(rows)
    writer.put(f'static int {name}(PyObject *dict, {base} *out)\n{{\n    double number = 0;\n    memset(out, 0, sizeof *out);\n'
               f'    if (!PyDict_Check(dict)) return PyErr_SetString(PyExc_TypeError, "{base} is a dict"), -1;\n{body}\n    return 0;\n}}\n')
    return name


# ---- functions

def may_be_null(function, param):
    if param.type.base in ("HoloContext", "HoloPool"):
        return True
    if param.kind == "string":
        return "NULL" in function.doc
    return bool(re.search(rf"`{param.name}`[^.;]*\bNULL", function.doc)) or "may be NULL" in function.doc and param is not function.params[0]


class Call:
    """The wrapper of one function, part by part."""

    def __init__(self, writer, function):
        self.writer, self.function = writer, function
        self.declare, self.take, self.release, self.arguments, self.results, self.formats, self.targets = [], [], [], [], [], "", []
        self.names = []
        for param in function.params:
            getattr(self, "do_" + param.kind.replace(" ", "_"))(param)

    def ask(self, param, letter, target):
        self.formats += letter
        self.targets.append(target)
        self.names.append(param.name)

    def do_error(self, param):
        self.declare.append("HoloError error;")
        self.take.append("py_error_init(&error);")
        self.arguments.append("&error")

    def do_object(self, param):
        n, null = param.name, may_be_null(self.function, param)
        self.declare.append(f"PyObject *{n}_object = Py_None;")
        self.ask(param, "O", f"&{n}_object")
        test = f"{n}_object != Py_None && " if null else ""
        self.declare.append(f"{param.type.base} *{n} = NULL;")
        self.take.append(f"if ({test}!({n} = py_handle_use({n}_object, &{kind_name(param.type.base)}))) goto end;")
        if not param.type.is_const:
            self.take.append(f"if ({n} && py_handle_alone({n}_object)) goto end;")
        self.release.append(f"if ({n}) py_handle_done({n}_object);")
        self.arguments.append(n)

    def do_new_object(self, param):
        self.declare.append(f"{param.type.base} *{param.name} = NULL;")
        self.arguments.append(f"&{param.name}")
        self.results.append(f"py_handle_create(py_handle_type, &{kind_name(param.type.base)}, {param.name})")

    def do_new_struct(self, param):
        base = param.type.base
        self.declare.append(f"{base} *{param.name} = NULL;")
        self.arguments.append(f"&{param.name}")
        self.results.append(f"{from_struct(self.writer, base)}({param.name})")
        self.release.append(f"{self.writer.api.structs[base]['destroy']}({param.name});")

    def do_string(self, param):
        self.declare.append(f"const char *{param.name} = NULL;")
        self.ask(param, "z" if may_be_null(self.function, param) else "s", f"&{param.name}")
        self.arguments.append(param.name)

    def do_string_out(self, param):
        self.declare.append(f"const char *{param.name} = NULL;")
        self.arguments.append(f"&{param.name}")
        self.results.append(f"text_from({param.name})")

    def do_number(self, param):
        base = param.type.base
        real = base in ("double", "float")
        kind = "double" if real else {"p": "int", "i": "int", "q": "long long", "K": "unsigned long long"}[INTEGERS[base]]
        self.declare.append(f"{kind} {param.name} = 0;")
        if INTEGERS.get(base) == "K":  # Python's own K takes a negative number as a large one
            self.ask(param, "O&", f"py_unsigned_take, &{param.name}")
        else:
            self.ask(param, "d" if real else INTEGERS[base], f"&{param.name}")
        self.arguments.append(f"({base}){param.name}")

    def do_enum(self, param):
        self.declare.append(f"int {param.name} = 0;")
        self.ask(param, "i", f"&{param.name}")
        self.arguments.append(f"({param.type.base}){param.name}")

    def do_number_out(self, param):
        self.declare.append(f"{param.type.base} {param.name} = 0;")
        self.arguments.append(f"&{param.name}")
        self.results.append(number_from(param.type.base, param.name))

    def do_enum_out(self, param):
        self.declare.append(f"{param.type.base} {param.name} = 0;")
        self.arguments.append(f"&{param.name}")
        self.results.append(number_from("int", param.name))

    def do_struct(self, param):
        n, base = param.name, param.type.base
        self.declare += [f"PyObject *{n}_object = Py_None;", f"{base} {n};"]
        self.ask(param, "O", f"&{n}_object")
        null = param.type.stars and may_be_null(self.function, param)
        test = f"{n}_object != Py_None && " if null else ""
        self.take.append(f"if ({test}{into_struct(self.writer, base)}({n}_object, &{n})) goto end;")
        address = f"&{n}" if param.type.stars else n
        self.arguments.append(f"{n}_object == Py_None ? NULL : &{n}" if null else address)

    def do_struct_out(self, param):
        base = param.type.base
        self.declare.append(f"{base} {param.name};")
        self.take.append(f"memset(&{param.name}, 0, sizeof {param.name});")
        self.arguments.append(f"&{param.name}")
        self.results.append(f"{from_struct(self.writer, base)}(&{param.name})")

    def do_tensor(self, param):
        n = param.name
        self.declare += [f"PyObject *{n}_object = Py_None;", f"HoloTensor {n};", f"PyObject *{n}_kept = NULL;"]
        self.ask(param, "O", f"&{n}_object")
        null = may_be_null(self.function, param)
        test = f"{n}_object != Py_None && " if null else ""
        self.take.append(f"if ({test}!({n}_kept = tensor_of({n}_object, &{n}))) goto end;")
        if param in self.function.keeps:
            self.take.append(f"if ({n}_kept && py_handle_keep({self.function.params[0].name}_object, {n}_kept)) goto end;")
        self.release.append(f"Py_XDECREF({n}_kept);")
        self.arguments.append(f"{n}_kept ? &{n} : NULL")

    def do_tensor_out(self, param):
        self.declare.append(f"HoloTensor {param.name};")
        self.take.append(f"memset(&{param.name}, 0, sizeof {param.name});")
        self.arguments.append(f"&{param.name}")
        self.results.append(f"tensor_from(&{param.name})")

    def do_tensors(self, param):
        n = param.name
        self.declare += [f"PyObject *{n}_object = Py_None;", f"Tensors {n} = {{0}};"]
        self.ask(param, "O", f"&{n}_object")
        self.take.append(f"if ({n}_object != Py_None && tensors_take({n}_object, &{n})) goto end;")
        self.release.append(f"tensors_release(&{n});")
        self.arguments.append(f"{n}.views")

    def do_bytes(self, param):
        n = param.name
        self.declare.append(f"Py_buffer {n} = {{0}};")
        self.ask(param, "O", f"&{n}_object")
        self.declare.append(f"PyObject *{n}_object = NULL;")
        self.take.append(f"if (bytes_take({n}_object, &{n})) goto end;")
        self.release.append(f"if ({n}.obj) PyBuffer_Release(&{n});")
        self.arguments.append(f"{n}.buf")

    def do_numbers(self, param):
        n, base = param.name, param.type.base
        self.declare += [f"PyObject *{n}_object = NULL;", f"{base} *{n} = NULL;", f"int {n}_size = 0;"]
        self.ask(param, "O", f"&{n}_object")
        store = "double" if base in ("double", "float") else "integer"
        self.take.append(f"if (numbers_take({n}_object, sizeof *{n}, {'true' if store == 'double' else 'false'}, (void **)&{n}, &{n}_size)) goto end;")
        self.release.append(f"PyMem_Free({n});")
        self.arguments.append(n)

    def do_numbers_out(self, param):
        n, base = param.name, param.type.base
        if param.array is not None:
            self.declare.append(f"{base} {n}[{param.array}];")
            self.take.append(f"memset({n}, 0, sizeof {n});")
            count = str(param.array)
        else:
            count = f"(int){param.counted_by.name}"
            self.declare.append(f"{base} *{n} = NULL;")
            self.take.append(f"if ({count} < 0 || !({n} = PyMem_Calloc((size_t){count} + 1, sizeof *{n}))) {{ PyErr_NoMemory(); goto end; }}")
            self.release.append(f"PyMem_Free({n});")
        self.arguments.append(n)
        self.results.append(f"text_from({n})" if base == "char" else f"list_from({n}, {count}, sizeof *{n}, each_{base})")

    def do_count(self, param):
        of = param.counts
        if of.kind == "numbers out":
            self.do_number(param)
        elif of.kind == "bytes":
            self.arguments.append(f"({param.type.base}){of.name}.len")
        elif of.kind == "tensors":
            self.arguments.append(f"{of.name}.count")
        else:
            self.arguments.append(f"({param.type.base}){of.name}_size")

    # ---- put together

    def result(self):
        """How what C returns is kept, tested and given back."""
        f = self.function
        if f.result == "none":
            return "", None
        if f.result == "status":
            return "HoloStatus status = ", None
        if f.may_be_none:
            return "bool found = ", None
        pointer = f.returns.stars and f.result != "string"
        values = {"string": "text_from(result)", "number": number_from(f.returns.base, "result"), "enum": number_from("int", "result"),
                  "tensor": "result ? tensor_from(result) : none()" if pointer else "tensor_from(&result)"}
        if f.result == "struct":
            make = from_struct(self.writer, f.returns.base)
            values["struct"] = f"result ? {make}(result) : none()" if pointer else f"{make}(&result)"
        return f"{f.returns.text}{'' if f.returns.stars else ' '}result = ", values[f.result]

    def write(self):
        f, put = self.function, self.writer.put
        kept, value = self.result()
        results = ([value] if value else []) + self.results
        put(f"static PyObject *made_{f.name}(PyObject *module, PyObject *args)\n{{")
        put("    PyObject *answer = NULL;")
        put("    (void)module;")
        for line in self.declare:
            put("    " + line)
        targets = "".join(", " + t for t in self.targets)
        put(f'    if (!PyArg_ParseTuple(args, "{self.formats}:{f.name}"{targets})) return NULL;')
        for line in self.take:
            put("    " + line)
        # What changes an object keeps the GIL, so that nobody else is inside; a session looks after itself.
        changed = [p for p in f.params if p.kind == "object" and not p.type.is_const and p.type.base != "HoloSession"]
        frees = f.result == "status" and not changed
        call = f"{f.name}({', '.join(self.arguments)});"
        put("    {")
        if frees:
            put("        PyThreadState *thread = PyEval_SaveThread();")
        put(f"        {kept}{call}")
        if frees:
            put("        PyEval_RestoreThread(thread);")
        if f.result == "status":
            put(f"        if (status) {{ py_raise(status, {'&error' if f.takes_error else 'NULL'}); goto end; }}")
        if f.may_be_none:
            put("        if (!found) { answer = none(); goto end; }")
        if not results:
            put("        answer = none();")
        elif len(results) == 1:
            put(f"        answer = {results[0]};")
        else:
            put(f"        answer = Py_BuildValue(\"({'N' * len(results)})\", {', '.join(results)});")
        put("    }")
        for param in f.keeps:
            if f.makes and param.kind == "object" and f.makes.kind == "new object":
                put(f"    if (answer && {param.name} && py_handle_keep(answer, {param.name}_object)) Py_CLEAR(answer);")
        put("    goto end;")
        put("end:")
        for line in self.release:
            put("    " + line)
        put("    return answer;\n}\n")


def signature(call):
    function = call.function
    doc = " ".join(function.doc.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f"{function.name}({', '.join(call.names)})\\n\\n{doc}"


def is_made(api, function):
    if function.name in BY_HAND or function.is_destroy or (function.owner or "").startswith("HoloContext"):
        return False
    if any(p.type.base == "HoloContext" for p in function.params):
        return False
    plain = function.why_by_hand is None or all(p.kind in bindings.PLAIN or p.kind == "tensors" for p in function.params)
    if not plain:
        raise SystemExit(f"make_bindings.py: {function.name} follows no rule ({function.why_by_hand}): write it by hand, and add it to BY_HAND")
    return True


def write_kinds(writer):
    for base, data in writer.api.objects.items():
        if "destroy" not in data:
            continue
        writer.put(f"static void end_{base}(void *p)\n{{\n    {data['destroy']}(p);\n}}\n")
        writer.put(f'const HandleKind {kind_name(base)} = {{"{base}", end_{base}}};\n')


def write_table(writer, calls):
    writer.put("static PyMethodDef made_methods[] = {")
    for call in calls:
        writer.put(f'    {{"{call.function.name}", made_{call.function.name}, METH_VARARGS, "{signature(call)}"}},')
    writer.put("    {NULL, NULL, 0, NULL},\n};\n")
    writer.put("static const struct {\n    const char *name;\n    long value;\n} made_values[] = {")
    for enum in writer.api.enums.values():
        for value in enum["values"]:
            writer.put(f'    {{"{value["name"]}", {value["value"]}}},')
    for constant in writer.api.constants.values():
        if isinstance(constant["value"], int) and abs(constant["value"]) < 2**63:
            writer.put(f'    {{"{constant["name"]}", {constant["value"]}}},')
    writer.put("};\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    api = bindings.load()
    unknown = set(BY_HAND) - {f.name for f in api.functions}
    if unknown:
        sys.exit(f"make_bindings.py: BY_HAND has what the C API has not: {', '.join(sorted(unknown))}")
    writer = Writer(api)
    writer.put("// made.c - made by make_bindings.py from include/hologram.json.\n#include \"made.h\"\n\n" + api.includes())
    write_kinds(writer)
    from_struct(writer, "HoloReport")  # for compile.c
    writer.put("PyObject *py_made_report(const HoloReport *report)\n{\n    return from_HoloReport(report);\n}\n")
    calls = []
    for function in api.functions:
        if is_made(api, function):
            calls.append(Call(writer, function))
            calls[-1].write()
    write_table(writer, calls)
    writer.put("int py_made_init(PyObject *module)\n{\n    PyObject *capi = made_module(module, made_methods);\n"
               "    for (int i = 0; capi && i < PY_COUNT(made_values); i++)\n"
               "        if (PyModule_AddIntConstant(capi, made_values[i].name, made_values[i].value)) return -1;\n    return capi ? 0 : -1;\n}")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(writer.lines) + "\n")


if __name__ == "__main__":
    main()
