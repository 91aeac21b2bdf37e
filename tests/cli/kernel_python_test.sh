# kernel_python_test.sh - the kernel language means what Python means: kernels that Python itself runs, too. They are made
# up from seeds, of whole numbers, branches and loops.
. "$CHECKS"

both="$ROOT/tests/support/kernel_python.py"
for seed in 1 2 3 4 5 6 7 8 9 10 153 207 301 418 502 633 749 801 877 990 ${HOLO_TEST_ALL:+$(seq 1000 1999)}; do
    python3 "$both" random "$seed" > "k$seed.py" && python3 "$both" run "k$seed.py" > want.txt || exit 1
    check "as Python has it, seed $seed" sh -c \
        '"$HOLOGRAM" kernel run "$0" k --arg y=zeros:8 --arg n=5 --lanes 1 --limit 1000000 | cmp - want.txt' "k$seed.py"
done
