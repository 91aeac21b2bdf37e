"""chat.py PORT MODEL [--plain] - tokens a second of a language model that is served, by OpenAI's completions: one client, and eight at once."""
import http.client, json, sys, threading, time

port, model, *more = sys.argv[1:]


def ask(i, tokens):
    c = http.client.HTTPConnection("localhost", int(port), timeout=600)
    body = {"model": model, "prompt": f"Number {i}: once upon a time there was", "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
    c.request("POST", "/v1/completions", json.dumps(body), {"content-type": "application/json"})
    answer = json.loads(c.getresponse().read())
    return answer["usage"]["completion_tokens"]


def measure(clients, tokens):
    done = []
    threads = [threading.Thread(target=lambda i=i: done.append(ask(i, tokens))) for i in range(clients)]
    began = time.time()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(done) / (time.time() - began)


measure(1, 4)
one, eight = measure(1, 64), measure(8, 64)
print(f"{one} {eight}" if more else f"one client: {one:.1f} tokens a second; eight: {eight:.1f}; ratio {eight / one:.2f}")
