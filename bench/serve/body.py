"""body.py PORT MODEL FOLDER - writes a request for a model as KServe's binary form has it (FOLDER/body, and FOLDER/wrk.lua, which sends it) and
as a message of gRPC (FOLDER/message). Prints facts of it as JSON."""
import json, random, struct, sys, urllib.request

port, model, folder = sys.argv[1:]
facts = json.load(urllib.request.urlopen(f"http://localhost:{port}/v2/models/{model}"))


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def number(name, r):
    return r.randrange(1, 100) if "input_ids" in name else int("mask" in name)


inputs, data, message, raw, shapes = [], b"", field(1, model.encode()), b"", {}
for given in facts["inputs"]:
    name, kind, r = given["name"], given["datatype"], random.Random(1)
    shape = [n if n > 0 else 1 if i == 0 else 64 for i, n in enumerate(given["shape"])]
    count = 1
    for n in shape:
        count *= n
    numbers = [number(name, r) if kind == "INT64" else r.random() for _ in range(count)]
    packed = struct.pack(f"<{count}{'q' if kind == 'INT64' else 'f'}", *numbers)
    inputs.append({"name": name, "shape": shape, "datatype": kind, "parameters": {"binary_data_size": len(packed)}})
    message += field(5, field(1, name.encode()) + field(2, kind.encode()) + field(3, b"".join(map(varint, shape))))
    raw += field(7, packed)
    data += packed
    shapes[name] = shape
head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
open(folder + "/body", "wb").write(head + data)
open(folder + "/message", "wb").write(b"\0" + struct.pack(">I", len(message + raw)) + message + raw)
open(folder + "/wrk.lua", "w").write(f'''wrk.method = "POST"
local file = io.open("{folder}/body", "rb")
wrk.body = file:read("*a")
wrk.headers["inference-header-content-length"] = "{len(head)}"
''')
print(json.dumps({"bytes": len(head) + len(data), "header": len(head), "shapes": shapes}))
