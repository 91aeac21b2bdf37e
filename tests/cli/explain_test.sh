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

# What steps do, as portable programs.
gives 0 '# scaled_mul  Mul by map_f32' hologram inspect digits.holo --programs
gives 0 '# relu1_relu  hologram::Conv by conv_nhwc_f32, its tail' hologram inspect digits.holo --programs
gives 0 'inout y: f32[]' hologram inspect digits.holo --programs
hologram inspect digits.holo --programs --json > programs.json
json programs.json programs step op domain runs role text
cat > programs.py << 'END'
import json
programs = json.load(open('programs.json'))['programs']
assert [p['role'] for p in programs] == ['pointwise', 'tail', 'tail', 'tail'], programs
assert all(p['text'].startswith('program ' + p['step'] + '\n') for p in programs)
assert 'mul.f32 r6, r3, r5' in programs[0]['text']
END
check 'each program is text' python3 programs.py
gives 0 'hologram::Kernel by eval' sh -c '"$HOLOGRAM" compile "$ROOT/examples/custom_operator/nearest.onnx" --kernel \
    "$ROOT/examples/custom_operator/row_distance.py" -o nearest.holo -q && "$HOLOGRAM" inspect nearest.holo --programs'
gives 0 'breakif p11' hologram inspect nearest.holo --programs
printf 'def twice(x: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n    i = get_global_id()\n    if i < n:\n        y[i] = x[i] * 2.0\n' > twice.py
quiet hologram compile twice.py -o twice.holo -q
gives 0 '# twice' hologram inspect twice.holo --programs
gives 0 'none: no step has one' hologram inspect "$ROOT/tests/golden/add.holo" --programs
gives 1 'compile MODEL first' hologram inspect "$MODEL" --programs
