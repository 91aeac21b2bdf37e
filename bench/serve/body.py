"""body.py PORT MODEL FOLDER - writes a request for a model as KServe's binary form has it: FOLDER/body, and FOLDER/wrk.lua, which sends it."""
import json, random, struct, sys, urllib.request

port, model, folder = sys.argv[1:]
facts = json.load(urllib.request.urlopen(f"http://localhost:{port}/v2/models/{model}"))
inputs, data = [], b""
for port_ in facts["inputs"]:
    shape = [n if n > 0 else 1 if i == 0 else 64 for i, n in enumerate(port_["shape"])]
    count = 1
    for n in shape:
        count *= n
    numbers = random.Random(1)
    packed = struct.pack(f"<{count}q", *(numbers.randrange(1, 100) if "input_ids" in port_["name"] else 1 for _ in range(count))) if port_["datatype"] == "INT64" else struct.pack(f"<{count}f", *(numbers.random() for _ in range(count)))
    inputs.append({"name": port_["name"], "shape": shape, "datatype": port_["datatype"], "parameters": {"binary_data_size": len(packed)}})
    data += packed
head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
open(folder + "/body", "wb").write(head + data)
open(folder + "/wrk.lua", "w").write(f'''wrk.method = "POST"
local file = io.open("{folder}/body", "rb")
wrk.body = file:read("*a")
wrk.headers["inference-header-content-length"] = "{len(head)}"
''')
