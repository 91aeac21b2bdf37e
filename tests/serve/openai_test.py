"""openai_test.py - OpenAI's routes: texts, chats, streams, tools, schemas, several at once, vectors, sounds."""
import base64, math, socket, struct
from models import *
from support import *

CHAT = {"messages": [{"role": "user", "content": "hello there"}], "max_tokens": 24, "temperature": 0, "ignore_eos": True}


def events(data):
    lines = [l[6:] for l in data.decode().split("\n") if l.startswith("data: ")]
    assert lines[-1] == "[DONE]", lines[-1:]
    return [json.loads(l) for l in lines[:-1]]


MADE = tempfile.mkdtemp()


def talker():
    path = os.path.join(MADE, "talker.holo")
    return path if os.path.exists(path) else language(MADE)


def test_texts(folder):
    with Server(talker()) as s:
        assert [m["id"] for m in s.json("GET", "/v1/models")["data"]] == ["talker"]
        assert s.json("GET", "/v1/models/talker")["object"] == "model"
        assert s.json("GET", "/v1/models/other", status=404)["error"]["code"] == "model_not_found"
        whole = s.json("POST", "/v1/chat/completions", CHAT)
        text = whole["choices"][0]["message"]["content"]
        assert whole["usage"]["completion_tokens"] == 24 and whole["choices"][0]["finish_reason"] == "length" and text
        again = s.json("POST", "/v1/chat/completions", CHAT)
        assert again["choices"][0]["message"]["content"] == text and again["usage"]["prompt_tokens_details"]["cached_tokens"] > 5
        status, headers, data = s.ask("POST", "/v1/chat/completions", {**CHAT, "stream": True, "stream_options": {"include_usage": True}})
        assert status == 200 and headers["content-type"] == "text/event-stream"
        parts = events(data)
        assert parts[0]["choices"][0]["delta"]["role"] == "assistant" and parts[-1]["usage"]["completion_tokens"] == 24 and not parts[-1]["choices"]
        assert "".join(p["choices"][0]["delta"].get("content", "") for p in parts[:-1]) == text
        assert parts[-2]["choices"][0]["finish_reason"] == "length"
        # The same as `hologram generate` gives.
        plain = s.json("POST", "/v1/completions", {"prompt": "hello", "max_tokens": 16, "temperature": 0})["choices"][0]["text"]
        told = subprocess.run([HOLOGRAM, "generate", talker(), "hello", "--plain", "--max-tokens", "16", "--temperature", "0", "--json"], capture_output=True, check=True)
        assert json.loads(told.stdout)["text"] == plain
        several = s.json("POST", "/v1/completions", {"prompt": ["hello", "hello", [5, 6]], "n": 2, "max_tokens": 8, "temperature": 1, "seed": 3, "ignore_eos": True})
        texts = [c["text"] for c in several["choices"]]
        assert len(texts) == 6 and texts[0] == texts[2] and texts[0] != texts[1] and several["usage"]["completion_tokens"] == 48
        assert s.metrics()['hologram_tokens_total{model="talker",kind="generated"}'] >= 24 * 3 + 48


def test_settings(folder):
    with Server(talker()) as s:
        got = s.json("POST", "/v1/chat/completions", {**CHAT, "max_tokens": 3, "logprobs": True, "top_logprobs": 2})
        entries = got["choices"][0]["logprobs"]["content"]
        assert len(entries) == 3 and all(len(e["top_logprobs"]) == 2 and e["logprob"] <= 0 for e in entries)
        assert all(bytes(e["bytes"]).decode() == e["token"] and e["logprob"] == e["top_logprobs"][0]["logprob"] for e in entries)
        got = s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 4, "logprobs": 1, "temperature": 0, "ignore_eos": True})["choices"][0]["logprobs"]
        assert len(got["tokens"]) == len(got["token_logprobs"]) == len(got["text_offset"]) == 4
        text = s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 40, "temperature": 0, "ignore_eos": True})["choices"][0]["text"]
        stop = text[5:7]
        cut = s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 40, "temperature": 0, "ignore_eos": True, "stop": [stop]})["choices"][0]
        assert cut["text"] == text[:text.index(stop)] and cut["finish_reason"] == "stop"
        schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}, "b": {"enum": ["x", "y"]}}, "required": ["a", "b"], "additionalProperties": False}
        made = s.json("POST", "/v1/chat/completions", {**CHAT, "ignore_eos": False, "max_tokens": 60, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}})
        value = json.loads(made["choices"][0]["message"]["content"])
        assert 0 <= value["a"] <= 99 and value["b"] in "xy" and made["choices"][0]["finish_reason"] == "stop"
        biased = s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 5, "temperature": 0, "logit_bias": {"3": 100}})["choices"][0]["text"]
        assert biased == "aaaaa", biased
        tool = {"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"], "additionalProperties": False}}}
        ask = {**CHAT, "ignore_eos": False, "max_tokens": 80, "tools": [tool, {"type": "function", "function": {"name": "stay"}}], "tool_choice": {"type": "function", "function": {"name": "go"}}}
        message = s.json("POST", "/v1/chat/completions", ask)["choices"][0]
        call = message["message"]["tool_calls"][0]
        assert message["finish_reason"] == "tool_calls" and call["function"]["name"] == "go" and 0 <= json.loads(call["function"]["arguments"])["n"] <= 9
        parts = events(s.ask("POST", "/v1/chat/completions", {**ask, "stream": True})[2])
        calls = [p["choices"][0]["delta"]["tool_calls"] for p in parts if "tool_calls" in p["choices"][0]["delta"]]
        assert len(calls) == 1 and calls[0][0]["function"]["name"] == "go" and calls[0][0]["index"] == 0
        wrong = [({"temperature": 9}, "temperature"), ({"messages": []}, "messages"), ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "pictures"),
                 ({"n": 0}, "n times"), ({"stop": [""]}, "stop"), ({"model": "other"}, "no model"), ({"response_format": {"type": "x"}}, "response_format"),
                 ({"model": 7}, "a name"), ({"max_completion_tokens": 0}, "max_completion_tokens"), ({"stream": "yes"}, "stream"), ({"stream_options": {"include_usage": True}}, "streams alone"),
                 ({"store": True}, "nothing is kept"), ({"modalities": ["text", "audio"]}, "modalities"), ({"functions": [{"name": "go"}]}, "tools"), ({"reasoning_effort": "high"}, "chat_template_kwargs"),
                 ({"prediction": {}}, "prediction"), ({"web_search_options": {}}, "web_search_options"), ({"parallel_tool_calls": 1}, "parallel_tool_calls"), ({"stop": ["a"] * 17}, "16 stop"), ({"n": 129}, "n times"),
                 ({"max_tokens": 10**10}, "max_tokens"), ({"tool_choice": "required"}, "no tools"), ({"regex": "[a-"}, ""), ({"logit_bias": {"x": 1}}, "logit_bias")]
        for change, words in wrong:
            error = s.json("POST", "/v1/chat/completions", {**CHAT, **change}, status=404 if change == {"model": "other"} else 400)["error"]
            assert words in error["message"] and error["type"] == "invalid_request_error", error
        assert s.json("POST", "/v1/chat/completions", "{", status=400)["error"]["message"]
        lost = s.json("POST", "/v1/answers", {}, status=404)["error"]
        assert lost["code"] == "unknown_url" and "/v1/chat/completions" in lost["message"]
        assert s.json("GET", "/v1/completions", status=405)["error"]["code"] == "method_not_supported"
        said = [s.json("POST", "/v1/chat/completions", {**CHAT, "messages": [{"role": role, "content": "be short"}, *CHAT["messages"]]}) for role in ("system", "developer")]
        assert said[0]["choices"] == said[1]["choices"] and said[0]["choices"][0]["message"]["refusal"] is None


def test_said_and_meant(folder):
    """Settings that clients send: each does what it says."""
    with Server(talker()) as s:
        def ask(**more):
            return s.json("POST", "/v1/chat/completions", {**CHAT, **more})["choices"]
        text = ask()[0]["message"]["content"]
        assert ask(max_tokens=None, max_completion_tokens=7)[0]["message"]["content"] == text[:7]
        assert ask(user="somebody", metadata={"a": "b"}, service_tier="auto", store=False, modalities=["text"])[0]["message"]["content"] == text
        stops = [text[9:11], text[4:6]]
        assert ask(stop=stops)[0]["message"]["content"] == text[:min(map(text.index, stops))]
        assert ask(stop=text[4:6])[0]["message"]["content"] == text[:text.index(text[4:6])]
        assert ask(logit_bias={"4": 100})[0]["message"]["content"] == "b" * 24 and "b" not in ask(logit_bias={"4": -100})[0]["message"]["content"]
        several = [c["message"]["content"] for c in ask(n=3, temperature=1, seed=5)]
        assert len(set(several)) == 3 and several == [c["message"]["content"] for c in ask(n=3, temperature=1, seed=5)]
        made = ask(response_format={"type": "json_object"}, ignore_eos=False, max_tokens=200)[0]
        assert made["message"]["content"].lstrip()[0] == "{" and (made["finish_reason"] == "length" or isinstance(json.loads(made["message"]["content"]), dict))
        parts = events(s.ask("POST", "/v1/chat/completions", {**CHAT, "stream": True})[2])
        assert all("usage" not in p for p in parts)
    with Server(talker(), "--context", "50") as s:
        for path, ask in [("/v1/completions", {"prompt": "a" * 60}), ("/v1/completions", {"prompt": [5] * 50}), ("/v1/responses", {"input": "a" * 60, "stream": True}),
                          ("/v1/chat/completions", {"messages": [{"role": "user", "content": "a" * 60}], "stream": True})]:
            error = s.json("POST", path, ask, status=400)["error"]
            assert error["code"] == "context_length_exceeded" and error["type"] == "invalid_request_error" and "50 tokens" in error["message"], error
            assert "has 50, " in error["message"] or "has 61, " in error["message"] or "has 67, " in error["message"], error
        assert s.json("POST", "/v1/completions", {"prompt": [5] * 49, "ignore_eos": True})["usage"]["completion_tokens"] == 1


def test_at_once(folder):
    with Server(talker(), "--texts", "4") as s:
        ask = [{"prompt": "abcdefghij"[:i + 1], "max_tokens": 30, "temperature": i % 2, "seed": i, "ignore_eos": True} for i in range(10)]
        alone = [s.json("POST", "/v1/completions", a)["choices"][0]["text"] for a in ask]
        both = at_once(10, lambda i: s.json("POST", "/v1/completions", ask[i])["choices"][0]["text"])
        assert alone == both
        m = s.metrics()
        assert m['hologram_batch_size_count{model="talker"}'] == 20 and m['hologram_batch_size_sum{model="talker"}'] > 20, m['hologram_batch_size_sum{model="talker"}']


def test_cancel(folder):
    with Server(talker(), "--texts", "2") as s:
        c = socket.create_connection(("localhost", s.port))
        body = json.dumps({"prompt": "abc", "max_tokens": 100000, "stream": True, "ignore_eos": True}).encode()
        c.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert b"200 OK" in c.recv(1000)
        c.close()
        until = time.time() + 10
        while time.time() < until and s.metrics()['hologram_cancelled_total{model="talker"}'] != 1:
            time.sleep(0.02)
        tokens = s.metrics()['hologram_tokens_total{model="talker",kind="generated"}']
        time.sleep(0.2)
        assert s.metrics()['hologram_cancelled_total{model="talker"}'] == 1
        assert s.metrics()['hologram_tokens_total{model="talker",kind="generated"}'] == tokens  # nothing is computed for it
        assert s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 4})["usage"]
    with Server(talker(), "--timeout", "0.3") as s:
        began = time.time()
        error = s.json("POST", "/v1/completions", {"prompt": "abc", "max_tokens": 100000, "ignore_eos": True}, status=504)["error"]["message"]
        assert "longer than it may" in error and time.time() - began < 5


def test_vectors(folder):
    path = embedder(folder)
    with Server(path) as s:
        texts = ["hello there", "a", "hello there"]
        got = s.json("POST", "/v1/embeddings", {"input": texts, "model": "vectors"})
        told = subprocess.run([HOLOGRAM, "embed", path, *texts, "--json"], capture_output=True, check=True)
        want = [e["vector"] if "vector" in e else e["embedding"] for e in next(v for v in json.loads(told.stdout).values() if isinstance(v, list) and v and isinstance(v[0], dict))]
        for a, b in zip(got["data"], want):
            assert all(math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-5) for x, y in zip(a["embedding"], b))
        assert got["data"][0]["embedding"] == got["data"][2]["embedding"] and got["usage"]["prompt_tokens"] > 10
        packed = s.json("POST", "/v1/embeddings", {"input": "hello there", "encoding_format": "base64"})["data"][0]["embedding"]
        numbers = struct.unpack(f"<{len(want[0])}f", base64.b64decode(packed))
        assert all(math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-5) for x, y in zip(numbers, want[0]))
        assert "not one that" in s.json("POST", "/v1/chat/completions", {"model": "vectors", "messages": [{"role": "user", "content": "x"}]}, status=400)["error"]["message"]
        cut = s.json("POST", "/v1/embeddings", {"input": "hello there", "dimensions": 3})["data"][0]["embedding"]
        length = math.sqrt(sum(x * x for x in want[0][:3]))
        assert len(cut) == 3 and all(math.isclose(x, y / length, rel_tol=1e-3, abs_tol=1e-5) for x, y in zip(cut, want[0]))
        for wrong in [{"input": []}, {"input": [[-1]]}, {"input": "x", "dimensions": 3000}, {"input": "x", "dimensions": 0}, {"input": "x", "encoding_format": "int8"}, {}]:
            s.json("POST", "/v1/embeddings", wrong, status=400)


if __name__ == "__main__":
    main(globals())
