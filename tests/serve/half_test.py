"""half_test.py - clients that close their sending side and still read are answered; clients that are gone cost nothing more."""
import ssl, struct
from http2_test import CANCEL, DATA as DATA_FRAME, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, WINDOW_UPDATE, Peer, code, frame, head
from models import *
from support import *

IMAGE = {"inputs": [{"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32", "data": [0.5] * 64}]}
INFER, TEXT, CHAT = "/v2/models/digits/infer", "/v1/completions", "/v1/chat/completions"
CHAT_ASK = {"messages": [{"role": "user", "content": "hello"}], "ignore_eos": True}
ENDLESS = {"prompt": "abc", "max_tokens": 60000, "ignore_eos": True}
INTERIM = b"HTTP/1.1 102 Processing\r\n\r\n"


def post(path, body, version=b"1.1"):
    body = json.dumps(body).encode()
    return b"POST %s HTTP/%s\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (path.encode(), version, len(body)) + body


def soon(what, seconds=10):
    until = time.time() + seconds
    while time.time() < until and not what():
        time.sleep(0.02)
    assert what()


def stops(s, count):
    """What was asked for is not computed any more; `count` requests were given up so far."""
    soon(lambda: s.metrics()['hologram_cancelled_total{model="talker"}'] == count)
    tokens = s.metrics()['hologram_tokens_total{model="talker",kind="generated"}']
    time.sleep(0.2)
    assert s.metrics()['hologram_tokens_total{model="talker",kind="generated"}'] == tokens
    assert s.metrics()["hologram_requests_open"] == 1


def test_answered(folder):
    with Server(DIGITS, language(folder), "--batch-delay", "0.3") as s:
        got = raw(s.port, post(INFER, IMAGE), shut=True)
        assert got.startswith(INTERIM + b"HTTP/1.1 200 OK\r\n") and b"connection: close" in got and b"probabilities" in got, got
        got = raw(s.port, post(INFER, IMAGE, b"1.0"), shut=True)  # a client that does not know interim answers
        assert got.startswith(b"HTTP/1.1 200 OK\r\n") and b"probabilities" in got, got
        got = raw(s.port, post(INFER, IMAGE) * 2 + b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", shut=True)
        assert got.count(b"HTTP/1.1 200 OK\r\n") == 3 and got.count(b"probabilities") == 2 and got.endswith(b"ok\n"), got
        got = raw(s.port, b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", shut=True)  # at once: no interim answer
        assert got.startswith(b"HTTP/1.1 200 OK\r\n"), got
        whole = s.json("POST", CHAT, {**CHAT_ASK, "max_tokens": 2000})["choices"][0]["message"]["content"]
        got = raw(s.port, post(CHAT, {**CHAT_ASK, "max_tokens": 2000}), shut=True)
        answer = json.loads(got.rsplit(b"\r\n\r\n", 1)[1])
        assert answer["usage"]["completion_tokens"] == 2000 and answer["choices"][0]["message"]["content"] == whole
        got = raw(s.port, post(CHAT, {**CHAT_ASK, "max_tokens": 2000, "stream": True}), shut=True)
        assert got.count(b"HTTP/1.1 200 OK\r\n") == 1 and got.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), got[-300:]
        pieces = [json.loads(l[6:]) for l in got.split(b"\n") if l.startswith(b"data: {")]
        assert "".join(p["choices"][0]["delta"].get("content") or "" for p in pieces) == whole
        # A request of which the rest never comes is none.
        assert raw(s.port, post(INFER, IMAGE)[:-5], shut=True) == b"" and raw(s.port, b"GET /hea", shut=True) == b""
        assert s.metrics()["hologram_requests_open"] == 1


def test_gone(folder):
    with Server(language(folder), "--texts", "2") as s:
        c = socket.create_connection(("localhost", s.port))
        c.sendall(post(TEXT, ENDLESS))
        soon(lambda: s.metrics()["hologram_requests_open"] == 2)
        c.close()
        stops(s, 1)
        # It closes one side, sees that the server asks whether it is there, and goes later.
        c = socket.create_connection(("localhost", s.port), timeout=10)
        c.sendall(post(TEXT, ENDLESS))
        c.shutdown(socket.SHUT_WR)
        assert c.recv(1000) == INTERIM
        assert s.metrics()["hologram_requests_open"] == 2
        c.close()
        stops(s, 2)
        c = socket.create_connection(("localhost", s.port), timeout=10)
        c.sendall(post(TEXT, {**ENDLESS, "stream": True}))
        c.shutdown(socket.SHUT_WR)
        assert b"200 OK" in c.recv(1000)
        c.close()
        stops(s, 3)
        assert s.metrics()['hologram_requests_total{model="talker",protocol="openai",code="499"}'] == 2  # and one that had begun


def test_http2(folder):
    def ask(peer, stream, path, body, flags=END_STREAM):
        peer.send(frame(HEADERS, END_HEADERS, stream, head(path.encode(), b"POST")) + frame(DATA_FRAME, flags, stream, json.dumps(body).encode()))

    with Server(language(folder), "--texts", "2") as s:
        p = Peer(s.port)
        p.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 20)))  # of the connection, not of its streams
        ask(p, 1, TEXT, {**ENDLESS, "max_tokens": 3000})
        ask(p, 3, TEXT, {**ENDLESS, "max_tokens": 4000, "stream": True})
        ask(p, 5, TEXT, ENDLESS, flags=0)  # the rest of this one never comes
        p.socket.shutdown(socket.SHUT_WR)
        got, pings, ended = {1: b"", 3: b""}, 0, set()
        while f := p.next():
            pings += f[0] == PING
            if f[0] == DATA_FRAME:
                got[f[2]] += f[3]
                ended |= {f[2]} if f[1] & END_STREAM else set()
            if f[0] == RST_STREAM:
                assert f[2] == 5 and code(f) == CANCEL
        assert pings and json.loads(got[1])["usage"]["completion_tokens"] == 3000, (pings, got[1][-300:])
        # A client that closed its side opens no window: the stream ends where the window ends, and holds nothing.
        assert ended == {1} and got[3].startswith(b"data: ") and len(got[3]) == 65535, (ended, len(got[3]))
        soon(lambda: s.metrics()["hologram_requests_open"] == 1)
        before = s.metrics()['hologram_cancelled_total{model="talker"}']
        p = Peer(s.port)
        ask(p, 1, TEXT, ENDLESS)
        soon(lambda: s.metrics()["hologram_requests_open"] == 2)
        p.close()
        stops(s, before + 1)


def test_tls(folder):
    """Both ways in which a client ends its side: TLS's own word, and the end of the bytes."""
    at = lambda name: os.path.join(folder, name)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", at("key"), "-out", at("pem"), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   check=True, capture_output=True)
    context = ssl.create_default_context(cafile=at("pem"))

    class Speaker:
        def __init__(self, port):
            self.socket = socket.create_connection(("localhost", port), timeout=10)
            self.read, self.write = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = context.wrap_bio(self.read, self.write, server_hostname="localhost")
            self.until(self.tls.do_handshake)

        def send(self):
            if data := self.write.read():
                self.socket.sendall(data)

        def until(self, step):
            while True:
                try:
                    result = step()
                    self.send()
                    return result
                except ssl.SSLWantReadError:
                    self.send()
                    piece = self.socket.recv(65536)
                    if not piece:
                        return b""
                    self.read.write(piece)

        def all(self):
            got = b""
            try:
                while piece := self.until(lambda: self.tls.read(65536)):
                    got += piece
            except ssl.SSLError:
                pass
            return got

    with Server(DIGITS, language(folder), "--batch-delay", "0.3", "--tls-cert", at("pem"), "--tls-key", at("key")) as s:
        for way in ("its word", "its bytes"):
            c = Speaker(s.port)
            c.until(lambda: c.tls.write(post(INFER, IMAGE)))
            if way == "its word":
                try:
                    c.tls.unwrap()
                except ssl.SSLWantReadError:
                    c.send()
            else:
                c.socket.shutdown(socket.SHUT_WR)
            got = c.all()
            assert got.startswith(INTERIM + b"HTTP/1.1 200 OK\r\n") and b"probabilities" in got, (way, got)
        c = Speaker(s.port)
        c.until(lambda: c.tls.write(post(TEXT, ENDLESS)))
        time.sleep(0.3)
        c.socket.close()
        s.connect = lambda timeout=30: http.client.HTTPSConnection("localhost", s.port, context=context, timeout=timeout)
        stops(s, 1)


if __name__ == "__main__":
    main(globals())
