# custom_operator_test.sh - a model with an operator that Hologram does not know, computed by a kernel of the user's.
. "$CHECKS"

example=$ROOT/examples/custom_operator
check 'without the kernel: told what to do' sh -c '! "$HOLOGRAM" compile "$0/nearest.onnx" -q 2> error.txt && grep -q -e "--kernel" error.txt' "$example"
check 'with it' "$HOLOGRAM" compile "$example/nearest.onnx" --kernel "$example/row_distance.py" -o nearest.holo -q
check 'the other reader' sh -c 'python3 "$ROOT/tools/holo_dump.py" nearest.holo | grep -q "hologram::Kernel"'

# rows of a beside rows of b: distances 5 and 0, 0 and 5, 3 and 4
python3 - << 'END'
import struct
def npy(name, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += ' ' * ((64 - (10 + len(head) + 1) % 64) % 64) + '\n'
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
                           b''.join(struct.pack('<f', x) for r in rows for x in r))
npy('a.npy', [[3, 4, 0, 0], [0, 0, 0, 0], [3, 0, 0, 0]])
npy('b.npy', [[0, 0, 0, 0], [3, 4, 0, 0], [3, 4, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
END
"$HOLOGRAM" run nearest.holo --input a=a.npy --input b=b.npy --output out > /dev/null
cat > numbers.py << 'END'
import math, struct
data = open('out/p.npy', 'rb').read()
got = struct.unpack('<15f', data[-60:])
want = []
for row in [[5, 0, 0, 5, 5], [0, 5, 5, 0, 0], [3, 4, 4, 3, 3]]:
    e = [math.exp(-d) for d in row]
    want += [x / sum(e) for x in e]
assert all(abs(g - w) < 1e-6 for g, w in zip(got, want)), (got, want)
END
check 'the numbers are right' python3 numbers.py

printf 'def k(x: DeviceArray[f32], y: DeviceArray[f32]):\n    y[0] = x[0]\n' > plain.py
check 'a kernel that is no operator' sh -c '! "$HOLOGRAM" compile "$0/nearest.onnx" --kernel plain.py -q 2> error.txt && grep -q "no kernel names its operator" error.txt' "$example"
sed 's/^T = .*/T = types(i32)/; s/sqrt(total)/total/' "$example/row_distance.py" > ints.py
check 'one for other types' sh -c '! "$HOLOGRAM" compile "$0/nearest.onnx" --kernel ints.py -q 2> error.txt && grep -q "no kernel takes inputs of these types" error.txt' "$example"
sed 's/a_1: i64/frob: i64/; s/a_1/frob/g' "$example/row_distance.py" > number.py
check 'a number that nobody gives' sh -c '! "$HOLOGRAM" compile "$0/nearest.onnx" --kernel number.py -q 2> error.txt && grep -q "the kernel.s number .frob. is neither an attribute" error.txt' "$example"

# A kernel that the model has no use for is told, in words on stderr alone.
gives 0 'warning: --kernel: the model has no node' hologram compile "$MODEL" --kernel "$example/row_distance.py" -o unused.holo -q
quiet hologram compile "$example/nearest.onnx" --kernel "$example/row_distance.py" -o nearest.holo -q

# A kernel that leaves its memory names the file and the line of its source: in a run of the archive, and when compiling.
cat > kernel.py << 'END'
"""Elements of a table, by their numbers."""

@kernel(operator="com.example::Pick")
def pick(table: DeviceArray[f32], index: DeviceArray[i64], y: DeviceArray[f32], n: i64):
    i = get_global_id()
    if i < n:
        y[i] = table[index[i]]


def pick_shape(table: DeviceArray[i64], index: DeviceArray[i64], y: DeviceArray[i64]):
    y[0] = index[0]
END
python3 - << 'END'
import struct
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }"
head += ' ' * ((64 - (10 + len(head) + 1) % 64) % 64) + '\n'
open('index.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<4q', 0, 7, 8, 1))
END
python3 "$ROOT/tests/support/onnx_model.py" pick.onnx in table f32 8 in index i64 4 out y f32 4 node com.example::Pick table,index p node Softmax p y axis=0
mkdir -p sources && sed 's/table\[index/table[8 + index/' kernel.py > sources/outside.py
quiet hologram compile pick.onnx --kernel "$PWD/kernel.py" -o pick.holo --no-verify -q
rm kernel.py
gives 1 'an index is out of range: table[8], which has 8 elements' hologram run pick.holo --input table=random --input index=index.npy
gives 1 'hologram: kernel.py:7: program pick, instruction' hologram run pick.holo --input table=random --input index=index.npy
gives 1 'outside.py:7: program pick' hologram compile pick.onnx --kernel sources/outside.py -o outside.holo -q
check 'no path in the archive' sh -c '! grep -q -e "$PWD" pick.holo'
