"""responses_test.py - /v1/responses: items in and out, events, tools, schemas, and what is refused."""
from models import *
from support import *

ASK = {"input": "hello there", "max_output_tokens": 24, "temperature": 0, "ignore_eos": True}
GO = {"type": "function", "name": "go", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"], "additionalProperties": False}}
MADE = tempfile.mkdtemp()


def talker():
    path = os.path.join(MADE, "talker.holo")
    return path if os.path.exists(path) else language(MADE)


def events(data):
    """(type, data) of each; the name of an event is its type, and they are counted."""
    found = []
    for block in data.decode().strip().split("\n\n"):
        name, text = block.split("\n")
        value = json.loads(text.removeprefix("data: "))
        assert name == "event: " + value["type"] and value["sequence_number"] == len(found), block
        found.append((value["type"], value))
    return found


def chat(s, **more):
    return s.json("POST", "/v1/chat/completions", {"max_tokens": 24, "temperature": 0, "ignore_eos": True, **more})["choices"][0]["message"]["content"]


def test_texts(folder):
    with Server(talker()) as s:
        r = s.json("POST", "/v1/responses", {**ASK, "model": "talker", "metadata": {"a": "b"}})
        message = r["output"][0]
        text = message["content"][0]["text"]
        assert r["object"] == "response" and r["id"].startswith("resp_") and r["model"] == "talker" and r["metadata"] == {"a": "b"} and r["max_output_tokens"] == 24
        assert r["status"] == "incomplete" and r["incomplete_details"] == {"reason": "max_output_tokens"} and r["error"] is None and r["store"] is False
        assert message["type"] == "message" and message["role"] == "assistant" and message["content"][0]["type"] == "output_text"
        assert r["usage"]["output_tokens"] == 24 and r["usage"]["total_tokens"] == r["usage"]["input_tokens"] + 24
        assert text == chat(s, messages=[{"role": "user", "content": "hello there"}])
        # The same in other words.
        items = [{"role": "user", "content": [{"type": "input_text", "text": "hello "}, {"type": "input_text", "text": "there"}]}]
        assert s.json("POST", "/v1/responses", {**ASK, "input": items})["output"][0]["content"][0]["text"] == text
        talk = [{"role": "system", "content": "be short"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
        items = [{"type": "message", "role": "user", "content": "a"}, {**message, "content": [{"type": "output_text", "text": "b"}]}, {"role": "user", "content": "c"}]
        told = s.json("POST", "/v1/responses", {**ASK, "instructions": "be short", "input": items})
        assert told["output"][0]["content"][0]["text"] == chat(s, messages=talk) and told["instructions"] == "be short"
        # As events.
        status, headers, data = s.ask("POST", "/v1/responses", {**ASK, "stream": True})
        assert status == 200 and headers["content-type"] == "text/event-stream"
        got = events(data)
        types = [t for t, _ in got]
        deltas = [e["delta"] for t, e in got if t == "response.output_text.delta"]
        assert types[:4] == ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"]
        assert types[4:] == ["response.output_text.delta"] * len(deltas) + ["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.incomplete"]
        assert "".join(deltas) == text == got[-4][1]["text"] and len(deltas) > 5
        whole = got[-1][1]["response"]
        assert whole["output"] == [got[-2][1]["item"]] and whole["usage"] == {**r["usage"], "input_tokens_details": whole["usage"]["input_tokens_details"]} and got[0][1]["response"]["status"] == "in_progress"
        assert {e["item_id"] for t, e in got if "item_id" in e} == {whole["output"][0]["id"]}
        short = s.json("POST", "/v1/responses", {**ASK, "stop": text[3:5]})
        assert short["status"] == "completed" and short["incomplete_details"] is None
        probable = s.json("POST", "/v1/responses", {**ASK, "max_output_tokens": 3, "include": ["message.output_text.logprobs"], "top_logprobs": 2})["output"][0]["content"][0]["logprobs"]
        assert len(probable) == 3 and all(len(p["top_logprobs"]) == 2 for p in probable)


def test_tools(folder):
    ask = {**ASK, "ignore_eos": False, "max_output_tokens": 80, "tools": [GO, {"type": "function", "name": "stay", "parameters": None}]}
    with Server(talker()) as s:
        for choice in ({"type": "function", "name": "go"}, "required"):
            r = s.json("POST", "/v1/responses", {**ask, "tool_choice": choice})
            call = r["output"][0]
            assert r["status"] == "completed" and call["type"] == "function_call" and call["call_id"] and call["status"] == "completed", r
            assert call["name"] in ("go", "stay") and isinstance(json.loads(call["arguments"]), dict) and r["tools"] == ask["tools"]
        got = events(s.ask("POST", "/v1/responses", {**ask, "stream": True, "tool_choice": {"type": "function", "name": "go"}})[2])
        assert [t for t, _ in got][2:] == ["response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done", "response.completed"], got
        call = got[-2][1]["item"]
        assert call["name"] == "go" and 0 <= json.loads(got[-3][1]["arguments"])["n"] <= 9 and got[2][1]["item"]["arguments"] == "" and got[-1][1]["response"]["output"] == [call]
        # A call and its result go back to the model as messages.
        items = [{"role": "user", "content": "x"}, call, {"type": "function_call_output", "call_id": call["call_id"], "output": "7"}]
        back = s.json("POST", "/v1/responses", {**ASK, "input": items})["output"][0]["content"][0]["text"]
        calls = [{"id": call["call_id"], "type": "function", "function": {"name": "go", "arguments": call["arguments"]}}]
        assert back == chat(s, messages=[{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": calls}, {"role": "tool", "tool_call_id": call["call_id"], "content": "7"}])
        form = {"type": "json_schema", "name": "n", "strict": True, "schema": GO["parameters"]}
        made = s.json("POST", "/v1/responses", {**ASK, "ignore_eos": False, "max_output_tokens": 80, "text": {"format": form}})
        assert 0 <= json.loads(made["output"][0]["content"][0]["text"])["n"] <= 9 and made["text"]["format"] == form


def test_refused(folder):
    wrong = [({"input": None}, "input"), ({"input": []}, "input"), ({"input": [7]}, "object"), ({"input": [{"type": "reasoning"}]}, "reasoning"), ({"input": [{"role": "user"}]}, "content"),
             ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "pictures"), ({"input": [{"type": "function_call", "name": "go"}]}, "call_id"),
             ({"input": [{"type": "function_call_output", "call_id": "x"}]}, "output"), ({"previous_response_id": "resp_1"}, "nothing is kept"), ({"store": True}, "nothing is kept"), ({"background": True}, "background"),
             ({"truncation": "auto"}, "truncation"), ({"tools": [{"type": "web_search"}]}, "web_search"), ({"tools": [{"name": "go"}]}, "(none)"), ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
             ({"text": {"format": {"type": "xml"}}}, "text.format"), ({"text": {"format": {"type": "json_schema"}}}, "schema"), ({"include": ["file_search_call.results"]}, "file_search_call"),
             ({"reasoning": {"effort": "high"}}, "chat_template_kwargs"), ({"max_output_tokens": 0}, "max_output_tokens"), ({"instructions": 7}, "instructions"), ({"conversation": "c"}, "conversation")]
    with Server(talker(), "--timeout", "1") as s:
        for change, words in wrong:
            error = s.json("POST", "/v1/responses", {**ASK, **change}, status=400)["error"]
            assert words in error["message"] and error["type"] == "invalid_request_error", (change, error)
        assert s.json("POST", "/v1/responses", {**ASK, "model": "other"}, status=404)["error"]["code"] == "model_not_found"
        # A stream that has begun says how it failed.
        got = events(s.ask("POST", "/v1/responses", {**ASK, "max_output_tokens": 60000, "stream": True})[2])
        assert got[-1][0] == "response.failed" and "longer than it may" in got[-1][1]["response"]["error"]["message"], got[-1]


if __name__ == "__main__":
    main(globals())
