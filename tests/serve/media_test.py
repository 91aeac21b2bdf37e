"""media_test.py - sounds and pictures by OpenAI's routes: the same as the commands of the program give."""
import base64
from support import *


def form(fields, path=None):
    parts = [b'--x7\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (k.encode(), v.encode()) for k, v in fields.items()]
    if path:
        parts.append(b'--x7\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n' + open(path, "rb").read() + b"\r\n")
    return b"".join(parts) + b"--x7--\r\n", {"content-type": "multipart/form-data; boundary=x7"}


def test_sounds(folder):
    made = os.path.join(folder, "made")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "support", "speech_check.py"), HOLOGRAM, made], check=True, capture_output=True)
    model, sound = os.path.join(made, "speech.holo"), os.path.join(made, "short.wav")
    told = json.loads(subprocess.run([HOLOGRAM, "transcribe", model, sound, "--json"], capture_output=True, check=True).stdout)["sounds"][0]
    plain = subprocess.run([HOLOGRAM, "transcribe", model, sound], capture_output=True, check=True).stdout.decode().strip()  # without times
    with Server(model) as s:
        def hear(status=200, path=sound, where="transcriptions", **fields):
            body, headers = form(fields, path)
            got, answer, data = s.ask("POST", "/v1/audio/" + where, body, headers)
            assert got == status, (got, data)
            return data.decode()
        assert json.loads(hear(model="speech"))["text"].strip() == plain
        assert hear(response_format="text").strip() == plain
        whole = json.loads(hear(response_format="verbose_json"))
        assert whole["text"].strip() == told["text"] and whole["task"] == "transcribe" and whole["language"] == told["language"] and whole["segments"] and whole["duration"] > 0
        assert hear(response_format="vtt").startswith("WEBVTT\n\n00:00:00.000 --> ") and hear(response_format="srt").startswith("1\n00:00:00,000 --> ")
        assert json.loads(hear(where="translations"))["text"] is not None
        assert "language" in hear(status=400, language="xx") and "response_format" in hear(status=400, response_format="tape")
        assert "no file" in hear(status=400, path=None) and "not a WAV" in hear(status=400, path=__file__)
        assert s.ask("POST", "/v1/audio/transcriptions", b"x", {"content-type": "multipart/form-data; boundary=y"})[0] == 400


def test_pictures(folder):
    model = os.path.join(folder, "emoji.holo")
    subprocess.run([HOLOGRAM, "compile", "-q", os.path.join(ROOT, "demo", "imagine", "model"), "-o", model], check=True)
    subprocess.run([HOLOGRAM, "imagine", "-q", model, "a red apple", "--steps", "3", "--seed", "7", "-o", folder + "/told.png"], check=True)
    with Server(model) as s:
        ask = {"prompt": "a red apple", "steps": 3, "seed": 7, "n": 2}
        data = s.json("POST", "/v1/images/generations", ask)["data"]
        assert base64.b64decode(data[0]["b64_json"]) == open(folder + "/told.png", "rb").read() and data[1] != data[0]
        for wrong in [{}, {**ask, "size": "big"}, {**ask, "n": 0}, {**ask, "steps": 0}, {**ask, "response_format": "url"}, {**ask, "scheduler": "none"}]:
            s.json("POST", "/v1/images/generations", wrong, status=400)
        assert "not one that" in s.json("POST", "/v1/chat/completions", {"model": "emoji", "messages": [{"role": "user", "content": "x"}]}, status=400)["error"]["message"]
        c = socket.create_connection(("localhost", s.port))
        body = json.dumps({**ask, "steps": 1000}).encode()
        c.sendall(b"POST /v1/images/generations HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.2)
        c.close()  # and it stops
        until = time.time() + 10
        while time.time() < until and s.metrics()['hologram_cancelled_total{model="emoji"}'] != 1:
            time.sleep(0.05)
        assert s.metrics()['hologram_cancelled_total{model="emoji"}'] == 1


if __name__ == "__main__":
    main(globals())
