# NNEF: every operation beside its answer; folders, archives, and what cannot be read.
. "$CHECKS"
gives 0 'operations agree with the specification' python3 "$ROOT/tests/nnef/cases.py" "$HOLOGRAM"
python3 "$ROOT/tests/nnef/cases.py" --write net || exit 1

# A folder, its text, an archive, and a packed one.
gives 0 'y f32[1, 2] = 15, 0' hologram run net -i x=1,2
gives 0 'y f32[1, 2] = 15, 0' hologram run net/graph.nnef -i x=1,2
gives 0 'agrees with the model' hologram compile net -o net.holo
tar -cf net.tar -C net . && tar -czf net.tgz -C net . && tar -czf deep.tgz net
gives 0 'NNEF archive model' hologram inspect net.tar
for archive in net.tar net.tgz deep.tgz; do gives 0 'y f32[1, 2] = 15, 0' hologram run $archive -i x=1,2; done
quiet hologram convert net.tgz -o net.onnx
gives 0 'they agree' hologram compare net.onnx net

# Operations that are not known are listed, all of them.
sed 's/relu(a)/sing(a)/; s/y = /q = /; s/^}/    y = dance(q);\n}/' net/graph.nnef > net/other.nnef
gives 0 '2 of 5 operators are not supported, used 2 times:' hologram inspect net/other.nnef
gives 1 'nnef::sing version 1: 1 node' hologram compile net/other.nnef

# What is wrong is said.
sed 's/relu(a)/relu(nobody)/' net/graph.nnef > net/wrong.nnef
gives 1 "line 10: relu 'nobody' is not a tensor that was made before" hologram inspect net/wrong.nnef
sed 's/relu(a)/relu(a + 1.0)/' net/graph.nnef > net/wrong.nnef
gives 1 'line 10: this is not the flat form of NNEF: expressions are not supported' hologram inspect net/wrong.nnef
sed 's/^graph/fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );\ngraph/' net/graph.nnef > net/wrong.nnef
gives 1 'line 4: the file defines operations of its own (fragment): export the flat form' hologram inspect net/wrong.nnef
sed 's/relu(a);/relu(a)/' net/graph.nnef > net/wrong.nnef
gives 1 "line 11: ';' is expected here" hologram inspect net/wrong.nnef
sed "s/relu(a)/add_n([$(printf 'a,%.0s' $(seq 64))a])/" net/graph.nnef > net/wrong.nnef
gives 1 'line 10: add_n of 65 tensors; 64 are the most' hologram inspect net/wrong.nnef
sed 's/relu(a)/concat([a, a], axis = 1e300)/' net/graph.nnef > net/wrong.nnef
gives 1 'line 10: axis of concat is not a whole number, or too large' hologram inspect net/wrong.nnef
sed 's/relu(a)/copy_n(a, times = 1000)/' net/graph.nnef > net/wrong.nnef
gives 1 'line 10: 1000 copies' hologram inspect net/wrong.nnef
head -c 130 net/w/w.dat > short && mv short net/w/w.dat
gives 1 "the file of 'w/w' is cut off" hologram inspect net
rm net/w/w.dat
gives 1 'w/w.dat' hologram inspect net
gives 1 "the archive has no file 'w/w.dat'" sh -c 'tar -cf less.tar -C net . && "$HOLOGRAM" inspect less.tar'
