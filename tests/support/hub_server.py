"""hub_server.py FOLDER - a small hub, and another server that it redirects to, on this machine, for tests of `hologram pull`.

FOLDER/models/OWNER/NAME/ has the files of a model. Names of models ask for faults: see FAULTS. The ports are written to
FOLDER/ports when both servers listen, and every request to FOLDER/log: which server, method, path, token, range.
"""
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

TOP = sys.argv[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40
FAULTS = {
    "cut": "the first transfers of a file end halfway",
    "busy": "the first requests for anything are answered with 503",
    "gated": "a token is asked for",
    "wrong": "the contents are not those that were announced",
    "short": "transfers end before the first byte",
    "stall": "the first transfer of a file stops halfway, and the connection stays",
    "more": "more bytes come than were announced",
    "changed": "the file is another one when the transfer goes on",
    "whole": "the part that is asked for is ignored",
    "part": "another part comes than the one that was asked for",
    "large": "what is there already is more than the file has",
    "commit": "files are of another commit",
    "loop": "redirects that never end",
    "nojson": "the list of files is no JSON",
    "nosha": "the list of files has no commit",
    "unsized": "nothing says how large files are",
    "oddtag": "etags that are paths",
    "elsewhere": "redirects to what is no web server",
}
counts = {}
lock = threading.Lock()


def times(key):
    """How often this was asked before."""
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key] - 1


def is_large(path):
    return path.endswith((".safetensors", ".bin", ".onnx"))


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        name = "hub" if self.server.is_hub else "other"
        token = self.headers.get("Authorization", "-").replace("Bearer ", "")
        with lock, open(os.path.join(TOP, "log"), "a") as out:
            out.write("%s %s %s token=%s range=%s\n" % (name, self.command, self.path, token, self.headers.get("Range", "-")))

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code):
        self.answer(status, b"no" * 100000, X_Error_Code=code)

    def file_of(self, repo, name):
        path = os.path.join(TOP, "models", repo, name)
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def refuses(self, repo):
        fault = repo.split("/")[-1]
        if fault == "gated" and self.headers.get("Authorization") != "Bearer good":
            self.error(403 if self.headers.get("Authorization") else 401, "GatedRepo")
            return True
        if fault == "busy" and times(("busy", self.command, self.path)) < 2:
            self.answer(503, b"busy", Retry_After="0")
            return True
        return False

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.note()
        path = urllib.parse.unquote(self.path.split("?")[0])
        if not self.server.is_hub:
            return self.send_part(*path[1:].split("//"))
        if path.startswith("/api/models/"):
            return self.send_list(*path[len("/api/models/"):].split("/revision/"))
        return self.send_file(*path[1:].split("/resolve/"))

    # ---- the hub

    def send_list(self, repo, revision):
        folder = os.path.join(TOP, "models", repo)
        fault = repo.split("/")[-1]
        if repo == "t/renamed":
            return self.answer(307, Location="/api/models/t/good/revision/" + revision)
        if not os.path.isdir(folder):
            return self.error(404, "RepoNotFound")
        if self.refuses(repo):
            return None
        if revision not in ("main", "refs/pr/1", COMMIT):
            return self.error(404, "RevisionNotFound")
        names = [os.path.relpath(os.path.join(at, n), folder) for at, _, files in os.walk(folder) for n in files]
        siblings = [{"rfilename": n, "size": os.path.getsize(os.path.join(folder, n))} for n in sorted(names)]
        if fault == "unsized":
            siblings = [{"rfilename": n} for n in names]
        if fault == "evil":
            evil = ["../../evil.json", "/tmp/evil.json", "a/../../evil.json", "a\\b.json", "a:b.json", ".", "a//b.json", "a\x1b[1m.json"]
            siblings += [{"rfilename": n} for n in evil]
        body = json.dumps({"id": repo, "sha": "x" if fault == "nosha" else COMMIT, "siblings": siblings}).encode()
        return self.answer(200, b"<html>" if fault == "nojson" else body)

    def send_file(self, repo, rest):
        fault = repo.split("/")[-1]
        commit, name = rest.split("/", 1)
        data = self.file_of(repo, name)
        if repo == "t/renamed" and name:
            return self.answer(307, Location="/t/good/resolve/" + rest)
        if data is None:
            return self.error(404, "EntryNotFound")
        if self.refuses(repo):
            return None
        if fault == "loop":
            return self.answer(302, Location=self.path)
        if fault == "changed" and counts.get(("cut", repo, name)):
            data = data[::-1]
        headers = {"X_Repo_Commit": OTHER if fault == "commit" else COMMIT}
        if not is_large(name):
            tag = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            tag = "0" * 40 if fault == "wrong" and not data else tag
            headers["ETag"] = '"../../x"' if fault == "oddtag" else '"%s"' % tag
            return self.answer(200, data, **headers)
        headers.update(X_Linked_ETag='"%s"' % hashlib.sha256(data).hexdigest(), X_Linked_Size=str(len(data)))
        if fault == "unsized":
            del headers["X_Linked_Size"]
        where = "file:///etc/passwd" if fault == "elsewhere" else "http://127.0.0.1:%d/%s//%s?secret=1" % (other.server_port, repo, name)
        return self.answer(302, b"moved", Location=where, **headers)

    # ---- the other server

    def send_part(self, repo, name):
        fault = repo.split("/")[-1]
        data = self.file_of(repo, name)
        begin, wanted = 0, self.headers.get("Range")
        if fault == "changed" and counts.get(("cut", repo, name)):
            data = data[::-1]
        if wanted and fault != "whole":
            begin = int(wanted[len("bytes="):-1])
        if begin >= len(data):
            return self.answer(416)
        rest = data[begin:]
        if fault == "wrong":
            rest = bytes([rest[0] ^ 1]) + rest[1:]
        if fault == "more":
            rest += b"more"
        headers = {"ETag": '"of this server"'}
        if begin:
            headers["Content_Range"] = "bytes %d-%d/%d" % (begin + (fault == "part"), len(data) - 1, len(data))
        keeps = len(rest)
        if fault == "short":
            keeps = 0
        elif fault in ("cut", "changed", "whole", "part", "stall") and times(("cut", repo, name)) < (2 if fault == "cut" else 1):
            keeps = len(rest) // 2
        self.answer(206 if begin else 200, rest[:keeps], Content_Length=str(len(rest)), **headers)
        if keeps < len(rest):
            self.close_connection = True
        if keeps < len(rest) and fault == "stall":
            self.wfile.flush()
            time.sleep(20)
        return None


def serve(is_hub):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.is_hub = is_hub
    server.daemon_threads = True
    return server


hub, other = serve(True), serve(False)
threading.Thread(target=other.serve_forever, daemon=True).start()
with open(os.path.join(TOP, "ports.new"), "w") as out:
    out.write("%d %d\n" % (hub.server_port, other.server_port))
os.rename(os.path.join(TOP, "ports.new"), os.path.join(TOP, "ports"))
hub.serve_forever()
