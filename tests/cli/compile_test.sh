# compile_test.sh - hologram compile: what it writes, what it prints, what it refuses.
. "$CHECKS"

gives 0 'digits.onnx -> digits.holo' hologram compile "$MODEL"
check 'the archive has the name of the model' test -s digits.holo
gives 0 'agrees with the model on made-up inputs' hologram compile "$MODEL" -o a.holo
gives 0 'KiB per run' hologram compile "$MODEL" -o fixed.holo --input-shape image:3,1,8,8
for line in nodes constants memory size verified time; do
    gives 0 "  $line" hologram compile "$MODEL" -o a.holo
done
quiet hologram compile "$MODEL" -o a.holo --quiet
gives 0 'pass' hologram compile "$MODEL" -o a.holo --verbose

# The same bytes, whatever the threads; other bytes for another class.
for threads in 1 4; do
    quiet hologram compile "$MODEL" -o b.holo --quiet --threads $threads
    same a.holo b.holo
done
quiet env HOLOGRAM_THREADS=3 "$HOLOGRAM" compile "$MODEL" -o b.holo -q
same a.holo b.holo
quiet hologram compile "$MODEL" -o exact.holo --quiet --numeric exact
gives 0 'exact' hologram inspect exact.holo
check 'another class, other bytes' sh -c '! cmp -s a.holo exact.holo'

hologram compile "$MODEL" -o a.holo --json > report.json
json report.json model archive nodes_before nodes_after folded constants deduplicated arena_bytes naive_bytes \
    archive_bytes verified worst_relative seconds passes

# Measured on this machine: the report says what, and the archive that it was; without it bytes are as ever.
gives 0 '  tuned ' hologram compile "$MODEL" -o tuned.holo --tune --input-shape image:1,1,8,8
gives 0 'tune.changed' hologram inspect tuned.holo
gives 0 '(the rule)' hologram compile "$MODEL" -o tuned.holo --tune --verbose --input-shape image:1,1,8,8
gives 0 'fix the sizes with --input-shape' hologram compile "$MODEL" -o tuned.holo --tune
hologram compile "$MODEL" -o tuned.holo --tune --json --input-shape image:1,1,8,8 > tuned.json
json tuned.json tune_seconds tune_changed tune_open tunes
check 'each way has its time' grep -q '"seconds"' tuned.json
check 'nothing of it without' sh -c '! grep -q tune report.json'
quiet hologram compile "$MODEL" -o b.holo --quiet
same a.holo b.holo

hologram compile "$MODEL" -o a.holo --no-verify -q
gives 0 'not asked for' hologram inspect a.holo

hologram compile "$MODEL" -o a.holo --dump=import > import.txt 2> table.txt
check 'the graph is on stdout alone' grep -q '^graph digits(image: f32\[batch,1,8,8\])' import.txt
check 'the table is not' grep -q verified table.txt
gives 2 'there is no pass nonsense' hologram compile "$MODEL" --dump=nonsense
hologram compile "$MODEL" -o a.holo --dump=all > all.txt 2> /dev/null
check 'all of them' test "$(grep -c '^graph' all.txt)" -gt 3

# Killed while it writes, here by a limit on the size of files: the archive is what it was, and where the file system has
# files without names nothing else is there.
mkdir killed
cp a.holo killed/a.holo
(
    ulimit -c 0
    ulimit -f 2
    exec "$HOLOGRAM" compile "$MODEL" -o killed/a.holo -q
) > killed.out 2>&1
check 'the limit has ended it' test $? -ne 0
same a.holo killed/a.holo
case $(stat -f -c %T .) in
ext* | xfs | btrfs | tmpfs) check 'nothing is left' test "$(ls -A killed)" = a.holo ;;
esac

# What goes wrong leaves no file: neither the archive nor a temporary one.
refused() { # WORDS ARGUMENTS...
    words=$1
    shift
    ls -A > .before
    gives 1 "$words" hologram compile "$@"
    ls -A > .after
    same .before .after
}
touch .before .after
head -c 60000 "$MODEL" > cut.onnx
: > empty.onnx
printf '<!DOCTYPE html><html></html>' > page.onnx
printf '\211PNG\r\n\032\n' > picture.onnx
printf 'PK\003\004 and so on' > zip.onnx
sed 's/Relu/Relx/g; s/Gemm/Gemx/g' "$MODEL" > unknown.onnx
refused 'cut.onnx' cut.onnx -o out.holo
refused 'an empty file' empty.onnx -o out.holo
refused 'a web page' page.onnx -o out.holo
refused 'PNG' picture.onnx -o out.holo
refused 'a zip archive' zip.onnx -o out.holo
refused 'Relx version 13: 3 nodes' unknown.onnx -o out.holo
refused 'Gemx version 13: 2 nodes' unknown.onnx -o out.holo
refused 'no-such.onnx' no-such.onnx -o out.holo
refused 'is a folder' "$DEMO" -o out.holo
refused "there is no folder 'nowhere'; make it first" "$MODEL" -o nowhere/out.holo
refused 'is already an archive' digits.holo -o out.holo
refused 'no/such/folder' "$MODEL" -o no/such/folder.holo
refused 'the inputs are: image' "$MODEL" -o out.holo --input-shape picture:1,1,8,8
refused 'fixed at 8 in the model, but 9 is given' "$MODEL" -o out.holo --input-shape image:1,1,8,9
mkdir folder
refused 'folder' "$MODEL" -o folder
if [ "$(id -u)" != 0 ]; then
    chmod a-w folder
    refused 'folder/out.holo' "$MODEL" -o folder/out.holo
fi

# Called wrongly: status 2.
gives 2 'MODEL is missing' hologram compile
gives 2 'there is no option --bogus' hologram compile "$MODEL" --bogus
gives 2 'expected NAME:DIMS' hologram compile "$MODEL" --input-shape image=1
gives 2 'is not one of fused|exact|bf16' hologram compile "$MODEL" --numeric fast
gives 2 "--memory-budget: 'much' is not a number of bytes, for example 512M or 4G" hologram compile "$MODEL" --memory-budget much
gives 2 'expected NAME=0..255' hologram compile "$MODEL" --domain image
gives 1 'no such input' hologram compile "$MODEL" -o domain.holo --input-shape image:1,1,8,8 --domain nothing=0..9
check 'no archive of a domain that cannot be' test ! -e domain.holo
gives 2 '--memory-budget 0 has no room for a table' hologram compile "$MODEL" --memory-budget 0
gives 2 '' hologram compile "$MODEL" "$MODEL"

# A damaged model: every 997th byte turned around, one at a time. Never a signal (above 128).
size=$(wc -c < "$MODEL")
at=0
while [ $at -lt "$size" ]; do
    cp "$MODEL" flipped.onnx
    printf '\377' | dd of=flipped.onnx bs=1 seek=$at conv=notrunc 2> /dev/null
    hologram compile flipped.onnx -o flipped.holo -q > .printed 2>&1
    check "byte $at changed ends with status 0 or 1" test $? -le 1
    at=$((at + 997))
done

# The size of an archive: what is not one of three is refused.
gives 0 'times as large' hologram compile "$MODEL" -o sized.holo --size small
gives 0 '' hologram compile "$MODEL" -o aimed.holo --target cpu
check 'the CPU is the default target' sh -c '"$HOLOGRAM" compile "$0" -q -o plain.holo && cmp plain.holo aimed.holo' "$MODEL"
gives 2 "there is no target 'tpu'; there are: cpu" hologram compile "$MODEL" --target tpu
gives 2 'is not one of small|balanced|fast' hologram compile "$MODEL" --size tiny
