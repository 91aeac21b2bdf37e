# kernel_test.sh - kernels from the command line: new, run, compile to each form, list, bench, and what is refused.
. "$CHECKS"

check 'a new kernel' "$HOLOGRAM" kernel new mine
check 'is not made twice' sh -c '! "$HOLOGRAM" kernel new mine 2> error.txt && grep -q "it is there already" error.txt'
check 'nor by any name' sh -c '! "$HOLOGRAM" kernel new 3x 2> /dev/null'

args='--arg x=ones:5 --arg y=zeros:5 --arg n=5 --arg scale=2'
check 'it runs' sh -c '"$HOLOGRAM" kernel run mine.py mine '"$args"' > out.txt && grep -qx "y: f32\[5\] = 3, 3, 3, 3, 3" out.txt'
check 'in another type' sh -c '"$HOLOGRAM" kernel run mine.py mine --type f64 '"$args"' | grep -q "^y: f64"'
check 'by the name of a program' sh -c '"$HOLOGRAM" kernel run mine.py mine_f64 '"$args"' -o . | grep -q "^y: f64"'
check 'the type is that of the arrays' sh -c \
    '"$HOLOGRAM" kernel run mine.py mine --arg x=y.npy --arg y=zeros:5 --arg n=5 --arg scale=1 | grep -qx "y: f64\[5\] = 10, 10, 10, 10, 10"'
check 'more lanes do no harm' sh -c '"$HOLOGRAM" kernel run mine.py mine '"$args"' --lanes 1000 --block 64 | grep -q "3, 3, 3, 3, 3$"'
big='--arg x=random:100000 --arg y=zeros:100000 --arg n=100000 --arg scale=3'
mkdir -p one three
check 'on one thread' sh -c '"$HOLOGRAM" kernel run mine.py mine '"$big"' --threads 1 -o one > /dev/null'
check 'and on three' sh -c '"$HOLOGRAM" kernel run mine.py mine '"$big"' --threads 3 -o three > /dev/null'
check 'the same bits' cmp one/y.npy three/y.npy
check 'measured on two' sh -c '"$HOLOGRAM" kernel bench mine.py mine_f32 --size 100000 --threads 2 | grep -q "GB/s"'
check 'an archive of kernels' "$HOLOGRAM" compile mine.py -o mine.holo -q
check 'runs as well' sh -c '"$HOLOGRAM" kernel run mine.holo mine_f32 '"$args"' | grep -qx "y: f32\[5\] = 3, 3, 3, 3, 3"'
check 'but is no model' sh -c '! "$HOLOGRAM" run mine.holo 2> error.txt && grep -q "hologram kernel list mine.holo" error.txt'
check 'and is listed' sh -c '"$HOLOGRAM" kernel list mine.holo | grep -q "^mine_f64(x: f64\[\], y: f64\[\], n: i64, scale: f64)  y = scale"'
refuse() { # DESCRIPTION MESSAGE ARGUMENTS...
    what=$1 message=$2
    shift 2
    check "$what" sh -c '"$HOLOGRAM" "$@" 2> error.txt; [ $? != 0 ] && grep -qF -e "$0" error.txt' "$message" "$@"
}
refuse 'an index out of range' 'an index is out of range: x[3], which has 3 elements' kernel run mine.py mine --arg x=ones:3 --arg y=zeros:5 --arg n=5 --arg scale=2
refuse 'with its place in the source' 'mine.py:24:32: program mine_f32' kernel run mine.py mine --arg x=ones:3 --arg y=zeros:5 --arg n=5 --arg scale=2
refuse 'of an archive without it' 'hologram: program mine_f32, instruction' kernel run mine.holo mine_f32 --arg x=ones:3 --arg y=zeros:5 --arg n=5 --arg scale=2
sed 's/lanes=n/lanes="n"/' mine.py > text.py
check 'lanes as text' sh -c 'grep -q "lanes=\"n\"" text.py && "$HOLOGRAM" kernel run text.py mine '"$args"' | grep -qx "y: f32\[5\] = 3, 3, 3, 3, 3"'
sed 's/lanes=n/lanes="n n"/' mine.py > wrong.py
refuse 'lanes as text that is wrong' 'the expression should end here' kernel list wrong.py
sed 's/lanes=n/lanes="n +"/' mine.py > wrong.py
refuse 'lanes as text that ends too soon' 'wrong.py:' kernel list wrong.py
"$HOLOGRAM" compile "$ROOT/demo/digits.onnx" -o digits.holo -q
refuse 'an archive without kernels' 'digits.holo holds no kernels' kernel list digits.holo
refuse 'an argument that is missing' "'scale' is missing" kernel run mine.py mine --arg x=ones:3 --arg y=zeros:5 --arg n=5
refuse 'one that is not there' 'has no such parameter' kernel run mine.py mine --arg z=1
refuse 'a number that is none' 'n must be a whole number' kernel run mine.py mine --arg n=1.5
refuse 'a kernel that is not there' 'there are: mine_f32' kernel run mine.py other
refuse 'a word that is no command' "there is no 'kernel frob'" kernel frob

printf 'def forever(y: DeviceArray[i32]):\n    while True:\n        y[0] += 1\n' > loop.py
refuse 'a loop without end' 'turns' kernel run loop.py forever --arg y=zeros:1 --lanes 1 --limit 1000

printf 'def k(a: DeviceArray[f32]):\n    a[0] = lambda: 3\n' > bad.py
"$HOLOGRAM" compile bad.py 2> error.txt
printf '%s\n' "hologram: bad.py:2:12: 'lambda' cannot stand here" '        a[0] = lambda: 3' '               ^' \
    '  write a helper: @inline, def name(x): return ...' > want.txt
check 'errors show the place and what to do' cmp error.txt want.txt

check 'assembly' sh -c '"$HOLOGRAM" compile mine.py --emit asm > mine.asm && grep -q "^program mine_f32" mine.asm'
check 'JSON' "$HOLOGRAM" compile mine.py --emit json -o mine.json
check 'and from JSON the same programs' sh -c '"$HOLOGRAM" compile mine.json --emit asm | cmp - mine.asm'
check 'and the same JSON' sh -c '"$HOLOGRAM" compile mine.json --emit json | cmp - mine.json'
refuse 'another form' 'holo, asm or json' compile mine.py --emit exe

check 'an archive' "$HOLOGRAM" compile "$ROOT/kernels/stdlib" -o stdlib.holo -q
check 'is good' sh -c '"$HOLOGRAM" verify stdlib.holo > /dev/null'
check 'for the other reader, too' sh -c 'python3 "$ROOT/tools/holo_dump.py" stdlib.holo | grep -q "  vector_add_f32: "'
check 'twice the same' sh -c '"$HOLOGRAM" compile "$ROOT/kernels/stdlib" -o again.holo -q && cmp stdlib.holo again.holo'
check 'folders are kept' sh -c '"$HOLOGRAM" compile "$ROOT/kernels/stdlib" --emit json -o tree && test -s tree/vector/vector_add.json'

ln -s "$HOLOGRAM" hologram-compile
check 'hologram-compile' sh -c './hologram-compile mine.py --emit asm | cmp - mine.asm'
check 'list' sh -c '"$HOLOGRAM" kernel list mine.py | grep -q "^mine_f32(x: f32\[\], y: f32\[\], n: i64, scale: f32)  y = scale"'
check 'bench' sh -c '"$HOLOGRAM" kernel bench mine.py mine --size 1000 | grep -q "^mine_f32 .*GB/s"'

cat > twin.c << 'END'
types T(float, double);
inline T square(T x) { return x * x; }
kernel lanes(n) void mine(global const T *x, global T *y, long n, T scale)
{
    long i = get_global_id();
    if (i < n) y[i] = scale * square(x[i]) + 1;
}
END
check 'the same in C' sh -c '"$HOLOGRAM" compile twin.c --emit asm | cmp - mine.asm'
