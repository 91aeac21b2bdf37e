# The description of the C API (include/hologram.json) is what the headers say, and what the libraries hold.
. "$CHECKS"
export PYTHONDONTWRITEBYTECODE=1
BUILD=$(dirname "$HOLOGRAM")
description=$ROOT/include/hologram.json
cc=${CC:-gcc}

check 'pieces of headers are read as they are meant' python3 "$ROOT/tests/api/api_test.py"
check 'the description is what the headers say' python3 "$ROOT/tools/api.py" --check
sed 's/"HOLO_MAX_RANK", "value": 16/"HOLO_MAX_RANK", "value": 17/' "$description" > old.json
gives 1 'not what the headers say (make api)' python3 "$ROOT/tools/api.py" --check --output old.json
check 'it is written as it is checked' sh -c "python3 '$ROOT/tools/api.py' --output new.json && cmp new.json '$description'"

# A compiler compares it with the headers: values, fields, callbacks, functions.
agrees() { # DESCRIPTION
    python3 "$ROOT/tests/api/mirror.py" "$1" > mirror.c && $cc -std=c11 -Wall -Wextra -Werror -I"$ROOT/include" -fsyntax-only mirror.c
}
disagrees() { ! agrees "$1"; }
check 'a compiler finds the same in the headers' agrees "$description"
while IFS='|' read -r what from to; do
    sed "s/$from/$to/" "$description" > wrong.json
    check "$what: the edit changes something" sh -c "! cmp -s wrong.json '$description'"
    check "$what: a compiler sees that it is wrong" disagrees wrong.json
done <<'EDITS'
a constant|"HOLO_MAX_RANK", "value": 16|"HOLO_MAX_RANK", "value": 15
a value of an enum|"HOLO_BUSY", "value": 12|"HOLO_BUSY", "value": 14
the type of a field|"text", "type": "char"|"text", "type": "uint8_t"
the name of a field|"text", "type": "char"|"message", "type": "char"
the size of an array|"type": "char", "array": 4092|"type": "char", "array": 4088
the size of an array that is filled|"uint8_t \*", "array": 4|"uint8_t *", "array": 5
a parameter|"path", "type": "const char \*"|"path", "type": "const void *"
a result|"returns": "size_t"|"returns": "int"
EDITS

# Both libraries together show these functions, and no others.
if [ -f "$BUILD/libhologram.so" ] && [ -f "$BUILD/libhologram-compiler.so" ]; then
    nm -D --defined-only "$BUILD"/libhologram.so "$BUILD"/libhologram-compiler.so | awk '$NF ~ /^holo_/ { print $NF }' | sort -u > shown
    python3 -c 'import json, sys; [print(f["name"]) for f in json.load(open(sys.argv[1]))["functions"]]' "$description" | sort > said
    check 'the libraries show what it says' diff said shown
fi
