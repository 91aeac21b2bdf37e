# explain_test.sh - hologram explain: what was decided and why, of archives and of models.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q
gives 0 'computed in every run' hologram explain digits.holo
gives 0 'conv_nhwc_f32' hologram explain digits.holo
gives 0 'not finite' hologram explain digits.holo
gives 0 "the input's size is dynamic" hologram explain "$MODEL"
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
gives 0 'equal to another; storing each once saves' hologram inspect digits.holo --values
hologram inspect digits.holo --values --json > values.json
json values.json values distinct uses packed equal equal_bytes
check 'dense2.b has ten values' sh -c "grep -A4 '\"dense2.b\"' values.json | grep -q '\"distinct\": 10,'"
gives 2 'is for an archive' hologram inspect "$MODEL" --values

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
assert all(p['text'].startswith('program ' + p['role'] + '\n') for p in programs)
assert 'mul.f32 r6, r3, r5' in programs[0]['text']
END
check 'each program is text' python3 programs.py
gives 0 'hologram::Kernel by eval' sh -c '"$HOLOGRAM" compile "$ROOT/examples/custom_operator/nearest.onnx" --kernel \
    "$ROOT/examples/custom_operator/row_distance.py" -o nearest.holo -q && "$HOLOGRAM" inspect nearest.holo --programs'
gives 0 'breakif p11' hologram inspect nearest.holo --programs
printf 'def twice(x: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n    i = get_global_id()\n    if i < n:\n        y[i] = x[i] * 2.0\n' > twice.py
quiet hologram compile twice.py -o twice.holo -q
gives 0 '# twice' hologram inspect twice.holo --programs
gives 0 '  none' hologram inspect "$ROOT/tests/golden/add.holo" --programs
gives 2 'is for an archive' hologram inspect "$MODEL" --programs

# Weights of few different numbers: codes where that pays, and else the reason.
cat > few.py << 'PYTHON'
import struct
def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def number(field, n):
    return varint(field * 8) + varint(n)
def block(field, data):
    return varint(field * 8 + 2) + varint(len(data)) + data
def value(name, *dims):
    shape = b''.join(block(1, number(1, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, 1) + block(2, shape)))
def model(path, rows, numbers):
    weights = struct.pack('<16384f', *[i % numbers / 3 for i in range(16384)])
    tensor = number(1, 128) + number(1, 128) + number(2, 1) + block(8, b'w') + block(9, weights)
    node = block(1, b'x') + block(1, b'w') + block(2, b'y') + block(4, b'MatMul')
    graph = block(1, node) + block(2, b'few') + block(5, tensor)
    graph += block(11, value(b'x', rows, 128)) + block(12, value(b'y', rows, 128))
    open(path, 'wb').write(number(1, 9) + block(7, graph) + block(8, block(1, b'') + number(2, 18)))
model('few.onnx', 100, 16)
model('short.onnx', 8, 16)
model('more.onnx', 100, 200)
PYTHON
check 'models of few numbers' python3 few.py
quiet hologram compile few.onnx -o few.holo -q
gives 0 'they have 16 different numbers: 4-bit codes' hologram explain few.holo
gives 0 'packed, codes of 4 bits' hologram inspect few.holo --values
hologram inspect few.holo --values --json > few.json
check 'it says so to programs' grep -q '"coded": true' few.json
gives 0 'codes for the 16 different numbers would not be faster' hologram explain short.onnx
gives 0 'codes for the 200 different numbers would' hologram explain more.onnx
