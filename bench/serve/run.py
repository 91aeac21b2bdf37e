"""run.py BUILD [MODEL.onnx...] - requests a second and latency of hologram-serve on loopback, as a table: beside `hologram bench` with all cores,
beside a minimal server on onnxruntime-node (PEER: a folder with node_modules/onnxruntime-node), and texts of eight clients beside one and
beside llama-server (LLAMA: a folder with build/bin/llama-server; CHAT: a model, else LLAMA/models/tinyllama-Q4_0.gguf).

Needs wrk and h2load (Debian: wrk, nghttp2-client). All sides are measured in turns, twice, and the best of each counts."""
import json, os, re, shutil, subprocess, sys, tempfile, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = float(os.environ.get("SECONDS_EACH", "3"))
TURNS = int(os.environ.get("TURNS", "2"))
CLIENTS = 8
build, models = os.path.abspath(sys.argv[1]), sys.argv[2:]
started = []


def out(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def start(*words, ready, log):
    process = subprocess.Popen(words, stdout=open(log, "w"), stderr=subprocess.STDOUT)
    started.append(process)
    until = time.time() + 120
    while process.poll() is None and time.time() < until:
        if ready in open(log, errors="replace").read():
            return process
        time.sleep(0.05)
    raise SystemExit(f"{words[0]} did not start: " + open(log, errors="replace").read()[-1000:])


def stop(process):
    process.terminate()
    process.wait()


def answers(port):
    """How many requests had which status."""
    text = urllib.request.urlopen(f"http://localhost:{port}/metrics").read().decode()
    found = {}
    for code, count in re.findall(r'hologram_requests_total\{.*code="(\d+)"\} (\d+)', text):
        found[code] = found.get(code, 0) + int(count)
    return found


def wrk(url, work, clients=CLIENTS):
    text = out("wrk", "-t1", f"-c{clients}", f"-d{SECONDS:g}s", "-s", work + "/wrk.lua", url)
    if "Non-2xx" in text:
        raise SystemExit(f"{url}: some requests failed\n{text}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def h2load(url, work, *more):
    text = out("h2load", "-t1", f"-D{SECONDS:g}", *more, url)
    failed = re.search(r"(\d+) failed, (\d+) errored", text)
    if failed and failed[1] != failed[2]:  # those in flight at the end count as errored
        raise SystemExit(f"{url}: some requests failed\n{text}")
    return float(re.search(r"([\d.]+) req/s", text)[1])


def at_half_load(port, path, work, rate, header, kind):
    """Median and p99 in milliseconds, asked at half the rate that it can take."""
    return map(float, out(sys.executable, HERE + "/load.py", port, path, work + "/body", header, f"{rate / 2:.3f}", f"{max(SECONDS, 8):g}", kind).split())


def tensors(path, work):
    name = os.path.splitext(os.path.basename(path))[0]
    server = start(build + "/hologram-serve", "--port", "8790", "--log-level", "info", path, ready='"ready"', log=work + "/log")
    facts = json.loads(out(sys.executable, HERE + "/body.py", "8790", name, work))
    url = f"http://localhost:8790/v2/models/{name}/infer"
    header = str(facts["header"])
    peer_folder = os.environ.get("PEER")
    best = {}
    shapes = [w for n, s in facts["shapes"].items() for w in ("--input-shape", f"{n}:{','.join(map(str, s))}")]

    def measure(what, number):
        best[what] = max(best.get(what, 0), number)

    peer = None
    if peer_folder:
        shutil.copy(HERE + "/peer.mjs", peer_folder)
        peer = start("node", peer_folder + "/peer.mjs", path, "8791", ready="listening", log=work + "/peer.log")
    for _ in range(TURNS):
        measure("bench", 1e6 / json.loads(out(build + "/hologram", "bench", path, *shapes, "--json", "--seconds", f"{SECONDS:g}"))["median_us"])
        measure("http", wrk(url, work))
        measure("grpc", h2load("http://localhost:8790/inference.GRPCInferenceService/ModelInfer", work, "-c2", "-m4", "-d", work + "/message", "-H", "content-type: application/grpc", "-H", "te: trailers"))
        if peer:
            measure("peer", wrk("http://localhost:8791/", work))
    median, p99 = at_half_load("8790", f"/v2/models/{name}/infer", work, best["http"], header, "even")
    chance_median, chance_p99 = at_half_load("8790", f"/v2/models/{name}/infer", work, best["http"], header, "poisson")
    wrong = {code: n for code, n in answers(8790).items() if code not in ("200", "499")}
    stop(server)
    if peer:
        stop(peer)
    if wrong:
        raise SystemExit(f"{name}: some requests failed: {wrong}")
    b = best["bench"]
    beside = f"{best['peer']:.0f} | {best['http'] / best['peer']:.2f}x" if peer else "- | -"
    print(f"| {name} | {facts['bytes']} | {b:.0f} | {best['http']:.0f} | {best['http'] / b:.2f}x | {best['grpc']:.0f} | {best['grpc'] / b:.2f}x | {median:.1f} | {p99 / median:.2f}x | {chance_p99 / chance_median:.2f}x | {beside} |", flush=True)


def chat(model, llama, work):
    server = start(build + "/hologram-serve", "--port", "8792", "--name", "chat", model, ready='"ready"', log=work + "/chat.log")
    peer = llama and start(llama + "/build/bin/llama-server", "-m", model, "--port", "8793", "-t", str(os.cpu_count()), "-np", "8", "-c", "2048", "--no-warmup", ready="listening on", log=work + "/llama.log")
    best = {}
    for _ in range(TURNS):
        for side, port in (("ours", "8792"), ("llama", "8793")):
            if side == "llama" and not peer:
                continue
            one, eight = map(float, out(sys.executable, HERE + "/chat.py", port, "chat", "--plain").split())
            for what, number in (("one", one), ("eight", eight)):
                best[side, what] = max(best.get((side, what), 0), number)
    stop(server)
    if peer:
        stop(peer)
    one, eight = best["ours", "one"], best["ours", "eight"]
    beside = f"{best['llama', 'one']:.1f} | {best['llama', 'eight']:.1f} | {eight / best['llama', 'eight']:.2f}x" if peer else "- | - | -"
    print(f"| {os.path.basename(model)} | {one:.1f} | {eight:.1f} | {eight / one:.2f}x | {beside} |", flush=True)


def main():
    work = tempfile.mkdtemp()
    try:
        if models:
            print("| model | bytes of a request | bench, runs/s | HTTP, requests/s | of bench | gRPC, requests/s | of bench | median at half load, ms | p99 of median | the same by chance | onnxruntime-node | beside it |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for path in models:
            tensors(path, work)
        llama = os.environ.get("LLAMA") or ""
        llama = llama if os.path.exists(llama + "/build/bin/llama-server") else ""
        model = os.environ.get("CHAT") or (os.environ.get("LLAMA", "") + "/models/tinyllama-Q4_0.gguf")
        if not os.path.exists(model):
            return print("no language model: LLAMA or CHAT names one")
        print("\n| language model | one client, tokens/s | eight clients | of one | llama-server, one | eight | beside it |\n|---|---:|---:|---:|---:|---:|---:|", flush=True)
        chat(model, llama, work)
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(work)


main()
