"""Vectors and labels: Model.embed and Model.classify, beside what another program computes from the model's outputs."""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import hologram

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory()
    subprocess.run([sys.executable, SUPPORT / "text_models.py", os.path.join(folder.name, "made")], check=True)


def tearDownModule():
    folder.cleanup()


def opened(name):
    return hologram.open(os.path.join(folder.name, "made", name))


def tokens_of(model, text):
    """What the model gives for each token of a text."""
    return {name: value.tolist()[0] for name, value in model.run({"input_ids": [list(model.tokenizer.encode(text))]}).items()}


class Vectors(unittest.TestCase):
    def near(self, have, want):
        self.assertEqual(len(have.tolist()), len(want))
        for a, b in zip(have.tolist(), want):
            self.assertAlmostEqual(a, b, places=5)

    def test_pooling(self):
        model = opened("plain")
        rows = tokens_of(model, "the cats sat")["last_hidden_state"]
        mean = [sum(column) / len(rows) for column in zip(*rows)]
        self.near(model.embed("the cats sat"), mean)
        self.near(model.embed("the cats sat", pooling="cls"), rows[0])
        self.near(model.embed("the cats sat", pooling="mean,last"), mean + rows[-1])
        length = math.sqrt(sum(x * x for x in mean))
        self.near(model.embed("the cats sat", normalize=True), [x / length for x in mean])

    def test_several(self):
        model = opened("sentence")
        texts = ["the cats sat", "good dogs", "the"]
        all_of_them = model.embed(texts, threads=1)
        self.assertEqual(len(all_of_them), 3)
        for row, text in zip(all_of_them, texts):
            self.assertEqual(row.tolist(), model.embed(text).tolist())
        self.assertEqual(len(model.embed([])), 0)
        self.assertEqual(model.embed("the cats sat", max_length=3).tolist(), model.embed("the", max_length=3).tolist())

    def test_errors(self):
        with self.assertRaisesRegex(hologram.ArgumentError, "no way to pool named 'median'"):
            opened("plain").embed("x", pooling="median")
        with self.assertRaisesRegex(hologram.UnsupportedError, "no tokenizer"):
            opened("silent").embed("x")
        with self.assertRaises(ValueError):
            opened("plain").embed("x", max_length=0)
        self.assertRaises(TypeError, opened("plain").embed, [5])


class Labels(unittest.TestCase):
    def test_one_of_several(self):
        model = opened("mood")
        logits = tokens_of(model, "the cats flew")["logits"]
        sums = sum(math.exp(x) for x in logits)
        labels = model.classify("the cats flew")
        self.assertEqual(sorted(map(str, labels)), ["bad", "mixed", "very good"])
        for label in labels:
            self.assertAlmostEqual(label.score, math.exp(logits[label.id]) / sums, places=5)
            self.assertIsNone(label.token)
        self.assertEqual([label.score for label in labels], sorted((label.score for label in labels), reverse=True))
        self.assertEqual(model.classify(["the cats flew", "the"], top=1), [labels[:1], model.classify("the")[:1]])

    def test_tokens(self):
        labels = opened("tags").classify("the cats sat.")
        self.assertEqual(len(labels), 5)
        self.assertTrue(all(label.token and label.name in ("O", "NOUN", "VERB") for label in labels))

    def test_errors(self):
        with self.assertRaisesRegex(hologram.UnsupportedError, "no scores of labels"):
            opened("plain").classify("x")

    def test_pictures(self):
        path = pathlib.Path(folder.name) / "wide.ppm"
        path.write_bytes(b"P6 20 13 255\n" + bytes(i * 7 % 256 for i in range(20 * 13 * 3)))
        model = opened("seeing_crop")
        labels = model.classify(path)
        self.assertAlmostEqual(sum(label.score for label in labels), 1, places=5)
        self.assertEqual(model.classify([str(path)]), [labels])
        with self.assertRaises(hologram.FileError):
            model.classify("nobody.png")


if __name__ == "__main__":
    unittest.main()
