# docs/adding-a-binding.md, done as it says: its code, put together, reads a digit.
. "$CHECKS"
awk '/^```python$/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/docs/adding-a-binding.md" > binding.py
for part in demo tools include; do ln -s "$ROOT/$part" $part; done
ln -s "$(dirname "$HOLOGRAM")" build
check 'the page has code' test "$(wc -l < binding.py)" -gt 50
if [ -f build/libhologram.so ] && [ -f build/libhologram-compiler.so ]; then
    check 'its code runs' sh -c 'python3 -B binding.py > said'
    check 'it reads the digit' grep -qx 7 said
    check 'failures have messages' grep -q no-such.holo said
    gives 0 'holo_model_open(path: string, out_model: new object, error: error) -> status' python3 -B tools/bindings.py
fi
