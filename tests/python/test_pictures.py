"""Pictures of texts, by the pipeline of the demo."""

import os
import tempfile
import unittest

from support import ROOT, adding, hologram, opened

OPTIONS = {"steps": 2, "seed": 5, "scheduler": "euler", "guidance": 3, "negative": "a dog"}


def setUpModule():
    global model
    model = hologram.open(os.path.join(ROOT, "demo", "imagine", "model"))


def tearDownModule():
    global model
    model = None


class Pictures(unittest.TestCase):
    def test_step_by_step(self):
        self.assertEqual([model.pictures[k] for k in ("steps", "width", "height", "scheduler")], [25, 64, 64, "ddim"])
        picture, seen = model.imagine("a red apple", **OPTIONS), []
        for step in picture:
            self.assertEqual((step, picture.steps), (picture.step, 2))
            seen.append(bytes(memoryview(picture.preview())))
        self.assertEqual([len(one) for one in seen], [64 * 64 * 3] * 2)
        self.assertNotEqual(seen[0], seen[1])
        self.assertEqual(seen[1], bytes(memoryview(picture.image())))
        at_once = model.imagine("a red apple", threads=1, **OPTIONS)
        self.assertEqual(at_once.image().shape, (64, 64, 3))
        self.assertEqual(bytes(memoryview(at_once.image())), seen[1])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "apple.png")
            at_once.save(path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
            self.assertRaisesRegex(hologram.ArgumentError, "must end with .png", at_once.save, os.path.join(folder, "apple.jpg"))
        at_once.close()
        self.assertEqual(bytes(memoryview(at_once.image())), seen[1])

    def test_wrong_use(self):
        self.assertIsNone(opened(adding()).pictures)
        for call, error in ((lambda: model.imagine(5), TypeError), (lambda: model.imagine("a", colour=1), TypeError), (lambda: model.imagine("a", steps=0), hologram.InputError),
                            (lambda: model.imagine("a", steps=1.5), TypeError), (lambda: model.imagine("a", steps=-1), ValueError), (lambda: model.imagine("a", width=2**40), ValueError),
                            (lambda: model.imagine("a", scheduler="other"), hologram.InputError), (lambda: model.imagine("a\0b"), ValueError),
                            (lambda: model.imagine("a", width=66), hologram.InputError), (lambda: opened(adding()).imagine("a"), hologram.UnsupportedError)):
            self.assertRaises(error, call)
        picture = model.imagine("a", steps=2)
        next(picture)
        picture.close()
        self.assertRaisesRegex(hologram.ArgumentError, "closed", next, picture)
        self.assertRaisesRegex(hologram.ArgumentError, "closed", picture.preview)


if __name__ == "__main__":
    unittest.main()
