# What inspect tells of a model in each format: what it is, who made it, how large it is, and every operator that is not
# supported with its number of uses. And ONNX in its other forms: as text, as JSON, with data in several files.
. "$CHECKS"
python3 "$ROOT/tests/support/torch_files.py" made || exit 1
python3 "$ROOT/tests/tflite/special.py" . || exit 1
python3 "$ROOT/tests/support/tf_maker.py" net || exit 1

# Operators that are not supported come first, all of them.
python3 "$ROOT/tests/support/onnx_model.py" unknown.onnx in x f32 2 out y f32 2 node Relu x a node my::Sing a b node my::Sing b c \
    node NotThere c y
gives 0 'unknown.onnx  ONNX model' hologram inspect unknown.onnx
gives 0 '2 of 3 operators are not supported, used 3 times:' hologram inspect unknown.onnx
gives 0 'my::Sing     2' hologram inspect unknown.onnx
gives 0 'unknown.tflite  TFLite model' hologram inspect unknown.tflite
gives 0 '2 of 2 operators are not supported, used 3 times:' hologram inspect unknown.tflite
gives 0 '2 of 3 operators are not supported, used 3 times:' hologram inspect made/unknown.pt2
gives 0 'aten::not_there 2' hologram inspect made/unknown.pt
sed 's/op: "Softmax"/op: "Mystery"/' net/frozen.pbtxt > unknown.pbtxt
gives 0 '1 of 1 operators is not supported, used 1 time:' hologram inspect unknown.pbtxt
gives 0 'tensorflow::Mystery 1' hologram inspect unknown.pbtxt
gives 1 'tensorflow::Mystery version 1: 1 node' hologram compile unknown.pbtxt

# A file of several models is shown whole.
hologram inspect two.task > shown
check 'both entries' grep -q 'entries.* 2; compile puts all into one archive, and run --entry NAME runs one' shown
check 'the first' grep -q '^operators of entry detector' shown
check 'the second' grep -q '^inputs of entry landmarks' shown
check 'as JSON' sh -c '"$HOLOGRAM" inspect two.task --json | python3 -c "import json,sys; e = json.load(sys.stdin)[\"entries\"]; assert [x[\"name\"] for x in e] == [\"detector\", \"landmarks\"] and e[1][\"operators\"]"'

# Sizes, and who made it.
gives 0 'weights        5 tensors, 80 bytes' hologram inspect made/linear.pt2
gives 0 'producer       PyTorch' hologram inspect made/linear.pt2

# The same model as text, as JSON, and with each tensor in a file of its own.
cat > model.textproto <<'TEXT'
ir_version: 8
producer_name: "hand"
graph {
  name: "g"
  node { input: "x" input: "w" output: "a" op_type: "Add" name: "first" }
  node { input: "a" input: "v" output: "y" op_type: "Concat" attribute { name: "axis" i: 0 type: INT } }
  initializer { dims: 2 data_type: 1 name: "w" float_data: 1.5 float_data: 2 }
  initializer { dims: 1 data_type: 1 name: "v" raw_data: "\000\000\200?" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
}
opset_import { version: 17 }
TEXT
gives 0 'y f32[3] = 2.5, 4, 1' hologram run model.textproto -i x=1,2
gives 0 'producer     hand' hologram inspect model.textproto
cat > model.onnxjson <<'JSON'
{"irVersion": "8", "opsetImport": [{"version": "17"}], "graph": {"name": "g",
 "node": [{"input": ["x", "w"], "output": ["a"], "opType": "Add"},
          {"input": ["a", "v"], "output": ["y"], "opType": "Concat", "attribute": [{"name": "axis", "i": "0", "type": "INT"}]}],
 "initializer": [{"dims": ["2"], "dataType": 1, "name": "w", "floatData": [1.5, 2]},
                 {"dims": ["1"], "dataType": 1, "name": "v", "rawData": "AACAPw=="}],
 "input": [{"name": "x", "type": {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": "2"}]}}}}],
 "output": [{"name": "y", "type": {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": "3"}]}}}}]}}
JSON
gives 0 'y f32[3] = 2.5, 4, 1' hologram run model.onnxjson -i x=1,2
printf '\0\0\300?\0\0\0@' > first.bin
mkdir parts
printf '....\0\0\200?' > parts/second.bin
sed -e 's/float_data: 1.5 float_data: 2/data_location: EXTERNAL external_data { key: "location" value: "first.bin" }/' \
    -e 's|raw_data: ".*" }|data_location: EXTERNAL external_data { key: "location" value: "parts/second.bin" } external_data { key: "offset" value: "4" } external_data { key: "length" value: "4" } }|' \
    model.textproto > several.textproto
gives 0 'y f32[3] = 2.5, 4, 1' hologram run several.textproto -i x=1,2
quiet hologram convert several.textproto -o whole.onnx
gives 0 'they agree' hologram compare whole.onnx several.textproto
mv parts/second.bin parts/third.bin
gives 1 'parts/second.bin' hologram compile several.textproto
sed 's/dims: 2/dims: "two"/' model.textproto > wrong.textproto
gives 1 'line 7' hologram compile wrong.textproto

# States become inputs and outputs of ONNX: what a run gives as NAME_next goes into NAME in the next one.
quiet hologram convert counter.tflite -o counter.onnx
gives 0 'sum_next f32[2] = 4, 6' hologram run counter.onnx -i x=1,2 -i sum=3,4 -i started=1
quiet hologram convert made/state.pt2 -o state.onnx
gives 0 'b.own_1_next' hologram inspect state.onnx

# ONNX's own syntax: initializers, attributes of all kinds, a body, a function with an attribute that is referred to.
cat > syntax.onnxtxt <<'TEXT'
<
  ir_version: 8,  # a comment
  opset_import: ["" : 17, "local" : 1],
  producer_name: "hand \"made\"",
  metadata_props: ["key": "value"]
>
agraph (float[N, 2] x, bool flag) => (float[N, 2] y, float[?, ?] z, float[] t)
<float[2] w = {1.5, -2}, int64[1] "last axis" = {1}, float[N, 2] a>
{
    [first] a = Add(x, w)
    b = local.scaled <by = 2.0> (a)
    limit = Constant <value: tensor = float {4}> ()
    y = Clip(b, , limit)
    z = If (flag) <then_branch = yes () => (float[N, 2] p) { p = Neg(y) }, else_branch = no () => (float[N, 2] q) { q = Identity(y) }>
    t = ReduceSum <keepdims: int = 0> (y, "last axis")
}
<domain: "local", opset_import: ["" : 17]>
scaled <by> (u) => (v)
{
    f = Constant <value_float: float = @by> ()
    v = Mul(u, f)
}
TEXT
gives 0 'y f32[1, 2] = 4, 2' hologram run syntax.onnxtxt -i x='[[1,3]]' -i flag=1
gives 0 'z f32[1, 2] = -4, -2' hologram run syntax.onnxtxt -i x='[[1,3]]' -i flag=1
gives 0 't f32[1] = 6' hologram run syntax.onnxtxt -i x='[[1,3]]' -i flag=0
gives 0 'producer     hand "made"' hologram inspect syntax.onnxtxt
sed 's/Add(x, w)/Add(x, w/' syntax.onnxtxt > wrong.onnxtxt
gives 1 "line 11: ',' is expected here" hologram inspect wrong.onnxtxt
sed 's/{1.5, -2}/{1.5, two}/' syntax.onnxtxt > wrong.onnxtxt
gives 1 'line 8: this is not a number' hologram inspect wrong.onnxtxt

# One of a kind is one.
check 'a model of one node' python3 "$ROOT/tests/support/onnx_model.py" one.onnx in x f32 2 out y f32 2 node Neg x y
gives 0 '; 1 step, 1 of them' hologram compile one.onnx
gives 0 '1 step, 2 values, 0 constants' hologram inspect one.holo
