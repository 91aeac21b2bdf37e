"""kserve_test.py - KServe over HTTP: facts, runs in JSON and binary, errors that say what is wrong, shared memory."""
import json, math, os, random, struct, subprocess
from multiprocessing import shared_memory
from support import *


def pictures(rows, seed=1):
    r = random.Random(seed)
    return [r.random() for _ in range(64 * rows)]


def request(data, rows=1, **more):
    return {"inputs": [{"name": "image", "shape": [rows, 1, 8, 8], "datatype": "FP32", "data": data}], **more}


def close(a, b):
    return len(a) == len(b) and all(math.isclose(x, y, rel_tol=1e-4, abs_tol=1e-5) for x, y in zip(a, b))


def reference(folder, data, rows):
    """What `hologram run` says."""
    path = os.path.join(folder, "in.npy")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 1, 8, 8), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(data)}f", *data))
    out = subprocess.run([HOLOGRAM, "run", DIGITS, "-i", path, "--json"], capture_output=True, check=True)
    return json.loads(out.stdout)["outputs"][0]["data"]


def test_facts(folder):
    with Server(DIGITS) as s:
        assert s.ask("GET", "/healthz")[0] == 200 and s.ask("GET", "/readyz")[0] == 200
        assert s.json("GET", "/v2/health/live")["live"] and s.json("GET", "/v2/health/ready")["ready"]
        assert s.json("GET", "/v2")["name"] == "hologram"
        facts = s.json("GET", "/v2/models/digits")
        assert facts["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 8, 8]}], facts
        assert facts["versions"] == ["1"] and facts["outputs"][0]["shape"] == [-1, 10]
        assert s.json("GET", "/v2/models/digits/versions/1/ready")["ready"]
        assert s.json("GET", "/v2/models/digits/versions/2/ready", status=404)
        assert "no model 'other'" in s.json("GET", "/v2/models/other", status=404)["error"]
        assert s.json("POST", "/v2/repository/index", {}) == [{"name": "digits", "version": "1", "state": "READY", "reason": ""}]
        assert s.ask("GET", "/nothing")[0] == 404 and s.ask("DELETE", "/v2")[0] == 405
        for path in ["/v2/models/..%2f..%2fetc%2fpasswd", "/v2/models/%2e%2e/infer", "/v2/models/%00/ready", "/v2/models/digits%"]:
            assert s.ask("GET", path)[0] in (400, 404, 405), path
        status, headers, _ = s.ask("HEAD", "/healthz")
        assert status == 200 and headers["content-length"] == "3"


def test_json(folder):
    data = pictures(3)
    with Server(DIGITS) as s:
        got = s.json("POST", "/v2/models/digits/infer", request(data, 3, id="me"))
        assert got["id"] == "me" and got["model_name"] == "digits" and got["outputs"][0]["shape"] == [3, 10]
        assert close(got["outputs"][0]["data"], reference(folder, data, 3))
        nested = [[[data[r * 64 + i * 8:r * 64 + i * 8 + 8] for i in range(8)]] for r in range(3)]
        again = s.json("POST", "/v2/models/digits/infer", request(nested, 3, outputs=[{"name": "probabilities"}]))
        assert again["outputs"] == got["outputs"]
        # Keys in any order, and others that nobody knows.
        text = '{"outputs":[],"x":{"y":[1,{"z":null}]},"inputs":[{"data":%s,"shape":[3,1,8,8],"datatype":"FP32","name":"image"}]}' % json.dumps(data)
        assert s.json("POST", "/v2/models/digits/infer", text)["outputs"] == got["outputs"]


def test_binary(folder):
    data = pictures(2)
    packed = struct.pack("<128f", *data)
    with Server(DIGITS) as s:
        want = s.json("POST", "/v2/models/digits/infer", request(data, 2))["outputs"][0]["data"]
        head = {"inputs": [{"name": "image", "shape": [2, 1, 8, 8], "datatype": "FP32", "parameters": {"binary_data_size": len(packed)}}],
                "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}]}
        for more in ["", " "]:  # the tensor is aligned once, and once it is not
            text = json.dumps(head).encode() + more.encode()
            status, headers, body = s.ask("POST", "/v2/models/digits/infer", text + packed, {"Inference-Header-Content-Length": str(len(text))})
            assert status == 200, body
            size = int(headers["inference-header-content-length"])
            answer = json.loads(body[:size])
            assert answer["outputs"][0]["parameters"]["binary_data_size"] == 80 == len(body) - size
            assert close(struct.unpack("<20f", body[size:]), want)
        head["parameters"] = {"binary_data_output": True}
        del head["outputs"]
        text = json.dumps(head).encode()
        status, headers, body = s.ask("POST", "/v2/models/digits/infer", text + packed, {"Inference-Header-Content-Length": str(len(text))})
        assert status == 200 and len(body) == int(headers["inference-header-content-length"]) + 80
        for wrong in [text + packed[1:], text + packed + b"x"]:
            status, _, body = s.ask("POST", "/v2/models/digits/infer", wrong, {"Inference-Header-Content-Length": str(len(text))})
            assert status == 400 and b"binary data" in body, body
        for wrong in ("999999", "-1", "abc", "1.5", "0x10", "9" * 30, ""):
            assert s.ask("POST", "/v2/models/digits/infer", text, {"Inference-Header-Content-Length": wrong})[0] == 400, wrong


def test_long_text(folder):
    """Numbers of many requests as text: workers read them. The answers are those of binary data; what is wrong at the end is told."""
    rows = 3000
    data = pictures(rows)
    path = "/v2/models/digits/infer"
    with Server(DIGITS, "--batch-delay", "0.001") as s:
        text = json.dumps(request(data, rows)).encode()
        whole = s.json("POST", path, text)["outputs"][0]["data"]
        head = json.dumps({"inputs": [{"name": "image", "shape": [rows, 1, 8, 8], "datatype": "FP32", "parameters": {"binary_data_size": rows * 256}}]}).encode()
        for pad in range(4):  # wherever the numbers lie in the bytes of the request
            status, _, answer = s.ask("POST", path, head + b" " * pad + struct.pack(f"<{len(data)}f", *data), {"inference-header-content-length": str(len(head) + pad)})
            assert status == 200 and close(json.loads(answer)["outputs"][0]["data"], whole)
        assert all(close(got["outputs"][0]["data"], whole) for got in at_once(4, lambda i: s.json("POST", path, text)))
        assert "more elements" in s.json("POST", path, request(data + [1], rows), status=400)["error"]
        assert s.ask("POST", path, text[:-2])[0] == 400
        gone = socket.create_connection(("localhost", s.port))
        gone.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (path.encode(), len(text)) + text)
        gone.close()
        late = s.ask("POST", path, request(data, rows, parameters={"timeout": 1}))
        assert late[0] in (200, 504), late[2][:300]
        assert s.json("POST", path, request(data[:64])) and s.metrics()["hologram_requests_open"] <= 2


def test_wrong(folder):
    data = pictures(1)
    good = request(data)["inputs"][0]
    wrong = [
        ({"inputs": []}, "'image' is missing"),
        ({"inputs": [{**good, "name": "other"}]}, "no input 'other'"),
        ({"inputs": [good, good]}, "given twice"),
        ({"inputs": [{**good, "datatype": "FP31"}]}, "no datatype"),
        ({"inputs": [{**good, "datatype": "INT64"}]}, "image"),
        ({"inputs": [{**good, "shape": [1, 1, 8, 9]}]}, "image"),
        ({"inputs": [{**good, "shape": [2, 1, 8, 8]}]}, "fewer elements"),
        ({"inputs": [{**good, "data": data + [1]}]}, "more elements"),
        ({"inputs": [{**good, "data": data[:-1] + ["x"]}]}, "number is expected"),
        ({"inputs": [{**good, "shape": [2**62, 2**62, 8, 8]}]}, "shape"),
        ({"inputs": [{**good, "shape": [-1, 1, 8, 8]}]}, "negative"),
        ({"inputs": [{k: v for k, v in good.items() if k != "data"}]}, "no data"),
        ({"inputs": [good], "outputs": [{"name": "other"}]}, "no output 'other'"),
        ({"inputs": [good], "outputs": [{"name": "probabilities", "parameters": {"classification": 2}}]}, "not supported"),
        ("{", "ends in the middle"),
        ("[]", "object is expected"),
        ('{"inputs":' + "[" * 100000, "object is expected"),
        ('{"x":' + "[" * 100000, "nested too deeply"),
        ('{"inputs":[]} x', "follows the end"),
        ("", "no body"),
    ]
    with Server(DIGITS) as s:
        for body, words in wrong:
            error = s.json("POST", "/v2/models/digits/infer", body, status=400)["error"]
            assert words in error, (words, error)
        assert "br" in s.json("POST", "/v2/models/digits/infer", request(data), {"content-encoding": "br"}, status=415)["error"]
        assert s.json("POST", "/v2/models/digits/infer", request(data))["outputs"]  # it still works


def test_shared_memory(folder):
    data = pictures(2)
    region = shared_memory.SharedMemory(create=True, size=1024)
    try:
        struct.pack_into("<128f", region.buf, 64, *data)
        with Server(DIGITS, "--shared-memory") as s:
            want = s.json("POST", "/v2/models/digits/infer", request(data, 2))["outputs"][0]["data"]
            s.json("POST", "/v2/systemsharedmemory/region/all/register", {"key": "/" + region.name.lstrip("/"), "offset": 64, "byte_size": 960})
            assert s.json("GET", "/v2/systemsharedmemory/status")[0]["byte_size"] == 960
            here = {"shared_memory_region": "all", "shared_memory_byte_size": 512}
            there = {"shared_memory_region": "all", "shared_memory_byte_size": 80, "shared_memory_offset": 600}
            ask = {"inputs": [{"name": "image", "shape": [2, 1, 8, 8], "datatype": "FP32", "parameters": here}],
                   "outputs": [{"name": "probabilities", "parameters": there}]}
            got = s.json("POST", "/v2/models/digits/infer", ask)["outputs"][0]
            assert "data" not in got and close(struct.unpack_from("<20f", region.buf, 664), want)
            there["shared_memory_offset"] = 900
            assert "does not fit" in s.json("POST", "/v2/models/digits/infer", ask, status=400)["error"]
            for key, size in [("../../etc/passwd", 1), ("/nobody", 1), (region.name, 4096)]:
                s.json("POST", "/v2/systemsharedmemory/region/b/register", {"key": key, "offset": 0, "byte_size": size}, status=400)
            s.json("POST", "/v2/systemsharedmemory/region/all/unregister", {})
            assert "no region" in s.json("POST", "/v2/models/digits/infer", ask, status=400)["error"]
        with Server(DIGITS) as s:
            s.json("GET", "/v2/systemsharedmemory/status", status=403)
    finally:
        region.close()
        region.unlink()


def test_metrics(folder):
    with Server(DIGITS) as s:
        for _ in range(3):
            s.json("POST", "/v2/models/digits/infer", request(pictures(1)))
        m = s.metrics()
        assert m['hologram_requests_total{model="digits",protocol="kserve",code="200"}'] == 3
        assert m['hologram_stage_seconds_count{model="digits",stage="compute"}'] == 3
        assert m['hologram_batch_size_count{model="digits"}'] == 3
        assert m['hologram_stage_seconds_bucket{model="digits",stage="total",le="+Inf"}'] == 3
        assert m['hologram_model_ready{model="digits",version="1"}'] == 1 and m["process_resident_memory_bytes"] > 1e6
        assert s.json("GET", "/status")["models"][0]["requests"] == 3
        status, headers, body = s.ask("GET", "/")
        assert status == 200 and b"<title>Hologram" in body and "default-src 'none'" in headers["content-security-policy"]
        line = [e for e in s.log() if e["event"] == "request"][0]
        assert line["model"] == "digits" and line["status"] == 200 and line["compute_seconds"] > 0


if __name__ == "__main__":
    main(globals())
