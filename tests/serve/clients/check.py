"""check.py FOLDER - the server, asked by clients that nobody here wrote: npm's openai and @grpc/grpc-js (in FOLDER), and promtool on its metrics. Manifests are checked by kubernetes-models."""
import os, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
folder = os.path.abspath(sys.argv[1])
from models import *
from support import *



def manifests():
    """All objects of packaging/kubernetes but those of KServe and kustomize, which have schemas of their own."""
    import yaml
    found = []
    for name in sorted(os.listdir(os.path.join(ROOT, "packaging", "kubernetes"))):
        found += [o for o in yaml.safe_load_all(open(os.path.join(ROOT, "packaging", "kubernetes", name))) if "kserve.io" not in o["apiVersion"] and "kustomize" not in o["apiVersion"]]
    return json.dumps(found).encode()


made = tempfile.mkdtemp()
try:
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("check.mjs", "manifests.mjs"):
        shutil.copy(os.path.join(here, name), folder)
    subprocess.run(["node", os.path.join(folder, "manifests.mjs")], input=manifests(), check=True)
    with Server(language(made), embedder(made), DIGITS, env={"HOLOGRAM_SERVE_KEYS": "tester sk-tester-123456"}) as s:
        subprocess.run(["node", os.path.join(folder, "check.mjs"), f"http://localhost:{s.port}", os.path.join(ROOT, "serve", "proto", "inference.proto"), "sk-tester-123456"], check=True)
        text = s.ask("GET", "/metrics", headers={"authorization": "Bearer sk-tester-123456"})[2]
        if shutil.which("promtool"):
            got = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
            assert got.returncode == 0 and not got.stderr, got.stderr
            print("clients: promtool finds nothing wrong with the metrics")
        else:
            print("clients: promtool is not there (Debian: prometheus): the metrics are not checked")
finally:
    shutil.rmtree(made, ignore_errors=True)
