# families_test.sh - model families and their heads: tiny models of tests/families with the answers of HuggingFace's transformers.
. "$CHECKS"

for file in "$ROOT"/tests/families/*.txt; do
    check "$(basename "$file")" python3 "$ROOT/tests/support/families.py" "$HOLOGRAM" "$(basename "$file" .txt)" "$file"
done

# A decoder of BART alone is the decoder of a whole model that learns nothing from its encoder.
check 'BartForCausalLM' python3 "$ROOT/tests/support/bart_alone.py" "$HOLOGRAM" bart
