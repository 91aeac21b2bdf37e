# OpenVINO: every layer beside its answer, bodies, variables, open sizes, and what cannot be read.
. "$CHECKS"
gives 0 'cases of 141 layers agree' python3 "$ROOT/tests/openvino/run.py" "$HOLOGRAM"
python3 "$ROOT/tests/openvino/special.py" . || exit 1

gives 0 'y f32[1, 2] = 14.5, 0' hologram run mlp.xml -i x=1,2,3
gives 0 'agrees with the model' hologram compile mlp.xml
gives 0 'x            f32[batch, 3]' hologram inspect mlp.xml
gives 0 'producer     OpenVINO 2024.1.0' hologram inspect mlp.xml
gives 0 'version      10' hologram inspect mlp.xml

# Bodies: branches, iterations over parts of a tensor in both directions, loops that a condition ends.
gives 0 'y f32[2] = 2.71828, 7.38906' hologram run if.xml -i x=1,2 -i c=1
gives 0 'y f32[2] = -1, -2' hologram run if.xml -i x=1,2 -i c=0
gives 0 'y.0 f32[1, 3, 2] = 11, 22, 14, 26, 19, 32' hologram run forwards.xml -i x=1,2,3,4,5,6 -i h=10,20
gives 0 'y.0 f32[1, 3, 2] = 19, 32, 18, 30, 15, 26' hologram run backwards.xml -i x=1,2,3,4,5,6 -i h=10,20
gives 0 'y.1 f32[1, 1, 2] = 19, 32' hologram run backwards.xml -i x=1,2,3,4,5,6 -i h=10,20
gives 0 'y f32[1] = 192' hologram run loop.xml -i x=3

# A variable is a state; ONNX has it as an input and an output.
gives 0 'y f32[2] = 6, 10' hologram run counter.xml -i x=1,2 --times 3
quiet hologram convert counter.xml -o counter.onnx
gives 0 'sum_next f32[2] = 8, 9' hologram run counter.onnx -i x=1,2 -i sum=7,7 -i started=1
quiet hologram convert backwards.xml -o backwards.onnx
gives 0 'they agree' hologram compare backwards.onnx backwards.xml

# Layers that are not known are all listed.
gives 0 '2 of 4 operators are not supported, used 3 times:' hologram inspect unknown.xml
gives 0 'openvino::Mystery  2' hologram inspect unknown.xml
gives 1 'openvino::Proposal version 1: 1 node' hologram compile unknown.xml

# What is wrong is said.
gives 1 "form a circle, with 'Add_1'" hologram inspect circle.xml
cp mlp.xml alone.xml
gives 1 'the weights are in a file beside the model, with .bin for .xml, which is not there' hologram compile alone.xml
head -c 20 mlp.bin > alone.bin
gives 1 'but the file of weights has 20' hologram compile alone.xml
sed 's/version="10"/version="7"/' mlp.xml > old.xml
gives 1 "version 7 of OpenVINO's representation is not supported" hologram compile old.xml
head -c 400 mlp.xml > cut.xml
gives 1 'line 6: the XML is damaged' hologram compile cut.xml
(echo '<!DOCTYPE net [<!ENTITY a "aaaa">]>'; tail -n +2 mlp.xml) > bomb.xml
gives 1 'it declares a document type' hologram compile bomb.xml
python3 -c "print('<net name=\"x\" version=\"11\"><layers>' + '<a>' * 100 + '</a>' * 100 + '</layers></net>')" > deep.xml
gives 1 'nested too deep' hologram compile deep.xml
sed 's/transpose_b="true"/transpose_b="true" fine="\&lt;\&#65;\&bad;"/' mlp.xml > entity.xml
gives 1 'an entity that is not known' hologram compile entity.xml
