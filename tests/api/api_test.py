#!/usr/bin/env python3
"""tools/api.py on pieces of headers, and tools/bindings.py on the description. python3 tests/api/api_test.py"""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))

import api  # noqa: E402
import bindings  # noqa: E402

VERSION = "#define HOLO_VERSION_MAJOR 0\n#define HOLO_VERSION_MINOR 2\n#define HOLO_VERSION_PATCH 1\n"


def described(text):
    return api.described([("test.h", VERSION + text)])


class Headers(unittest.TestCase):
    def test_constants(self):
        said = described("// Two flags.\n#define HOLO_A 1u // the first\n#define HOLO_B UINT64_C(773094113280)\n#define HOLO_NOT(x) x\n"
                         "enum { HOLO_C = 160 << 20, HOLO_D }; // of both\n")
        found = {one["name"]: (one["value"], one["doc"]) for one in said["constants"][3:]}
        self.assertEqual(found, {"HOLO_A": (1, "Two flags. the first"), "HOLO_B": (773094113280, ""),
                                 "HOLO_C": (160 << 20, "of both"), "HOLO_D": ((160 << 20) + 1, "of both")})
        self.assertEqual(said["version"], "0.2.1")

    def test_enum_by_macro(self):
        said = described('#define HOLO_E_MAP(X) \\\n    X(ONE, 1, "one, or more") /* the first */ \\\n    X(TWO, 2, "two")\n'
                         "typedef enum HoloE {\n    HOLO_ZERO = 0, // none\n#define X(id, value, text) HOLO_E_##id = value,\n"
                         "    HOLO_E_MAP(X)\n#undef X\n    // how many\n    HOLO_E_COUNT\n} HoloE;\n")
        self.assertEqual(said["enums"][0]["values"], [
            {"name": "HOLO_ZERO", "value": 0, "doc": "none"},
            {"name": "HOLO_E_ONE", "value": 1, "text": "one, or more", "doc": "the first"},
            {"name": "HOLO_E_TWO", "value": 2, "text": "two", "doc": ""},
            {"name": "HOLO_E_COUNT", "value": 3, "doc": "how many"}])

    def test_struct(self):
        said = described("enum { HOLO_N = 3 };\n// What\n// it is.\ntypedef struct HoloS { // and more\n"
                         "    const char *const *names, *one; // behind,\n"
                         "                                    // and below\n"
                         "    // in front\n    int64_t dim[HOLO_N];\n    void *(*resize)(void *state, size_t size);\n} HoloS;\n")
        struct = said["structs"][0]
        self.assertEqual(struct["doc"], "What it is. and more")
        self.assertEqual([(f["name"], f["type"], f["array"], f["doc"]) for f in struct["fields"]], [
            ("names", "const char *const *", None, "behind, and below"), ("one", "const char *", None, "behind, and below"),
            ("dim", "int64_t", 3, "in front"), ("resize", "void *(*)(void *, size_t)", None, "")])
        self.assertNotIn("destroy", struct)

    def test_functions(self):
        said = described("typedef struct HoloM HoloM; // a model\n\n// Far away.\n\n// Opens.\n"
                         "HOLO_API HOLO_MUST HoloStatus holo_m_open(const char *path, HoloM **out_m,\n"
                         "                                          HoloError *error); // soon\n"
                         "HOLO_API void holo_m_close(HoloM *m);\n"
                         "HOLO_API const char *holo_m_name(const HoloM *m, HoloM *out, uint8_t out_bytes[4]);\n"
                         "typedef void (*HoloFn)(void *state, int x);\n")
        self.assertEqual(said["objects"], [{"name": "HoloM", "header": "test.h", "doc": "a model", "destroy": "holo_m_close"}])
        opens, closes, name = said["functions"]
        self.assertEqual((opens["doc"], opens["must_check"], opens["returns"]), ("Opens. soon", True, "HoloStatus"))
        self.assertEqual([(p["name"], p["type"], p["role"]) for p in opens["params"]],
                         [("path", "const char *", "in"), ("out_m", "HoloM **", "out"), ("error", "HoloError *", "error")])
        self.assertFalse(closes["must_check"])
        self.assertEqual([p["role"] for p in name["params"]], ["in", "in", "out"])
        self.assertEqual(name["params"][2], {"name": "out_bytes", "type": "uint8_t *", "array": 4, "role": "out"})
        self.assertEqual(said["callbacks"][0]["params"][1], {"name": "x", "type": "int", "role": "in"})

    def test_what_is_not_understood(self):
        for text, why in [("union U;\n", "test.h:4: a declaration cannot begin with 'union'"),
                          ("enum { HOLO_X = sizeof(int) };\n", "test.h:4: the value of HOLO_X is no number"),
                          ("typedef struct HoloS {\n    int x[unknown];\n} HoloS;\n", "test.h:5: the size of the array x"),
                          ("typedef struct HoloS {\n    struct { int x; } y;\n} HoloS;\n", "test.h:5: a name expected"),
                          ("typedef struct HoloM HoloM;\n", "nothing destroys a HoloM"),
                          ("int x = `1`;\n", "test.h:4: '`1`;")]:
            with self.assertRaises(api.NotUnderstood) as caught:
                described(text)
            self.assertIn(why, str(caught.exception))


class Functions(unittest.TestCase):
    def setUp(self):
        self.api = bindings.load()
        self.by_name = {one.name: one for one in self.api.functions}

    def kinds(self, name):
        return [one.kind for one in self.by_name[name].params]

    def test_kinds(self):
        for name, kinds in {
                "holo_model_open": ["string", "new object", "error"],
                "holo_model_open_memory": ["bytes", "count", "new object", "error"],
                "holo_pool_create_on": ["number", "numbers", "count", "new object", "error"],
                "holo_compiler_set_shape": ["object", "string", "count", "numbers", "error"],
                "holo_compile_file": ["object", "string", "string", "new struct", "error"],
                "holo_model_run": ["object", "structs", "count", "structs", "count", "struct", "error"],
                "holo_executor_launch": ["object", "object", "struct", "structs", "count", "error"],
                "holo_executor_map": ["object", "enum", "object", "object", "number", "error"],
                "holo_buffer_read": ["object", "number", "number", "memory", "error"],
                "holo_session_output": ["object", "number", "tensor out", "error"],
                "holo_session_set_output": ["object", "number", "memory", "count", "error"],
                "holo_kernels_run": ["object", "number", "tensors", "count", "struct", "error"],
                "holo_context_set_log": ["object", "enum", "callback", "state"],
                "holo_base96_from_bytes": ["numbers", "count", "numbers out", "count", "number out", "error"],
                "holo_sigil_parse": ["bytes", "count", "new struct", "number out", "error"],
                "holo_tensor_numbers": ["tensor", "number", "count", "numbers out"],
                "holo_atlas_members": ["number", "numbers out"],
                "holo_file_kind": ["string", "enum out", "error"],
                "holo_address_at": ["enum", "number", "struct out", "error"],
        }.items():
            self.assertEqual(self.kinds(name), kinds, name)

    def test_methods_and_results(self):
        for name, place in {"holo_model_input_count": ("HoloModel", "input_count", "number"),
                            "holo_model_input": ("HoloModel", "input", "struct"), "holo_version": (None, "version", "string"),
                            "holo_compile_file": (None, "compile_file", "status"), "holo_buffer_map": ("HoloBuffer", "map", "memory"),
                            "holo_listing_open": ("HoloListing", "open", "status"),
                            "holo_tensors_find": ("HoloTensors", "find", "tensor"),
                            "holo_transform_inverse": ("HoloTransform", "inverse", "struct")}.items():
            function = self.by_name[name]
            self.assertEqual((function.owner, function.short, function.result), place)
        self.assertTrue(self.by_name["holo_model_note"].may_be_none)
        self.assertFalse(self.by_name["holo_is_picture"].may_be_none)
        self.assertEqual([p.name for p in self.by_name["holo_session_create"].keeps], ["model", "pool"])

    def test_by_hand(self):
        reasons = {f.name: f.why_by_hand for f in self.api.functions if f.why_by_hand}
        for name in ("holo_model_run", "holo_session_watch", "holo_context_create", "holo_buffer_map", "holo_tensor_to_dlpack"):
            self.assertIn(name, reasons)
        for name in ("holo_model_open", "holo_compile_file", "holo_listing_open", "holo_model_input", "holo_kernels_info",
                     "holo_report_destroy"):
            self.assertNotIn(name, reasons)
        self.assertLess(len(reasons), len(self.api.functions) / 5, "most functions follow the rules")

    def test_what_is_kept_exists(self):
        for name, params in bindings.KEPT.items():
            self.assertLessEqual(set(params), {one.name for one in self.by_name[name].params}, name)

    def test_fields(self):
        fields = {one.name: one for one in self.api.fields("HoloPort")}
        self.assertEqual({name: one.kind for name, one in fields.items()},
                         {"name": "string", "type": "tensor", "symbol": "strings", "optional": "number", "any_shape": "number"})
        fields = {one.name: one for one in self.api.fields("HoloSigil")}
        self.assertEqual((fields["leaves"].counted_by.name, fields["words"].counted_by.name), ("leaf_count", "word_count"))
        fields = {one.name: one for one in self.api.fields("HoloConstant")}
        self.assertEqual((fields["dtype"].kind, fields["dtype"].base), ("enum", "HoloDtype"))
        self.assertFalse(self.api.is_plain("HoloAlloc"))
        self.assertTrue(self.api.is_plain("HoloReport"))


if __name__ == "__main__":
    unittest.main(verbosity=0)
