"""packaging_test.py - the unit of systemd, the container file and the manifests: they are what their tools take, and their options exist."""
from support import *

AT = os.path.join(ROOT, "packaging")


def known_options():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, check=True).stdout.decode()
    return {w for w in text.split() if w.startswith("--")}


def test_unit(folder):
    if not shutil.which("systemd-analyze"):
        return print("packaging_test.py: systemd-analyze is not there: the unit is not checked")
    unit = os.path.join(folder, "hologram-serve.service")
    text = open(os.path.join(AT, "systemd", "hologram-serve.service")).read().replace("/usr/bin/hologram-serve", PROGRAM).replace("Documentation=man:hologram(1)\n", "")
    open(unit, "w").write(text)
    got = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True)
    assert b"hologram-serve.service" not in got.stderr, got.stderr


def test_manifests(folder):
    import yaml
    documents = {}
    for name in os.listdir(os.path.join(AT, "kubernetes")):
        for d in yaml.safe_load_all(open(os.path.join(AT, "kubernetes", name))):
            documents[d["kind"]] = d
            assert d["apiVersion"], name
    runtime, deployment = documents["ClusterServingRuntime"]["spec"]["containers"][0], documents["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    known = known_options()
    for word in runtime["args"] + deployment["args"]:
        if word.startswith("--"):
            assert word.split("=")[0] in known, word
    assert documents["HorizontalPodAutoscaler"]["spec"]["metrics"][0]["pods"]["metric"]["name"] == "hologram_queue_length"
    with Server(DIGITS) as s:
        assert "hologram_queue_length" in s.ask("GET", "/metrics")[2].decode()
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert s.ask("GET", deployment[probe]["httpGet"]["path"])[0] == 200
    if shutil.which("kubectl"):
        built = subprocess.run(["kubectl", "kustomize", os.path.join(AT, "kubernetes")], capture_output=True, check=True).stdout
        kinds = [d["kind"] for d in yaml.safe_load_all(built)]
        assert "Deployment" in kinds and "NetworkPolicy" in kinds, kinds
    else:
        print("packaging_test.py: kubectl is not there: the manifests are not put together by it")


def test_container(folder):
    text = open(os.path.join(AT, "container", "Containerfile")).read()
    for line in text.splitlines():
        if line.startswith("COPY"):
            for path in line.split()[1:-1]:
                assert path in ("hologram-serve", "hologram"), path
    needed = subprocess.run(["ldd", PROGRAM], capture_output=True, check=True).stdout.decode()
    for library, package in [("libnghttp2", "libnghttp2-14"), ("libssl", "libssl3"), ("libprotobuf-c", "libprotobuf-c1"), ("libjansson", "libjansson4"), ("libz", "zlib1g")]:
        assert library in needed and package in text, library


if __name__ == "__main__":
    main(globals())
