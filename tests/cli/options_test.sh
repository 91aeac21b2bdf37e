# options_test.sh - options that cannot be used are errors: with this command, with this file, with each other, twice.
. "$CHECKS"

quiet hologram compile "$MODEL" -o d.holo -q
cp "$ROOT"/kernels/stdlib/vector/*.py . 2> /dev/null
kernel=$(ls ./*.py | head -n 1)
quiet hologram compile "$kernel" -o kernels.holo -q
model() { check "a model: $1" python3 "$ROOT/tests/support/onnx_model.py" "$@"; }
model pair.onnx in a f32 n,3 in b f32 n,3 out y f32 n,3 node Add a,b y
quiet hologram compile pair.onnx -o pair.holo -q

# ---- shapes: of archives as of models

for command in run bench; do
    [ $command = run ] && more='--input random' || more='--seconds 0.01'
    gives 2 'expected NAME:DIMS' hologram $command d.holo $more --input-shape image:-1,1,8,8
    gives 1 "no input called 'foo'" hologram $command d.holo $more --input-shape foo:32
    gives 1 'the inputs are: image f32[batch, 1, 8, 8]' hologram $command d.holo $more --input-shape foo:32
    gives 1 'has 4 dimensions' hologram $command d.holo $more --input-shape image:1,8
    gives 1 'fixed at 8' hologram $command d.holo $more --input-shape image:1,1,9,8
    gives 1 'no input foo' hologram $command "$MODEL" $more --input-shape foo:32
    gives 2 "twice for the input 'image'" hologram $command d.holo $more --input-shape image:1,1,8,8 --input-shape image:2,1,8,8
done
gives 2 "twice for the input 'image'" hologram compile "$MODEL" --input-shape image:1,1,8,8 --input-shape image:2,1,8,8
gives 1 'given for that input is f32[1, 1, 8, 8]' hologram run d.holo --input "$SEVEN" --input-shape image:2,1,8,8
gives 0 'probabilities' hologram run d.holo --input "$SEVEN" --input-shape image:?,1,8,8

# One size, one symbol: what is given for an input holds for the others.
for file in pair.onnx pair.holo; do
    gives 0 'y f32[4, 3]' hologram run $file -i a=random -i b=random --input-shape a:4,3
    gives 0 'y f32[5, 3]' hologram run $file -i a=random -i b=random --input-shape b:5,?
    gives 0 '' hologram bench $file --seconds 0.01 --input-shape a:4,3
done
gives 1 'n is already 4' hologram run pair.holo -i a=random -i b=random --input-shape a:4,3 --input-shape b:5,3
gives 1 'dimension 0 of input b is already 4 because of what another input is given' hologram compile pair.onnx --input-shape a:4,3 --input-shape b:5,3
head -c 24 /dev/zero | npy '<f4' '(2, 3)' > two.npy
gives 0 'y f32[2, 3]' hologram run pair.holo -i a=random -i b=two.npy

# ---- twice

gives 2 "input 'image' is given twice" hologram run d.holo -i "$SEVEN" -i image="$SEVEN"
gives 2 "input 'image' is given twice" hologram run d.holo -i random -i "$SEVEN"
gives 2 'given twice: int8 and f16' hologram compile "$MODEL" --quantize int8 --quantize f16
gives 2 'given twice' hologram compile "$MODEL" -o a.holo --output b.holo
gives 2 'given twice' hologram run d.holo -i random --threads 1 -t 2
gives 2 'given twice' hologram bench d.holo -s 1 -s 2
gives 2 'given twice' hologram graph d.holo -o a.svg -o b.svg
gives 2 'given twice' hologram test . --atol 1 --atol 2
gives 2 "twice for the input 'image'" hologram compile "$MODEL" --domain image=0..1 --domain image=0..2
gives 2 'given twice' hologram kernel bench "$kernel" --size 1 --size 2
gives 2 "twice for 'n'" hologram kernel run "$kernel" vector_abs --arg n=1 --arg n=2
gives 0 '' hologram compile "$MODEL" -o a.holo --disable fold --disable cse -v
gives 0 '' hologram compile "$MODEL" -o a.holo -vv

printf 'threads = 1\nnumeric = "fused"\nthreads = 2\n' > hologram.toml
gives 2 "hologram.toml:3: the setting 'threads' is given twice: see also hologram.toml:1" hologram version
rm hologram.toml
printf 'HOLOGRAM_THREADS=1\nOTHER=1\nOTHER=2\nHOLOGRAM_THREADS=2\n' > .env
gives 2 ".env:4: the setting 'threads' is given twice" hologram version
rm .env

# ---- settings of the environment that there are not, and those that there are
gives 0 "there is no setting 'threds'; did you mean 'threads'?" env HOLOGRAM_THREDS=2 "$HOLOGRAM" config
gives 0 "no setting 'q'" env HOLOGRAM_Q=2 "$HOLOGRAM" config
HOLOGRAM_MEMORY_LIMIT=4G "$HOLOGRAM" config > known.txt 2>&1
check 'a name of two words is known' sh -c '! grep "there is no" known.txt'
gives 2 'from 0 to 256' hologram run d.holo -i random --threads 257
gives 0 '' hologram run d.holo -i random --threads 256

# ---- names that do not exist, and files whose names are words
gives 1 'domain for foo, but the model has no such input' hologram compile "$MODEL" --domain foo=0..9
: > empty
gives 1 'empty: this is not a model; it looks like an empty file' hologram run empty
gives 2 'expected a number of elements behind the colon' hologram kernel run "$kernel" vector_abs --arg x=ones: --arg y=zeros:1 --arg n=1
gives 2 'from 0 to 2^33' hologram kernel run "$kernel" vector_abs --arg x=ones:99999999999999 --arg y=zeros:1 --arg n=1

# ---- with this file

gives 2 '--numeric is for a model, but d.holo is an archive' hologram run d.holo -i random --numeric exact
gives 2 '--numeric is for a model' hologram bench d.holo --numeric exact
gives 2 '--numeric is for a model' hologram graph d.holo -o a.svg --numeric exact
gives 2 '--numeric is for a model' hologram explain d.holo --numeric fused
gives 2 '--input-shape is for a model' hologram graph d.holo -o a.svg --input-shape image:1,1,8,8
gives 2 '--input-shape is for a model' hologram explain d.holo --input-shape image:1,1,8,8
gives 2 '--prefault is for an archive' hologram run "$MODEL" -i random --prefault
gives 2 '--huge-pages is for an archive' hologram run "$MODEL" -i random --huge-pages
gives 2 '--values is for an archive' hologram inspect "$MODEL" --values
gives 2 '--emit is for kernels' hologram compile "$MODEL" --emit asm
gives 2 '--numeric is for kernels' hologram kernel run kernels.holo vector_add_f32 --numeric exact
for option in --tune --no-verify --json -v --dump=fold --quantize=int8 --disable=fold --threads=2 --input-shape=x:1; do
    gives 2 "is not for kernels: $kernel is kernels" hologram compile "$kernel" $option
done
gives 0 '' env HOLOGRAM_NUMERIC=exact "$HOLOGRAM" run d.holo -i random # a setting is for what it fits

# ---- with each other

gives 2 '--json and --quiet exclude each other' hologram compile "$MODEL" --json --quiet
gives 2 '--json and --verbose exclude each other' hologram compile "$MODEL" --verbose --json
gives 2 '--json and --dump' hologram compile "$MODEL" --dump fold --json
gives 2 '--verbose and --quiet' hologram compile "$MODEL" -q -v
gives 2 '--memory-budget and --no-tables' hologram compile "$MODEL" --no-tables --memory-budget 1M
gives 2 '--markdown and --json' hologram ops --json --markdown
gives 2 "--markdown always lists all operators: remove 'Add'" hologram ops --markdown Add
gives 2 '--save-memo also needs --memo' hologram run d.holo -i random --save-memo a.holo
gives 2 '--calibrate also needs --quantize or --approx' hologram compile "$MODEL" --calibrate d
gives 2 '--reference and --numeric' hologram test . --reference --numeric exact
gives 2 '--emit asm with --quiet prints nothing' hologram compile "$kernel" --emit asm -q

# ---- with this verb

gives 2 "works with kernel bench, not with 'kernel run'" hologram kernel run "$kernel" vector_abs --size 10
gives 2 "not with 'kernel list'" hologram kernel list "$kernel" --threads 1
gives 2 "not with 'kernel new'" hologram kernel new mine --arg x=1
gives 2 "works with atlas address, not with 'atlas byte'" hologram atlas byte 1 --bytes
gives 2 "did you mean 'bench'" hologram kernel bensh "$kernel"
gives 2 'whole number' hologram kernel bench "$kernel" --size 10x
gives 2 'whole number' hologram kernel run "$kernel" vector_abs --lanes -1
gives 2 'up to three sizes' hologram kernel run "$kernel" vector_abs --block 1,2,3,4

# ---- with what another option says

gives 2 '--input-shape changes only the planned graph' hologram graph "$MODEL" -o a.svg --stage imported --input-shape image:1,1,8,8
gives 2 '--numeric changes only the planned graph' hologram graph "$MODEL" -o a.svg --stage imported --numeric exact
gives 2 'vector_abs_f32 has type f32, but --type says f64' hologram kernel bench "$kernel" vector_abs_f32 --type f64
gives 0 'vector_abs_f64' hologram kernel bench "$kernel" vector_abs --type f64 --size 10
gives 2 '--reference and --threads' hologram test . --reference --threads 2
gives 2 '--threads is for compiled models' hologram compare "$MODEL" "$MODEL" --threads 2
check 'one type of all kernels' sh -c '! "$HOLOGRAM" kernel bench "$0" --type f64 --size 10 | grep -v _f64' "$kernel"

# ---- every option of every command: twice, and without a value

for command in $(hologram help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    # Lines of: option, what its value is called, and "many" where it may be given several times.
    hologram help --man "$command" | sed 's/\\-/-/g; s/\\f[A-Z]//g' | awk '
        function tell() { if (name) print name, value, many }
        /^\.TP$/ { tell(); name = ""; fresh = 1; next }
        /^\.SH/ { tell(); name = "" }
        fresh { fresh = 0; many = ""; value = "-"; sub(/^-[a-zA-Z], /, ""); if (/^--/) { name = $1; if (NF > 1) value = $2 } }
        /several times|^times/ { many = "many" }
        END { tell() }' > rows
    check "$command has options" test -s rows
    while read -r option value many; do
        if [ "$value" = - ]; then
            gives 2 "$option takes no value" hologram "$command" "$option=1"
        else
            gives 2 "$option needs a value" hologram "$command" "$option"
            gives 2 "$option needs a value" hologram "$command" "$option="
            choice=$(hologram completion bash | sed -n "s/^    '$command $option'.*compgen -W '\([^ ']*\).*/\1/p")
            [ -n "$many" ] || gives 2 "$option is given twice" hologram "$command" "$option=${choice:-1}" "$option=${choice:-1}"
        fi
    done < rows
done
