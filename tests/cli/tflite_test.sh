# TensorFlow Lite: every operator beside its answer, variables, dynamic sizes, metadata, tasks, and what cannot be read.
. "$CHECKS"

gives 0 'operators agree with TensorFlow Lite' python3 "$ROOT/tests/tflite/run.py" "$HOLOGRAM"
python3 "$ROOT/tests/tflite/special.py" .

# A variable is a state: it begins as the file says, and each run changes it.
gives 0 'y f32[2] = 6, 7' hologram run counter.tflite -i x=1,2
hologram run counter.tflite -i x=1,2 --times 3 -q -o runs
check 'a folder for each run' test -f runs/3/y.npy
gives 0 'y f32[2] = 8, 11' hologram run counter.tflite -i x=1,2 --times 3
gives 0 'agrees with the model' hologram compile counter.tflite
gives 0 'y f32[2] = 7, 9' hologram run counter.holo -i x=1,2 --times 2

# Sizes that the file leaves open are symbols, unless an operator needs them as they are.
gives 0 'f32[batch, x_1]' hologram inspect open.tflite
gives 0 'y f32[1, 6] = 2, 3, 4, 5, 6, 7' hologram run open.tflite -i x='[[1,2,3,4,5,6]]'
gives 0 'f32[1, 4]' hologram inspect pinned.tflite
python3 -c "import sys; sys.path.insert(0, '$ROOT/tests/tflite'); from writer import write_npy; write_npy('words.npy', 'string', [2], ['yes', 'yes'])"
gives 0 'y bool[2] = 1, 0' hologram run texts.tflite -i x=words.npy

# What a model says of itself.
hologram inspect described.tflite > shown
check 'the format' grep -q 'format  *TFLite$' shown
check 'the signature' grep -q 'signature.serving_default  *x -> y$' shown
check 'the description' grep -q 'description  *Tells shapes$' shown
check 'normalization' grep -q 'input.0.normalization  *mean 127.5, std 128$' shown
gives 0 'file.labels.txt cat,dog' hologram inspect labeled.tflite

# Tasks of MediaPipe are zip files.
gives 0 'entry        model.tflite' hologram inspect one.task
gives 0 'y f32[1, 2] = 2, 3' hologram run one.task -i x='[[1,2]]'
hologram compile two.task -q
gives 0 'inputs of entry landmarks' hologram inspect two.holo
gives 0 'y f32[1, 2] = 2, 3' hologram run two.holo --entry detector -i x='[[1,2]]'
hologram compile two.data -q -o data.holo
gives 0 'inputs of entry model_2' hologram inspect data.holo

# What is written as ONNX computes the same: dynamic quantization, steps of 16 bits, one model of several.
gives 0 'operators agree with TensorFlow Lite' python3 "$ROOT/tests/tflite/run.py" "$HOLOGRAM" --converted fully_connected_hybrid conv_hybrid i16_r unique
gives 1 'choose one with --entry: detector, landmarks' hologram convert two.task -o two.onnx
gives 1 "has no entry 'nose'" hologram convert two.task -o two.onnx --entry nose
quiet hologram convert two.task -o two.onnx --entry detector
gives 0 'y f32[1, 2] = 2, 3' hologram run two.onnx -i x='[[1,2]]'

# Operators that are not known are listed at once; the model can be looked at.
gives 1 'Sing' hologram compile unknown.tflite
gives 1 'CONCAT_EMBEDDINGS' hologram compile unknown.tflite
gives 0 'f32[u2]' hologram inspect unknown.tflite
head -c 200 open.tflite > cut.tflite
gives 1 'the file is damaged' hologram compile cut.tflite
