"""Models and sessions: runs, their options, threads, cancelling, closing."""

import asyncio
import os
import signal
import threading
import time
import unittest

from support import DIGITS, FLOAT, SLOW, adding, hologram, model, node, opened, slow, square, tensor_type, unary

ONES = [[1.0, 1.0, 1.0]]


class Models(unittest.TestCase):
    def test_ports(self):
        m = opened(adding())
        self.assertEqual([tuple(p) for p in m.inputs], [("a", "float32", ("n", 3), "tensor", "tensor", False), ("b", "float32", ("n", 3), "tensor", "tensor", False)])
        self.assertEqual(m.outputs[0].name, "c")
        self.assertIn("a: float32[n, 3]", repr(m))

    def test_devices(self):
        m = hologram.open(DIGITS, device="cpu")
        self.assertEqual((m.devices, m.session().device), (("cpu",), "cpu"))
        with self.assertRaisesRegex(hologram.UnsupportedError, "the model has no steps for cuda"):
            hologram.open(DIGITS, device="cuda:0")

    def test_call_and_run(self):
        kind = tensor_type(FLOAT, ("n", 3))
        two = opened(model([node("Add", ["a", "b"], ["c"]), node("Sub", ["a", "b"], ["d"])], [("a", kind), ("b", kind)], [("c", kind), ("d", kind)]))
        for run in (two, two.session(), two.session(threads=1)):
            sum_, difference = run(ONES, b=ONES)
            self.assertEqual((sum_.tolist(), difference.tolist()), ([[2, 2, 2]], [[0, 0, 0]]))
            self.assertEqual(list(run.run({"a": ONES, "b": ONES})), ["c", "d"])
            self.assertEqual(list(run.run({"a": ONES, "b": ONES}, ["d"])), ["d"])
            self.assertEqual(list(run.run({"a": ONES, "b": ONES}, outputs=("d", "c"))), ["d", "c"])
            self.assertEqual(run.run({"a": ONES, "b": ONES}, []), {})
            for wrong, words in ((["x"], "no output 'x'; it has c, d"), (["c", "c"], "twice"), (["c", "d", "c"], "2 outputs, but 3")):
                with self.assertRaisesRegex(ValueError, words):
                    run.run({"a": ONES, "b": ONES}, wrong)
            for wrong in ("c", 5):
                with self.assertRaises(TypeError):
                    run.run({"a": ONES, "b": ONES}, wrong)
            for wrong in (ONES, None, 3):
                with self.assertRaises(TypeError):
                    run.run(wrong)
            with self.assertRaises(TypeError):
                run.run({1: ONES})

    def test_sizes_that_must_agree(self):
        m = opened(adding())
        with self.assertRaisesRegex(hologram.InputError, "n"):
            m(ONES, ONES * 2)
        self.assertEqual(m(ONES * 2, ONES * 2).shape, (2, 3))

    def test_sizes_that_follow_from_the_run(self):
        kind = tensor_type(FLOAT, ("n",))
        m = opened(model([node("NonZero", ["x"], ["y"])], [("x", kind)], [("y", tensor_type(7, (1, "k")))]))
        for run in (m, m.session()):
            self.assertEqual(run([0.0, 1.0, 0.0, 2.0]).tolist(), [[1, 3]])
            self.assertEqual(run([0.0]).shape, (1, 0))

    def test_from_a_path_and_bytes(self):
        with open(DIGITS, "rb") as file:
            data = file.read()
        image = [[[[0.5] * 8] * 8]]
        answers = [hologram.open(source)(image).tolist() for source in (DIGITS, data, bytearray(data), memoryview(data))]
        archive = self.enterContext_dir() + "/d.holo"
        hologram.compile(DIGITS, archive)
        with open(archive, "rb") as file:
            data = file.read()
        answers += [hologram.open(source)(image).tolist() for source in (archive, data, bytearray(data), memoryview(data)[:])]
        self.assertTrue(all(a == answers[0] for a in answers))

    def enterContext_dir(self):
        import tempfile
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_what_cannot_be_opened(self):
        with self.assertRaises(hologram.FileError) as caught:
            hologram.open("/no/such/file.holo")
        self.assertIsInstance(caught.exception, OSError)
        for data in (b"", b"HOLO", b"HOLO" + bytes(1000), b"nothing", bytes(100)):
            with self.assertRaises(hologram.Error):
                hologram.open(data)
        with self.assertRaises(TypeError):
            hologram.open(5)
        with self.assertRaisesRegex(TypeError, "no option 'nonsense'"):
            hologram.open(DIGITS, nonsense=1)
        with self.assertRaises(TypeError):
            hologram.Model()

    def test_closed(self):
        m = opened(adding())
        session = m.session()
        with m:
            pass
        self.assertTrue(m.closed)
        self.assertEqual(session(ONES, ONES).tolist(), [[2, 2, 2]])  # it still has the model
        for use in (lambda: m(ONES, ONES), lambda: m.run({}), lambda: m.inputs, lambda: m.metadata, lambda: m.session(), lambda: m.graph().svg):
            with self.assertRaisesRegex(ValueError, "the model is closed"):
                use()
        self.assertIn("closed", repr(m))
        session.close()
        session.close()
        for use in (lambda: session(ONES, ONES), lambda: session.run({}), lambda: session.memory, session.cancel, lambda: session.model):
            with self.assertRaisesRegex(ValueError, "the session is closed"):
                use()

    def test_errors_are_what_they_should_be(self):
        for name, base in (("ArgumentError", ValueError), ("ModelError", ValueError), ("NoMemoryError", MemoryError), ("FileError", OSError),
                           ("TimeoutError", TimeoutError), ("UnsupportedError", NotImplementedError), ("BusyError", RuntimeError)):
            self.assertTrue(issubclass(getattr(hologram, name), (hologram.Error,)) and issubclass(getattr(hologram, name), base))
        self.assertEqual(hologram.InputError.status, hologram.capi.HOLO_BAD_INPUT)


class Sessions(unittest.TestCase):
    def test_memo(self):
        m = opened(adding((1, 3)))
        session = m.session(memo=1 << 20)
        for _ in range(3):
            self.assertEqual(session(ONES, ONES).tolist(), [[2, 2, 2]])
        self.assertEqual(session.memo_counts, (2, 1))
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            session.save_memo(folder + "/m.holo")
            self.assertEqual(hologram.open(folder + "/m.holo").inspect()["memo"], 1)

    def test_limits(self):
        m = opened(adding())
        with self.assertRaises(MemoryError):
            m.session(memory_limit=1)(ONES * 100000, ONES * 100000)
        for run in (m, m.session()):
            for wrong in (-1, float("nan")):
                with self.assertRaises(ValueError):
                    run.run({"a": ONES, "b": ONES}, timeout=wrong)
            with self.assertRaises(TypeError):
                run.run({"a": ONES, "b": ONES}, timeout="soon")
            self.assertEqual(run.run({"a": ONES, "b": ONES}, timeout=100)["c"].tolist(), [[2, 2, 2]])

    def test_profile(self):
        m = hologram.open(DIGITS)
        steps = m.profile(seconds=0.01)
        self.assertTrue(any(step.op == "Conv" for step in steps))
        self.assertGreater(m.bench(seconds=0.01).min, 0)

    def test_watch(self):
        session, seen = hologram.open(DIGITS).session(), []
        session.watch(lambda step, value, array: seen.append((value, array.shape)))
        session([[[[0.0] * 8] * 8]])
        self.assertEqual(seen[-1], ("probabilities", (1, 10)))
        session.watch(None)
        session([[[[0.0] * 8] * 8]])
        self.assertEqual(sum(value == "probabilities" for value, _ in seen), 1)

    def test_two_threads(self):
        session, errors, good = opened(slow(SLOW // 5)).session(threads=1), [], []
        x = square(SLOW // 5)

        def run():
            for _ in range(5):
                try:
                    session(x)
                    good.append(1)
                except hologram.BusyError as error:
                    errors.append(error)
        threads = [threading.Thread(target=run) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertTrue(good)


class Stopping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = opened(slow())  # seconds of work; times are those of the CPU, whoever else uses it
        cls.x = square()

    def test_timeout(self):
        for run in (self.model, self.model.session()):
            with self.assertRaises(hologram.TimeoutError):
                run.run({"x": self.x}, timeout=0.05)
        with self.assertRaises(TimeoutError):
            self.model.run({"x": self.x}, timeout=0.05)

    def test_cancel(self):
        cancel = hologram.Cancel()
        threading.Timer(0.1, cancel.cancel).start()
        with self.assertRaises(hologram.CancelledError):
            self.model.run({"x": self.x}, cancel=cancel)
        self.assertTrue(cancel.cancelled)
        session = self.model.session()
        threading.Timer(0.1, session.cancel).start()
        with self.assertRaises(hologram.CancelledError):
            session(self.x)
        with self.assertRaises(TypeError):
            self.model.run({"x": self.x}, cancel=5)

    def test_keyboard_interrupt(self):
        session = self.model.session()
        for call in (lambda: self.model(self.x), lambda: session(self.x), lambda: self.model.run({"x": self.x})):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            begin = time.process_time()
            with self.assertRaises(KeyboardInterrupt):
                call()
            self.assertLess(time.process_time() - begin, 1.0)

    def test_a_signal_that_wants_nothing(self):
        seen = []
        before = signal.signal(signal.SIGINT, lambda *args: seen.append(1))
        try:
            small, x = opened(slow(SLOW // 4)), square(SLOW // 4)
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
            for _ in range(10):
                small(x)
            self.assertEqual(seen, [1])
        finally:
            signal.signal(signal.SIGINT, before)

    def test_async(self):
        async def main():
            small = opened(adding())
            answers = await asyncio.gather(*(small.run_async({"a": ONES, "b": ONES}) for _ in range(10)))
            self.assertTrue(all(a["c"].tolist() == [[2, 2, 2]] for a in answers))
            begin = time.process_time()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.model.run_async({"x": self.x}), 0.1)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.model.session().run_async({"x": self.x}), 0.1)
            self.assertLess(time.process_time() - begin, 1.5)
        asyncio.run(main())

    def test_the_gil_is_free(self):
        count, end = 0, time.perf_counter() + 0.2
        thread = threading.Thread(target=lambda: self.model.run({"x": self.x}, cancel=cancel))
        cancel = hologram.Cancel()
        threading.excepthook, before = lambda args: None, threading.excepthook
        try:
            thread.start()
            while time.perf_counter() < end:
                count += 1
            cancel.cancel()
            thread.join()
        finally:
            threading.excepthook = before
        self.assertGreater(count, 1000)

    def test_closed_while_it_runs(self):
        m, x = opened(slow(SLOW // 4)), square(SLOW // 4)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(m(x)))
        thread.start()
        m.close()
        thread.join()  # it ends, or finds the model closed


if __name__ == "__main__":
    unittest.main()
