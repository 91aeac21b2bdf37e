# quantize_test.sh - hologram compile --quantize: what it makes, what it tells, what it refuses.
. "$CHECKS"

DIGITS=$DEMO/digits
for type in int8 int4 f16 bf16 w8; do
    gives 0 "layers to $type" hologram compile "$MODEL" -o $type.holo --quantize $type --calibrate "$DIGITS"
    gives 0 'agrees with the model' hologram compile "$MODEL" -o $type.holo --quantize $type
    quiet hologram run $type.holo --quiet --input image="$SEVEN" --output $type
    gives 0 "$type" hologram inspect $type.holo
done
# Numeric class bf16: weights of bf16, and products of bf16 where the CPU has them. Threads change no bit.
gives 0 '4 of 4 layers to bf16' hologram compile "$MODEL" -o class.holo --numeric bf16
gives 0 'bf16: products with weights' hologram inspect class.holo
gives 0 '"numeric": "bf16"' hologram inspect class.holo --json
for threads in 1 3; do
    quiet hologram run class.holo --quiet --input image="$SEVEN" --output class$threads --threads $threads
done
same class1/probabilities.npy class3/probabilities.npy
gives 0 'layers to int8' hologram compile "$MODEL" -o class.holo --numeric bf16 --quantize int8

hologram compile "$MODEL" -o plain.holo -q
check 'it is smaller' test "$(wc -c < int8.holo)" -lt "$(wc -c < plain.holo)"

# The same bytes, whatever the threads.
quiet hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --quiet --threads 1
quiet hologram compile "$MODEL" -o b.holo --quantize int8 --calibrate "$DIGITS" --quiet --threads 3
same a.holo b.holo

# Static with samples, dynamic without; and by choice.
gives 0 'static activations' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS"
gives 0 'dynamic activations' hologram compile "$MODEL" -o a.holo --quantize int8
gives 0 'without samples, each run computes the scales' hologram compile "$MODEL" -o a.holo --quantize int8
gives 0 '4 of 4 layers to int8, dynamic' hologram compile "$MODEL" -o a.holo --quantize int8
gives 0 '4 of 4 layers to int8, static' hologram compile "$MODEL" -o a.holo --quantize int8 --activations static
gives 0 'made-up samples' hologram compile "$MODEL" -o a.holo --quantize int8 --activations static --ranges minmax
gives 0 'dynamic activations' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --activations dynamic
gives 0 'on 1 sample' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$SEVEN"

# All of it asked for, nothing is narrow; the report has every layer.
gives 0 '0 of 4 layers to int8' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 1
gives 0 'the requested accuracy needs it' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 1
# Better weights for all are not enough, and int4 beside f32 is not either: so f32 for one, and better ones for the other.
gives 0 '1 of 4 layers to int4' hologram compile "$MODEL" -o a.holo --quantize int4 --calibrate "$DIGITS" --accuracy 0.9999995
gives 0 '1 layer is w8: the requested accuracy needs it' hologram compile "$MODEL" -o a.holo --quantize int4 --calibrate "$DIGITS" --accuracy 0.9999995
gives 0 '(0.9999995 was asked for)' hologram compile "$MODEL" -o a.holo --quantize int4 --calibrate "$DIGITS" --accuracy 0.9999995
gives 0 'conv2_conv' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --verbose
hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --json > report.json
json report.json quantization kind narrow_layers accuracy cosine top1 target samples layers error loss bytes_before bytes_after
hologram compile "$MODEL" -o a.holo --json > plain.json
check 'nothing of it without' sh -c '! grep -q narrow_layers plain.json'
gives 0 'per run instead of' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --only-if-faster
gives 0 'QuantizeLinear' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --dump=quantize

# An approximation: by name, and told as one. What centroids lose is measured on samples that they were not found on.
gives 0 'approximated 2 of 4 layers to centroids' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS" --accuracy 0
gives 0 '--approx asked for an approximation' hologram explain a.holo
gives 0 'only inputs of MatMul and Gemm' hologram explain a.holo
gives 0 'on 10 samples' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS"
gives 0 'the requested accuracy needs it' hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS"
quiet hologram compile "$MODEL" -o b.holo --approx 16 --calibrate "$DIGITS" -q --accuracy 0 --threads 1
quiet hologram compile "$MODEL" -o a.holo --approx 16 --calibrate "$DIGITS" -q --accuracy 0 --threads 3
same a.holo b.holo
gives 1 'centroids need real inputs' hologram compile "$MODEL" -o c.holo --approx 16
gives 1 'give two or more' hologram compile "$MODEL" -o c.holo --approx 16 --calibrate "$SEVEN"
gives 2 'the number of centroids must be from 2 to 256' hologram compile "$MODEL" -o c.holo --approx few --calibrate "$DIGITS"
gives 2 'exclude each other' hologram compile "$MODEL" -o c.holo --approx 16 --quantize int8
gives 2 '--ranges also needs --quantize' hologram compile "$MODEL" -o c.holo --approx 16 --ranges mse

# What cannot be says what to do.
gives 2 '--quantize int9: did you mean int8? Expected int8, int4, f16, bf16, w8, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k or q6_k' hologram compile "$MODEL" -o c.holo --quantize int9
gives 2 'from 0 to 1' hologram compile "$MODEL" -o c.holo --quantize int8 --accuracy 99
gives 2 '--calibrate also needs --quantize' hologram compile "$MODEL" -o c.holo --calibrate "$DIGITS"
gives 2 '--activations both: expected static or dynamic' hologram compile "$MODEL" -o c.holo --quantize int8 --activations both
gives 1 'choose class fused' hologram compile "$MODEL" -o c.holo --quantize int8 --numeric exact
gives 1 'nowhere.npz' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate nowhere.npz
mkdir none
gives 1 'the folder none has no sample:' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate none
hologram run plain.holo --quiet --input image="$SEVEN" --output plain
gives 1 'but the model needs f32[?,1,8,8]' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate plain/probabilities.npy
gives 2 '--quantize is given twice' hologram compile "$MODEL" -o c.holo --quantize int8 --quantize f16
gives 2 '--ranges is given twice' hologram compile "$MODEL" -o c.holo --quantize int8 --ranges mse --ranges minmax
gives 2 '--activations needs --quantize int8' hologram compile "$MODEL" -o c.holo --quantize f16 --activations static
gives 2 '--ranges needs static activations' hologram compile "$MODEL" -o c.holo --quantize int8 --ranges minmax
gives 2 'only percentile takes a number' hologram compile "$MODEL" -o c.holo --quantize int8 --activations static --ranges mse:3
gives 2 'above 50' hologram compile "$MODEL" -o c.holo --quantize int8 --activations static --ranges percentile:x

# Ranges.
for how in mse minmax percentile percentile:99.5 entropy; do
    gives 0 '4 of 4 layers to int8, static' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --ranges $how
done

# Several types: by operator, and by name. One that fits nothing is an error.
hologram compile "$MODEL" -o a.holo --quantize int8,Gemm=f16,conv1*=f32 --calibrate "$DIGITS" --verbose > mixed.txt
check 'an operator has another type' grep -q '^  f16 *Gemm' mixed.txt
check 'a name stays' grep -q '^  f32 *Conv.*: you asked to keep it' mixed.txt
check 'all others are int8' grep -q '^  int8 *Conv' mixed.txt
gives 0 '2 of 4 layers to f32,Gemm=int8' hologram compile "$MODEL" -o a.holo --quantize Gemm=int8
gives 2 'Gemm is given twice' hologram compile "$MODEL" -o c.holo --quantize Gemm=int8,Gemm=f16
gives 2 'two types for all' hologram compile "$MODEL" -o c.holo --quantize int8,f16
gives 2 '--quantize int9: did you mean int8?' hologram compile "$MODEL" -o c.holo --quantize int8,Gemm=int9
gives 0 '2 of 4 layers to q8_0' hologram compile "$MODEL" -o typed.holo --quantize q8_0
gives 0 'layers to q4_k' hologram compile "$MODEL" -o typed.holo --quantize q4_k,Conv=f16
gives 1 "no layer fits 'Gather'" hologram compile "$MODEL" -o c.holo --quantize int8,Gather=f16

# A command judges, and decides.
cat > judge.sh << 'END'
[ -f "$1/0000/probabilities.npy" ] && [ -f "$1/0019/probabilities.npy" ] || exit 3
[ ! -e asked ] || { echo "${WORSE:-0.9}"; exit; }
touch asked
echo so far: 0.93
END
gives 0 '0.9 instead of 0.93 (at most 0.05 less' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 'sh judge.sh' --max-drop 0.05
rm asked
gives 0 '0 of 4 layers to int8' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate "$DIGITS" --accuracy 'sh judge.sh' --max-drop 0
rm asked
export WORSE=nothing
gives 1 'must print a number last, but printed: nothing' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate "$DIGITS" --accuracy 'sh judge.sh'
gives 1 'ended with status 3' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate "$SEVEN" --accuracy 'sh judge.sh'
gives 2 '--max-drop needs a command' hologram compile "$MODEL" -o c.holo --quantize int8 --accuracy 0.9 --max-drop 0.1
gives 2 'not negative' hologram compile "$MODEL" -o c.holo --quantize int8 --accuracy true --max-drop -1

# Samples are what --patterns takes, too: files called like the inputs, alone or in folders.
mkdir -p sets/a sets/b
cp "$SEVEN" sets/a/image.npy
cp "$SEVEN" sets/b/image.npy
gives 0 'on 2 samples' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate sets
gives 0 'on 1 sample' hologram compile "$MODEL" -o a.holo --quantize int8 --calibrate sets/a
gives 0 '2 patterns' hologram compile "$MODEL" -o a.holo --patterns sets
mv sets/b/image.npy sets/b/picture.npy
gives 1 'sample sets/b has no tensor for input image' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate sets

# What is no number is told as that.
{ head -c 140 "$SEVEN"; printf '\000\000\300\177'; tail -c 240 "$SEVEN"; } > nan.npy
gives 1 'nan.npy: input image is NaN at [0,0,0,3]' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate nan.npy
{ head -c 140 "$SEVEN"; printf '\000\000\200\377'; tail -c 240 "$SEVEN"; } > inf.npy
for how in static dynamic; do
    gives 1 'inf.npy: input image is -inf at [0,0,0,3], so the outputs are not finite' hologram compile "$MODEL" -o c.holo --quantize int8 --calibrate inf.npy --activations $how
done
check 'and leaves no file' test ! -e c.holo
