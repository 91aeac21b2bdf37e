# run_test.sh - hologram run: inputs found, checked and read; outputs shown and written; the same bits every time.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q
gives 0 'probabilities f32[1, 10] = ' hologram run digits.holo --input image="$SEVEN"
gives 0 '0.99994' hologram run digits.holo --input "$SEVEN" # the only input needs no name
gives 0 'probabilities f32[1, 10] = ' hologram run "$MODEL" --input image="$SEVEN"
gives 0 'probabilities f32[1, 10] = ' hologram run digits.holo --input random
gives 0 'probabilities f32[5, 10] = ' hologram run digits.holo --input random --input-shape image:5,1,8,8
quiet hologram run digits.holo --input image="$SEVEN" --output out --quiet
check 'the output is written' test -s out/probabilities.npy
npy_data out/probabilities.npy > raw
check 'ten floats' test "$(wc -c < raw)" = 40

# The same bits from model and archive, for any number of threads.
for threads in 1 2 4; do
    hologram run digits.holo --input "$SEVEN" -o out_$threads -q --threads $threads
    same out/probabilities.npy out_$threads/probabilities.npy
done
hologram run "$MODEL" --input "$SEVEN" -o out_model -q
same out/probabilities.npy out_model/probabilities.npy

# In class exact on every level, and from an archive that was written on another.
hologram compile "$MODEL" -o exact.holo -q --numeric exact
hologram run exact.holo --input "$SEVEN" -o out_exact -q
for level in sse2 avx2 avx512 avx512vnni avx512vbmi neon neondot; do
    gives 0 '' env HOLO_CPU=$level "$HOLOGRAM" run exact.holo --input "$SEVEN" -o out_$level -q --threads 3
    same out_exact/probabilities.npy out_$level/probabilities.npy
    gives 0 '' env HOLO_CPU=$level "$HOLOGRAM" compile "$MODEL" -o exact_$level.holo -q --numeric exact
    same exact.holo exact_$level.holo
done

# All digits at once are each of them alone.
for image in "$DEMO"/digits/*.npy; do npy_data "$image"; done | npy '<f4' '(20, 1, 8, 8)' > all.npy
hologram run digits.holo --input all.npy -o out_all -q
npy_data out_all/probabilities.npy | head -c 40 > first
same first raw

hologram run digits.holo --input "$SEVEN" --profile trace.json -q
json trace.json traceEvents ph ts dur name kernel

# Inputs that do not fit say what was expected.
npy_data "$SEVEN" | npy '<f4' '(1, 64)' > flat.npy
npy_data "$SEVEN" | npy '<i4' '(1, 1, 8, 8)' > ints.npy
npy_data "$SEVEN" | head -c 200 | npy '<f4' '(1, 1, 8, 8)' > short.npy
npy_data "$SEVEN" | npy '<f4' '(1, 1, 9223372036854775807, 8)' > huge.npy
npy_data "$SEVEN" | npy '<f4' '(1, 1, 8, -8)' > negative.npy
npy_data "$SEVEN" | npy 'O' '(1, 1, 8, 8)' > objects.npy
gives 1 "no input called 'picture'" hologram run digits.holo --input picture="$SEVEN"
gives 1 'the inputs are: image f32[batch, 1, 8, 8]' hologram run digits.holo --input picture="$SEVEN"
gives 1 "the input 'image' is missing: f32[batch, 1, 8, 8]" hologram run digits.holo
gives 1 'input image should be f32[batch,1,8,8], but is f32[1,64]' hologram run digits.holo --input flat.npy
gives 1 'but is i32[1,1,8,8]' hologram run digits.holo --input ints.npy
gives 1 'short.npy' hologram run digits.holo --input short.npy
gives 1 'huge.npy' hologram run digits.holo --input huge.npy
gives 1 'negative.npy' hologram run digits.holo --input negative.npy
gives 1 'objects.npy' hologram run digits.holo --input objects.npy
gives 1 'no-such.npy' hologram run digits.holo --input no-such.npy
gives 1 'no-such.holo' hologram run no-such.holo --input "$SEVEN"
gives 1 'looks like a text file' hologram run "$DEMO/run.sh" --input "$SEVEN"
gives 1 'not a tensor; it looks like an ONNX model' hologram run digits.holo --input "$MODEL"
gives 1 'not a tensor; it looks like an archive' hologram run digits.holo --input digits.holo
gives 1 'not a tensor; it looks like a text file' hologram run digits.holo --input "$DEMO/run.sh"
gives 1 'no/such' hologram run digits.holo --input "$SEVEN" --output no/such/folder
gives 1 'no/such.json' hologram run digits.holo --input "$SEVEN" --profile no/such.json
gives 2 'whole number' hologram run digits.holo --input "$SEVEN" --threads many
gives 2 'FILE is missing' hologram run

# An input file cut anywhere.
size=$(wc -c < "$SEVEN")
cut=0
while [ $cut -lt "$size" ]; do
    head -c $cut "$SEVEN" > cut.npy
    gives 1 'cut.npy' hologram run digits.holo --input cut.npy
    cut=$((cut + 23))
done
