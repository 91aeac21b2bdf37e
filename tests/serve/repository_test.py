"""repository_test.py - the folder that is watched: new, replaced, broken and removed models, versions, load and unload."""
import struct
from support import *

sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

ASK = {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}


def field(number, kind, value):
    """A field of protobuf: kind 0 is a number, 2 is bytes."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    return varint(number << 3 | kind) + (varint(value) if kind == 0 else varint(len(value)) + value)


def scaler(factor, batch="n", op="Mul"):
    """An ONNX model: y = x * factor, [n, 2]."""
    def port(name):
        dims = b"".join(field(1, 2, d) for d in (field(2, 2, batch.encode()), field(1, 0, 2)))
        return field(1, 2, name.encode()) + field(2, 2, field(1, 2, field(1, 0, 1) + field(2, 2, dims)))
    node = field(1, 2, b"x") + field(1, 2, b"f") + field(2, 2, b"z") + field(4, 2, b"Mul")
    last = field(1, 2, b"z") + field(2, 2, b"y") + field(4, 2, op.encode())
    if op == "Softmax":
        last += field(5, 2, field(1, 2, b"axis") + field(3, 0, 0) + field(20, 0, 2))
    weight = field(1, 0, 1) + field(2, 0, 1) + field(8, 2, b"f") + field(9, 2, struct.pack("<f", factor))
    graph = field(1, 2, node) + field(1, 2, last) + field(2, 2, b"g") + field(5, 2, weight) + field(11, 2, port("x")) + field(12, 2, port("y"))
    return field(1, 0, 8) + field(7, 2, graph) + field(8, 2, field(2, 0, 13))


def put(path, data, in_place=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path if in_place else path + ".tmp", "wb") as f:
        f.write(data)
    if not in_place:
        os.rename(path + ".tmp", path)


def answer(s, name="m", path="/v2/models/%s/infer"):
    return s.json("POST", path % name, ASK)["outputs"][0]["data"]


def wait_until(what, seconds=20):
    until = time.time() + seconds
    while time.time() < until:
        if what():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def test_replaced(folder):
    put(folder + "/m.onnx", scaler(2, op="Identity"))
    with Server(folder) as s:
        assert answer(s) == [2, 4]
        put(folder + "/other.onnx", scaler(3, op="Identity"))
        wait_until(lambda: s.ask("GET", "/v2/models/other/ready")[0] == 200)
        assert answer(s, "other") == [3, 6]
        # Replaced while it is asked all the time: each answer is the old one or the new one, and none is lost.
        stop, wrong, count = threading.Event(), [], [0]

        def asker(i):
            c = s.connect()
            while not stop.is_set():
                status, _, data = s.ask("POST", "/v2/models/m/infer", ASK, connection=c)
                got = json.loads(data)["outputs"][0]["data"] if status == 200 else None
                if got not in ([2, 4], [5, 10], [7, 14]):
                    wrong.append((status, data))
                count[0] += 1

        threads = [threading.Thread(target=asker, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        put(folder + "/m.onnx", scaler(5, op="Identity"))
        s.wait_for("replaced")
        put(folder + "/m.onnx", scaler(7, op="Identity"))
        s.wait_for("replaced", 2)
        stop.set()
        for t in threads:
            t.join()
        assert not wrong and count[0] > 8, wrong[:3]
        assert answer(s) == [7, 14]
        # A broken one changes nothing but what is said of it.
        put(folder + "/m.onnx", b"this is no model" * 10)
        put(folder + "/m.onnx", scaler(9, op="Identity")[:-20])
        s.wait_for("load-failed")
        assert answer(s) == [7, 14]
        index = {m["name"]: m for m in s.json("POST", "/v2/repository/index", {})}
        assert index["m"]["state"] == "READY" and index["m"]["reason"]
        put(folder + "/m.onnx", scaler(11, op="Identity"))
        wait_until(lambda: answer(s) == [11, 22])
        os.remove(folder + "/other.onnx")
        wait_until(lambda: s.ask("GET", "/v2/models/other/ready")[0] == 404)


def test_formats(folder):
    put(folder + "/a.onnx", scaler(2, op="Identity"))
    subprocess.run([HOLOGRAM, "compile", folder + "/a.onnx", "-o", folder + "/b.holo", "-q"], check=True)
    put(folder + "/bad.onnx", scaler(2, op="NoSuchOperator"))
    put(folder + "/README.md", b"not a model")
    with Server(folder) as s:
        assert answer(s, "a") == answer(s, "b") == [2, 4]
        names = {m["name"]: m["state"] for m in s.json("POST", "/v2/repository/index", {})}
        assert names == {"a": "READY", "b": "READY", "bad": "UNAVAILABLE"}, names
        assert [m["name"] for m in s.json("POST", "/v2/repository/index", {"ready": True})] == ["a", "b"]
        error = s.json("POST", "/v2/models/bad/infer", ASK, status=503)["error"]
        assert "NoSuchOperator" in error, error
        assert s.ask("GET", "/readyz")[0] == 200


def test_versions(folder):
    put(folder + "/m/1/model.onnx", scaler(1, op="Identity"))
    put(folder + "/m/9/model.onnx", scaler(9, op="Identity"))
    put(folder + "/m/10/model.onnx", scaler(10, op="Identity"))
    put(folder + "/m/config.pbtxt", b"name: 'm'")
    with Server(folder) as s:
        assert answer(s) == [10, 20]  # the latest
        assert answer(s, path="/v2/models/%s/versions/9/infer") == [9, 18]
        assert s.json("GET", "/v2/models/m")["versions"] == ["1", "9", "10"]
        put(folder + "/m/11/model.onnx", scaler(11, op="Identity"))
        wait_until(lambda: answer(s) == [11, 22])
        os.remove(folder + "/m/11/model.onnx")
        wait_until(lambda: answer(s) == [10, 20])


def test_told(folder):
    """What a person who starts it should know: there are no models, two have one name, a file is no model though its name says so."""
    os.mkdir(folder + "/empty")
    with Server(folder + "/empty") as s:
        assert "copy one to the folder" in s.wait_for("no-models")[0]["why"]
        put(folder + "/empty/m.onnx", scaler(2, op="Identity"))
        wait_until(lambda: s.ask("GET", "/v2/models/m/ready")[0] == 200)
    put(folder + "/a/m.onnx", scaler(2, op="Identity"))
    put(folder + "/b/m.onnx", scaler(3, op="Identity"))
    put(folder + "/b/text.onnx", b"this is no model")
    put(folder + "/b/readme.txt", b"this neither")
    with Server(folder + "/a", folder + "/b") as s:
        assert s.wait_for("left-out")[0]["path"].endswith("b/m.onnx") and answer(s) == [2, 4]
        failed = s.wait_for("load-failed")
        assert len(failed) == 1 and failed[0]["model"] == "text" and "not a model" in failed[0]["why"], failed


def test_named(folder):
    put(folder + "/models/model.onnx", scaler(2, op="Identity"))
    with Server(folder + "/models", "--name", "mine") as s:
        assert answer(s, "mine") == [2, 4] and s.ask("GET", "/v2/models/model/ready")[0] == 404


def test_control(folder):
    put(folder + "/m.onnx", scaler(2, op="Identity"))
    with Server(folder) as s:
        s.json("POST", "/v2/repository/models/m/unload", {})
        assert "unloaded" in s.json("POST", "/v2/models/m/infer", ASK, status=503)["error"]
        s.json("POST", "/v2/repository/models/m/load", {})
        assert answer(s) == [2, 4]
        assert "no model" in s.json("POST", "/v2/repository/models/%2e%2e/load", {}, status=400)["error"]
    with Server(folder, "--no-control") as s:
        s.json("POST", "/v2/repository/models/m/unload", {}, status=403)
    with Server(folder, "--no-watch") as s:
        put(folder + "/n.onnx", scaler(3, op="Identity"))
        time.sleep(0.3)
        assert s.ask("GET", "/v2/models/n/ready")[0] == 404
        s.json("POST", "/v2/repository/models/n/load", {})
        assert answer(s, "n") == [3, 6]
    gone = subprocess.run([PROGRAM, folder + "/nobody"], capture_output=True)
    assert gone.returncode == 1 and b"nobody" in gone.stderr


def test_shared_runs(folder):
    put(folder + "/rows.onnx", scaler(2, op="Identity"))
    put(folder + "/mixed.onnx", scaler(2, op="Softmax"))  # over the batch: rows depend on each other
    with Server(folder, "--batch-delay", "0.05", "--threads", "1") as s:
        def ask(name, i):
            rows = i % 3 + 1
            data = [float(i + k) for k in range(rows * 2)]
            return s.json("POST", f"/v2/models/{name}/infer", {"inputs": [{"name": "x", "shape": [rows, 2], "datatype": "FP32", "data": data}]})["outputs"][0]
        alone = {n: [ask(n, i) for i in range(12)] for n in ("rows", "mixed")}
        for n in ("rows", "mixed"):
            for _ in range(3):
                together = at_once(12, lambda i: ask(n, i))
                assert together == alone[n], n
        m = s.metrics()
        assert m['hologram_batch_size_sum{model="rows"}'] == 48 > m['hologram_batch_size_count{model="rows"}'] + 10
        assert m['hologram_batch_size_sum{model="mixed"}'] == m['hologram_batch_size_count{model="mixed"}'] == 48
        said = {e["model"]: e["event"] for e in s.log() if e["event"] in ("shares-runs", "runs-alone")}
        assert said == {"rows": "shares-runs", "mixed": "runs-alone"}, said


def test_not_worth_sharing(folder):
    """Where a run of two costs as much as two runs, requests do not wait for each other, once that is known."""
    put(folder + "/rows.onnx", scaler(2, op="Identity"))
    rows = 50000
    head = json.dumps({"inputs": [{"name": "x", "shape": [rows, 2], "datatype": "FP32", "parameters": {"binary_data_size": rows * 8}}], "parameters": {"binary_data_output": True}}).encode()
    body = head + struct.pack("<2f", 1, 2) * rows
    with Server(folder, "--threads", "1") as s:
        def ask(i):
            status, headers, data = s.ask("POST", "/v2/models/rows/infer", body, {"inference-header-content-length": str(len(head))})
            assert status == 200 and data.endswith(struct.pack("<2f", 2, 4)), (status, data[:200])
        for _ in range(4):
            at_once(12, ask)
        said = [e for e in s.log() if e["event"] == "shares-runs"]
        shared = s.metrics()['hologram_batch_size_sum{model="rows"}'] - s.metrics()['hologram_batch_size_count{model="rows"}']
        assert said, "no requests met"
        if float(said[0]["cost_of_one_more"]) >= 0.9:
            assert shared <= 11, shared  # the first that met
        else:
            print(f"repository_test.py: one more in a run cost {said[0]['cost_of_one_more']} of one: nothing can be said of runs that are not shared")


def test_given_twice(folder):
    """Of two files that are named, one cannot be left out in silence."""
    put(folder + "/m.onnx", scaler(1, op="Identity"))
    put(folder + "/b/m.onnx", scaler(2, op="Identity"))
    for words, why in ((["/m.onnx", "/m.onnx"], "is given twice"), (["/m.onnx", "/b/m.onnx"], "are both called m")):
        ran = subprocess.run([PROGRAM, "--port", "0", *(["--no-sandbox"] if WATCHED else []), *[folder + w for w in words]], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 1 and why in ran.stderr, (ran.returncode, ran.stderr)


def test_killed(folder):
    """kill -9 in the middle of swaps: what is in the folder stays whole, and the next server serves it."""
    put(folder + "/m.onnx", scaler(1, op="Identity"))
    for i in range(2, 5):
        s = Server(folder)
        put(folder + "/m.onnx", scaler(i, op="Identity"))
        time.sleep(0.02 * i)
        s.process.kill()
        s.process.wait()
        shutil.rmtree(s.folder)
        with Server(folder) as s:
            assert answer(s) == [i, 2 * i]
    assert os.listdir(folder) == ["m.onnx"]


if __name__ == "__main__":
    main(globals())
