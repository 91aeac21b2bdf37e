# compare_test.sh - hologram compare: archives, models and tensors of others against each other, and the exit status by tolerance.
. "$CHECKS"

quiet hologram compile "$MODEL" -o d.holo -q
quiet hologram compile "$MODEL" -o q.holo -q --quantize int8 --calibrate "$DEMO/digits"
ZERO=$DEMO/digits/02_is_0.npy

# ---- archive, model, tensors, in any order

gives 0 'they agree within 0.001 of the largest value' hologram compare d.holo "$MODEL"
gives 0 'made-up inputs' hologram compare "$MODEL" d.holo
gives 0 'on one sample' hologram compare d.holo "$MODEL" --input "$SEVEN"
gives 0 'the same' hologram compare d.holo "$MODEL" --compile --tolerance 0
hologram run d.holo --input "$SEVEN" -o other -q
gives 0 'they agree' hologram compare d.holo other --input "$SEVEN" --tolerance 0
gives 0 'they agree' hologram compare other d.holo --input "$SEVEN"
gives 0 'they agree' hologram compare other/probabilities.npy "$MODEL" --input "$SEVEN"
gives 0 'they agree' hologram compare other other/probabilities.npy
gives 1 'they do not agree' hologram compare other d.holo --input "$ZERO"
gives 1 '0.00 %' hologram compare other d.holo --input "$ZERO" # another class
gives 1 'expected 0.99999' hologram compare other d.holo --input "$ZERO"
gives 0 'probabilities f32[3, 10]' hologram compare d.holo "$MODEL" --input-shape image:3,1,8,8
quiet hologram compare d.holo "$MODEL" -q
check 'quietly, too' sh -c '! "$HOLOGRAM" compare other d.holo --input "$0" -q' "$ZERO"

mkdir renamed && cp other/probabilities.npy renamed/output_0.npy
gives 0 'matched by its position: renamed calls it output_0' hologram compare d.holo renamed --input "$SEVEN"
gives 0 'matched by its position' hologram compare renamed d.holo --input "$SEVEN"
check 'a model of two outputs' python3 "$ROOT/tests/support/onnx_model.py" two.onnx in x f32 2 out p f32 2 out q f32 2 node Relu x p node Neg x q
hologram run two.onnx -i x=1,2 -o both -q
gives 0 'they agree' hologram compare two.onnx both -i x=1,2
mv both/q.npy both/other.npy
gives 1 'both does not have it' hologram compare two.onnx both -i x=1,2
mv both/p.npy both/an.npy
gives 0 'matched by its position: both calls it other' hologram compare two.onnx both -i x=1,2

# ---- many samples; the tolerance decides

gives 1 '20 samples' hologram compare q.holo d.holo --samples "$DEMO/digits" --tolerance 1e-4
gives 0 '100.00 %' hologram compare q.holo d.holo --samples "$DEMO/digits" --tolerance 0.05
gives 0 'within 0.05 + 0 * |expected|' hologram compare q.holo d.holo --samples "$DEMO/digits" --rtol 0 --atol 0.05
gives 1 'too far off' hologram compare q.holo d.holo --samples "$DEMO/digits" --rtol 1e-6
hologram compare q.holo d.holo --samples "$DEMO/digits" --json --tolerance 0.05 > report.json
json report.json a b agrees samples outputs worst_absolute worst_relative worst_at worst_sample cosine top1
check '20 rows, all the same' grep -q '"top1_rows": 20' report.json
check 'the sample is named' grep -qE '"worst_sample": "[0-9]+_is_[0-9]"' report.json

# What another engine gave for each sample, in a folder of its name.
mkdir samples theirs
cp "$SEVEN" samples/one.npy && cp "$ZERO" samples/two.npy
for s in one two; do hologram run d.holo --input samples/$s.npy -o theirs/$s -q; done
gives 0 '2 samples' hologram compare d.holo theirs --samples samples --tolerance 0
cp theirs/one/probabilities.npy theirs/two/
gives 1 'in two' hologram compare d.holo theirs --samples samples
rm -r theirs/two
gives 2 'no folder theirs/two' hologram compare d.holo theirs --samples samples
gives 2 'is one file, but there are several samples' hologram compare d.holo other/probabilities.npy --samples samples

# ---- nodes, by name, also where the plan has channels last

gives 0 'relu2 ' hologram compare d.holo "$MODEL" --nodes
gives 0 'relu1 ' hologram compare "$MODEL" d.holo --nodes
gives 1 'the first node that is too far off: ' hologram compare q.holo "$MODEL" --nodes --input "$SEVEN" --tolerance 1e-7
hologram compare d.holo "$MODEL" --nodes --json > nodes.json
json nodes.json nodes
check 'its channels are in front again' sh -c 'grep -A1 "\"relu1\"" nodes.json | grep -q "f32\[1, 12, 8, 8\]"'
cp "$SEVEN" other/scaled.npy # not what that node gives
gives 0 '1 node differs, though the outputs agree' hologram compare d.holo other --nodes --input "$SEVEN"

# ---- other shapes and types

npy_data other/probabilities.npy | npy '<f4' '(10,)' > flat.npy
npy_data other/probabilities.npy | npy '<i4' '(1, 10)' > ints.npy
gives 1 'f32[1, 10], but expected f32[10]' hologram compare d.holo flat.npy --input "$SEVEN"
gives 1 'f32 against i32' hologram compare d.holo ints.npy --input "$SEVEN"
printf '\000\000\300\177\000\000\200\077' | npy '<f4' '(2,)' > nan.npy # NaN, 1
printf '\000\000\200\077\000\000\200\077' | npy '<f4' '(2,)' > one.npy
gives 0 'they agree' hologram compare nan.npy nan.npy
gives 1 'inf' hologram compare nan.npy one.npy --atol 1000
printf '\001\000\000\000\000\000\000\000\020\047\000\000\000\000\000\000' | npy '<i8' '(2,)' > ids.npy # 1, 10000
printf '\002\000\000\000\000\000\000\000\020\047\000\000\000\000\000\000' | npy '<i8' '(2,)' > others.npy # 2, 10000
gives 1 '1 of 2 too far off' hologram compare ids.npy others.npy # names of things are the same or not
gives 0 'they agree' hologram compare ids.npy others.npy --atol 1
printf '\001\000\000\000\000\000\000\100' | npy '<i8' '(1,)' > wide.npy # 2^62 + 1
printf '\002\000\000\000\000\000\000\100' | npy '<i8' '(1,)' > wider.npy # the same double
gives 1 '1 of 1 too far off' hologram compare wide.npy wider.npy
gives 0 'they agree' hologram compare wide.npy wide.npy

# ---- what cannot be compared: 2

check 'a random model' python3 "$ROOT/tests/support/onnx_model.py" random.onnx in x f32 2 out y f32 2 node RandomNormalLike x y
gives 2 'random.onnx and random.onnx have no outputs that can be compared' hologram compare random.onnx random.onnx

gives 2 'no-such.holo' hologram compare no-such.holo d.holo
gives 2 'A is missing' hologram compare
gives 2 'B is missing' hologram compare d.holo
gives 2 'looks like a text file' hologram compare d.holo "$DEMO/run.sh"
gives 2 "no input called 'x'" hologram compare d.holo "$MODEL" --input x="$SEVEN"
gives 2 'no samples' sh -c 'mkdir empty; "$HOLOGRAM" compare d.holo d.holo --samples empty'
gives 2 'no tensors' hologram compare d.holo empty
gives 2 'expected a number that is not negative' hologram compare d.holo d.holo --tolerance -1
gives 2 '--tolerance and --rtol exclude each other' hologram compare d.holo d.holo --tolerance 1 --rtol 1
gives 2 '--samples and --input exclude each other' hologram compare d.holo d.holo --samples samples --input "$SEVEN"
gives 2 'neither d.holo nor q.holo is a model' hologram compare d.holo q.holo --compile
gives 2 '--input is not for tensors' hologram compare one.npy one.npy --input "$SEVEN"
