#!/usr/bin/env bash
# language.sh LLAMA - speed of language models beside llama.cpp, as a table for bench/LANGUAGE.md.
#
# LLAMA is a folder with llama.cpp's build/bin/llama-bench and models/tinyllama-TYPE.gguf. Both sides run in turns, on the same file with the
# same number of threads, with nothing else running. TYPES and THREADS choose.
set -e
llama=$1
hologram=${HOLOGRAM:-build/hologram}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
peer() { "$llama/build/bin/llama-bench" -m "$1" -p 512 -n 128 -t "$2" -r 2 -o json 2> /dev/null |
    python3 -c 'import json, sys; print(*[max(r["samples_ts"]) for r in json.load(sys.stdin)])'; }
echo "| type | threads | llama.cpp, prompt | Hologram, prompt | ratio | llama.cpp, generate | Hologram, generate | ratio |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
for type in ${TYPES:-Q4_0 Q4_K_M Q6_K Q8_0 F16}; do
    model=$llama/models/tinyllama-$type.gguf
    "$hologram" compile "$model" -o "$work/m.holo" --no-verify -q
    for threads in ${THREADS:-1 2}; do
        "$hologram" bench "$work/m.holo" --prompt 512 --generate 128 -t "$threads" --json > "$work/ours.json"
        read -r prompt generate <<< "$(peer "$model" "$threads")"
        python3 - "$type" "$threads" "$prompt" "$generate" "$work/ours.json" << 'END'
import json, sys
kind, threads, prompt, generate, path = sys.argv[1:]
ours = json.load(open(path))
p, g, P, G = float(prompt), float(generate), ours["prompt_tokens_s"], ours["generate_tokens_s"]
print(f"| {kind} | {threads} | {p:.1f} | {P:.1f} | {P / p:.2f}x | {g:.1f} | {G:.1f} | {G / g:.2f}x |", flush=True)
END
    done
    rm -f "$work/m.holo"
done
