# files_test.sh - what commands write is whole or not there: a disk that is full destroys no file and leaves none behind.
. "$CHECKS"

quiet hologram compile "$MODEL" -o d.holo -q
cp "$ROOT/kernels/stdlib/vector/vector_add.py" k.py
mkdir -p case/test_data_set_0
cp "$MODEL" case/model.onnx

# A command for which no file may be larger than 512 bytes, which is as if the disk were full.
full() { (trap '' XFSZ; ulimit -f 1; hologram "$@"); }

# writes FILE COMMAND...: on a full disk the file that is there stays, then a missing one stays missing, and then it is written.
writes() {
    file=$1
    shift
    mkdir -p out && rm -rf out/* && echo 'the file before' > "out/$file"
    gives 1 'cannot write' full "$@"
    check "$file is as before: $*" grep -qx 'the file before' "out/$file"
    rm "out/$file"
    gives 1 'File too large' full "$@"
    check "nothing is left behind: $*" sh -c '[ -z "$(ls -A out)" ]'
    gives 0 '' hologram "$@"
    check "it is written: $*" [ -s "out/$file" ]
}

writes a.svg graph d.holo -o out/a.svg
writes a.html graph "$MODEL" -o out/a.html
writes a.dot graph "$MODEL" -o out/a.dot
writes a.json bench d.holo --seconds 0.01 --profile out/a.json
writes a.json run d.holo -i random -q --profile out/a.json
writes a.holo compile "$MODEL" -o out/a.holo -q
writes a.onnx convert "$MODEL" -o out/a.onnx
writes k.json compile k.py --emit json -o out/k.json
writes k.holo compile k.py -o out/k.holo -q
check 'a model with a large output' python3 "$ROOT/tests/support/onnx_model.py" large.onnx in x f32 1000 out y f32 1000 node Neg x y
writes y.npy run large.onnx -i random -q -o out

# What is no plain file is written at once.
check 'to a pipe' sh -c '"$HOLOGRAM" compile k.py --emit asm -o /dev/stdout | grep -q vector_add'
check 'to where the output goes' sh -c '"$HOLOGRAM" compile k.py --emit asm -o /dev/stdout > text && grep -q vector_add text'
mkfifo pipe
gives 1 'a pipe that nobody reads' hologram compile k.py --emit asm -o pipe
gives 1 "there is no folder 'nowhere'; make it first" hologram graph d.holo -o nowhere/a.svg

# A kernel is begun once.
mkdir begun && cd begun || exit 1
gives 1 'cannot write mine.py' full kernel new mine
check 'nothing is left behind' [ ! -e mine.py ]
gives 0 'wrote mine.py' hologram kernel new mine
