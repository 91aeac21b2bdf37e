# suite_test.sh - hologram test: folders of cases, as ONNX's own suite has them.
. "$CHECKS"

# A TensorProto of f32 on stdout: its dims as octal bytes, the size of its data as octal bytes; the data is read.
pb() { # "\10\1\10\12" "\50"
    printf "$1"'\20\1\112'"$2"
    cat
}
case_make() { # NAME: the digits model, with the answer it gives
    mkdir -p "$1/test_data_set_0"
    cp "$MODEL" "$1/model.onnx"
    npy_data "$SEVEN" | pb '\10\1\10\1\10\10\10\10' '\200\2' > "$1/test_data_set_0/input_0.pb"
    npy_data out/probabilities.npy | pb '\10\1\10\12' '\50' > "$1/test_data_set_0/output_0.pb"
}
suite() { # STATUS WORDS LAST ARGUMENTS...
    expected=$1 told=$2 line=$3
    shift 3
    gives "$expected" "$told" hologram test "$@"
    cp .printed suite.txt
    check "hologram test $* ends with '$line'" test "$(tail -n 1 suite.txt)" = "$line"
}

hologram run "$MODEL" --input "$SEVEN" --output out -q
case_make cases/good
suite 0 '' '1 passed, 0 failed, 0 skipped' cases/good
suite 0 '' '1 passed, 0 failed, 0 skipped' cases

# Data sets that differ: in value, in shape; a model that is none; data that is none.
case_make cases/value
printf '\77' | dd of=cases/value/test_data_set_0/output_0.pb bs=1 seek=11 conv=notrunc 2> /dev/null
case_make cases/shape
npy_data out/probabilities.npy | pb '\10\2\10\5' '\50' > cases/shape/test_data_set_0/output_0.pb
case_make cases/broken
head -c 1000 "$MODEL" > cases/broken/model.onnx
case_make cases/data
head -c 30 "$SEVEN" > cases/data/test_data_set_0/input_0.pb
case_make cases/two_sets
cp -r cases/two_sets/test_data_set_0 cases/two_sets/test_data_set_1
suite 1 'value' '2 passed, 4 failed, 0 skipped' cases
for name in value shape broken data; do
    check "the failure of $name is told" grep -q "$name" suite.txt
done
suite 1 '' '0 passed, 1 failed, 0 skipped' cases/value
suite 0 '' '1 passed, 0 failed, 0 skipped' cases/value --atol 10
suite 0 '' '3 passed, 0 failed, 0 skipped' cases/good cases/two_sets cases/good
hologram test cases --json suite.json > /dev/null
json suite.json name
hologram test cases --json - > standard.json 2> told # the standard output is JSON alone
json standard.json name
check "the words are elsewhere" grep -q "passed, " told
for jobs in 1 2 4; do suite 1 '' '2 passed, 4 failed, 0 skipped' cases --jobs $jobs; done
suite 0 '' '1 passed, 0 failed, 0 skipped' cases/good --reference
for mode in --as-constants --symbolic '--numeric exact' '--as-constants --symbolic --numeric exact'; do
    suite 0 '' '2 passed, 0 failed, 0 skipped' cases/good cases/two_sets $mode
    suite 1 'value' '0 passed, 1 failed, 0 skipped' cases/value $mode
done
gives 2 'exclude each other' hologram test cases/good --reference --symbolic

# Numbers of bf16 may be two units off, as in ONNX's own runner. The model is Identity of one such number.
identity_make() { # FOLDER BYTES: the answer that it is said to give to 1
    mkdir -p "$1/test_data_set_0"
    printf '\10\10\72\67\12\20\12\1x\22\1y\42\10Identity\22\1g' > "$1/model.onnx"
    printf '\132\17\12\1x\22\12\12\10\10\20\22\4\12\2\10\1' >> "$1/model.onnx"
    printf '\142\17\12\1y\22\12\12\10\10\20\22\4\12\2\10\1\102\2\20\15' >> "$1/model.onnx"
    printf '\10\1\20\20\112\2\200\77' > "$1/test_data_set_0/input_0.pb"
    printf '\10\1\20\20\112\2'"$2" > "$1/test_data_set_0/output_0.pb"
}
identity_make narrow/two '\202\77'
identity_make narrow/three '\203\77'
suite 1 'three' '1 passed, 1 failed, 0 skipped' narrow
suite 1 'two' '0 passed, 1 failed, 0 skipped' narrow/two --rtol 0

gives 1 'no-such-folder' hologram test no-such-folder
mkdir none
gives 1 'none' hologram test none
gives 2 '' hologram test
