# advice_test.sh - what a message advises fits the failure, and names options that the command has.
. "$CHECKS"

model() { check "a model: $1" python3 "$ROOT/tests/support/onnx_model.py" "$@"; }
model pair.onnx in a f32 n,m in b f32 m,n out y f32 n,n node MatMul a,b y
quiet hologram compile "$MODEL" -o d.holo -q

# advises STATUS WORDS NOT COMMAND...: prints these words, and not the others.
advises() {
    not=$3
    _status=$1 _words=$2
    shift 3
    gives "$_status" "$_words" "$@"
    check "nothing of '$not': $*" sh -c '! grep -qF -e "$1" .told' - "$not"
}
gives() { # as in $CHECKS, and keeps what was printed
    _status=$1 _words=$2
    shift 2
    "$@" > .told 2>&1 < /dev/null
    _got=$?
    cp .told .printed
    if [ "$_got" = "$_status" ] && grep -qF -e "$_words" .told; then passed; else failed "$*: status $_got, or not '$_words'"; fi
}

# ---- memory: sizes and limits

large='--input-shape a:2000000,?'
for command in 'run -i a=random -i b=random' bench; do
    advises 1 'end other programs, or use smaller sizes: --input-shape NAME:DIMS' 'dynamic sizes were set' hologram $command pair.onnx $large
    advises 1 '--memory-limit sets this limit' 'dynamic sizes were set' hologram $command pair.onnx $large --memory-limit 64M
done
advises 1 'HOLOGRAM_MEMORY_LIMIT sets this limit' 'end other programs' env HOLOGRAM_MEMORY_LIMIT=100K "$HOLOGRAM" inspect pair.onnx
advises 1 '--memory-limit sets this limit' 'use smaller sizes' hologram convert pair.onnx -o a.onnx --memory-limit 100K

# ---- sizes that were guessed are not why a file cannot be written

echo text > file
mkdir -p out/y.npy
advises 1 'cannot write' 'dynamic sizes were set' hologram run pair.onnx -i a=random -i b=random -o out
advises 1 'cannot write' 'dynamic sizes were set' hologram run pair.onnx -i a=random -i b=random --profile out
model cut.onnx in x f32 n,3 out y f32 m,3 const c 4,3 node Cast c s to=7 node Reshape x,s y
advises 1 'dynamic sizes were set to 1, as with --input-shape x:1,3' 'end other programs' hologram run cut.onnx -i random

# ---- what is not supported

model new.onnx in x f32 2 out y f32 2 node Frobnicate x y
advises 1 '`hologram ops` lists the supported operators' 'end other' hologram compile new.onnx
advises 1 'does not continue texts' 'hologram ops' hologram generate "$MODEL" hello
advises 1 'an archive is made by hologram compile' 'compile it again' hologram verify "$SEVEN"
head -c 3000 d.holo > cut.holo
advises 1 'compile it again from the model' 'an archive is made by' hologram verify cut.holo
