"""Models of several parts: entries, texts that answer a source, and speech."""

import gc
import os
import pathlib
import tempfile
import unittest

from support import DIGITS, hologram
import pair_maker
import speech_check


def setUpModule():
    global folders, bart, speech
    folders = tempfile.TemporaryDirectory()
    folder = pathlib.Path(folders.name)
    weights = pair_maker.Weights()
    config = pair_maker.bart(weights)
    (folder / "bart").mkdir()
    weights.write(folder / "bart" / "model.safetensors")
    (folder / "bart" / "config.json").write_text(speech_check.json.dumps(config))
    speech_check.model(folder / "speech")
    bart, speech = hologram.open(folder / "bart"), hologram.open(folder / "speech")


def tearDownModule():
    global bart, speech
    bart = speech = None
    folders.cleanup()


class Entries(unittest.TestCase):
    def test_names(self):
        self.assertEqual(bart.entries, ("", "encoder", "decoder"))
        self.assertIs(bart.entry(""), bart)
        self.assertEqual(hologram.open(DIGITS).entries, ("",))
        with self.assertRaisesRegex(hologram.ArgumentError, "no entry 'nobody'"):
            bart.entry("nobody")

    def test_lives_alone(self):
        model = hologram.open(os.path.join(folders.name, "bart"))
        encoder = model.entry("encoder")
        del model
        gc.collect()
        self.assertIn("cross.0.key", encoder.run({"input_ids": [[1, 2, 3]]}))

    def test_generates_what_whole_runs_give(self):
        tokens = [2]
        for _ in range(6):
            logits = bart.run({"input_ids": [[3, 17, 5]], "decoder_input_ids": [tokens]})["logits"].tolist()[0][-1]
            tokens.append(logits.index(max(logits)))
        self.assertEqual([token.id for token in bart.generate([3, 17, 5], max_tokens=6, temperature=0)], tokens[1:])


class Speech(unittest.TestCase):
    def test_file_and_samples(self):
        path = pathlib.Path(folders.name) / "sound.wav"
        samples = speech_check.sound(0.1)
        speech_check.wav(path, [round(s * 32767) / 32768 for s in samples], kind="<f", form=3)
        heard = speech.transcribe(path, language="de")
        self.assertEqual(heard.language, "de")
        self.assertAlmostEqual(heard.seconds, 0.1)
        self.assertTrue(heard.text)
        self.assertEqual(speech.transcribe(path.read_bytes(), language="de"), heard)
        self.assertRaises(hologram.Error, speech.transcribe, b"RIFF, and nothing else")
        self.assertEqual(heard.text, "".join(piece.text for piece in heard.pieces).strip())
        self.assertLessEqual(heard.pieces[0].begin, heard.pieces[0].end)
        self.assertEqual(speech.transcribe(path, language="de", timestamps=False), heard)
        longer = speech.transcribe([0.5, -0.5] * 8000)
        self.assertIn(longer.language, ("en", "de"))
        self.assertEqual(longer.seconds, 1)

    def test_errors(self):
        with self.assertRaisesRegex(hologram.ArgumentError, "language 'xx'"):
            speech.transcribe([0.0] * 100, language="xx")
        with self.assertRaisesRegex(hologram.UnsupportedError, "does not listen"):
            bart.transcribe([0.0] * 100)
        with self.assertRaises(hologram.FileError):
            speech.transcribe(os.path.join(folders.name, "nobody.wav"))
        with self.assertRaisesRegex(hologram.InputError, "WAV"):
            speech.transcribe(__file__)


if __name__ == "__main__":
    unittest.main()
