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
