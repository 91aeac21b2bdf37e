"""Every function of the C library is there, made or by hand, and what is made works."""

import json
import os
import sys
import unittest

from support import DIGITS, ROOT, adding, hologram, opened

sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
import make_bindings  # noqa: E402

capi = hologram.capi


class Functions(unittest.TestCase):
    def test_each_is_made_or_by_hand(self):
        api = make_bindings.bindings.load()
        for function in api.functions:
            made = make_bindings.is_made(api, function)
            self.assertEqual(made, hasattr(capi, function.name), function.name)
            context = any(p.type.base == "HoloContext" for p in function.params)
            self.assertTrue(made or function.is_destroy or context or function.name in make_bindings.BY_HAND, function.name)

    def test_constants(self):
        with open(os.path.join(ROOT, "include", "hologram.json"), encoding="utf-8") as file:
            for enum in json.load(file)["enums"]:
                for value in enum["values"]:
                    self.assertEqual(getattr(capi, value["name"]), value["value"])

    def test_wrong_arguments(self):
        model = opened(adding())
        for call in (capi.holo_model_input_count, lambda: capi.holo_model_input_count(5), lambda: capi.holo_model_input_count(None),
                     lambda: capi.holo_model_meta(model, "x"), lambda: capi.holo_compiler_set_tune(model, True), lambda: capi.holo_listing_model(None)):
            with self.assertRaises(TypeError):
                call()
        self.assertIsNone(capi.holo_model_input(model, 99))
        self.assertIsNone(capi.holo_model_note(model, -1))
        self.assertEqual(capi.holo_model_input_find(model, "b"), 1)

    def test_structs(self):
        listing = capi.holo_listing_open(None, DIGITS, capi.HOLO_STAGE_IMPORTED)
        self.assertEqual(listing["nodes"][0]["op"], "Mul")
        self.assertEqual([listing["values"][i]["name"] for i in listing["inputs"]], ["image"])
        self.assertEqual(capi.holo_transform_then({"r": 1}, {"r": 2})["r"], 3)
        self.assertEqual(capi.holo_atlas_members(0)[0], 4)
        digits, count = capi.holo_base96_from_bytes(b"\x60", capi.holo_base96_digit_room(1))
        self.assertEqual(digits[:count], [0, 1])

    def test_bisect_and_reference(self):
        self.assertEqual(capi.holo_bisect(None, DIGITS, None)["culprits"], [])
        answer = hologram.reference(DIGITS, {"image": [[[[0.5] * 8] * 8]]})
        here = hologram.open(DIGITS)([[[[0.5] * 8] * 8]])
        for a, b in zip(answer["probabilities"].tolist()[0], here.tolist()[0]):
            self.assertAlmostEqual(a, b, 5)


if __name__ == "__main__":
    unittest.main()
