#!/bin/sh
# run.sh FOLDER ARGUMENTS... - builds all device code and the bench in FOLDER, then runs it: sh bench/cuda/run.sh build/cuda check time
#
# Needs nvcc and a GPU. ARCH says for which architecture (90a); ARCH=80 measures what older ones run, through PTX.
cd "$(dirname "$0")/../.." || exit 1
out=$1; arch=${ARCH:-90a}; shift
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
mkdir -p "$out"
for f in src/devices/cuda/code/*.cu; do
    name=$(basename "$f" .cu)
    case $arch$name in 80*_sm90) continue ;; esac
    if [ "$arch" = 80 ]; then
        "$nvcc" -std=c++17 -O3 -arch=compute_80 -ptx -o "$out/$name.ptx" "$f" &
    else
        "$nvcc" -std=c++17 -O3 "-gencode=arch=compute_$arch,code=sm_$arch" -cubin -o "$out/$name.cubin" "$f" &
    fi
done
for f in bench/cuda/*.cu; do
    "$nvcc" -std=c++17 -O2 -arch=sm_90 -Isrc -c -o "$out/$(basename "$f" .cu).o" "$f" &
done
for f in cuda_pick cuda_pick_tiled cuda_pick_more; do gcc -std=c11 -O2 -Isrc -c -o "$out/$f.o" src/devices/cuda/$f.c || exit 1; done
wait
"$nvcc" -arch=sm_90 -o "$out/bench" "$out"/*.o -lcublasLt -lcuda || exit 1
"$out/bench" "$out" "$@"
