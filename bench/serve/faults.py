"""faults.py BUILD [NAME...] - what takes longer than a test may: 10,000 connections, slow and half-closed clients, kill -9 in the middle of a swap,
a full disk, models that cannot be compiled, SIGTERM under load, and memory over a million requests (REQUESTS=1000000).

Prints a line for each, and ends with 1 if one of them fails."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
os.environ["BUILD"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(here, "..", "..", "tests", "serve"))
import resource
from support import *

DATA = json.dumps({"inputs": [{"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32", "data": [0.5] * 64}]}).encode()
INFER = "/v2/models/digits/infer"
POST = b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (INFER.encode(), len(DATA))


class Quiet(Server):
    """A server whose log is not kept: a million lines would be a quarter of a gigabyte."""

    def __init__(self, *words):
        self.folder, self.log_path = tempfile.mkdtemp(), "/dev/null"
        free = socket.socket()
        free.bind(("localhost", 0))
        self.port = free.getsockname()[1]
        free.close()
        self.process = subprocess.Popen([PROGRAM, "--port", str(self.port), "--log", "/dev/null", *words])
        until = time.time() + 30
        while time.time() < until:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        raise AssertionError("the server did not start")


def memory(server):
    """Resident, in MB."""
    return int(open(f"/proc/{server.process.pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def body_of(answer):
    return answer.split(b"\r\n\r\n", 1)[1]


def connections(folder):
    """10,000 connections; a tenth sends half a request, a tenth closes its sending side. Others are answered meanwhile."""
    count = 10000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < count + 100:
        return f"skipped: only {hard} files may be open"
    with Quiet(DIGITS) as s:
        before = memory(s)
        held = [socket.create_connection(("localhost", s.port)) for _ in range(count)]
        for c in held[:count // 10]:
            c.sendall(POST + DATA[:100])
        for i, c in enumerate(held[count // 10:count // 5]):
            if i % 2:  # these have asked before
                c.sendall(POST + DATA)
            c.shutdown(socket.SHUT_WR)
        began = time.time()
        for _ in range(100):
            assert s.ask("POST", INFER, DATA)[0] == 200
        each, after = (time.time() - began) / 100, memory(s)
        for i, c in enumerate(held[count // 10:count // 5]):
            got = b"".join(iter(lambda: c.recv(10000), b""))
            assert got == b"" if not i % 2 else b"HTTP/1.1 200 OK" in got and b"probabilities" in got, got
        for c in held[count // 5::10]:
            c.sendall(POST + DATA)
        for c in held[count // 5::10]:
            assert c.recv(1000).startswith(b"HTTP/1.1 200")
        for c in held[:count // 10]:  # those that were slow go on
            c.sendall(DATA[100:])
        for c in held[:count // 10]:
            assert c.recv(1000).startswith(b"HTTP/1.1 200")
        for c in held:
            c.close()
        until = time.time() + 30
        while time.time() < until and s.metrics()["hologram_connections"] > 1:
            time.sleep(0.05)
        assert s.metrics()["hologram_connections"] == 1 and s.metrics()["hologram_requests_open"] == 1
    return f"{count} connections took {after - before:.0f} MB; a request took {each * 1e3:.1f} ms meanwhile"


def slow(folder):
    """Clients that send or read a byte now and then do not delay others, and are cut off."""
    with Server(DIGITS) as s:
        senders = [socket.create_connection(("localhost", s.port)) for _ in range(300)]
        big = json.dumps({"inputs": [{"name": "image", "shape": [20000, 1, 8, 8], "datatype": "FP32", "data": [0.5] * 64 * 20000}]}).encode()
        readers = []
        for _ in range(4):
            c = socket.socket()
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.connect(("localhost", s.port))
            c.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (INFER.encode(), len(big)) + big)
            readers.append(c)
        worst = 0
        for i in range(12):
            for c in senders:
                try:
                    c.send((POST + DATA)[i:i + 1])
                except OSError:
                    pass
            began = time.time()
            assert s.ask("POST", INFER, DATA)[0] == 200
            worst = max(worst, time.time() - began)
            time.sleep(1)
        gone = 0
        for c in senders:
            c.settimeout(5)
            try:
                while piece := c.recv(1000):
                    pass
                gone += 1
            except ConnectionError:
                gone += 1
            except TimeoutError:
                pass
        for c in senders + readers:
            c.close()
        assert gone == len(senders), gone
    return f"{gone} clients that took longer than 10 s to send a head were cut off; others waited {worst * 1e3:.0f} ms at most"


def swaps(folder):
    """A model is replaced again and again under load, and the server killed by -9 in the middle. No answer is wrong; it starts again at once."""
    models = os.path.join(folder, "models")
    os.mkdir(models)
    archive = os.path.join(folder, "digits.holo")
    subprocess.run([HOLOGRAM, "compile", DIGITS, "-o", archive, "-q"], check=True)
    shutil.copy(archive, models)
    answered, right = 0, None
    for turn in range(6):
        s = Server(models)
        stop, wrong, lost = [False], [], [0]

        def ask():
            nonlocal answered, right
            c = s.connect()
            while not stop[0]:
                try:
                    status, _, data = s.ask("POST", INFER, DATA, connection=c)
                except (OSError, http.client.HTTPException):
                    if not stop[0]:
                        lost[0] += 1
                    return
                answered += 1
                right = right or json.loads(data)["outputs"]
                if status != 200 or json.loads(data)["outputs"] != right:
                    wrong.append((status, data[:200]))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for t in threads:
            t.start()
        for i in range(20):
            new = os.path.join(models, ".new")
            shutil.copy(archive, new)
            os.rename(new, os.path.join(models, "digits.holo"))
            time.sleep(0.05)
        if turn % 2:
            stop[0] = True
            s.process.kill()
            s.process.wait()
        else:
            stop[0] = True
        for t in threads:
            t.join()
        if not turn % 2:
            assert s.stop() == 0
        assert not wrong and not lost[0], (wrong[:2], lost)
        shutil.rmtree(s.folder, ignore_errors=True)
    left = [n for n in os.listdir(models) if n != "digits.holo"]
    assert not left, left
    return f"{answered} requests during 120 swaps and 3 kills: all answers right, none lost before a kill"


def full_disk(folder):
    """The log, the models and temporary files on a disk of 1 MB that is full."""
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        return "skipped: tmpfs cannot be mounted here"
    try:
        shutil.copy(DIGITS, disk)
        with open(os.path.join(disk, "fill"), "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        s = Server(disk, env={"TMPDIR": disk}, wait=False)
        until, status = time.time() + 20, 0
        while time.time() < until and status != 200:
            status = s.ask("POST", INFER, DATA)[0]
            time.sleep(0.1)
        index = s.json("POST", "/v2/repository/index", {})
        os.remove(os.path.join(disk, "fill"))
        s.process.send_signal(signal.SIGHUP)
        until = time.time() + 20
        while time.time() < until and s.ask("POST", INFER, DATA)[0] != 200:
            time.sleep(0.1)
        assert s.ask("POST", INFER, DATA)[0] == 200
        assert s.stop() == 0
    finally:
        subprocess.run(["umount", disk])
    return f"served on a full disk: {'yes' if status == 200 else 'no, and it said why: ' + index[0]['reason'][:80] + '; yes after there was room'}"


def broken(folder):
    """Models that cannot be compiled arrive beside one that is served: it goes on, and each says why."""
    models = os.path.join(folder, "models")
    os.mkdir(models)
    shutil.copy(DIGITS, models)
    whole = open(DIGITS, "rb").read()
    with Server(models) as s:
        for name, data in [("cut.onnx", whole[:len(whole) // 2]), ("noise.onnx", os.urandom(5000)), ("noise.holo", os.urandom(5000)), ("noise.gguf", b"GGUF" + os.urandom(5000))]:
            new = os.path.join(models, "." + name)
            open(new, "wb").write(data)
            os.rename(new, os.path.join(models, name))
        new = os.path.join(models, ".digits")
        open(new, "wb").write(whole[:1000])
        os.rename(new, os.path.join(models, "digits.onnx"))  # the one that is served is replaced by a broken one
        until = time.time() + 30
        while time.time() < until:
            index = {m["name"]: m for m in s.json("POST", "/v2/repository/index", {})}
            if set(index) == {"digits", "cut", "noise"} and all(m["reason"] for m in index.values()):
                break
            assert s.ask("POST", INFER, DATA)[0] == 200
        assert s.ask("POST", INFER, DATA)[0] == 200 and all(m["reason"] for m in index.values()), index
        assert index["digits"]["state"] == "READY" and index["cut"]["state"] == "UNAVAILABLE", index
    return f"{', '.join(sorted(index))}: each says what is wrong; the one that was served is still served"


def ending(folder):
    """SIGTERM under load, again and again: whoever has sent a request that was taken gets its answer."""
    whole = cut = refused = 0
    for _ in range(10):
        s = Server(DIGITS)
        results, stop = [], [False]

        def ask():
            while not stop[0]:
                try:
                    c = socket.create_connection(("localhost", s.port), timeout=10)
                except OSError:
                    results.append("refused")
                    return
                try:
                    c.sendall(POST.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n") + DATA)
                    got = b""
                    while piece := c.recv(65536):
                        got += piece
                    results.append("whole" if got.startswith(b"HTTP/1.1 200") and got.endswith(b"}") else "refused" if not got or b" 503 " in got[:20] else "cut")
                except OSError:
                    results.append("refused")
                c.close()

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        time.sleep(0.5)
        s.process.send_signal(signal.SIGTERM)
        assert s.process.wait(20) == 0
        stop[0] = True
        for t in threads:
            t.join()
        whole += results.count("whole")
        cut += results.count("cut")
        refused += results.count("refused")
        shutil.rmtree(s.folder, ignore_errors=True)
    assert not cut and whole, (whole, cut)
    return f"{whole} requests answered during 10 endings, none cut off; {refused} came too late and were refused"


def flat(folder):
    """Memory over many requests: JSON, binary and HTTP/2, errors among them."""
    total = int(os.environ.get("REQUESTS", "1000000"))
    body, wrong = os.path.join(folder, "body"), os.path.join(folder, "wrong")
    open(body, "wb").write(DATA)
    open(wrong, "wb").write(DATA[:-5])
    with Quiet(DIGITS) as s:
        url = f"http://localhost:{s.port}{INFER}"

        def load(count, *more, path=body):
            subprocess.run(["h2load", "-n", str(count), "-c", "16", "-t1", *more, "-d", path, url], check=True, capture_output=True)

        seen, done, began = [], 0, time.time()
        while done < total:
            part = total // 10
            load(part // 2, "--h1")
            load(part // 2 - part // 20, "-m4")
            load(part // 20, "--h1", path=wrong)
            done += part
            seen.append(memory(s))
        m = s.metrics()
        counted = sum(v for k, v in m.items() if k.startswith("hologram_requests_total") and 'protocol="kserve"' in k)
    assert seen[-1] - seen[1] < 1 + seen[1] / 20, seen
    return f"{done} requests in {time.time() - began:.0f} s: memory was {seen[0]:.1f} MB after a tenth, {seen[1]:.1f} after two, {seen[-1]:.1f} at the end"


CASES = [connections, slow, swaps, full_disk, broken, ending, flat]


def run_all():
    failed, names = 0, sys.argv[2:]
    for case in CASES:
        if names and case.__name__ not in names:
            continue
        folder = tempfile.mkdtemp()
        try:
            print(f"{case.__name__}: {case(folder)}", flush=True)
        except Exception:
            failed += 1
            print(f"{case.__name__}: FAILED", flush=True)
            traceback.print_exc()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed != 0)


run_all()
