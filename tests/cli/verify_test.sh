# verify_test.sh - hologram verify and inspect: good archives, damaged ones, files that are none.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q
gives 0 'digits.holo: good' hologram verify digits.holo
gives 0 'b.holo: good' sh -c 'cp digits.holo b.holo; "$HOLOGRAM" verify digits.holo b.holo'

size=$(wc -c < digits.holo)
flip() { # AT: a copy with another byte there
    cp digits.holo flipped.holo
    old=$(od -An -t u1 -j "$1" -N 1 digits.holo)
    printf "\\$(printf %o $((old ^ 16)))" | dd of=flipped.holo bs=1 seek="$1" conv=notrunc 2> /dev/null
}
# The weights are most of the file: from its middle on there is nothing else.
at=$((size / 2))
while [ $at -lt "$size" ]; do
    flip $at
    gives 1 'is damaged' hologram verify flipped.holo
    gives 0 '' hologram run flipped.holo --input "$SEVEN" # the plan is good: it runs
    at=$((at + 5003))
done
for at in 0 9 13 40 60 200 800 1000 1500; do
    flip $at
    gives 1 'flipped.holo' hologram verify flipped.holo
    gives 1 '' hologram run flipped.holo --input "$SEVEN"
done
for cut in 0 1 8 55 56 500 5000 50000 $((size - 1)); do
    head -c $cut digits.holo > cut.holo
    gives 1 'cut.holo' hologram verify cut.holo
done
gives 1 'cut.holo' hologram verify digits.holo cut.holo
cat digits.holo "$SEVEN" > longer.holo
gives 1 'longer.holo' hologram verify longer.holo
gives 1 'is a model, not an archive' hologram verify "$MODEL"
gives 1 'no-such.holo' hologram verify no-such.holo
gives 2 'is missing' hologram verify

gives 0 'image        f32[batch, 1, 8, 8]' hologram inspect digits.holo
gives 0 'verify.status' hologram inspect digits.holo
gives 0 'hologram-demo 1' hologram inspect "$MODEL"
hologram inspect digits.holo --json > archive.json
hologram inspect "$MODEL" --json > model.json
json archive.json inputs outputs name
json model.json inputs outputs name
gives 1 'no-such' hologram inspect no-such
