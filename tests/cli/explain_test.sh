# explain_test.sh - hologram explain: what was decided and why, of archives and of models.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q
gives 0 'computed in every run' hologram explain digits.holo
gives 0 'conv_nhwc_f32' hologram explain digits.holo
gives 0 'not finite' hologram explain digits.holo
gives 0 "the input's size is open" hologram explain "$MODEL"
gives 0 '64 elements of f32' hologram explain "$MODEL" --input-shape image:1,1,8,8
hologram explain digits.holo --json > explain.json
json explain.json file steps runs once notes pass verdict place what why count bytes
quiet hologram memo digits.holo --patterns "$SEVEN" -o memo.holo -q
gives 0 '1 patterns' hologram explain memo.holo
gives 0 'The archive has no notes' hologram explain "$ROOT/tests/golden/add.holo"
check 'no line is long' sh -c "! \"$HOLOGRAM\" explain digits.holo | grep -q '.\{121\}'"
gives 1 'no-such.holo' hologram explain no-such.holo

# What constants are made of. Equal tensors of any name are there once.
gives 0 'scale ' hologram inspect digits.holo --values
gives 0 '24570 of 24576' hologram inspect digits.holo --values
gives 0 'equal to another and stored once' hologram inspect digits.holo --values
hologram inspect digits.holo --values --json > values.json
json values.json values distinct uses packed equal equal_bytes
check 'dense2.b has ten values' sh -c "grep -A4 '\"dense2.b\"' values.json | grep -q '\"distinct\": 10,'"
gives 1 'compile MODEL first' hologram inspect "$MODEL" --values
