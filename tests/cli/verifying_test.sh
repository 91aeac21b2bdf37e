# verifying_test.sh - the proof that compile makes: on inputs given, what it says, and what it does where there is none.
. "$CHECKS"

# What was compared, what is off the most, and what is allowed.
gives 0 'agrees with the model on made-up inputs: 1 output' hologram compile "$MODEL" -o a.holo
gives 0 'of the largest value there' hologram compile "$MODEL" -o a.holo
gives 0 '(the tolerance of verification)' hologram compile "$MODEL" -o a.holo
hologram compile "$MODEL" -o a.holo --json > report.json
json report.json verify_inputs verify_outputs verify_nodes judged worst_largest allowed allowed_by verify_left_out
gives 0 'verified against its model when it was compiled, on made-up inputs' hologram verify a.holo
hologram compile "$MODEL" -o b.holo --no-verify -q
gives 0 'not verified against its model when it was compiled: not asked for' hologram verify b.holo

# Inputs that are given: one by name, a folder of them, several.
gives 0 'on 1 sample given' hologram compile "$MODEL" -o a.holo --verify-with "image=$SEVEN"
gives 0 'on 20 samples given' hologram compile "$MODEL" -o a.holo --verify-with "$DEMO/digits" --strict
gives 0 'on 21 samples given' hologram compile "$MODEL" -o a.holo --verify-with "$DEMO/digits" --verify-with "image=$SEVEN"
gives 0 '21 samples given' hologram inspect a.holo
gives 1 'image is given twice' hologram compile "$MODEL" -o a.holo --verify-with "image=$SEVEN" --verify-with "image=$SEVEN"
printf '\1\2\3\4' | npy '|u1' '(4,)' > four.npy
rm -f a.holo
gives 1 'input image should be f32[batch,1,8,8]' hologram compile "$MODEL" -o a.holo --verify-with image=four.npy
gives 1 'there is no input nobody to verify with' hologram compile "$MODEL" -o a.holo --verify-with "nobody=$SEVEN"
gives 1 'no-such' hologram compile "$MODEL" -o a.holo --verify-with no-such
check 'nothing is written' test ! -e a.holo
gives 2 'exclude each other' hologram compile "$MODEL" -o a.holo --no-verify --strict
gives 2 'exclude each other' hologram compile "$MODEL" -o a.holo --no-verify --verify-with "$SEVEN"
gives 2 'HOLOGRAM_STRICT' env HOLOGRAM_STRICT=1 HOLOGRAM_VERIFY=0 "$HOLOGRAM" compile "$MODEL" -o a.holo

# A model all of whose outputs are drawn by computed probabilities, and one that expands a number to 4 GiB: written with a warning, also when quiet.
printf '\010\010\022\003gen\072\070\012\021\012\001x\022\001y\042\011Bernoulli\022\001gZ\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\004b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\004B\002\020\021' > random.onnx
printf '\010\010\022\003gen\072O\012\021\012\001x\012\001s\022\001y\042\006Expand\022\001g\052\021\010\001\020\007B\001sJ\010\000\000\000\100\000\000\000\000Z\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\001b\023\012\001y\022\016\012\014\010\001\022\010\012\006\010\200\200\200\200\004B\002\020\021' > large.onnx
gives 0 'warning: random.onnx was not verified: every output' hologram compile random.onnx -q
check 'it is there' test -s random.holo
gives 0 'not verified against its model when it was compiled: every output' hologram verify random.holo
gives 0 'it would take 4.0 GiB of memory at node' hologram compile large.onnx -q --memory-limit 256M
rm -f random.holo large.holo
gives 1 'could not be verified: every output' hologram compile random.onnx -q --strict
gives 1 'could not be verified: every output' env HOLOGRAM_STRICT=true "$HOLOGRAM" compile random.onnx -q
gives 1 'could not be verified: it would take 4.0 GiB' hologram compile large.onnx -q --memory-limit 256M --strict
check 'nothing is written' sh -c '! ls random.holo large.holo'
quiet hologram compile random.onnx -q --no-verify
