# wrong_test.sh - command lines as newcomers write them: nothing is overwritten, nothing is passed over, and what is said helps.
. "$CHECKS"

cp "$MODEL" m.onnx
cp "$SEVEN" x.npy
quiet hologram compile m.onnx -o d.holo -q
cp d.holo keep.holo
cp "$ROOT/kernels/stdlib/vector/vector_add.py" k.py
mkdir empty hf
cp m.onnx hf/model.onnx
check 'a model of two inputs' python3 "$ROOT/tests/support/onnx_model.py" pair.onnx in a f32 n,3 in b f32 n,3 out y f32 n,3 node Add a,b y

# ---- what is read is not written over

gives 2 'would overwrite an input file' hologram compile m.onnx -o m.onnx
gives 2 'would overwrite an input file' hologram compile m.onnx -o ./m.onnx
ln m.onnx other.onnx
gives 2 'would overwrite an input file' hologram compile m.onnx -o other.onnx
gives 2 'would overwrite an input file' hologram compile m.onnx -o x.npy --patterns x.npy
gives 2 'would overwrite an input file' hologram run d.holo -i image=x.npy --profile x.npy
gives 2 'would overwrite an input file' hologram run d.holo -i x.npy --profile d.holo
cp m.onnx model.svg
gives 2 'would overwrite an input file' hologram graph model.svg -o model.svg
check 'from the standard input, too' sh -c '! "$HOLOGRAM" compile - -o m.onnx < m.onnx 2> told && grep -q "would overwrite an input file" told'
same m.onnx "$MODEL"
same d.holo keep.holo
gives 0 '' hologram memo d.holo --patterns x.npy -o d.holo # which may be
gives 0 '' hologram compile m.onnx -o d.holo # an archive is made anew

# ---- the command

gives 2 "'m.onnx' is a file; put a command before it" hologram m.onnx
gives 2 'hologram run m.onnx' hologram m.onnx
gives 2 "expected a command, but found '--verbose'" hologram --verbose compile m.onnx
gives 2 "did you mean 'bench'" hologram bnech d.holo
gives 2 'the arguments are missing: hologram kernel run FILE NAME' hologram kernel
gives 2 "an argument of 'atlas byte' is missing" hologram atlas byte

gives 2 'did you mean --output?' hologram compile m.onnx --out a.holo
gives 2 'run has no option --seconds; it belongs to: bench' hologram run d.holo -i x.npy --seconds 5
gives 2 'ops has no option --quantize; it belongs to: compile' hologram ops --quantize int8
printf 'test_one\n' > known.txt
mkdir -p case/test_data_set_0 && cp m.onnx case/model.onnx
gives 1 'known.txt:1: expected `case: reason`' hologram test case --known known.txt

# ---- arguments and values

gives 2 'argument 1 is empty' hologram run ''
gives 2 '--output needs a value' hologram compile m.onnx -o ''
gives 2 '--input needs a value' hologram run d.holo --input=
gives 2 'is it an input? --input x.npy' hologram run d.holo x.npy
gives 2 'is it an input? --input b=random' hologram run pair.onnx -i a=random b=random
gives 2 '--input image=: nothing stands behind the =: --input NAME=FILE' hologram run d.holo -i image=
gives 2 '--arg x=: nothing stands behind the =' hologram kernel run k.py vector_add --arg x=
gives 2 '--quantize int8,Conv=: nothing stands behind the =' hologram compile m.onnx --quantize int8,Conv=
gives 2 '--quantize int8,: a type is missing beside a comma' hologram compile m.onnx --quantize int8,
gives 2 '--threads needs a value: --threads N' hologram run d.holo -i x.npy --threads
gives 2 '--output needs a value (--output FILE), but --quantize follows' hologram compile m.onnx -o --quantize int8
gives 2 '--output needs a value (--output DIR), but -q follows' hologram run d.holo -i x.npy -o -q
gives 2 '--input needs a value (--input NAME=FILE), but --threads=2 follows' hologram run d.holo --input --threads=2
gives 2 '--port needs a value (--port N), but --cors follows' hologram serve . --port --cors
gives 2 '--arg needs a value (--arg NAME=VALUE), but --lanes follows' hologram kernel run k.py vector_add --arg --lanes 2
gives 2 "--threads: '-1' is not a whole number" hologram run d.holo -i x.npy --threads -1
gives 0 'f32[1, 10]' hologram run d.holo -i x.npy --output=-q
gives 1 'did you mean --input image=x.npy?' hologram run d.holo -i image:x.npy
gives 1 'give each input its own --input' hologram run pair.onnx -i a=random,b=random
gives 1 "the file 'no-such.npy' for the input 'image' does not exist" hologram run d.holo -i no-such.npy
gives 2 'expected NAME:DIMS' hologram compile m.onnx --input-shape image:99999999999999999999,1,8,8
for times in 0 -1 2x 1.5 99999999999; do gives 2 "--times is '$times', but must be a" hologram run d.holo -i random --times $times; done
gives 1 "the input 'image': a tensor of these sizes is too large" hologram run d.holo -i random --input-shape image:9223372036854775807,1,8,8
gives 2 "'0x10' is not a whole number" hologram run d.holo -i random --threads 0x10
check 'no word that is far off' sh -c '"$HOLOGRAM" run d.holo --seed 5 2>&1 | grep -v "did you mean" | grep -q "no option --seed"'

# ---- files

gives 1 'give the file: hf/model.onnx' hologram compile hf
gives 1 'give the file: hf/model.onnx' hologram run hf
gives 1 'to compile a model, give its file' hologram compile empty
gives 1 'empty has no model that can be read, and no kernels' hologram compile empty
mkdir -p pointer alone config
echo '{"architectures": ["BertModel"], "model_type": "bert"}' | tee pointer/config.json > config/config.json
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n' | tee pointer/model.safetensors > alone/model.safetensors
gives 1 'model.safetensors is a Git LFS pointer: the file itself was not downloaded' hologram compile pointer
gives 1 'a folder of weights without config.json' hologram compile alone
gives 1 'config of a HuggingFace model without its weights' hologram compile config
gives 1 'config of a HuggingFace model without its weights' hologram inspect config/config.json
printf '\n<HTML><body>Sign in</body></HTML>' > page.onnx
gives 1 'it looks like a web page (HTML): the download went wrong' hologram compile page.onnx
head -c 4096 /dev/zero > zeros.gguf
gives 1 'it looks like zero bytes: the copy or the download did not finish' hologram compile zeros.gguf
printf '\1\2\3\4\5\6\7\10' > noise.bin
gives 1 'this is not a model that can be read, or it is damaged. Formats that can be read: ' hologram inspect noise.bin
gives 1 'x.npy is not a folder' hologram run d.holo -i x.npy -o x.npy
check 'a file is told by its own name' sh -c '"$HOLOGRAM" compile m.onnx --patterns no-such 2>&1 | grep -q "^hologram: cannot open .no-such."'
gives 0 'c: f32[2] = 2, 2' hologram kernel run k.py vector_add -a a=ones:2 -a b=ones:2 -a c=zeros:2 -a n=2 -o made
check 'the folder is made' test -s made/c.npy
gives 1 "there is no operator 'NoSuch'" hologram ops Conv NoSuch
gives 1 'the model has no steps for cuda' hologram run d.holo --device cuda:0
check 'an archive has its operators' sh -c '! "$HOLOGRAM" run d.holo --device cuda:0 2>&1 | grep -q "hologram ops"'

# ---- words of other programs, and words that are nearly right

gives 2 "no command 'info'; did you mean 'inspect'" hologram info d.holo
gives 2 "no command 'quantize'; did you mean 'compile --quantize TYPE'" hologram quantize m.onnx
gives 2 '--fp16; did you mean --quantize f16' hologram compile m.onnx --fp16
gives 2 '--batch; did you mean --input-shape NAME:DIMS' hologram compile m.onnx --batch 8
gives 2 '--device; did you mean --target NAMES' hologram compile m.onnx --device cuda
gives 2 '--gpu; did you mean --device cuda' hologram run d.holo --gpu
gives 2 '--iterations; did you mean --times N' hologram run d.holo --iterations 3
gives 2 '--iterations; did you mean --seconds S' hologram bench d.holo --iterations 3
gives 2 '--jsno; did you mean --json' hologram inspect d.holo --jsno # letters are exchanged
gives 2 '--JSON; did you mean --json' hologram inspect d.holo --JSON
gives 1 "no operator 'Convv'; did you mean 'Conv'" hologram ops Convv
gives 2 '--quantize fp16: did you mean f16' hologram compile m.onnx --quantize fp16
gives 2 '--quantize INT8: did you mean int8' hologram compile m.onnx --quantize INT8
gives 2 '--quantize q4_K_M: did you mean q4_k' hologram compile m.onnx --quantize q4_K_M
gives 2 'from 0 to 1, for example 0.99' hologram compile m.onnx --quantize int8 --accuracy 99%
gives 2 'did you mean image:2,1,8,8' hologram run d.holo -i random --input-shape image=2,1,8,8
gives 2 'with commas between them' hologram run d.holo -i random --input-shape image:2x1x8x8
gives 2 '? leaves a size as it is' hologram run d.holo -i random --input-shape image:-1,1,8,8
gives 1 'compile writes an archive, not .onnx' hologram compile m.onnx -o new.onnx
check 'and writes none' test ! -e new.onnx
export HOLOGRAM_THREAD=2
gives 0 'warning: HOLOGRAM_THREAD is not the name of a setting; did you mean HOLOGRAM_THREADS' hologram run d.holo -i random
unset HOLOGRAM_THREAD
quiet hologram run d.holo -i random -q -o answers
gives 0 'answers has the outputs for certain inputs' hologram compare d.holo answers

# Of thousands of inputs a message lists the first.
names='' list=''
for i in $(seq 2000); do names="$names in x$i f32 n$i" list="$list,x$i"; done
check 'a model of many inputs' python3 "$ROOT/tests/support/onnx_model.py" many.onnx $names out y f32 n node Concat "${list#,}" y axis=0
gives 1 'x50 f32[n50] and 1950 more' hologram run many.onnx -i random
check 'the message is short' sh -c '[ "$("$HOLOGRAM" run many.onnx -i random 2>&1 | wc -c)" -lt 2000 ]'
