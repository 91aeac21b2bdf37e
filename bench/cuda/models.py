#!/usr/bin/env python3
"""models.py - whole models on a GPU, beside PyTorch in the same run: the tables of bench/CUDA.md.

    python3 bench/cuda/models.py prepare FOLDER --hologram build/hologram     exports and compiles, on all cores
    python3 bench/cuda/models.py measure FOLDER --hologram build/hologram     times both sides, one after the other, and compares answers

Needs PyTorch, torchvision, transformers and a GPU. Both sides have their inputs in the memory of the GPU. Weights are PyTorch's own
random ones. --models, --classes and --batches take lists with commas; --ways says how PyTorch runs: eager, graph and compile,
of which the fastest counts. `compile` takes a minute a row.
"""
import argparse, json, math, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

CLASSES = {"fused": "f32", "tf32": "tf32", "f16": "f16"}
IMAGES = ("resnet50", "mobilenet_v2", "vgg16", "vit_b_16")
NAMES = IMAGES + ("bert_base", "gpt2")


def model_of(name):
    """The model, and its inputs by batch."""
    import torch, torchvision.models, transformers
    torch.manual_seed(0)
    if name in IMAGES:
        return getattr(torchvision.models, name)().eval(), lambda batch: {"x": torch.randn(batch, 3, 224, 224)}
    words = lambda length: lambda batch: {"input_ids": torch.randint(0, 30000, (batch, length))}
    if name == "bert_base":
        return transformers.BertModel(transformers.BertConfig(attn_implementation="sdpa")).eval(), words(128)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False, attn_implementation="sdpa")).eval(), words(64)


def first(result):
    """The first tensor of what a model gives."""
    return result if hasattr(result, "dtype") else result[0]


def export(folder, name, batch):
    """Writes NAME_BATCH.onnx, the inputs as NAME_BATCH.in.INPUT.npy, and PyTorch's answer in f32 as NAME_BATCH.out.npy."""
    import numpy, torch, warnings
    warnings.filterwarnings("ignore")
    torch.set_grad_enabled(False)
    torch.set_num_threads(2)
    model, inputs = model_of(name)
    torch.manual_seed(batch)
    given = inputs(batch)

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            return first(self.inner(x))

    path = os.path.join(folder, f"{name}_{batch}")
    for key, value in given.items():
        numpy.save(f"{path}.in.{key}.npy", value.numpy())
    numpy.save(path + ".out.npy", Plain()(*given.values()).numpy())
    torch.onnx.export(Plain().eval(), tuple(given.values()), path + ".onnx", input_names=list(given), output_names=["y"], dynamo=True,
                      external_data=True, verbose=False)


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise SystemExit(" ".join(command) + "\n" + done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def prepare(o):
    os.makedirs(o.folder, exist_ok=True)

    def one(name, batch):
        run([sys.executable, __file__, "export", o.folder, "--models", name, "--batches", str(batch)])

        def archive(numeric):
            run([o.hologram, "compile", "-q", "--no-verify", f"{o.folder}/{name}_{batch}.onnx", "--target", "cuda", "--numeric", numeric,
                 "-t", "2", "-o", f"{o.folder}/{name}_{batch}.{numeric}.holo"])
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(archive, o.classes))
    with ThreadPoolExecutor(6) as pool:
        for f in [pool.submit(one, n, b) for b in sorted(o.batches, reverse=True) for n in o.models]:
            f.result()


def timed(torch, call):
    """The best of many runs, in milliseconds."""
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    best, total = math.inf, 0
    for _ in range(50):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(), call(), b.record(), b.synchronize()
        best, total = min(best, a.elapsed_time(b)), total + a.elapsed_time(b)
        if total > 1000:
            break
    return best


def peer(torch, model, given, way):
    plain = lambda: model(**given) if "x" not in given else model(given["x"])
    if way == "compile":
        torch._dynamo.reset()
        fast = torch.compile(model, mode="reduce-overhead")
        return timed(torch, lambda: fast(**given) if "x" not in given else fast(given["x"]))
    if way == "eager":
        return timed(torch, plain)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            plain()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plain()
    return timed(torch, graph.replay)


def measure(o):
    import numpy, torch, warnings
    warnings.filterwarnings("ignore")
    torch.set_grad_enabled(False)
    rows = []
    for name in o.models:
        for numeric in o.classes:
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = numeric == "tf32"
            model, inputs = model_of(name)
            model = model.cuda()
            if numeric == "f16":
                model = model.half()
            if name in ("resnet50", "mobilenet_v2", "vgg16"):
                model = model.to(memory_format=torch.channels_last)
            for batch in o.batches:
                path, given = f"{o.folder}/{name}_{batch}", {}
                for key, value in inputs(batch).items():
                    value = value.cuda()
                    given[key] = value.half() if numeric == "f16" and value.is_floating_point() else value
                theirs = {way: peer(torch, model, given, way) for way in o.ways}
                torch.cuda.empty_cache()
                archive = f"{path}.{numeric}.holo"
                ours = json.loads(run([o.hologram, "bench", archive, "--device", "cuda:0", "-s", "0.3", "--json"]))["min_us"] / 1e3
                asked = [w for key in given for w in ("--input", f"{key}={path}.in.{key}.npy")]
                run([o.hologram, "run", archive, "--device", "cuda:0", *asked, "-o", f"{path}.{numeric}.out"])
                got, want = numpy.load(f"{path}.{numeric}.out/y.npy").astype("f8"), numpy.load(path + ".out.npy").astype("f8")
                row = dict(model=name, batch=batch, numeric=numeric, pytorch_ms=theirs, hologram_ms=ours,
                           worst=float(abs(got - want).max() / abs(want).max()))
                rows.append(row)
                print(json.dumps(row), flush=True)
            del model
            torch.cuda.empty_cache()
    for batch in o.batches:
        for numeric in o.classes:
            ratios = [min(r["pytorch_ms"].values()) / r["hologram_ms"] for r in rows if (r["batch"], r["numeric"]) == (batch, numeric)]
            print(f"batch {batch}, {numeric}: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} in the geometric mean, "
                  f"least {min(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda kind: lambda text: [kind(x) for x in text.split(",")]
    parser.add_argument("what", choices=("prepare", "measure", "export"))
    parser.add_argument("folder")
    parser.add_argument("--hologram", default="build/hologram")
    parser.add_argument("--models", type=listed(str), default=list(NAMES))
    parser.add_argument("--classes", type=listed(str), default=list(CLASSES))
    parser.add_argument("--batches", type=listed(int), default=[1, 32])
    parser.add_argument("--ways", type=listed(str), default=["eager", "graph", "compile"])
    o = parser.parse_args()
    if o.what == "export":
        export(o.folder, o.models[0], o.batches[0])
    else:
        {"prepare": prepare, "measure": measure}[o.what](o)


main()
