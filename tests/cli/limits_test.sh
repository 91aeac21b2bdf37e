# limits_test.sh - what a file can cost: memory within --memory-limit.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q

# One limit, from a flag, the environment or a file; what goes past it says how much was asked for, and what to do.
gives 1 'MiB were asked for; the memory limit is 1.0 MiB' hologram run digits.holo --input random --input-shape image:100000,1,8,8 \
    --memory-limit 1M
gives 1 "the input 'image': out of memory: " hologram run digits.holo --input random --input-shape image:100000,1,8,8 --memory-limit 1M
gives 1 'the memory limit is 1 byte, and' hologram run digits.holo --input random --memory-limit 1
gives 1 'out of memory for a session: ' hologram run digits.holo --input random --memory-limit 200K
gives 1 '--memory-limit sets this limit' hologram run digits.holo --input random --input-shape image:100000,1,8,8 --memory-limit 1M
gives 0 'probabilities' hologram run digits.holo --input random --input-shape image:1000,1,8,8 --memory-limit 1G
gives 1 'is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q --memory-limit 1M
check 'nothing is left behind' test ! -e no.holo
gives 1 'is 1.0 MiB' env HOLOGRAM_MEMORY_LIMIT=1M "$HOLOGRAM" compile "$MODEL" -o no.holo -q
echo 'memory-limit = "1M"' > hologram.toml
gives 1 'is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q
gives 0 'hologram.toml:1' hologram config
gives 0 '' hologram compile "$MODEL" -o yes.holo -q --memory-limit 1.5GiB
echo 'memory_limit = 5' > hologram.toml
gives 2 "did you mean 'memory-limit'?" hologram config
rm hologram.toml
echo 'HOLOGRAM_MEMORY_LIMIT=1M' > .env
gives 1 'is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q
rm .env
# So little that not even a compiler or the threads fit: it says how much they asked for, too.
for limit in 100 1k 10k; do
    for command in "compile $MODEL -o no.holo" "run $MODEL" 'run digits.holo --input random' 'bench digits.holo'; do
        gives 1 'were asked for; the memory limit is' hologram $command --memory-limit $limit
    done
    gives 2 'were asked for; the memory limit is' hologram compare digits.holo "$MODEL" --memory-limit $limit
done
gives 1 'out of memory for a compiler: ' hologram compile "$MODEL" -o no.holo --memory-limit 1k
for size in -1 1X 1MM x 99999999T; do
    gives 2 "--memory-limit: '$size' is not a number of bytes, for example 512M or 4G" hologram version --memory-limit "$size"
    [ ! -x "$(dirname "$HOLOGRAM")/hologram-serve" ] ||
        gives 2 "--memory-limit: '$size' is not a number of bytes, for example 512M or 4G" hologram serve "$MODEL" --memory-limit "$size"
done
if [ -x "$(dirname "$HOLOGRAM")/hologram-serve" ]; then
    gives 2 "--max-body is '1', but must be from 1024 to" hologram serve "$MODEL" --max-body 1
    gives 2 "--port is '80.5', but must be a whole number from 0 to 65535" hologram serve "$MODEL" --port 80.5
else
    echo 'hologram-serve was not built: its options are not tested'
fi

# A pipe, a socket, a device or a folder where a file is expected: a message, at once. Nobody ever writes to the pipe.
mkfifo pipe
mkdir folder
soon() { timeout -k 1 20 "$HOLOGRAM" "$@"; }
for other in 'pipe:a pipe' 'folder:a folder' '/dev/zero:a device'; do
    file=${other%%:*} what=${other#*:} wanted=file
    [ "$file" != folder ] || wanted=model
    [ "$file" = folder ] || gives 1 "'$file' is $what, not a file" soon compile "$file" -o no.holo
    for command in inspect 'graph -o no.svg' explain verify run bench; do
        gives 1 "'$file' is $what, not a $wanted" soon $command "$file"
    done
    [ "$file" = folder ] || gives 1 "is $what, not a file" soon run digits.holo --input "$file"
    [ "$file" = folder ] || gives 1 "is $what, not a file" soon compile "$MODEL" -o no.holo --calibrate "$file" --quantize int8
    gives 1 "$what is there" soon compile "$MODEL" -o "$file"
done
check 'a device is still one' test -c /dev/zero
mkfifo kernel.py
gives 1 'is a pipe, not a file' soon kernel list kernel.py
gives 1 'is a pipe, not a file' soon compile kernel.py -o no.holo
gives 1 'is a pipe, not a file' soon compile "$MODEL" --kernel kernel.py -o no.holo
for file in pipe /dev/zero; do
    gives 1 'it is a pipe, a socket or a device, not a file' soon grammar "$file"
done
printf '@kernel(lanes=n)\ndef same(a: DeviceArray[f32], b: DeviceArray[f32], n: i64):\n    b[get_global_id()] = a[get_global_id()]\n' > same.py
mkfifo pipe.svg
gives 1 'a pipe that nobody reads' soon graph digits.holo -o pipe.svg
gives 1 'a pipe that nobody reads' soon compile same.py --emit asm -o pipe
mkdir -p case/test_data_set_0
cp "$MODEL" case/model.onnx
gives 1 'not a file' soon test --known pipe case
gives 1 'a pipe that nobody reads' soon test case --json pipe
for place in hologram.toml .env; do
    mkfifo $place
    if [ $place = .env ]; then gives 0 'threads' soon config; else gives 2 'cannot read hologram.toml: it is a pipe' soon version; fi
    rm $place
    mkdir $place
    if [ $place = .env ]; then gives 0 'threads' soon config; else gives 2 'it is a folder' soon version; fi
    rmdir $place
done
ln -s /dev/zero hologram.toml
gives 2 'device, not a file' soon version
rm hologram.toml
truncate -s 20G hologram.toml
gives 2 'larger than 1 MiB' soon version
rm hologram.toml

# A pipe that the shell has open for the program is read.
cat "$SEVEN" | hologram run digits.holo --input /dev/stdin > out
check 'a tensor from a pipe' grep -q 0.99994 out
echo 'root ::= "a"' | hologram grammar --gbnf /dev/stdin a > out
check 'a grammar from a pipe' grep -q 'the text fits' out

# A small .npz that becomes large: its shape is compared before anything is inflated, and only what is asked for is.
if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
    python3 - << 'PY'
import zipfile

def npy(shape, size):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + bytes(size)

def npz(name, **arrays):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for key, (shape, size) in arrays.items(): z.writestr(key + ".npy", npy(shape, size))

huge = 1 << 28
npz("shape.npz", image=((huge // 4,), huge))
npz("liar.npz", image=((1, 1, 8, 8), huge))
npz("batch.npz", image=((huge // 256, 1, 8, 8), huge))
npz("beside.npz", image=((1, 1, 8, 8), 256), other=((huge // 4,), huge))
PY
    check 'it is small' test "$(wc -c < shape.npz)" -lt 1000000
    for how in 'run digits.holo' 'bench digits.holo --seconds 0.01' "run $MODEL"; do
        gives 1 'input image should be f32[batch,1,8,8], but is f32[67108864]' hologram $how --input image=shape.npz --memory-limit 64M
        gives 1 'should be f32[batch,1,8,8]' hologram $how --input shape.npz --memory-limit 64M
    done
    gives 1 'has 256.0 MiB of data, but its shape needs 256 bytes' hologram run digits.holo --input liar.npz --memory-limit 64M
    gives 1 "no memory for entry 'image.npy' of the zip file: 256.0 MiB were asked for; the memory limit is 64.0 MiB" \
        hologram run digits.holo --input batch.npz --memory-limit 64M
    gives 0 'probabilities' hologram run digits.holo --input beside.npz --memory-limit 64M
    gives 0 '' hologram compile "$MODEL" -o memo.holo --patterns beside.npz -q --memory-limit 64M
fi

# Names with codes for terminals in them: none gets out, in any command and any file that it writes.
if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
    python3 - << 'PY'
def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

evil = "\x1b[2J\x1b]0;x\x07\r\u009b31m\u202e<b>\"&\\".encode() + b"\xff"
dims = field(1, field(2, b"b" + evil)) + field(1, field(1, 3))
value = lambda name: field(1, name + evil) + field(2, field(1, field(1, 1) + field(2, dims)))
node = field(1, b"x" + evil) + field(2, b"y" + evil) + field(3, b"n" + evil) + field(4, b"Relu")
graph = field(1, node) + field(2, b"g" + evil) + field(11, value(b"x")) + field(12, value(b"y"))
rest = field(1, 8) + field(2, b"p" + evil) + field(8, field(2, 17)) + field(14, field(1, b"k" + evil) + field(2, b"v" + evil))
open("evil.onnx", "wb").write(rest + field(7, graph))
open("worse.onnx", "wb").write(rest + field(7, graph.replace(b"Relu", b"Re\x1bu")))
PY
    harmless() { ! LC_ALL=C tr -d '\n\t' < "$1" | LC_ALL=C grep -q -e "$(printf '[\001-\037\177\377]')" -e "$(printf '\302[\200-\237]')" \
        -e "$(printf '\342\200\256')"; }
    check 'the model is hostile' grep -q "$(printf '\033')" evil.onnx
    for command in 'compile evil.onnx -o evil.holo' 'compile evil.onnx -o no.holo --dump=all' 'inspect evil.onnx' 'inspect evil.holo' \
        'inspect evil.holo --json' 'inspect evil.holo --values' 'explain evil.holo' 'explain evil.holo --json' 'run evil.holo' 'run evil.onnx --input random' \
        'run evil.holo --input x=nothing' 'run evil.holo --input-shape x:1' 'bench evil.holo --seconds 0.01' 'verify evil.holo' \
        'bisect evil.onnx' 'graph evil.onnx -o evil.svg' 'graph evil.holo -o evil.html' 'graph evil.onnx -o evil.dot' \
        'run evil.holo --input random --profile evil.json' 'compile worse.onnx -o no.holo' 'inspect worse.onnx'; do
        hologram $command > shown 2>&1 < /dev/null
        check "hologram $command" harmless shown
    done
    for file in evil.svg evil.html evil.dot evil.json; do
        check "$file is there" test -s $file
        check "$file is harmless" harmless $file
    done
    json evil.json
    hologram inspect evil.holo --json > shown.json
    json shown.json
fi

# A model of some bytes that would take gigabytes is compiled in little memory: verification is left out, and that is told.
if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
    python3 - << 'PY'
import struct

def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

def node(op, *names): return b"".join(field(1, n) for n in names[:-1]) + field(2, names[-1]) + field(4, op)

def value(name, dim): return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, dim))))

size = field(1, 1) + field(2, 7) + field(8, b"s") + field(9, struct.pack("<q", 1 << 31))
nodes = [node(b"ConstantOfShape", b"s", b"c"), node(b"Cos", b"c", b"d"), node(b"Add", b"x", b"d", b"y")]
graph = b"".join(field(1, n) for n in nodes) + field(2, b"g") + field(5, size) + field(11, value(b"x", field(1, 1))) + \
    field(12, value(b"y", field(2, b"n")))
open("large.onnx", "wb").write(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
graph = field(1, node(b"Tile", b"s", b"s", b"c")) + field(1, node(b"Add", b"x", b"c", b"y")) + field(2, b"g") + field(5, size) + \
    field(11, value(b"x", field(1, 1)).replace(b"\x08\x01\x12", b"\x08\x07\x12")) + field(12, value(b"y", field(2, b"n")).replace(b"\x08\x01\x12", b"\x08\x07\x12"))
open("tile.onnx", "wb").write(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
PY
    gives 0 'was not verified: it would take' soon compile tile.onnx -o large.holo -q
    gives 0 'was not verified: it would take' soon compile large.onnx -o large.holo -q
    check 'the archive is small' test "$(wc -c < large.holo)" -lt 10000
fi

# ---- cores: as many threads as this process may keep busy

quiet hologram compile "$MODEL" -o cores.holo -q
one='"threads": 1,'
gives 0 "$one" taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" "$HOLOGRAM" bench cores.holo --seconds 0.01 --json
group=/sys/fs/cgroup/cpu/hologram-test-$$
if mkdir "$group" 2> /dev/null && echo 100000 > "$group/cpu.cfs_period_us" && echo 90000 > "$group/cpu.cfs_quota_us"; then
    gives 0 "$one" sh -c 'echo $$ > "$1/tasks" && "$HOLOGRAM" bench cores.holo --seconds 0.01 --json' sh "$group"
    rmdir "$group"
else
    rmdir "$group" 2> /dev/null
    echo "limits: no control group can be made here: a quota of CPUs was not tried"
fi
