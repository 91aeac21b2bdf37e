# limits_test.sh - what a file can cost: memory within --memory-limit.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q

# One limit, from a flag, the environment or a file; what goes past it says how much was asked for, and what to do.
gives 1 'MiB were asked for; the memory limit is 1.0 MiB' hologram run digits.holo --input random --input-shape image:100000,1,8,8 \
    --memory-limit 1M
gives 1 'memory-limit SIZE' hologram run digits.holo --input random --input-shape image:100000,1,8,8 --memory-limit 1M
gives 0 'probabilities' hologram run digits.holo --input random --input-shape image:1000,1,8,8 --memory-limit 1G
gives 1 'the memory limit is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q --memory-limit 1M
check 'nothing is left behind' test ! -e no.holo
gives 1 'the memory limit is 1.0 MiB' env HOLOGRAM_MEMORY_LIMIT=1M "$HOLOGRAM" compile "$MODEL" -o no.holo -q
echo 'memory-limit = "1M"' > hologram.toml
gives 1 'the memory limit is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q
gives 0 'hologram.toml:1' hologram config
gives 0 '' hologram compile "$MODEL" -o yes.holo -q --memory-limit 1.5GiB
echo 'memory_limit = 5' > hologram.toml
gives 2 "did you mean 'memory-limit'?" hologram config
rm hologram.toml
echo 'HOLOGRAM_MEMORY_LIMIT=1M' > .env
gives 1 'the memory limit is 1.0 MiB' hologram compile "$MODEL" -o no.holo -q
rm .env
for size in -1 1X 1MM x '' 99999999T; do
    gives 2 "is no number of bytes, as 512M or 4G" hologram version --memory-limit "$size"
done
