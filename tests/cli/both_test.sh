# both_test.sh - archives for the CPU and a device: which of their plans runs, and what is said about them. The device is that
# of the tests (tests/device/mirror_device.c), in a program of its own; the ordinary program lacks it.
. "$CHECKS"

mirror=$(dirname "$HOLOGRAM")/mirror/hologram
check "the program with the device is there: make build/mirror/hologram" test -x "$mirror"
both() { "$mirror" "$@"; }

quiet both compile -q "$MODEL" -o cpu.holo
quiet both compile -q "$MODEL" --target mirror -o mirror.holo
gives 0 'for the CPU, numeric class fused; for mirror, numeric class fused, ' both compile "$MODEL" --target cpu,mirror -o both.holo
gives 0 'the plan for mirror agrees, too' both compile "$MODEL" --target mirror,cpu -o other.holo
check "the order of the names does not matter" cmp both.holo other.holo
gives 0 '' both compile "$MODEL" --target cpu,mirror --strict -q -o strict.holo
both compile "$MODEL" --target cpu,mirror --json -o both.holo > report.json
json report.json device numeric device_numeric device_steps shared_bytes host_bytes device_bytes device_verified
gives 2 'target cpu is named twice' both compile "$MODEL" --target cpu,mirror,cpu -o out.holo
gives 1 'numeric class f16 is for GPUs' both compile "$MODEL" --target cpu,mirror --numeric f16 -o out.holo


# Constants are shared: one archive is smaller than two.
size() { wc -c < "$1"; }
check "weights are stored once" test "$(size both.holo)" -lt $(($(size cpu.holo) + $(size mirror.holo)))

# The first device that is there.
gives 0 'runs on mirror:0' both run both.holo -v --input image="$SEVEN"
gives 0 'runs on mirror:0' both run both.holo -v --device mirror --input image="$SEVEN"
gives 0 'runs on cpu' both run both.holo -v --device cpu --input image="$SEVEN"
gives 0 '"device": "cpu"' both run both.holo --json --device cpu --input image="$SEVEN"
gives 1 'the model has no steps for cuda' both run both.holo --device cuda --input image="$SEVEN"
gives 1 'compile it again, without a target or with --target cpu,mirror' both run mirror.holo --device cpu --input image="$SEVEN"
quiet both run cpu.holo -q -o plain --input image="$SEVEN"
quiet both run both.holo -q -o chosen --device cpu --input image="$SEVEN"
check "the CPU's plan has the bits of an archive for the CPU" cmp plain/probabilities.npy chosen/probabilities.npy

# A program without the device runs the plan for the CPU.
gives 0 'runs on cpu' hologram run both.holo -v --input image="$SEVEN"
quiet hologram run both.holo -q -o alone --input image="$SEVEN"
check "with the same bits" cmp plain/probabilities.npy alone/probabilities.npy
gives 1 'it lacks a device that the model was compiled for; it can run it on the CPU' hologram run both.holo --device mirror --input image="$SEVEN"
gives 1 "which this program does not have" hologram run mirror.holo --input image="$SEVEN"

gives 0 ', on mirror:0' both bench both.holo --seconds 0.01
gives 0 '"device": "cpu"' both bench both.holo --device cpu --seconds 0.01 --json

# What is said about them.
gives 0 'numeric class fused), else cpu (' both inspect both.holo
gives 0 '"devices": [' both inspect both.holo --json
gives 0 'verified against its model' both verify both.holo
gives 0 'stored for devices' both explain both.holo
gives 0 'mirror: eval' both explain both.holo --device mirror
check "the plan for the CPU has no steps elsewhere" sh -c "! '$mirror' explain both.holo --device cpu | grep -q 'mirror: '"
gives 0 'DEVICE_PLANS' python3 "$ROOT/tools/holo_dump.py" both.holo
gives 0 '"device_plans": [' python3 "$ROOT/tools/holo_dump.py" --json both.holo

# Answers that are kept are those of the CPU.
quiet both compile -q "$MODEL" --target cpu,mirror --patterns "$SEVEN" -o memo.holo
gives 0 'answers to 1 patterns' both inspect memo.holo
gives 1 'answers of its plan for the CPU' both run both.holo --input image="$SEVEN" --memo 1M --save-memo saved.holo
gives 0 '' both run both.holo -q --device cpu --input image="$SEVEN" --memo 1M --save-memo saved.holo
