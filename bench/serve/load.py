"""load.py PORT PATH BODY HEADER RATE SECONDS even|poisson - asks at a rate, whether answers come or not, and prints median and p99 in milliseconds.

A request has its time, by the clock (even) or by chance (poisson), and waits for nobody: latency counts from that time, so that a server that stops for
a while is not asked less often meanwhile. PATH is that of an inference by KServe, BODY a file with its binary request of which HEADER bytes are JSON."""
import http.client, queue, random, sys, threading, time

port, path, file, header, rate, seconds, kind = sys.argv[1:]
port, rate, seconds = int(port), float(rate), float(seconds)
body = open(file, "rb").read()
CONNECTIONS = 48
asked, took, wrong = queue.SimpleQueue(), [], []


def client():
    c = http.client.HTTPConnection("localhost", port, timeout=60)
    c.connect()
    while (at := asked.get()) is not None:
        c.request("POST", path, body, {"inference-header-content-length": header})
        r = c.getresponse()
        r.read()
        took.append(time.perf_counter() - at)
        if r.status != 200:
            wrong.append(r.status)


clients = [threading.Thread(target=client) for _ in range(CONNECTIONS)]
for c in clients:
    c.start()
chance, at = random.Random(1), time.perf_counter() + 0.2
end = at + seconds
while at < end:
    if (left := at - time.perf_counter()) > 0:
        time.sleep(left)
    asked.put(at)
    at += chance.expovariate(rate) if kind == "poisson" else 1 / rate
for _ in clients:
    asked.put(None)
for c in clients:
    c.join()
if wrong:
    sys.exit(f"some requests failed: {wrong[:5]}")
took.sort()
print(f"{took[len(took) // 2] * 1e3:.3f} {took[int(len(took) * 0.99)] * 1e3:.3f}")
