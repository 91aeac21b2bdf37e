# cuda_test.sh - GPUs from the command line: what is refused, and what can be made without one. With a GPU it runs there as well.
. "$CHECKS"

gives 2 "knows no machines of the kind 'sm_12'; sm_80 and sm_90 are known" hologram compile "$MODEL" --target cuda:sm_12 -o out.holo
gives 2 "target cpu has no kinds of machines" hologram compile "$MODEL" --target cpu:fast -o out.holo
gives 1 "numeric class tf32 is for GPUs: compile with --target cuda" hologram compile "$MODEL" --numeric tf32 -o out.holo
gives 1 "numeric class f16 is for GPUs: compile with --target cuda" hologram compile "$MODEL" --numeric f16 -o out.holo
quiet hologram compile -q "$MODEL" -o cpu.holo
gives 0 "" hologram run cpu.holo --device cpu --input image="$SEVEN"
gives 1 "the model has no steps for cuda: compile it again with --target cuda" hologram run cpu.holo --device cuda:0 --input image="$SEVEN"
gives 1 "a device is named as cpu, cuda or cuda:1, not as 'cuda:'" hologram run cpu.holo --device cuda: --input image="$SEVEN"

hologram compile "$MODEL" --target cuda -o gpu.holo > made 2>&1
if grep -q "built without code for cuda" made; then
    gives 1 "build it with 'make cuda', which needs NVIDIA's compiler nvcc" hologram compile "$MODEL" --target cuda -o gpu.holo
    check "no archive is left" test ! -e gpu.holo
    echo "cuda: this program was built without device code: archives with it were not made"
    exit 0
fi
check "an archive with device code" test -s gpu.holo
gives 0 "CODE_DATA" python3 "$ROOT/tools/holo_dump.py" gpu.holo
gives 0 "" hologram verify gpu.holo
gives 0 "cuda: " hologram explain gpu.holo
# 3x3 convolutions of many channels by tiles of pixels, if their sizes are known.
tiles() {
    python3 "$ROOT/tests/support/onnx_model.py" tiles.onnx in x f32 "$1,256,28,28" out y f32 "$1,256,28,28" const s 256,256,3,3 \
        node Cast s t to=7 node ConstantOfShape t w node Conv x,w y kernel_shape=3,3 pads=1,1,1,1
    hologram compile tiles.onnx --target cuda --no-verify -q -o tiles.holo && hologram explain tiles.holo
}
gives 0 "cuda: conv by tiles of 2x2 pixels" tiles 8
gives 0 "they are stored transformed, 16 numbers for 9" tiles 8
gives 0 "cuda: conv" tiles batch
check "a batch of unknown size has the usual way" sh -c "! '$HOLOGRAM' explain tiles.holo | grep -q 'by tiles'"
for class in tf32 f16 bf16; do
    gives 0 "" hologram compile -q "$MODEL" --target cuda --numeric $class --no-verify -o narrow.holo
done
gives 1 "compile it again, without a target or with --target cpu,cuda, to run it on the CPU alone" hologram run gpu.holo --device cpu --input image="$SEVEN"

# For the CPU and the GPU: the CPU's plan is of class fused, whatever the GPU's is.
gives 0 "for the CPU, numeric class fused; for cuda, numeric class f16" hologram compile "$MODEL" --target cpu,cuda:sm_90 --numeric f16 -o both.holo
gives 0 "" hologram run cpu.holo -q -o plain --input image="$SEVEN"
gives 0 "runs on cpu" hologram run both.holo -v -q -o chosen --device cpu --input image="$SEVEN"
check "the CPU's plan has the bits of an archive for the CPU" cmp plain/probabilities.npy chosen/probabilities.npy
gives 0 "cuda: product" hologram explain both.holo --device cuda
gives 0 "DEVICE_PLANS" python3 "$ROOT/tools/holo_dump.py" both.holo
gives 0 "" hologram compile -q "$MODEL" --target cpu,cuda --numeric exact --no-verify -o exact.holo
if grep -q "it cannot run here" made; then
    gives 0 "the plan for cuda was not verified" hologram compile "$MODEL" --target cpu,cuda -o both.holo
    gives 0 "runs on cpu" hologram run both.holo -v --input image="$SEVEN"
    gives 1 "cuda: " hologram run both.holo --device cuda --input image="$SEVEN"
    gives 1 "the plan for devices could not be verified" hologram compile "$MODEL" --target cpu,cuda --strict -o strict.holo
    gives 1 "cuda: " hologram run gpu.holo --input image="$SEVEN"
    gives 1 "the plan could not be verified" hologram compile "$MODEL" --target cuda --strict -o strict.holo
    echo "cuda: there is no GPU here: nothing was run on one"
    exit 0
fi
gives 0 "probabilities" hologram run gpu.holo --device cuda:0 --input image="$SEVEN"
gives 1 "there is no device cuda:99" hologram run gpu.holo --device cuda:99 --input image="$SEVEN"
