"""Tokenizers, and language models that continue texts."""

import gc
import json
import os
import re
import signal
import tempfile
import threading
import unittest
import weakref

from support import DIGITS, adding, hologram, opened
import tiny_language


def setUpModule():
    global folders, path, model, plain
    folders = tempfile.TemporaryDirectory()
    path = tiny_language.write(os.path.join(folders.name, "chat"))
    hologram.compile(path, os.path.join(folders.name, "chat.holo"))
    model = hologram.open(os.path.join(folders.name, "chat.holo"))
    plain = hologram.open(tiny_language.write(os.path.join(folders.name, "plain"), chat=False, text=False))


def tearDownModule():
    global model, plain
    model = plain = None
    folders.cleanup()


def likely(ids, count, of=None):
    """The most likely tokens behind ids, found by reading alone."""
    language, ids = (of or model).language(threads=1), list(ids)
    for _ in range(count):
        logits = language.read(ids).tolist()
        ids.append(logits.index(max(logits)))
    return ids[-count:]


class Tokenizers(unittest.TestCase):
    def test_where_they_come_from(self):
        for source in (path, os.path.join(path, "tokenizer.json"), os.path.join(folders.name, "chat.holo"), model):
            tokenizer = hologram.Tokenizer(source)
            self.assertEqual(tokenizer.encode("abc"), [4, 5, 6], source)
        self.assertEqual(len(model.tokenizer), len(tiny_language.TOKENS))
        self.assertIsNone(plain.tokenizer)
        self.assertIsNone(opened(adding()).tokenizer)

    def test_there_and_back(self):
        tokenizer = model.tokenizer
        ids = tokenizer.encode("<user>a red fox")
        self.assertEqual(tokenizer.decode(ids), "a red fox")
        self.assertEqual(tokenizer.decode(ids, special=True), "<user>a red fox")
        self.assertEqual(tokenizer.decode(iter(ids[1:])), "a red fox")
        self.assertEqual([tokenizer.token(0), tokenizer.id("a"), tokenizer.token(10**6), tokenizer.id("nothing")], ["<end>", 4, None, None])
        self.assertTrue(tokenizer.is_special(0))
        self.assertFalse(tokenizer.is_special(4) or tokenizer.is_special(-1))
        self.assertEqual(tokenizer.encode(""), [])

    def test_errors(self):
        tokenizer = model.tokenizer
        for call, error in ((lambda: hologram.Tokenizer("/nowhere/tokenizer.json"), hologram.FileError),
                            (lambda: hologram.Tokenizer(opened(adding())), hologram.UnsupportedError),
                            (lambda: hologram.Tokenizer(DIGITS), hologram.Error), (lambda: tokenizer.decode([-1]), ValueError),
                            (lambda: tokenizer.decode([2**32]), ValueError), (lambda: tokenizer.decode(["a"]), TypeError),
                            (lambda: tokenizer.encode(5), TypeError), (lambda: tokenizer.decode(7), TypeError)):
            self.assertRaises(error, call)


class Generating(unittest.TestCase):
    def test_takes_the_likely_tokens(self):
        ids = model.tokenizer.encode("a red fox")
        answer = model.generate(ids, max_tokens=20, temperature=0, keep_ends=True, logprobs=True)
        tokens = list(answer)
        self.assertEqual([t.id for t in tokens if t.id is not None], likely(ids, 20))
        self.assertTrue(all(t.logprob < 0 for t in tokens if t.id is not None))
        self.assertEqual([answer.result[k] for k in ("prompt_tokens", "tokens", "finish")], [len(ids), 20, "length"])
        self.assertEqual("".join(map(str, tokens)), model.tokenizer.decode(likely(ids, 20)))
        self.assertEqual(list(answer), [])

    def test_prompts_of_text(self):
        def of(prompt, **options):
            return [t.id for t in model.generate(prompt, max_tokens=6, temperature=0, keep_ends=True, **options)]
        asked = model.tokenizer.encode("<user>fox<model>")
        self.assertEqual(of("fox"), likely(asked, 6))
        self.assertEqual(of("fox", chat=True), likely(asked, 6))
        self.assertEqual(of("fox", chat=False), likely(model.tokenizer.encode("fox"), 6))
        answer = model.chat([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], max_tokens=6, temperature=0, keep_ends=True)
        self.assertEqual([t.id for t in answer], likely(model.tokenizer.encode("<user>a<user>b<model>"), 6))

    def test_seeds_and_lookup(self):
        def of(**options):
            return model.generate_text("fox", max_tokens=40, temperature=1, keep_ends=True, **options)
        self.assertEqual(of(seed=1), of(seed=1, threads=1))
        self.assertNotEqual(of(seed=1), of(seed=2))
        self.assertEqual(of(seed=1), of(seed=1, lookup=4))
        with model.generate("fox", max_tokens=40, temperature=0, keep_ends=True, lookup=4) as answer:
            self.assertEqual(len(list(answer)), 40)
            self.assertGreater(answer.result["guessed"], 0)

    def test_ends(self):
        text = model.generate_text("fox", max_tokens=200, keep_ends=True, temperature=1, seed=5)
        stop = text[10:12]
        answer = model.generate("fox", max_tokens=200, keep_ends=True, temperature=1, seed=5, stop=["never never", stop])
        self.assertEqual(answer.text(), text[:text.index(stop)])
        self.assertEqual([answer.result["finish"], answer.result["stop"]], ["stop", 1])
        self.assertEqual(model.generate_text("fox", keep_ends=True, temperature=1, seed=5, stop=stop), text[:text.index(stop)])
        answer = model.generate("fox", temperature=1, seed=5, context=60, keep_ends=True)
        self.assertEqual(len([t for t in answer if t.id is not None]), 60 - answer.result["prompt_tokens"])

    def test_grammars(self):
        schema = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["age"]}
        for given in (schema, json.dumps(schema)):
            self.assertIn(json.loads(model.generate_text("fox", json_schema=given, temperature=1, seed=3))["age"], range(100))
        self.assertTrue(re.fullmatch("[a-c]{5}x", model.generate_text("fox", regex="[a-c]{5}x")))
        self.assertIn(model.generate_text("fox", grammar='root ::= "yes" | "no"'), ("yes", "no"))
        answer = model.generate("fox", regex="[a-c]{5}x", keep_ends=True)  # nothing can come behind it
        self.assertTrue(re.fullmatch("[a-c]{5}x", answer.text()))
        self.assertEqual(answer.result["finish"], "grammar")

    def test_errors(self):
        for call, error in ((lambda: model.generate([]), hologram.ArgumentError), (lambda: model.generate("a", heat=1), TypeError),
                            (lambda: model.generate("a", max_tokens=-1), ValueError), (lambda: model.generate("a", max_tokens="x"), TypeError),
                            (lambda: model.generate("a", max_tokens=2**40), ValueError), (lambda: model.generate("a", temperature="x"), TypeError),
                            (lambda: model.generate("a", regex="(", grammar=None), hologram.Error), (lambda: model.generate("a", stop=[5]), TypeError),
                            (lambda: model.generate("a", regex="a", grammar="b"), hologram.ArgumentError),
                            (lambda: list(model.generate([4, 10**6])), hologram.InputError), (lambda: model.generate("a", context=-1), hologram.ArgumentError),
                            (lambda: list(model.generate("a", temperature=-1)), hologram.Error), (lambda: plain.generate("a"), hologram.UnsupportedError),
                            (lambda: plain.chat([]), hologram.UnsupportedError), (lambda: opened(adding()).generate([1]), hologram.UnsupportedError),
                            (lambda: model.generate("a", threads=-1), hologram.ArgumentError)):
            self.assertRaises(error, call)
        self.assertEqual([t.id for t in plain.generate([4, 5], max_tokens=5, temperature=0, keep_ends=True)], likely([4, 5], 5, plain))

    def test_closing(self):
        answer = model.generate("fox", keep_ends=True)
        next(answer)
        answer.close()
        self.assertEqual(list(answer), [])
        for _ in model.generate("fox", keep_ends=True):
            break
        once = hologram.open(path)
        gone = weakref.ref(once)
        for token in once.generate("fox", keep_ends=True):
            once.close()  # it lives until the answer is done
            break
        del once
        gc.collect()
        self.assertIsNone(gone())

    def test_interrupt(self):
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                model.generate_text("fox", keep_ends=True)
        timer.join()
        self.assertEqual(len(list(model.generate("fox", max_tokens=3, keep_ends=True))), 3)

    def test_threads(self):
        expected, found = model.generate_text("fox", max_tokens=50, temperature=1, seed=1, keep_ends=True), []
        threads = [threading.Thread(target=lambda: found.append(model.generate_text("fox", max_tokens=50, temperature=1, seed=1, keep_ends=True))) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(found, [expected] * 4)


class Languages(unittest.TestCase):
    def test_keeps_what_it_read(self):
        with model.language(texts=2) as language:
            first = language.generate("a red fox", max_tokens=5, temperature=1, seed=1)
            first.text()
            again = language.generate("a red fox", max_tokens=5, temperature=1, seed=1)
            self.assertEqual(first.result["cached_tokens"], 0)
            again.text()
            self.assertGreater(again.result["cached_tokens"], 5)
            language.copy(0, 1)
            self.assertEqual(language.read([4, 5, 6], 1).tolist(), language.read([4, 5, 6]).tolist())
            kept = os.path.join(folders.name, "kept.bin")
            wanted = language.read([4, 5, 6], 1).tolist()
            language.save(kept, 1)
            language.forget(1)
            language.load(kept, 1)
            self.assertEqual(language.read([4, 5, 6], 1).tolist(), wanted)
            self.assertRaises(hologram.FileError, language.load, kept + ".none")
            language.forget()
            self.assertEqual([language.ends, language.context, language.closed], [[0], 256, False])
            self.assertEqual(language.read([4]).shape, (len(tiny_language.TOKENS),))
            with self.assertRaises(hologram.ArgumentError):
                language.read([4], 2)
        self.assertTrue(language.closed)
        self.assertRaises(hologram.ArgumentError, language.read, [4])
        self.assertRaises(hologram.ArgumentError, language.generate, "a")

    def test_two_answers_at_once(self):
        with model.language() as language:
            answers = [language.generate(p, max_tokens=15, temperature=1, seed=1, keep_ends=True) for p in ("a red fox", "blue")]
            texts = ["", ""]
            for a, b in zip(*answers):
                texts[0] += a.text
                texts[1] += b.text
        self.assertEqual(texts, [model.generate_text(p, max_tokens=15, temperature=1, seed=1, keep_ends=True) for p in ("a red fox", "blue")])


if __name__ == "__main__":
    unittest.main()
