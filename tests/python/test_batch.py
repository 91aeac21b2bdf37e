"""Several texts at once, beams, and texts in coroutines."""

import asyncio
import gc
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

from support import WATCHED, adding, hologram, opened
import tiny_language

PROMPTS = ["fox", "a red fox", "blue", "abc" * 20, "x", "0123"]
OPTIONS = {"max_tokens": 20, "temperature": 1, "keep_ends": True}
FEW = 8 if WATCHED else 30


def setUpModule():
    global folders, model, alone
    folders = tempfile.TemporaryDirectory()
    model = hologram.open(tiny_language.write(os.path.join(folders.name, "chat")))
    alone = [model.generate_text(prompt, seed=i, **OPTIONS) for i, prompt in enumerate(PROMPTS)]


def tearDownModule():
    global model
    model = None
    folders.cleanup()


def begin(batch, **more):
    return [batch.generate(prompt, seed=i, **OPTIONS, **more) for i, prompt in enumerate(PROMPTS)]


class Batches(unittest.TestCase):
    def test_each_text_is_as_alone(self):
        for places in (1, 2, 8):
            with model.batch(places=places) as batch:
                answers = begin(batch)
                self.assertEqual([a.text() for a in answers], alone)
                self.assertEqual([(a.result["tokens"], a.result["finish"]) for a in answers], [(20, "length")] * len(PROMPTS))
                state = batch.state
                self.assertEqual([state[k] for k in ("places", "waiting", "generating", "tokens")], [places, 0, 0, 20 * len(PROMPTS)])
                self.assertGreater(state["rows"] / state["runs"], min(places, 4) * 0.9)  # together, indeed
        self.assertEqual(model.generate_texts(PROMPTS[:3], max_tokens=20, temperature=0, keep_ends=True),
                         [model.generate_text(p, max_tokens=20, temperature=0, keep_ends=True) for p in PROMPTS[:3]])
        self.assertEqual(model.generate_texts([]), [])

    def test_token_by_token(self):
        with model.batch() as batch:
            texts = [""] * len(PROMPTS)
            for row in zip(*begin(batch, logprobs=True)):
                for i, token in enumerate(row):
                    self.assertLess(token.logprob, 0)
                    texts[i] += token.text
            self.assertEqual(texts, alone)
            token = next(batch.generate("fox", max_tokens=1, keep_ends=True))
            self.assertIsNone(token.logprob)

    def test_chat_stops_and_grammars(self):
        with model.batch(places=2, threads=1) as batch:
            stop = alone[0][5:7]
            answers = [batch.chat([{"role": "user", "content": "fox"}], seed=0, stop=stop, **OPTIONS), batch.generate("fox", regex="[a-c]{5}x"),
                       batch.generate("fox", json_schema={"type": "integer", "minimum": 0, "maximum": 9}), batch.generate([4, 5], **OPTIONS)]
            texts = [a.text() for a in answers]
            self.assertEqual([texts[0], answers[0].result["finish"]], [alone[0][:alone[0].index(stop)], "stop"])
            self.assertRegex(texts[1], "^[a-c]{5}x$")
            self.assertIn(texts[2], "0123456789")
            self.assertEqual(texts[3], model.generate_text([4, 5], **OPTIONS))

    def test_threads(self):
        with model.batch(places=3) as batch:
            found = [None] * len(PROMPTS)

            def work(i):
                found[i] = batch.generate(PROMPTS[i], seed=i, **OPTIONS).text()
            threads = [threading.Thread(target=work, args=(i,)) for i in range(len(PROMPTS))]
            [t.start() for t in threads]
            [t.join() for t in threads]
            self.assertEqual(found, alone)

    def test_tasks(self):
        async def one(batch, i):
            return "".join([token.text async for token in batch.generate(PROMPTS[i], seed=i, **OPTIONS)])

        async def every():
            with model.batch(places=3) as batch:
                return await asyncio.gather(*[one(batch, i) for i in range(len(PROMPTS))])
        self.assertEqual(asyncio.run(every()), alone)

    def test_a_cancelled_task_leaves_the_others_alone(self):
        async def lonely(batch, has_begun):
            async for _ in batch.generate("fox", keep_ends=True):
                has_begun.set()

        async def some():
            with model.batch(places=2) as batch:
                has_begun = asyncio.Event()
                task = asyncio.ensure_future(lonely(batch, has_begun))
                await has_begun.wait()
                task.cancel()
                text = await batch.generate(PROMPTS[1], seed=1, **OPTIONS).text_async()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                gc.collect()
                await batch.generate("a", max_tokens=1).text_async()
                return text, batch.state["generating"]
        self.assertEqual(asyncio.run(some()), (alone[1], 0))

    def test_leaving(self):
        with model.batch(places=2) as batch:
            answers = begin(batch)
            next(answers[0])
            answers[0].close()
            answers[1] = None  # nobody has it
            for _ in batch.generate("fox", keep_ends=True):
                break
            self.assertEqual(list(answers[0]), [])
            self.assertEqual([a.text() for a in answers[2:]], alone[2:])
            self.assertEqual(batch.state["waiting"] + batch.state["generating"], 0)

    def test_closing(self):
        batch = model.batch()
        answers = begin(batch, regex="[a-z]{30,}")
        next(answers[0])
        batch.close()
        for call in (lambda: list(answers[0]), lambda: list(answers[1]), lambda: batch.generate("a").text(), lambda: batch.state):
            self.assertRaisesRegex(hologram.ArgumentError, "the batch is closed", call)
        answers[0].close()
        once = hologram.open(os.path.join(folders.name, "chat"))
        gone = weakref.ref(once)
        answers = begin(once.batch())
        next(answers[0])
        once.close()  # it lives until the batch is done
        self.assertEqual(answers[2].text(), alone[2])
        del once, answers
        gc.collect()
        self.assertIsNone(gone())

    def test_interrupt(self):
        with model.batch(places=2) as batch:
            answers = begin(batch)
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                while True:
                    batch.generate("fox", max_tokens=5, keep_ends=True).text()
            timer.join()
            self.assertEqual([a.text() for a in answers], alone)  # no token was lost

    def test_wrong_use(self):
        encoder = opened(adding())
        with model.batch(waiting=1, places=1) as batch:
            for call, error in ((lambda: batch.generate("a", heat=1), TypeError), (lambda: batch.generate([]), hologram.ArgumentError),
                                (lambda: batch.generate([4, 10**6]), hologram.InputError), (lambda: batch.generate([-1]), ValueError),
                                (lambda: batch.generate("a", beams=2), hologram.UnsupportedError), (lambda: batch.generate(5), TypeError),
                                (lambda: batch.generate("a", stop=[""]), hologram.ArgumentError), (lambda: batch.generate("a" * 500), hologram.InputError),
                                (lambda: batch.generate("a", seed=2**64), ValueError), (lambda: batch.generate("a", regex="a", grammar="b"), hologram.ArgumentError),
                                (lambda: batch.generate("\ud800", chat=False), UnicodeError)):
                self.assertRaises(error, call)
            kept = [batch.generate("a")]
            with self.assertRaises(hologram.BusyError):
                kept += [batch.generate("b"), batch.generate("c")]
        for call, error in ((lambda: model.batch(places=-1), ValueError), (lambda: model.batch(places=5000), hologram.ArgumentError),
                            (lambda: model.batch(memory=10), hologram.ArgumentError), (lambda: model.batch(places="x"), TypeError),
                            (lambda: encoder.batch(), hologram.UnsupportedError), (lambda: model.batch(places=2**70), ValueError)):
            self.assertRaises(error, call)

    def test_at_the_end_and_after_a_fork(self):
        program = f"""
import os
import hologram
model = hologram.open({os.path.join(folders.name, "chat")!r}, threads=2)
batch = model.batch(places=2)
answers = [batch.generate(p, regex="[a-z]+", keep_ends=True) for p in ("a", "b", "c")]
next(answers[0])
child = os.fork()
first = next(answers[1]).id
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
cycle = [model, batch, answers]
cycle.append(cycle)
"""
        for options in ((), ("-X", "dev")):
            subprocess.run([sys.executable, *options, "-c", program], check=True, timeout=100)


class Beams(unittest.TestCase):
    def test_find_texts_that_are_likelier(self):
        def of(**options):
            tokens = list(model.generate("fox", max_tokens=8, temperature=0, keep_ends=True, logprobs=True, **options))
            return [t.id for t in tokens if t.id is not None], sum(t.logprob for t in tokens if t.id is not None)
        greedy, score = of()
        self.assertEqual(of(beams=1)[0], greedy)
        found, better = of(beams=4)
        self.assertGreater(better, score)
        self.assertNotEqual(found, greedy)
        with model.language() as language:  # the sum is that of the model
            ids, total = model.tokenizer.encode("<user>fox<model>"), 0
            for token in found:
                logits = language.read(ids).tolist()
                total += logits[token] - log_sum(logits)
                ids.append(token)
        self.assertAlmostEqual(total, better, 3)
        self.assertEqual(len(of(beams=3, beam_stop="first", length_penalty=0.5)[0]), 8)

    def test_wrong_use(self):
        for options, error in (({"beam_stop": "soon"}, hologram.ArgumentError), ({"beams": -1}, Exception), ({"beams": 2, "lookup": 3}, hologram.ArgumentError),
                               ({"beams": 2, "regex": "a"}, hologram.ArgumentError), ({"beams": 10**12}, Exception), ({"beams": "2"}, TypeError)):
            self.assertRaises(error, lambda: model.generate_text("fox", max_tokens=3, **options))
        with model.language(texts=1) as language:
            self.assertRaisesRegex(hologram.ArgumentError, "2 beams need as many texts", language.generate_text, "fox", beams=2)


def log_sum(logits):
    top = max(logits)
    return top + math.log(sum(math.exp(x - top) for x in logits))


class Coroutines(unittest.TestCase):
    def test_one_text(self):
        async def tokens():
            return [token.text async for token in model.generate(PROMPTS[0], seed=0, **OPTIONS)]
        self.assertEqual("".join(asyncio.run(tokens())), alone[0])

    def test_a_cancelled_task_ends_its_text(self):
        async def one():
            async def endless():
                while True:
                    async for _ in model.generate("fox", keep_ends=True):
                        pass
            for _ in range(FEW):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(endless(), 0.005)
        asyncio.run(one())


if __name__ == "__main__":
    unittest.main()
