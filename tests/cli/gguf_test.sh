# GGUF files: models of all architectures beside the folders that they were made from, types of weights, several files, and what
# is said of files that cannot be read.
. "$CHECKS"
MAKER=$ROOT/tests/support/gguf_maker.py
MODELS=$ROOT/tests/models/gguf.py

gives 0 'models agree' python3 "$MODELS" "$HOLOGRAM" random
gives 0 '6 of 6 models agree' python3 "$MODELS" "$HOLOGRAM" types llama mixtral qwen2_moe stablelm deepseek_v2 falcon

python3 "$MAKER" random llama folder
python3 "$MAKER" convert folder narrow.gguf q8_0
gives 0 'logits f32[1, 3, 48]' hologram run narrow.gguf -i input_ids='[[1,2,3]]'
gives 0 'agrees with the model' hologram compile narrow.gguf
python3 "$MAKER" convert folder model.gguf f16
gives 0 'model.holo' hologram compile model.gguf
gives 0 'they agree' hologram compare model.holo model.gguf
gives 0 'LlamaForCausalLM' hologram inspect model.holo

# Metadata are keys and values; long lists are counted.
hologram inspect model.gguf > shown
check 'the format' grep -q 'format  *GGUF$' shown
check 'a number' grep -q 'llama.block_count  *2$' shown
check 'a text' grep -q 'general.name  *a test$' shown
hologram inspect model.gguf --json > inspect.json
json inspect.json llama.rope.freq_base general.architecture

# Several files: the first is given, the others are found beside it.
python3 "$MAKER" convert folder parts.gguf f32 3
gives 0 'logits f32[1, 3, 48]' hologram run parts-00001-of-00003.gguf -i input_ids='[[1,2,3]]'
gives 1 'give the first, parts-00001-of-00003.gguf' hologram run parts-00002-of-00003.gguf -i input_ids='[[1,2,3]]'
cp parts-00002-of-00003.gguf kept
cp parts-00003-of-00003.gguf parts-00002-of-00003.gguf
gives 1 'parts-00002-of-00003.gguf: the file is not part 2 of 3' hologram inspect parts-00001-of-00003.gguf
rm parts-00002-of-00003.gguf
gives 1 'of which 1 is not beside it: parts-00002-of-00003.gguf' hologram inspect parts-00001-of-00003.gguf
rm parts-00003-of-00003.gguf
gives 1 '2 are not beside it: parts-00002-of-00003.gguf, parts-00003-of-00003.gguf' hologram inspect parts-00001-of-00003.gguf
mv parts-00001-of-00003.gguf alone.gguf
gives 1 'this one is not called NAME-00001-of-00003.gguf' hologram inspect alone.gguf

# What cannot be read is named.
sed 's/llama/lhama/g' model.gguf > other.gguf
gives 1 "no description of the architecture 'lhama'; the nearest that is known is llama" hologram inspect other.gguf
sed 's/blk.1.ffn_up.weight/blk.1.ffn_ab.weight/' model.gguf > missing.gguf
gives 1 "needs the weight 'layers.1.mlp.up_proj.weight', which is missing" hologram inspect missing.gguf
head -c 3000 model.gguf > cut.gguf
gives 1 'cut.gguf' hologram inspect cut.gguf
printf 'GGUF\1\0\0\0' > old.gguf
gives 1 'version 1 of GGUF; known are 2 and 3' hologram inspect old.gguf
