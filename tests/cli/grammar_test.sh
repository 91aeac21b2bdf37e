# grammar_test.sh - hologram grammar: texts that fit and texts that do not, each source, and what is called wrongly.
. "$CHECKS"

cat > person.json <<'JSON'
{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}, "required": ["name"]}
JSON
printf 'root ::= "a"+ "b"\n' > rules
echo '[0-9]+(\.[0-9]+)?' > number.regex
gives 0 'the grammar is good' hologram grammar person.json
gives 0 'the text fits: 26 bytes' hologram grammar person.json '{"name": "Ada", "age": 36}'
gives 1 "byte 23, '-' (0x2d), does not fit the grammar behind" hologram grammar person.json '{"name": "Ada", "age": -1}'
gives 1 'more must follow byte 8' hologram grammar person.json '{"name":'
check 'text from the standard input' sh -c 'printf "{\n  \"name\" : \"x\"\n}\n" | "$HOLOGRAM" grammar person.json -'
check 'spaces can be forbidden' sh -c '! "$HOLOGRAM" grammar person.json --spaces none "{\"name\": \"x\"}" 2> said'
gives 0 'fits: 3 bytes' hologram grammar rules aab
gives 1 "byte 1, 'c'" hologram grammar rules --gbnf ac
gives 0 'fits: 4 bytes' hologram grammar number.regex --regex 3.14
gives 1 'does not fit' hologram grammar number.regex --regex .5
gives 0 'fits' hologram grammar person.json --json-schema '{"name": ""}'
gives 1 'no-such' hologram grammar no-such x
gives 1 'a rule should begin here' hologram grammar number.regex x
gives 1 'not JSON' hologram grammar rules --json-schema x
gives 2 'grammar' hologram grammar
echo '{"type": "object", "properties": {"a": {"not": {}}}}' > not.json
gives 1 "the JSON schema at #/a: the keyword 'not' is not supported" hologram grammar not.json

# What is wrong with a file, and where.
printf 'root ::= "ü" (\n  "b" | c d\n' > open.gbnf
gives 1 'open.gbnf: the grammar, line 3, column 1, at its end: a group has no end )' hologram grammar open.gbnf
printf 'root ::= "ü" | ?? "b"\n' > strange.gbnf
gives 1 "line 1, column 16, at '??': a text, a class, a group or the name of a rule should be here" hologram grammar strange.gbnf
printf '{"type":\n "object" "a"}' > comma.json
gives 1 'the JSON schema, line 2, column 13: this is not JSON' hologram grammar comma.json
gives 1 'no-such: it cannot be read: No such file' hologram grammar no-such
gives 1 '.: it cannot be read: it is a folder, not a file' hologram grammar .
# The grammar of a language model is read before the model, in the same way.
gives 1 'open.gbnf: the grammar, line 3, column 1' hologram generate "$MODEL" --grammar open.gbnf x
gives 1 '.: it cannot be read: it is a folder, not a file' hologram chat "$MODEL" --grammar .
gives 1 'no-such: it cannot be read: No such file' hologram generate "$MODEL" --json-schema no-such x
