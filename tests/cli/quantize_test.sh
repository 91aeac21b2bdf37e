# quantize_test.sh - hologram compile --quantize: what it makes, what it tells, what it refuses.
. "$CHECKS"

DIGITS=$DEMO/digits
for type in int8 int4 f16 bf16; do
    gives 0 "layers to $type" hologram compile "$MODEL" -o $type.holo --quantize $type --calibrate "$DIGITS"
    gives 0 'agrees with the model' hologram compile "$MODEL" -o $type.holo --quantize $type
    quiet hologram run $type.holo --quiet --input image="$SEVEN" --output $type
    gives 0 "$type" hologram inspect $type.holo
done
hologram compile "$MODEL" -o plain.holo -q
check 'it is smaller' test "$(wc -c < int8.holo)" -lt "$(wc -c < plain.holo)"

# The same bytes, whatever the threads.
quiet hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --quiet --threads 1
quiet hologram compile "$MODEL" -o b.holo --quantize int8 --calibrate "$DIGITS" --quiet --threads 3
same a.holo b.holo

# Static with samples, dynamic without; and by choice.
gives 0 'static activations' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS"
gives 0 'dynamic activations' hologram compile "$MODEL" -o a.holo --quantize int8
gives 0 'a convolution needs scales that are constants' hologram compile "$MODEL" -o a.holo --quantize int8
gives 0 '4 of 4 layers to int8, static' hologram compile "$MODEL" -o a.holo --quantize int8 --activations static
gives 0 'made-up samples' hologram compile "$MODEL" -o a.holo --quantize int8 --activations static --ranges minmax
gives 0 'dynamic activations' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --activations dynamic
gives 0 'on 1 sample' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$SEVEN"

# All of it asked for, nothing is narrow; the report has every layer.
gives 0 '0 of 4 layers to int8' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 1
gives 0 'the accuracy asked for needs it' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 1
gives 0 'conv2_conv' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --verbose
hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --json > report.json
json report.json quantization kind narrow_layers accuracy cosine top1 target samples layers error loss bytes_before bytes_after
hologram compile "$MODEL" -o a.holo --json > plain.json
check 'nothing of it without' sh -c '! grep -q narrow_layers plain.json'
gives 0 'a run instead of' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --only-if-faster
gives 0 'QuantizeLinear' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --dump=quantize

# An approximation: by name, and told as one. What centroids lose is measured on samples that they were not found on.
gives 0 'approximated 2 of 4 layers to centroids' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS" --accuracy 0
gives 0 'an approximation, as it was asked for' hologram explain a.holo
gives 0 'only what MatMul and Gemm read' hologram explain a.holo
gives 0 'on 10 samples' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS"
gives 0 'the accuracy asked for needs it' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS"
quiet hologram compile "$MODEL" -o b.holo --approx 16 --calibrate "$DIGITS" -q --accuracy 0 --threads 1
quiet hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS" -q --accuracy 0 --threads 3
same a.holo b.holo
gives 1 'found on real inputs' hologram compile "$MODEL" -o c.holo --approx 16
gives 1 'give two or more' hologram compile "$MODEL" -o c.holo --approx 16 --calibrate "$SEVEN"
gives 2 '2 to 256 centroids' hologram compile "$MODEL" -o c.holo --approx few --calibrate "$DIGITS"
gives 2 'do not go together' hologram compile "$MODEL" -o c.holo --approx 16 --quantize int8
gives 2 '--ranges goes with --quantize' hologram compile "$MODEL" -o c.holo --approx 16 --ranges mse

# What cannot be says what to do.
gives 2 "--quantize takes int8, int4, f16 or bf16; 'int9'" hologram compile "$MODEL" -o c.holo --quantize int9
gives 2 'from 0 to 1' hologram compile "$MODEL" -o c.holo --quantize int8 --accuracy 99
gives 2 'from 0 to 1' hologram compile "$MODEL" -o c.holo --quantize int8 --accuracy much
gives 2 '--calibrate goes with --quantize' hologram compile "$MODEL" -o c.holo --calibrate "$DIGITS"
gives 2 '--activations takes static or dynamic' hologram compile "$MODEL" -o c.holo --quantize int8 --activations both
gives 1 'without --numeric exact' hologram compile "$MODEL" -o c.holo --quantize int8 --numeric exact
gives 1 'nowhere.npz' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate nowhere.npz
mkdir none
gives 1 'has no samples' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate none
hologram run plain.holo --quiet --input image="$SEVEN" --output plain
gives 1 'but the model takes f32[?,1,8,8]' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate plain/probabilities.npy
check 'and leaves no file' test ! -e c.holo
