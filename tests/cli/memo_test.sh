# memo_test.sh - answers that are stored: hologram compile --patterns, hologram memo, --memo of run and bench.
. "$CHECKS"

ZERO=$DEMO/digits/02_is_0.npy
TWO=$DEMO/digits/03_is_2.npy
python3 - "$SEVEN" "$ZERO" <<'PYTHON'
import sys, zipfile
for name, files in (("two.npz", {"image": sys.argv[1]}), ("packed.npz", {"image": sys.argv[2]}), ("other.npz", {"x": sys.argv[1]})):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED if name == "packed.npz" else zipfile.ZIP_STORED) as z:
        for key, path in files.items():
            z.write(path, key + ".npy")
PYTHON
mkdir one many many/a many/b none
cp "$SEVEN" one/image.npy
cp "$ZERO" many/a/image.npy
cp "$TWO" many/b/image.npy
cp two.npz many/

# Is the answer to an image in the archive? The profile says so.
answered() { # ARCHIVE IMAGE
    hologram run "$1" -i "$2" -q --profile p.json && grep -q '"kernel": "hit"' p.json
}
not_answered() {
    hologram run "$1" -i "$2" -q --profile p.json && grep -q '"kernel": "miss"' p.json
}

quiet hologram compile "$MODEL" -o plain.holo -q
gives 0 '  memo         1 pattern answered without computing' hologram compile "$MODEL" -o one.holo --patterns one
check 'a folder of .npy files' answered one.holo "$SEVEN"
gives 0 '20 patterns answered' hologram compile "$MODEL" -o all.holo --patterns "$DEMO"/digits
check 'a folder of .npy files of any name, for one input' answered all.holo "$TWO"
check 'another image is computed' not_answered one.holo "$ZERO"
check 'a stored .npz' hologram compile "$MODEL" -o npz.holo --patterns two.npz
same one.holo npz.holo
gives 0 '2 patterns answered' hologram compile "$MODEL" -o a.holo --patterns two.npz --patterns packed.npz
check 'a packed .npz' answered a.holo "$ZERO"
gives 0 '3 patterns answered' hologram compile "$MODEL" -o a.holo --patterns many
for image in "$SEVEN" "$ZERO" "$TWO"; do check 'a folder of patterns' answered a.holo "$image"; done
gives 0 '  memo         answers to 3 patterns' hologram inspect a.holo
gives 0 'checksums hold' hologram verify a.holo
hologram compile "$MODEL" -o b.holo --patterns many --threads 3 --json > report.json
json report.json patterns memo_bytes
same a.holo b.holo

# Answers are the same bytes, with a memo and without.
for image in "$SEVEN" "$ZERO" "$TWO" "$DEMO"/digits/04_is_6.npy; do
    hologram run plain.holo -i "$image" -q -o want
    hologram run a.holo -i "$image" -q -o have
    same want/probabilities.npy have/probabilities.npy
done

# Patterns for an archive that is there: into a new one, or into itself.
gives 0 'more.holo: 3 patterns, 1 of them already known, added to the 1 of one.holo' \
    hologram memo one.holo --patterns many -o more.holo
gives 0 'answers to 3 patterns' hologram inspect more.holo
check 'the first one stays as it was' cmp one.holo npz.holo
quiet hologram memo one.holo --patterns many -o one.holo -q
same one.holo more.holo
quiet hologram memo plain.holo --patterns many -o b.holo -q
same a.holo b.holo

# Learning while it runs.
gives 0 'memo' hologram bench plain.holo --seconds 0.05 --memo 1M
hologram bench plain.holo --seconds 0.05 --memo 1M --json > bench.json
json bench.json memo_hits memo_misses
check 'only the first run was computed' grep -Eq '"memo_misses": *1[,}]?$|"memo_misses": *1,' bench.json
quiet hologram run plain.holo -i "$SEVEN" -q --memo 64K

# What a run or a bench has learnt is saved, beside what was known; the file may be the archive itself.
quiet hologram run plain.holo -i "$SEVEN" -q --memo 64K --save-memo learnt.holo
gives 0 'answers to 1 patterns' hologram inspect learnt.holo
quiet hologram run plain.holo -i "$SEVEN" -q -o computed
quiet hologram run learnt.holo -i "$SEVEN" -q -o known --profile known.json
same computed/probabilities.npy known/probabilities.npy
check 'it was a hit' grep -q '"hit"' known.json
gives 0 'memo' hologram bench learnt.holo --seconds 0.05 --memo 1M --save-memo learnt.holo
gives 0 'answers to 2 patterns' hologram inspect learnt.holo
gives 0 '' hologram verify learnt.holo
gives 2 'also needs --memo' hologram run plain.holo -i "$SEVEN" --save-memo c.holo
gives 1 'nowhere' hologram run plain.holo -i "$SEVEN" -q --memo 64K --save-memo nowhere/c.holo

# What does not fit.
gives 1 'pattern other.npz has no tensor for input image' hologram compile "$MODEL" -o c.holo --patterns other.npz
gives 1 'the folder none has no pattern' hologram compile "$MODEL" -o c.holo --patterns none
gives 1 'missing.npz' hologram compile "$MODEL" -o c.holo --patterns missing.npz
check 'nothing was written' sh -c '! ls c.holo*'
gives 1 'is not an archive' hologram memo "$MODEL" --patterns one -o c.holo
gives 2 'the output file is missing' hologram memo plain.holo --patterns one
gives 2 'the inputs are missing' hologram memo plain.holo -o c.holo
gives 2 "--memo: 'lots' is not a number of bytes, for example 512M or 4G" hologram run plain.holo -i "$SEVEN" --memo lots
gives 1 '1024 or more' hologram run plain.holo -i "$SEVEN" --memo 10
