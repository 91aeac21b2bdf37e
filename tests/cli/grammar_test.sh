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
