"""support.py - a server under test, and clients for it. Only Python's own library."""
import http.client, json, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time, traceback

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
PROGRAM = os.path.abspath(os.environ.get("SERVE_PROGRAM", os.path.join(BUILD, "hologram-serve")))
WATCHED = "SERVE_PROGRAM" in os.environ  # by sanitizers, whose look for leaks a sandbox would refuse
HOLOGRAM = os.path.join(BUILD, "hologram")
DIGITS = os.path.join(ROOT, "demo", "digits.onnx")


class Server:
    """hologram-serve on a free port; `with Server(paths, options) as s`."""

    def __init__(self, *words, env=None, wait=True):
        self.folder = tempfile.mkdtemp()
        self.log_path = os.path.join(self.folder, "log")
        self.process = subprocess.Popen([PROGRAM, "--port", "0", *(["--no-sandbox"] if WATCHED else []), *words], stderr=open(self.log_path, "wb"), env={**os.environ, **(env or {})})
        until = time.time() + 30
        self.port = None
        while time.time() < until and self.process.poll() is None:
            events = {e["event"]: e for e in self.log()}
            if "listening" in events:
                self.port = int(events["listening"]["url"].rsplit(":", 1)[1])
            if self.port and (not wait or "ready" in events):
                return
            time.sleep(0.01)
        raise AssertionError("the server did not start: " + open(self.log_path).read())

    def log(self):
        lines = []
        for line in open(self.log_path, errors="replace"):
            try:
                lines.append(json.loads(line))
            except ValueError:
                pass
        return [l for l in lines if isinstance(l, dict) and "event" in l]

    def wait_for(self, event, count=1, seconds=20):
        until = time.time() + seconds
        while time.time() < until:
            found = [e for e in self.log() if e["event"] == event]
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError(f"no event {event}: " + open(self.log_path).read()[-2000:])

    def connect(self, timeout=30):
        return http.client.HTTPConnection("localhost", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """Returns (status, headers, body)."""
        c = connection or self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        data = r.read()
        if not connection:
            c.close()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, data

    def json(self, method, path, body=None, headers=None, status=200):
        got, _, data = self.ask(method, path, body, headers)
        assert got == status, f"{method} {path}: {got} {data[:300]}"
        return json.loads(data)

    def metrics(self):
        values = {}
        for line in self.ask("GET", "/metrics")[2].decode().splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def stop(self, sig=signal.SIGTERM, seconds=40):
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("the server did not end after a signal")
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            code = self.stop()
            assert kind or code == 0, f"the server ended with {code}: " + open(self.log_path).read()[-3000:]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def raw(port, data, timeout=10, shut=False):
    """Sends bytes and returns all that comes back until the server closes, or falls silent."""
    s = socket.create_connection(("localhost", port), timeout=timeout)
    s.sendall(data)
    if shut:
        s.shutdown(socket.SHUT_WR)
    got = b""
    try:
        while piece := s.recv(65536):
            got += piece
    except (TimeoutError, ConnectionError):
        pass
    s.close()
    return got


def at_once(count, work):
    """Runs work(i) in threads; returns the results in order, and raises what they raise."""
    results, errors = [None] * count, []

    def one(i):
        try:
            results[i] = work(i)
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
    return results


def main(tests):
    """Runs functions whose names begin with test_, or those named; prints what fails."""
    if not os.path.exists(PROGRAM):
        print(f"{os.path.basename(sys.argv[0])}: skipped: there is no {PROGRAM}")
        return
    wanted, failed, count = sys.argv[1:], 0, 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        count += 1
        folder = tempfile.mkdtemp()
        try:
            test(folder)
        except Exception:
            failed += 1
            print(f"{name} failed")
            traceback.print_exc()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{os.path.basename(sys.argv[0])}: {count - failed} passed, {failed} failed")
    sys.exit(failed != 0)
