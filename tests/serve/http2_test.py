"""http2_test.py - HTTP/2 as RFC 9113 has it, frame by frame: what a server must answer, and what it must refuse, and how."""
import struct
from models import *
from support import *

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
NO_ERROR, PROTOCOL, INTERNAL, FLOW_CONTROL, TIMEOUT, STREAM_CLOSED, FRAME_SIZE, REFUSED, CANCEL, COMPRESSION = range(10)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):  # a header that no table has
    def text(s):
        return (bytes([len(s)]) if len(s) < 127 else b"\x7f" + bytes([len(s) - 127]) if len(s) < 255 else b"\x7f" + bytes([(len(s) - 127) & 127 | 128, (len(s) - 127) >> 7])) + s
    return b"\0" + text(name) + text(value)


def head(path=b"/healthz", method=b"GET", more=(), leave=None):
    fields = [(b":method", method), (b":path", path), (b":scheme", b"http"), (b":authority", b"x")]
    return b"".join(literal(n, v) for n, v in [f for f in fields if f[0] != leave] + list(more))


def setting(key, value):
    return struct.pack(">HI", key, value)


class Peer:
    """One connection; reads frames as they come."""

    def __init__(self, port, settings=b"", preface=PREFACE):
        self.socket = socket.create_connection(("localhost", port), timeout=10)
        self.bytes = b""
        self.is_closed = False
        self.send(preface + frame(SETTINGS, payload=settings))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except ConnectionError:
            self.is_closed = True

    def next(self):
        """(kind, flags, stream, payload); None: the connection has ended."""
        while len(self.bytes) < 9 or len(self.bytes) < 9 + int.from_bytes(self.bytes[:3], "big"):
            try:
                piece = self.socket.recv(65536)
            except (ConnectionError, TimeoutError):
                piece = b""
            if not piece:
                return None
            self.bytes += piece
        size = int.from_bytes(self.bytes[:3], "big")
        found = self.bytes[3], self.bytes[4], int.from_bytes(self.bytes[5:9], "big"), self.bytes[9:9 + size]
        self.bytes = self.bytes[9 + size:]
        return found

    def until(self, *kinds, stream=None):
        """The next frame of these kinds, leaving out others and what acknowledges."""
        while (f := self.next()) is not None:
            if f[0] in kinds and (stream is None or f[2] == stream) and not (f[0] == SETTINGS and f[1] & ACK):
                return f
        return None

    def close(self):
        self.socket.close()


def code(f):
    return int.from_bytes(f[3][4:8] if f[0] == GOAWAY else f[3][:4], "big")


GET = frame(HEADERS, END_STREAM | END_HEADERS, 1, head())
OPEN = frame(HEADERS, END_HEADERS, 1, head(b"/v2/models/digits/infer", b"POST"))
# What is sent, and with which codes the connection ends.
CONNECTION = {
    "data on stream 0": (frame(DATA, 0, 0, b"x"), PROTOCOL),
    "headers on stream 0": (frame(HEADERS, 5, 0, head()), PROTOCOL),
    "an even stream": (frame(HEADERS, 5, 2, head()), PROTOCOL),
    "data on a stream that was not opened": (frame(DATA, 1, 1, b"x"), PROTOCOL, STREAM_CLOSED),
    "a frame that is too long": (OPEN + frame(DATA, 0, 1, b"x" * 16385), FRAME_SIZE),
    "a continuation of nothing": (frame(CONTINUATION, 4, 1, head()), PROTOCOL),
    "a frame between headers and their continuation": (frame(HEADERS, 1, 1, head()[:5]) + frame(PING, payload=b"12345678"), PROTOCOL),
    "a continuation of another stream": (frame(HEADERS, 1, 1, head()[:5]) + frame(CONTINUATION, 4, 3, head()[5:]), PROTOCOL),
    "more padding than payload": (OPEN + frame(DATA, PADDED, 1, b"\x05abc"), PROTOCOL),
    "a ping of 7 bytes": (frame(PING, payload=b"1234567"), FRAME_SIZE),
    "a ping on a stream": (frame(PING, 0, 1, b"12345678"), PROTOCOL),
    "settings on a stream": (frame(SETTINGS, 0, 1), PROTOCOL),
    "settings of 5 bytes": (frame(SETTINGS, payload=b"12345"), FRAME_SIZE),
    "an acknowledgement that says something": (frame(SETTINGS, ACK, 0, setting(1, 1)), FRAME_SIZE),
    "a window that is too large": (frame(SETTINGS, payload=setting(4, 1 << 31)), FLOW_CONTROL),
    "frames that are too small": (frame(SETTINGS, payload=setting(5, 16383)), PROTOCOL),
    "push of 2": (frame(SETTINGS, payload=setting(2, 2)), PROTOCOL),
    "a window that grows by 0": (frame(WINDOW_UPDATE, payload=struct.pack(">I", 0)), PROTOCOL),
    "a window that overflows": (frame(WINDOW_UPDATE, payload=struct.pack(">I", 0x7FFFFFFF)) * 2, FLOW_CONTROL),
    "a window update of 3 bytes": (frame(WINDOW_UPDATE, payload=b"123"), FRAME_SIZE),
    "a reset of a stream that was not opened": (frame(RST_STREAM, 0, 1, struct.pack(">I", 8)), PROTOCOL),
    "a reset of 3 bytes": (OPEN + frame(RST_STREAM, 0, 1, b"123"), FRAME_SIZE),
    "a reset of stream 0": (frame(RST_STREAM, 0, 0, struct.pack(">I", 8)), PROTOCOL),
    "a promise by the client": (OPEN + frame(PUSH_PROMISE, 4, 1, struct.pack(">I", 2) + head()), PROTOCOL),
    "headers that do not unpack": (frame(HEADERS, 5, 1, b"\xff\xff\xff\xff\xff\xff"), COMPRESSION),
    "goaway on a stream": (frame(GOAWAY, 0, 1, struct.pack(">II", 0, 0)), PROTOCOL),
}
# The same of a stream: it is reset, or the connection ends.
STREAM = {
    "a name in upper case": (frame(HEADERS, 5, 1, head(more=[(b"Upper", b"x")])), PROTOCOL),
    "a header of connections": (frame(HEADERS, 5, 1, head(more=[(b"connection", b"close")])), PROTOCOL),
    "te that is not trailers": (frame(HEADERS, 5, 1, head(more=[(b"te", b"gzip")])), PROTOCOL),
    "no path": (frame(HEADERS, 5, 1, head(leave=b":path")), PROTOCOL),
    "no method": (frame(HEADERS, 5, 1, head(leave=b":method")), PROTOCOL),
    "no scheme": (frame(HEADERS, 5, 1, head(leave=b":scheme")), PROTOCOL),
    "two paths": (frame(HEADERS, 5, 1, head(more=[(b":path", b"/")])), PROTOCOL),
    "a pseudo-header that nobody knows": (frame(HEADERS, 5, 1, head(more=[(b":who", b"x")])), PROTOCOL),
    "one of answers": (frame(HEADERS, 5, 1, head(more=[(b":status", b"200")])), PROTOCOL),
    "a pseudo-header behind others": (frame(HEADERS, 5, 1, literal(b"a", b"b") + head()), PROTOCOL),
    "an empty path": (frame(HEADERS, 5, 1, head(b"")), PROTOCOL),
    "less data than content-length": (frame(HEADERS, 4, 1, head(b"/v2", b"POST", [(b"content-length", b"9")])) + frame(DATA, 1, 1, b"x"), PROTOCOL),
    "more data than content-length": (frame(HEADERS, 4, 1, head(b"/v2", b"POST", [(b"content-length", b"1")])) + frame(DATA, 1, 1, b"xxx"), PROTOCOL),
    "no data though content-length says so": (frame(HEADERS, 5, 1, head(b"/v2", b"POST", [(b"content-length", b"9")])), PROTOCOL),
    "a window that grows by 0": (OPEN + frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 0)), PROTOCOL),
    "a window that overflows": (OPEN + frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 0x7FFFFFFF)), FLOW_CONTROL),
    "headers again that do not end it": (OPEN + frame(HEADERS, 4, 1, literal(b"a", b"b")), PROTOCOL),
    "a pseudo-header in trailers": (OPEN + frame(HEADERS, 5, 1, literal(b":path", b"/")), PROTOCOL),
    "data behind the end": (frame(HEADERS, 5, 1, head(b"/v2/models/digits/infer", b"POST")) + frame(DATA, 0, 1, b"x"), STREAM_CLOSED, PROTOCOL, NO_ERROR),
}


def test_refused(folder):
    with Server(DIGITS) as s:
        for name, (data, *codes) in CONNECTION.items():
            p = Peer(s.port)
            p.send(data)
            f = p.until(GOAWAY)
            assert f is None or code(f) in codes, (name, code(f))
            assert f is not None, name
            assert p.until(GOAWAY) is None, name  # and it closes
            p.close()
        for name, (data, *codes) in STREAM.items():
            p = Peer(s.port)
            p.send(data)
            f = p.until(RST_STREAM, GOAWAY)
            assert f is not None and code(f) in codes, (name, f)
            if f[0] == RST_STREAM:  # other streams go on
                p.send(frame(HEADERS, 5, 3, head()))
                assert p.until(HEADERS, stream=3), name
            p.close()
        p = Peer(s.port, preface=b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
        assert p.until(HEADERS) is None
        p = Peer(s.port)
        p.socket.close()
        assert s.ask("GET", "/healthz")[0] == 200


def test_taken(folder):
    with Server(DIGITS) as s:
        p = Peer(s.port)
        assert p.until(SETTINGS)[3]
        p.send(frame(PING, payload=b"12345678") + frame(0xEE, 0xFF, 0, b"what") + frame(0xEE, 0, 1, b"ever") + frame(SETTINGS, payload=setting(0x99, 7)))
        assert p.until(PING) == (PING, ACK, 0, b"12345678")
        p.send(frame(PING, ACK, payload=b"87654321"))  # is not answered again
        # Headers in pieces, padded, with a priority; then trailers.
        text = head(b"/v2/models/digits/infer", b"POST")
        body = json.dumps({"inputs": [{"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32", "data": [0.5] * 64}]}).encode()
        p.send(frame(HEADERS, PADDED | 0x20, 1, b"\x03" + struct.pack(">IB", 0, 7) + text[:9] + b"\0\0\0") + frame(CONTINUATION, 0, 1, text[9:20]) + frame(CONTINUATION, END_HEADERS, 1, text[20:]))
        p.send(frame(DATA, PADDED, 1, b"\x04" + body[:99] + b"\0" * 4) + frame(DATA, 0, 1) + frame(DATA, 0, 1, body[99:]) + frame(HEADERS, 5, 1, literal(b"sum", b"x")))
        f = p.until(HEADERS, PING, stream=1)
        assert f[0] == HEADERS and not f[1] & END_STREAM
        assert b"probabilities" in p.until(DATA, stream=1)[3]
        # Many at once; one of them is given up, the others are answered.
        p.send(b"".join(frame(HEADERS, 5, n, head()) for n in range(3, 203, 2)) + frame(HEADERS, 4, 301, text) + frame(RST_STREAM, 0, 301, struct.pack(">I", CANCEL)))
        got = set()
        while len(got) < 100:
            got.add(p.until(HEADERS)[2])
        assert got == set(range(3, 203, 2))
        # What was begun before GOAWAY is answered.
        p.send(frame(HEADERS, 5, 401, head()) + frame(GOAWAY, payload=struct.pack(">II", 0, 0)))
        assert p.until(HEADERS, stream=401) and p.until(DATA, stream=401)[3] == b"ok\n"
        p.close()
        # A stream of a lower number than the last is not opened: nghttp2 takes it for one that was closed.
        p = Peer(s.port)
        p.send(frame(HEADERS, 5, 5, head()) + frame(HEADERS, 5, 3, head()) + frame(PING, payload=b"12345678"))
        streams = []
        while (f := p.until(HEADERS, PING, GOAWAY)) and f[0] == HEADERS:
            streams.append(f[2])
        assert 3 not in streams
        p.close()
        # HEAD has no body; a path that is none, headers that are too long.
        p = Peer(s.port)
        p.send(frame(HEADERS, 5, 1, head(method=b"HEAD")))
        assert p.until(HEADERS)[1] & END_STREAM
        p.send(frame(HEADERS, 5, 3, head(b"nothing")))
        assert p.until(HEADERS, RST_STREAM, stream=3)
        p.send(frame(HEADERS, 1, 5, head()) + b"".join(frame(CONTINUATION, 4 if i == 9 else 0, 5, literal(b"x%d" % i, b"y" * 4000)) for i in range(10)))
        assert p.until(HEADERS, RST_STREAM, GOAWAY, stream=None)
        p.close()


def test_windows(folder):
    """What the client does not want yet is not sent, and does not keep others."""
    with Server(DIGITS) as s:
        p = Peer(s.port, setting(4, 10))
        p.send(frame(HEADERS, 5, 1, head(b"/metrics")))
        p.until(HEADERS, stream=1)
        assert len(p.until(DATA, stream=1)[3]) == 10
        p.send(frame(HEADERS, 5, 3, head()) + frame(PING, payload=b"12345678"))
        seen = []
        while True:
            f = p.next()
            seen.append(f[2] if f[0] == DATA else None)
            if f[0] == PING:
                break
        if 3 not in seen:
            assert p.until(DATA, stream=3)[3] == b"ok\n"
        assert 1 not in seen
        p.send(frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 5)))
        assert len(p.until(DATA, stream=1)[3]) == 5
        p.send(frame(SETTINGS, payload=setting(4, 30)))  # changes windows of streams that are open
        assert len(p.until(DATA, stream=1)[3]) == 20
        p.send(frame(SETTINGS, payload=setting(4, 0)) + frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 31)))  # 30 of it were lent already
        assert len(p.until(DATA, stream=1)[3]) == 1
        p.close()
        # More streams than may be open are refused; their numbers are enough for the next ones.
        p = Peer(s.port)
        p.send(b"".join(frame(HEADERS, 4, n, head(b"/v2/models/digits/infer", b"POST")) for n in range(1, 2101, 2)))
        f = p.until(RST_STREAM, GOAWAY)
        assert f and code(f) in (REFUSED, PROTOCOL), f
        p.close()
        assert s.ask("GET", "/healthz")[0] == 200
        # A client that resets as fast as it asks is shown out.
        p = Peer(s.port)
        for n in range(1, 8001, 200):
            p.send(b"".join(frame(HEADERS, 4, n + 2 * k, head(b"/v2/models/digits/infer", b"POST")) + frame(RST_STREAM, 0, n + 2 * k, struct.pack(">I", CANCEL)) for k in range(100)))
        p.send(frame(PING, payload=b"12345678"))
        assert p.until(PING) is None
        p.close()
        assert s.ask("GET", "/healthz")[0] == 200


if __name__ == "__main__":
    main(globals())
