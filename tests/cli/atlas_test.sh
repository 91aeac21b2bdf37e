# atlas_test.sh - hologram atlas: bytes, sigils, addresses; as text and as JSON, and what is called wrongly.
. "$CHECKS"

# Bytes.
gives 0 'class        21' hologram atlas byte 0x2A
gives 0 'modality     2, consume' hologram atlas byte 42
gives 0 'members      0x2A 0x2B' hologram atlas byte 0X2b
gives 0 'canonical    0x00' hologram atlas byte 0x31
hologram atlas byte 0 255 --json > bytes.json
json bytes.json byte class scope modality slot canonical members
check 'both bytes' test "$(grep -c '"class"' bytes.json)" = 2
check 'the four members of class 0' sh -c "tr -d ' \n' < bytes.json | grep -qF '\"members\":[0,1,48,49]'"
for wrong in 256 -- 0x 0x100 4z '' ' 4' +4 99999999999999999999; do
    gives 2 'is not a byte' hologram atlas byte 1 -- "$wrong"
done

# Sigils: the published ones; the rest is in the unit tests.
gives 0 'evaluate   c45    0x6A' hologram atlas sigil 'R+1@(copy@c05 . evaluate@c21)'
gives 0 '→ρ[1] phase[h₂=1] evaluate copy[d=0] ←ρ[1]' hologram atlas sigil 'R+1@(copy@c05 . evaluate@c21)'
gives 0 'mark       c37    0x5A  17    4442' hologram atlas sigil 'mark@c42^+3~@17'
hologram atlas sigil 'mark@c42^+3~@17 || copy@c1' --json > sigil.json
json sigil.json leaves generator class byte page belt words
gives 1 'column 6: class c96 is out of range: c0 to c95' hologram atlas sigil 'mark@c96'
hologram atlas sigil 'mark@c1 .
 mark@c96' 2> wrong.txt
check 'the line with the mistake' grep -qxF '   mark@c96' wrong.txt
check 'a mark below it' grep -qxF '        ^' wrong.txt
gives 1 'the text ends' hologram atlas sigil ''
gives 2 'Quote the expression' hologram atlas sigil mark@c1 . mark@c2

# Addresses: of a tensor the same wherever it is, and another one where type, shape or bytes are others.
address() {
    hologram atlas address "$@" | sed -n '2s/^ *\([0-9a-f]*\) .*/\1/p'
}
printf '\0\0\200\077\0\0\0\100\0\0\100\100' > numbers # 1, 2, 3
npy '<f4' '(3,)' < numbers > flat.npy
npy '<f4' '(1, 3)' < numbers > row.npy
npy '<i4' '(3,)' < numbers > whole.npy
cp flat.npy copy.npy
gives 0 '736dac475067b7a42c9dc67aebe273c3' hologram atlas address flat.npy
gives 0 'f32[3]  flat.npy' hologram atlas address flat.npy
check 'a copy has the same' test "$(address flat.npy)" = "$(address copy.npy)"
for other in 'row.npy' 'whole.npy' 'numbers' 'flat.npy --bytes'; do
    check "$other has another" test "$(address flat.npy)" != "$(address $other)"
done
gives 0 'u8[12]  numbers' hologram atlas address numbers
hologram atlas address flat.npy --json > address.json
json address.json contents name dtype shape packed identity address class page byte sub number
check 'the number is the rest of the identity' sh -c "tr -d ' \n' < address.json | grep -q '\"class\":[0-9]*,\"page\":[0-9]*,\"byte\":[0-9]*,\"sub\":[0-9]*,\"number\":[0-9]*'"
if command -v python3 > /dev/null; then
    cat > rest.py <<'PY'
import json
c = json.load(open('address.json'))['contents'][0]
a, n = c['address'], int(c['identity'], 16) % (96 * 480 * 256 * 65536)
assert a['number'] == n == ((a['class'] * 480 + a['page']) * 256 + a['byte']) * 65536 + a['sub']
PY
    check 'as long division has it' python3 rest.py
fi

# Of an archive every constant.
quiet hologram compile "$MODEL" -o digits.holo -q
gives 0 'f32[10]  dense2.b' hologram atlas address digits.holo
gives 0 '(packed)' hologram atlas address digits.holo
gives 0 "u8[$(wc -c < digits.holo)]  digits.holo" hologram atlas address digits.holo --bytes
gives 0 'u8[0]' sh -c ': > empty; "$HOLOGRAM" atlas address empty'
head -c 50000 digits.holo > cut.holo
gives 1 'cut.holo' hologram atlas address cut.holo
head -c 20 flat.npy > cut.npy
gives 1 'cut.npy' hologram atlas address cut.npy
hologram atlas address cut.npy --json > cut.json 2> /dev/null
json cut.json errors
gives 1 'no-such' hologram atlas address no-such
gives 2 'too many' hologram atlas address flat.npy row.npy

gives 2 'the arguments are missing' hologram atlas
gives 2 'is missing' hologram atlas byte
gives 2 "did you mean 'byte'" hologram atlas bite 3
gives 2 'expected byte, sigil or address' hologram atlas horoscope 3
