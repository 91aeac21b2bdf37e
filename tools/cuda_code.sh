#!/bin/sh
# cuda_code.sh FOLDER - writes the table of device code that is built into the compiler: of each NAME.KIND.cubin, NAME.ptx and NAME.ptx_89 in
# FOLDER, which `make cuda` makes. Without them the table is empty.
echo '#include "lower/cuda/cuda_target.h"'
list=$(for f in "$1"/*.cubin "$1"/*.ptx "$1"/*.ptx_[0-9]*; do [ -f "$f" ] && echo "$f"; done)
i=0
for f in $list; do
    end=; case $f in *.ptx | *.ptx_*) end='    .byte 0\n' ;; esac # PTX is a text, and ends with a 0
    printf '%s\n' "__asm__(\".section .rodata\\n.balign 64\\nholo_cuda_code_$i:\\n.incbin \\\"$f\\\"\\n${end}holo_cuda_code_${i}_end:\\n.byte 0\\n.text\\n\");"
    echo "extern const unsigned char holo_cuda_code_$i[] __attribute__((visibility(\"hidden\")));"
    echo "extern const unsigned char holo_cuda_code_${i}_end[] __attribute__((visibility(\"hidden\")));"
    i=$((i + 1))
done
echo 'const HoloCudaBuilt holo_cuda_built[] = {'
i=0
for f in $list; do
    name=$(basename "$f")
    case $name in
    *.ptx | *.ptx_*) module=${name%%.*} kind=${name#*.} ;;
    *) module=${name%%.*} kind=${name#*.}; kind=${kind%.cubin} ;;
    esac
    echo "    {\"$module\", \"$kind\", holo_cuda_code_$i, holo_cuda_code_${i}_end},"
    i=$((i + 1))
done
echo '    {0},'
echo '};'
