# bisect_test.sh - hologram bisect on a good model: it agrees, on seeded and on given inputs; and what is no model.
. "$CHECKS"

gives 0 'the plan agrees with the model' hologram bisect "$MODEL"
gives 0 'on seeded inputs' hologram bisect "$MODEL" --threads 1
gives 0 'on the given inputs' hologram bisect "$MODEL" --input image="$SEVEN"
gives 0 'agrees' hologram bisect "$MODEL" --disable=fuse --numeric exact --input-shape image:3,1,8,8
hologram bisect "$MODEL" --json > bisect.json
json bisect.json model agrees changes trials checked worst_relative culprits
check 'it agrees' grep -q '"agrees": true' bisect.json

# Not a bit may be off: passes change roundings, so one is found, and the model agrees without those named.
hologram bisect "$MODEL" --tolerance 0 > strict.txt
if grep -q differs strict.txt; then
    gives 1 'culprit      pass ' hologram bisect "$MODEL" --tolerance 0
    gives 1 'nodes new' hologram bisect "$MODEL" --tolerance 0
    passes=$(grep -o -e '--disable=[a-z]*' strict.txt)
    check 'passes to leave out are named' test -n "$passes"
    gives 0 'agrees' hologram bisect "$MODEL" --tolerance 0 $passes
    hologram bisect "$MODEL" --tolerance 0 --json > strict.json
    json strict.json agrees culprits kind pass change before after message removed added
fi

gives 2 'expected a number' hologram bisect "$MODEL" --tolerance much
gives 2 'there is no pass nosuch' hologram bisect "$MODEL" --disable=nosuch
gives 2 'is missing' hologram bisect
gives 1 'no-such.onnx' hologram bisect no-such.onnx
gives 1 'the model has no input' hologram bisect "$MODEL" --input nosuch="$SEVEN"
quiet hologram compile "$MODEL" -o digits.holo -q
gives 1 'is an archive' hologram bisect digits.holo
