# TensorFlow and Keras: one small network in all the forms that they are stored in gives the same answers, and convert writes
# them as ONNX.
. "$CHECKS"
python3 "$ROOT"/tests/support/tf_maker.py net

answer() { # MODEL FILE
    rm -rf out
    hologram run "$1" --input x=net/input.npy --quiet --output out && cp out/*.npy "$2"
}

answer net/frozen.pb want.npy
for model in frozen.pbtxt saved net.h5 net.keras tfjs_graph tfjs_graph/model.json tfjs_layers tfjs_layers/model.json tfjs_old tfjs_old/tensorflowjs_model.pb; do
    check "$model is read" answer net/$model have.npy
    same want.npy have.npy
done
gives 0 'probs' hologram run net/tfjs_small --input x=net/input.npy
gives 0 'agrees with the model' hologram compile net/saved -o saved.holo
gives 0 'agrees with the model' hologram compile net/tfjs_graph/model.json -o graph.holo

# Layers, one by one.
gives 0 'models of layers agree with TensorFlow.js' python3 "$ROOT/tests/tensorflow/layers.py" "$HOLOGRAM"

# What a model is.
gives 0 'SavedModel' hologram inspect net/saved
gives 0 'MaxPool' hologram inspect net/saved
gives 0 'x            f32[batch, 6, 6, 2]' hologram inspect net/net.keras
hologram inspect net/net.h5 --json > inspect.json
json inspect.json operators uses supported keras_version

# As ONNX: the same answers, and the same bytes each time.
for model in frozen.pb saved net.h5 tfjs_graph; do
    quiet hologram convert net/$model -o converted.onnx
    check 'it is read again' answer converted.onnx have.npy
    same want.npy have.npy
    cp converted.onnx first.onnx
    quiet hologram convert net/$model -o converted.onnx
    same first.onnx converted.onnx
done
gives 0 'format       ONNX' hologram inspect converted.onnx
quiet hologram convert "$MODEL" -o again.onnx
gives 0 'they agree' hologram compare again.onnx "$MODEL"
gives 2 'says where the ONNX model goes' hologram convert net/net.h5
gives 1 'convert writes ONNX, not .tflite' hologram convert net/net.h5 -o net.tflite
gives 1 'hologram compile makes archives' hologram convert net/net.h5 -o net.holo
gives 0 'operators, as ONNX names them' hologram inspect net/net.h5

# Texts and complex numbers, with the answers of TensorFlow.js.
python3 "$ROOT"/tests/support/text_graph.py make texts
for graph in texts/*.pbtxt; do
    quiet hologram run "$graph" --input x="${graph%.pbtxt}".npy --quiet --output "${graph%.pbtxt}"
done
gives 0 'fourier agrees' python3 "$ROOT"/tests/support/text_graph.py check texts

# What is wrong is said.
rm net/saved/variables/variables.index
gives 1 'has no value: the folder of its checkpoint is needed' hologram compile net/saved
head -c 3000 net/net.h5 > cut.h5
gives 1 'HDF5' hologram inspect cut.h5
rm net/tfjs_graph/group1-shard2of2.bin
gives 1 'group1-shard2of2.bin' hologram inspect net/tfjs_graph
sed -i 's/"Flatten"/"Mystery"/' net/tfjs_layers/model.json
gives 0 'keras::Mystery 1' hologram inspect net/tfjs_layers
gives 1 'keras::Mystery version 1: 1 node' hologram compile net/tfjs_layers

# ONNX Runtime has no Where of i8: it is written with Casts. Version 20 of the operators is enough.
node() { printf 'node { name: "%s" op: "%s" %s }\n' "$1" "$2" "$3"; }
shape='attr { key: "shape" value { shape { dim { size: 2 } } } }'
{ node c Placeholder "attr { key: \"dtype\" value { type: DT_BOOL } } $shape"
  node a Placeholder "attr { key: \"dtype\" value { type: DT_INT8 } } $shape"
  node b Placeholder "attr { key: \"dtype\" value { type: DT_INT8 } } $shape"
  node y SelectV2 'input: "c" input: "a" input: "b"'; } > select.pbtxt
quiet hologram convert select.pbtxt -o select.onnx
gives 0 'Cast         3' hologram inspect select.onnx
gives 0 'opset        ai.onnx 20' hologram inspect select.onnx
gives 0 'y i8[2] = 1, -4' hologram run select.onnx -i c=1,0 -i a=1,2 -i b=3,-4

# Weights that are steps of a range, as whole numbers: 0, 51, 102 and 255 of -0.5 to 2 are -0.5, 0, 0.5 and 2, since 0 is one of the steps.
real() { node "$1" Const "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: $2 } } }"; }
{ node x Placeholder 'attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: 1 } dim { size: 2 } } } }'
  real low 0; real high 255; real from -0.5; real to 2
  node w Const 'attr { key: "dtype" value { type: DT_QUINT8 } } attr { key: "value" value { tensor { dtype: DT_QUINT8 tensor_shape { dim { size: 2 } dim { size: 2 } } tensor_content: "\000\063\146\377" } } }'
  node q QuantizeV2 'input: "x" input: "low" input: "high" attr { key: "T" value { type: DT_QUINT8 } }'
  node m QuantizedMatMul 'input: "q" input: "w" input: "q:1" input: "q:2" input: "from" input: "to"'
  node y Dequantize 'input: "m" input: "m:1" input: "m:2"'; } > steps.pbtxt
gives 0 'y f32[1, 2] = 15, 80' hologram run steps.pbtxt -i x='[[10,40]]'

# A vocabulary in a file, which a function fills a table from, as TensorFlow 2 has it; and one in the graph.
mkdir -p words/assets
printf 'cat\t5\ndog\t7\ncow\t9\n' > words/assets/vocab.txt
key() { printf 'attr { key: "%s" value { %s } } ' "$1" "$2"; }
kinds="$(key key_dtype 'type: DT_STRING')$(key value_dtype 'type: DT_INT64')"
{ echo 'saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: "serve" } graph_def {'
  node x Placeholder "$(key dtype 'type: DT_STRING')$(key shape 'shape { dim { size: 3 } }')"
  node t HashTableV2 "$kinds"
  node u HashTableV2 "$kinds"
  node path Const "$(key dtype 'type: DT_STRING')$(key value 'tensor { dtype: DT_STRING tensor_shape { } string_val: "/home/me/vocab.txt" }')"
  node none Const "$(key dtype 'type: DT_INT64')$(key value 'tensor { dtype: DT_INT64 tensor_shape { } int64_val: -1 }')"
  node keys Const "$(key dtype 'type: DT_STRING')$(key value 'tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: "dog" string_val: "hen" }')"
  node values Const "$(key dtype 'type: DT_INT64')$(key value 'tensor { dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: 30 int64_val: 40 }')"
  node fill StatefulPartitionedCall "input: \"path\" input: \"t\" $(key f 'func { name: "filling" }')"
  node fill_u LookupTableImportV2 'input: "u" input: "keys" input: "values"'
  node y LookupTableFindV2 'input: "t" input: "x" input: "none"'
  node z LookupTableFindV2 'input: "u" input: "x" input: "none"'
  node n LookupTableSizeV2 'input: "t"'
  echo 'library { function { signature { name: "filling" input_arg { name: "file" type: DT_STRING } input_arg { name: "table" type: DT_RESOURCE } output_arg { name: "o" type: DT_STRING } }'
  echo "node_def { name: \"i\" op: \"InitializeTableFromTextFileV2\" input: \"table\" input: \"file\" $(key key_index 'i: 0')$(key value_index 'i: 1')$(key vocab_size 'i: -1') }"
  echo 'ret { key: "o" value: "file" } } } }'
  echo 'signature_def { key: "serving_default" value { inputs { key: "x" value { name: "x:0" dtype: DT_STRING tensor_shape { dim { size: 3 } } } }'
  for out in y z n; do echo "outputs { key: \"$out\" value { name: \"$out:0\" dtype: DT_INT64 } }"; done
  echo '} } }'; } > words/saved_model.pbtxt
python3 -c "import sys; sys.path.insert(0, '$ROOT/tests/tflite'); from writer import write_npy; write_npy('animals.npy', 'string', [3], ['dog', 'hen', 'cat'])"
gives 0 'y i64[3] = 7, -1, 5' hologram run words -i x=animals.npy
gives 0 'z i64[3] = 30, 40, -1' hologram run words -i x=animals.npy
gives 0 'n i64[] = 3' hologram run words -i x=animals.npy
printf 'cat\t0.5\ndog\t7.25\n' > words/assets/vocab.txt
sed -i 's/value_dtype" value { type: DT_INT64/value_dtype" value { type: DT_FLOAT/' words/saved_model.pbtxt
gives 0 'y f32[3] = 7.25, -1, 0.5' hologram run words -i x=animals.npy
rm words/assets/vocab.txt
gives 1 'assets/vocab.txt' hologram inspect words

# Variables in a checkpoint beside the graph, as TensorFlow 1 and 2 have them; what saves and fills them does not matter.
whole() { node "$1" Const "$(key dtype 'type: DT_INT32')$(key value "tensor { dtype: DT_INT32 tensor_shape { dim { size: $2 } } $3 }")"; }
{ for v in 'v VariableV2' 'u Variable'; do node ${v% *} ${v#* } "$(key dtype 'type: DT_FLOAT')$(key shape 'shape { dim { size: 2 } dim { size: 2 } }')"; done
  node h VarHandleOp "$(key dtype 'type: DT_FLOAT')$(key shared_name 's: "h"')"
  real zero 0; whole rows 1 'int_val: 1'; whole place 2 'int_val: [0, 1]'
  node path Const "$(key dtype 'type: DT_STRING')$(key value 'tensor { dtype: DT_STRING tensor_shape { } string_val: "x" }')"
  node filled Assign 'input: "v" input: "zero"'
  node filled_too AssignVariableOp 'input: "h" input: "zero"'
  node saved SaveV2 'input: "path" input: "path" input: "path" input: "u"'
  node restored RestoreV2 'input: "path" input: "path" input: "path"'
  node merged MergeV2Checkpoints 'input: "path" input: "path"'
  node v_read Identity 'input: "v"'; node u_read Identity 'input: "u"'; node h_read ReadVariableOp 'input: "h"'
  node sum AddN "input: \"v_read\" input: \"u_read\" input: \"h_read\" $(key N 'i: 3')"
  node taken ResourceGather 'input: "h" input: "rows"'; node one ResourceGatherNd 'input: "h" input: "place"'; node sizes VariableShape 'input: "h"'
  node is_there VarIsInitializedOp 'input: "h"'; node is_here IsVariableInitialized 'input: "v"'; } > net/restored/graph.pbtxt
hologram run net/restored/graph.pbtxt > shown
check 'values of three kinds of variables' grep -q 'sum f32\[2, 2\] = 60, 63, 66, 69' shown
check 'rows of a variable' grep -q 'taken f32\[1, 2\] = 32, 33' shown
check 'an element of a variable' grep -q 'one f32\[\] = 31' shown
check 'the sizes of a variable' grep -q 'sizes i32\[2\] = 2, 2' shown
check 'a variable has a value' grep -q 'is_there bool\[\] = 1' shown
check 'a variable of old has one' grep -q 'is_here bool\[\] = 1' shown

# Numbers that go through the steps of a range, of which one is 0: 8 bits of -1 to 1.55, and 4 without the least of -0.7 to 1.4.
{ node x Placeholder "$(key dtype 'type: DT_FLOAT')$(key shape 'shape { dim { size: 4 } }')"
  real low -0.7; real high 1.4
  node y FakeQuantWithMinMaxArgs "input: \"x\" $(key min 'f: -1')$(key max 'f: 1.55')"
  node z FakeQuantWithMinMaxVars "input: \"x\" input: \"low\" input: \"high\" $(key num_bits 'i: 4')$(key narrow_range 'b: true')"; } > fake.pbtxt
gives 0 'y f32[4] = -1, 0.02, 0.77, 1.55' hologram run fake.pbtxt -i x=-3,0.0249,0.7651,7
gives 0 'z f32[4] = -0.75, 0, 0.75, 1.35' hologram run fake.pbtxt -i x=-3,0.0249,0.7651,7

# A size that is open in the model is fixed: what the importer made of it follows.
{ node x Placeholder "$(key dtype 'type: DT_FLOAT')$(key shape 'shape { dim { size: -1 } }')"
  node y MatrixDiag 'input: "x"'; } > diag.pbtxt
gives 0 'y f32[2, 2] = 5, 0, 0, 7' hologram run diag.pbtxt -i x=5,7
gives 0 'y f32[2, 2] = 5, 0, 0, 7' hologram run diag.pbtxt -i x=5,7 --input-shape x:2
