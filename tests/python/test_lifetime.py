"""Objects freed in any order, from any thread, at the end, after a fork; memory that stays flat; no copies of large arrays."""

import array
import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import unittest

from support import FLOAT, WATCHED, adding, hologram, needs_numpy, numpy, opened, rss, unary

ONES = [[1.0, 1.0, 1.0]]
HERE = os.path.dirname(os.path.abspath(__file__))


def script(text, *options):
    """Runs a program in a Python of its own; its output."""
    program = f"import sys; sys.path.insert(0, {HERE!r})\nfrom support import *\n" + text
    result = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=100)
    if result.returncode:
        raise AssertionError(f"exit status {result.returncode}: {result.stderr}")
    return result.stdout


class Order(unittest.TestCase):
    def test_every_order(self):
        for order in itertools.permutations(["model", "session", "output", "view"]):
            m = opened(unary("Neg", FLOAT, ("n",)))
            things = {"model": m, "session": m.session(threads=2), "output": m(array.array("f", [1, 2]))}
            things["view"] = memoryview(things["output"])
            del m
            for name in order:
                if name == "output" and "session" in things:
                    self.assertEqual(things["session"]([1.0]).tolist(), [-1])
                del things[name]
                gc.collect()

    def test_outputs_outlive_the_model(self):
        m = opened(adding())
        out = m(ONES, ONES)
        m.close()
        del m
        gc.collect()
        self.assertEqual(out.tolist(), [[2, 2, 2]])

    def test_a_view_outlives_its_tensor(self):
        data = array.array("f", [1, 2])
        view = memoryview(hologram.Tensor(data))
        with self.assertRaises(BufferError):
            data.append(3)  # it is in use
        del view
        data.append(3)

    def test_freed_by_other_threads(self):
        for _ in range(20):
            box = [opened(adding())]
            box.append(box[0].session())
            threads = [threading.Thread(target=box.clear) for _ in range(3)]
            [t.start() for t in threads]
            [t.join() for t in threads]

    def test_many_threads(self):
        m = opened(adding())
        wrong = []

        def work(k):
            x = [[float(k)] * 3]
            for _ in range(200):
                if m(x, x).tolist() != [[2.0 * k] * 3]:
                    wrong.append(k)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])


class End(unittest.TestCase):
    def test_at_the_end_of_python(self):
        for options in ((), ("-X", "dev"), ("-X", "dev", "-W", "error")):
            script("""
import atexit
m = hologram.open(DIGITS)
s = m.session(threads=2)
t = hologram.Tensor(b"abc")
class Late:
    def __del__(self): m([[[[0.0] * 8] * 8]])
late = Late()
atexit.register(lambda: s([[[[0.0] * 8] * 8]]))
cycle = [m, s]; cycle.append(cycle)
m([[[[0.0] * 8] * 8]])
""", *options)

    def test_at_the_end_while_a_thread_runs(self):
        script("""
import threading, time
m, x = opened(slow(SLOW // 3), threads=2), square(SLOW // 3)
def forever():
    while True: m(x)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
""")

    def test_after_a_fork(self):
        self.assertEqual(script("""
import os, signal
m, x = opened(slow(SLOW // 10), threads=2), square(SLOW // 10)
s = m.session(threads=2)
m(x), s(x)
child = os.fork()
signal.alarm(80)
ok = m(x).tolist() == s(x).tolist() and opened(adding())([[1.0] * 3], [[1.0] * 3]).tolist() == [[2] * 3]
if not child:
    s.close(); m.close(); del s, m
    os._exit(0 if ok else 1)
print(os.waitpid(child, 0)[1], ok)
"""), "0 True\n")

    def test_after_a_fork_while_threads_run(self):
        self.assertEqual(script("""
import os, signal, threading, time
m, x = opened(slow(SLOW // 10)), square(SLOW // 10)
stop = []
def work():
    while not stop: m(x)
threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
[t.start() for t in threads]
time.sleep(0.05)
for _ in range(5):
    child = os.fork()
    if not child:
        signal.alarm(80)
        for _ in range(3): m(x)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(0.01)
stop.append(1)
[t.join() for t in threads]
print("ok")
""", "-W", "ignore"), "ok\n")

    def test_imported_by_a_thread(self):
        script("""
import threading
t = threading.Thread(target=lambda: hologram.open(DIGITS)([[[[0.0] * 8] * 8]]))
t.start(); t.join()
""")


@unittest.skipIf(WATCHED, "a sanitizer keeps what is freed")
class Memory(unittest.TestCase):
    def flat(self, call, times):
        """A call must not hold on to memory: what does grows in every round."""
        for _ in range(3):
            gc.collect()
            before = rss()
            for _ in range(times):
                call()
            grown = rss() - before
            if grown < 1 << 20:
                return
        self.fail(f"{times} calls more take {grown} bytes more")

    def test_runs(self):
        m = opened(adding())
        x = hologram.Tensor(memoryview(bytes(12)).cast("f", [1, 3]))
        session = m.session(threads=1)
        self.flat(lambda: m(x, x), 100000)
        self.flat(lambda: session(x, x), 50000)
        self.flat(lambda: m.run({"a": x, "b": x}, ["c"]), 20000)

    def test_failures(self):
        m = opened(adding())
        x = hologram.Tensor(memoryview(bytes(12)).cast("f", [1, 3]))

        def bad(call):
            try:
                call()
            except Exception:
                return
            raise AssertionError("it should fail")
        for call in (lambda: m(x), lambda: m(x, 5), lambda: m(x, object()), lambda: m.run({"a": x, "q": x}), lambda: m(x, [[1, 2]])):
            self.flat(lambda: bad(call), 3000)

    def test_objects(self):
        data = adding()
        self.flat(lambda: opened(data, threads=1).session(threads=1), 200)
        t = hologram.Tensor(array.array("f", range(1000)))
        self.flat(t.__dlpack__, 20000)
        self.flat(t.__arrow_c_array__, 20000)
        self.flat(lambda: hologram.Tensor(t).view("int32").tolist(), 500)

    @needs_numpy
    def test_arrays(self):
        m = opened(unary("Identity", FLOAT, ("n",)))
        x = numpy.zeros(1000, "float32")
        self.flat(lambda: m(x), 20000)
        self.flat(lambda: m(x[::2]), 20000)
        self.flat(lambda: m(m(x)), 20000)


@needs_numpy
@unittest.skipIf(WATCHED, "a sanitizer keeps what is freed")
class Large(unittest.TestCase):
    def test_no_copy_of_100_megabytes(self):
        """A run reads the caller's bytes and writes those that it gives back: no memory is taken in between, and no time."""
        count = 25_000_000
        m = opened(unary("Identity", FLOAT, ("n",)), threads=1)
        x, y = numpy.ones(count, "float32"), numpy.zeros(count, "float32")
        copying, running = [], []
        for _ in range(3):
            begin = time.process_time()
            numpy.copyto(y, x)
            copying.append(time.process_time() - begin)
            begin = time.process_time()
            m.run({"x": x}, out={"y": y})  # what Identity itself does: one copy
            running.append(time.process_time() - begin)
        before = rss()
        m.run({"x": x}, out={"y": y})
        self.assertLess(rss() - before, 10 << 20)
        self.assertLess(min(running), 2 * min(copying) + 0.01)
        self.assertEqual(hologram.Tensor(x).__array_interface__["data"][0], x.ctypes.data)
        before = rss()
        out = m(x)
        self.assertLess(rss() - before, 110 << 20)  # the array that it gives back, and nothing else
        self.assertEqual(out[-1], 1)


if __name__ == "__main__":
    unittest.main()
