# template_test.sh - hologram template: files, HuggingFace folders, contexts, and what is called wrongly.
. "$CHECKS"

mkdir folder named none
printf '%s' '{{ bos_token }}{% for m in messages %}[{{ m.role }}: {{ m.content | trim }}]{% endfor %}{% if add_generation_prompt %}>{% endif %}' > chat.jinja
cat > context.json <<'JSON'
{"messages": [{"role": "user", "content": " Hi "}], "add_generation_prompt": true}
JSON
gives 0 '[user: Hi]>' hologram template chat.jinja --context @context.json
gives 0 '[user: Hi]>' hologram template chat.jinja --context '{"messages": [{"role": "user", "content": " Hi "}], "add_generation_prompt": 1}'
check 'a context from the standard input' sh -c '"$HOLOGRAM" template chat.jinja --context - < context.json | grep -xF "[user: Hi]>"'
printf '[user: Hi]>' > wanted
check 'the text and nothing else' sh -c '"$HOLOGRAM" template chat.jinja --context @context.json > out && cmp out wanted'

cat > folder/tokenizer_config.json <<'JSON'
{"bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>", "chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"}
JSON
gives 0 '<s> Hi </s>' hologram template folder --context @context.json
cp chat.jinja folder/chat_template.jinja
gives 0 '<s>[user: Hi]>' hologram template folder --context @context.json
cat > named/tokenizer_config.json <<'JSON'
{"chat_template": [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "with {{ tools | length }} tools"}]}
JSON
gives 0 'plain' hologram template named
gives 0 'with 2 tools' hologram template named --name tool_use --context '{"tools": [1, 2]}'

gives 1 'no chat template named rag' hologram template named --name rag
gives 1 'no chat template' hologram template none
gives 1 'no-such' hologram template no-such
gives 1 'only a folder' hologram template chat.jinja --name x
gives 1 'the context' hologram template chat.jinja --context '[]'
gives 1 'no valid JSON' hologram template chat.jinja --context '{'
gives 1 'no-such.json' hologram template chat.jinja --context @no-such.json
gives 2 'template' hologram template
printf 'a\n{%% if %%}' > bad.jinja
gives 1 'line 2' hologram template bad.jinja
printf '{{ raise_exception("not so") }}' > raise.jinja
gives 1 'not so' hologram template raise.jinja
