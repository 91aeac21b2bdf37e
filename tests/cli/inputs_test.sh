# inputs_test.sh - inputs that are no tensors yet: numbers as text, pictures, and what is neither.
. "$CHECKS"

model() { check "a model: $1" python3 "$ROOT/tests/support/onnx_model.py" "$@"; }
quiet hologram compile "$MODEL" -o d.holo -q

# ---- numbers

model table.onnx in x f32 n,3 out y f32 n,3 node Identity x y
model ids.onnx in x i64 b,s out y i64 b,s node Identity x y
model small.onnx in x u8 2 out y u8 2 node Identity x y
model cube.onnx in x f32 n,2,m out y f32 n,2,m node Identity x y
printf '1,2,3\n4,5,6.5\n' > rows.csv
printf 'a,b,c\n1;2;3\n4;5;6.5\n' > header.csv
printf '[[1, 2, 3],\n [4, 5, 6.5]]\n' > list.json
printf '\357\273\2771 2 3 4 5 6.5' > mark.txt
for file in rows.csv header.csv list.json mark.txt; do
    gives 0 'y f32[2, 3] = 1, 2, 3, 4, 5, 6.5' hologram run table.onnx -i $file
done
printf '101 2023 102\n' > ids.txt
gives 0 'y i64[1, 3] = 101, 2023, 102' hologram run ids.onnx -i ids.txt
printf '1,2\n3,4\n5,6\n' > ids.csv
gives 0 'y i64[3, 2]' hologram run ids.onnx -i ids.csv
gives 0 'y f32[1, 2, 3]' hologram run cube.onnx -i rows.csv # the last dynamic size takes all
gives 0 'y f32[3, 2, 1]' hologram run cube.onnx -i rows.csv --input-shape x:3,2,?
printf 'nan inf -inf' > special.txt
gives 0 'y f32[1, 3] = nan, inf, -inf' hologram run table.onnx -i special.txt
gives 1 '7 numbers do not make a tensor of shape [?,3]' sh -c 'echo 1 2 3 4 5 6 7 > seven.txt; "$HOLOGRAM" run table.onnx -i seven.txt'
gives 1 "'1.5' in line 1 is not a number of type i64" sh -c 'echo 1.5 > half.txt; "$HOLOGRAM" run ids.onnx -i half.txt'
gives 1 "'300' in line 2 is not a number of type u8" sh -c 'printf "1\n300\n" > big.txt; "$HOLOGRAM" run small.onnx -i big.txt'
gives 1 "looks like a text file: 'x' in line 2 is not a number" sh -c 'printf "1\nx\n" > word.txt; "$HOLOGRAM" run ids.onnx -i word.txt'
gives 1 "--input x=1,2,1e400: '1e400' in line 1 is too large for type f32" hologram run table.onnx -i x=1,2,1e400
gives 1 "'-1e39' in line 1 is too large for type f32" hologram run table.onnx -i x=1,2,-1e39
long=1$(printf '%070d' 0)
gives 1 "is too long for a number" hologram run table.onnx -i x=1,2,$long
gives 1 '1 number does not make a tensor of shape [?,3]' hologram run table.onnx -i x=1
gives 1 'no numbers in it' sh -c 'printf "\n\n" > blank.txt; "$HOLOGRAM" run ids.onnx -i blank.txt'
gives 0 'they agree' hologram compare rows.csv list.json
printf '"a","b","c"\n"1","2","3"\n4,5,6.5,\n' > quoted.csv
gives 0 'they agree' hologram compare rows.csv quoted.csv
# The first byte of each of these could also begin an ONNX model.
for text in '2,3' '(2,3)' 'B,C\n2,3' 'r,s\n2,3' ':,:\n2,3' '"2","3"' '\n2,3'; do
    printf "$text" > first.csv
    gives 0 'y i64[1, 2] = 2, 3' hologram run ids.onnx -i first.csv
    gives 1 'it looks like a text file' hologram inspect first.csv
done
# Nothing is passed over: a number that is missing is an error, and so are rows of different lengths.
for text in '1,,3' '1,2,3\n4,,6\n' '1,2\n,4\n' ',1,2\n0,3,4\n' '1;;2' '[1,,2]' 'a,b\n1,\n,2\n' '1,2\n3,,\n' '"","1"'; do
    printf "$text" > hole.csv
    gives 1 'a number is missing in line' hologram run ids.onnx -i hole.csv
done
gives 1 'a number is missing in line 1' hologram run ids.onnx -i x=1,,3
printf '1,2,3\n4,6\n' > uneven.csv
gives 1 'the 2 lines differ in how many numbers they have' hologram run ids.onnx -i uneven.csv
printf '[[1,2]\n,[3,4],\n]' > commas.json
gives 0 'y i64[2, 2] = 1, 2, 3, 4' hologram run ids.onnx -i commas.json
# An array of NumPy that is not one of numbers, or not whole: the message says what is wrong.
header() { # TEXT WORDS
    python3 -c 'import sys; d = sys.argv[1].encode().ljust(117) + b"\n"; sys.stdout.buffer.write(b"\x93NUMPY\1\0\x76\0" + d + bytes(64))' "$1" > header.npy
    gives 1 "header.npy: $2" hologram run ids.onnx -i header.npy
}
cannot='the header of the NumPy array cannot be read'
header "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }" "$cannot: its elements are Python objects"
header "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (8,), }" "$cannot: its elements are dates or times"
header "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (8,), }" "$cannot: its elements are records"
header "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }" "$cannot: a size of its shape is not valid"
header "{'descr': '<i8', 'fortran_order': False, 'shape': ($(printf '1,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)), }" "$cannot: it has too many dimensions"
header "{'descr': '<i8', 'fortran_order': False, }" "$cannot: it lacks its type, its order or its shape"
header "{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 4, 0), }" 'the shape of the NumPy array is too large'

gives 0 'y f32[1, 3] = 1, -2, 300' hologram run table.onnx -i x=1,-2,3e2 # the numbers themselves
gives 0 'y i64[1, 2] = 7, 8' hologram run ids.onnx -i '[7, 8]'
gives 0 'y i64[2, 1] = 7, 8' hologram run ids.onnx -i '[7, 8]' --input-shape x:?,1
gives 1 '2 numbers do not make a tensor of shape [?,3]' hologram run table.onnx -i x=1,2

# ---- what is neither

printf '<!DOCTYPE html><html>' > page.html
printf 'version https://git-lfs.github.com/spec/v1' > pointer.npy
printf '\037\213\010\000' > packed.npy.gz
gives 1 'looks like a web page' hologram run d.holo -i page.html
gives 1 'looks like a Git LFS pointer' hologram run d.holo -i pointer.npy
gives 1 'looks like gzip' hologram run d.holo -i packed.npy.gz
gives 1 'looks like an ONNX model' hologram run d.holo -i "$MODEL"
gives 1 'looks like an ONNX model' hologram run d.holo -i table.onnx

printf 'RIFF\044\000\000\000WAVEfmt ' > sound.wav
printf 'PK\005\006\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' > empty.zip
gives 1 'looks like a sound (WAV)' hologram run d.holo -i sound.wav
gives 1 'looks like an empty zip archive' hologram run d.holo -i empty.zip
check 'a checkpoint' python3 -c 'import zipfile; zipfile.ZipFile("model.pt", "w").writestr("archive/data.pkl", b"x")'
gives 1 'it contains no tensor; it looks like a PyTorch checkpoint' hologram run d.holo -i model.pt

# ---- pictures

check 'a picture' python3 "$ROOT/tests/support/png.py" photo.png 16 12
printf 'P3\n2 2\n255\n255 0 0  0 255 0\n0 0 255  255 255 255\n' > four.ppm # red, green, blue, white
model first.onnx in x f32 1,3,2,2 out y f32 1,3,2,2 node Identity x y
model last.onnx in x f32 n,h,w,3 out y f32 n,h,w,3 node Identity x y
model bytes.onnx in x u8 2,2,3 out y u8 2,2,3 node Identity x y
model gray.onnx in x f32 2,2 out y f32 2,2 node Identity x y
model open.onnx in x f32 n,c,h,w out y f32 n,c,h,w node Identity x y
model line.onnx in x f32 n,3,6,w out y f32 n,3,6,w node Identity x y
model many.onnx in x f32 4,3,2,2 out y f32 4,3,2,2 node Identity x y
model odd.onnx in x f32 1,4,6,6 out y f32 1,4,6,6 node Identity x y
gives 0 'y f32[1, 3, 2, 2] = 1, 0, 0, 1, 0, 1, 0, 1' hologram run first.onnx -i four.ppm
gives 0 'x: four.ppm, 2x2, as f32[1, 3, 2, 2], channels first, RGB, 0 to 1' hologram run first.onnx -i four.ppm
gives 0 'y f32[1, 2, 2, 3] = 1, 0, 0, 0, 1, 0, 0, 0' hologram run last.onnx -i four.ppm
gives 0 'y u8[2, 2, 3] = 255, 0, 0, 0, 255, 0, 0, 0' hologram run bytes.onnx -i four.ppm
gives 0 'y f32[2, 2] = 0.298039, 0.588235, 0.113725, 1' hologram run gray.onnx -i four.ppm
gives 0 'a guess: see --layout' hologram run open.onnx -i four.ppm
gives 0 'y f32[1, 2, 2, 3]' hologram run open.onnx -i four.ppm --layout nhwc
gives 0 'y f32[1, 1, 2, 2]' hologram run open.onnx -i four.ppm --channels gray
gives 0 'resized to 8x6, as f32[1, 3, 6, 8]' hologram run line.onnx -i photo.png # its proportions stay
gives 0 'resized to 5x4' hologram run open.onnx -i photo.png --input-shape x:1,3,4,5
gives 0 '= 1, -1, -1, 1, -1, 1, -1, 1' hologram run first.onnx -i four.ppm --mean 0.5 --std 0.5
gives 0 '= 1, -1, -1, 1, -1, 1, -1, 1' hologram run first.onnx -i four.ppm --range -1,1
gives 0 'BGR' hologram run first.onnx -i four.ppm --channels bgr
gives 0 '= 0, 0, 1, 1, 0, 1, 0, 1' hologram run first.onnx -i four.ppm --channels bgr
gives 0 '= 2.24891, -2.1179' hologram run first.onnx -i four.ppm --mean 123.675,116.28,103.53 --std 58.395,57.12,57.375
gives 0 '0 to 255, then (x - mean) / std' hologram run first.onnx -i four.ppm --mean 123.675,116.28,103.53 --std 58.395,57.12,57.375
gives 0 'probabilities' hologram run d.holo -i photo.png --range 0,16
gives 0 '' hologram bench d.holo -i photo.png --seconds 0.01
mkdir photos && cp photo.png photos/a.png && cp four.ppm photos/b.png
gives 0 '2 samples' hologram compare d.holo "$MODEL" --samples photos --range 0,16
quiet hologram run first.onnx -i four.ppm -q

# Pictures and numbers are samples for the compiler, too. The list beside them is none.
mkdir seen && cp photo.png seen/IMG_1.PNG && cp four.ppm seen/two.ppm && echo 'IMG_1 seven' > seen/labels.txt
gives 0 'image: seen/IMG_1.PNG, 16x12 resized to 8x8, as f32[1, 1, 8, 8], channels first, gray, 0 to 16' hologram compile "$MODEL" -o seen.holo --quantize int8 --calibrate seen --range 0,16
gives 0 'on 2 samples' hologram compile "$MODEL" -o seen.holo --quantize int8 --calibrate seen --range 0,16
gives 0 'on 1 sample' hologram compile "$MODEL" -o seen.holo --quantize int8 --calibrate photo.png
gives 0 'on 2 samples given' hologram compile "$MODEL" -o seen.holo --verify-with seen
gives 0 'on 1 sample given' hologram compile "$MODEL" -o seen.holo --verify-with image=photo.png
gives 0 '2 patterns answered' hologram compile "$MODEL" -o seen.holo --patterns seen
mkdir texts && printf '%064d' 0 | sed 's/0/1 /g' > texts/image.csv && cp "$SEVEN" seven.npy
gives 0 'on 1 sample' hologram compile "$MODEL" -o seen.holo --quantize int8 --calibrate texts
mkdir noted && cp seven.npy noted && echo 'what these are' > noted/README.txt
gives 0 'on 1 sample' hologram compile "$MODEL" -o seen.holo --quantize int8 --calibrate noted
gives 2 '--mean is for pictures, but no input is a picture' hologram compile "$MODEL" -o no.holo --mean 0.5
echo no > seen/bad.png
gives 1 'seen/bad.png' hologram compile "$MODEL" -o no.holo --verify-with seen
mkdir kept
check 'no file is left' sh -c 'TMPDIR=$PWD/kept "$HOLOGRAM" compile "$0" -q -o seen.holo --quantize int8 --calibrate texts && [ -z "$(ls -A kept)" ]' "$MODEL"

gives 1 'a picture cannot have 4 channels' hologram run odd.onnx -i four.ppm
gives 1 'the input needs 4 pictures' hologram run many.onnx -i four.ppm
gives 1 'two to four dimensions' sh -c '. "$CHECKS"; model() { python3 "$ROOT/tests/support/onnx_model.py" "$@"; }
    model flat.onnx in x f32 n out y f32 n node Identity x y; "$HOLOGRAM" run flat.onnx -i four.ppm'
printf '\211PNG\015\012\032\012\000\000\000\015IHDR\000\001\206\240\000\001\206\240\010\000\000\000\000\215\071T\024\000\000\000\011IDATx\234c\000\000\000\001\000\001\136ÿ\175ù\000\000\000\000IEND\256B\140\202' > huge.png
gives 1 'hologram: huge.png: an image of 100000 x 100000 pixels is too large' hologram run first.onnx -i huge.png
gives 1 'damaged' sh -c 'head -c 60 photo.png > cut.png; "$HOLOGRAM" run first.onnx -i cut.png'
gives 1 'has 3 channels' hologram run first.onnx -i four.ppm --channels gray
gives 2 '--mean is for pictures, but no input is a picture' hologram run first.onnx -i random --mean 0.5
gives 2 '--mean is for inputs of floats' hologram run bytes.onnx -i four.ppm --mean 0.5
gives 2 'expected one number, or 3' hologram run first.onnx -i four.ppm --mean 1,2
gives 2 'cannot divide by 0' hologram run first.onnx -i four.ppm --std 0
gives 2 'expected the values of black and white' hologram run first.onnx -i four.ppm --range 255
gives 2 '--layout chw: expected nchw or nhwc' hologram run first.onnx -i four.ppm --layout chw
gives 2 '--channels rgba: expected rgb, bgr or gray' hologram run first.onnx -i four.ppm --channels rgba
