# checkpoint_test.sh - weights in checkpoints of PyTorch: every form answers as safetensors do, and nothing is executed.
. "$CHECKS"

python3 "$ROOT/tests/support/checkpoint_files.py" made || exit 1

ids() { printf '\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0' | npy '<i8' '(1, 4)'; }
ids > ids.npy

answer() { # FOLDER: its answers, in answers/NAME
    mkdir -p "answers/$1"
    hologram run -q "made/$1" --input input_ids=ids.npy --output "answers/$1"
}

answer safetensors
check "there is an answer" test -s answers/safetensors/last_hidden_state.npy
for form in zip1 zip2 zip3 zip4 zip5 old2 old3 old4 old5 strided nested parameters untyped typed deflated views shards; do
    answer $form
    same answers/$form/last_hidden_state.npy answers/safetensors/last_hidden_state.npy
    same answers/$form/pooler_output.npy answers/safetensors/pooler_output.npy
done

refused() { # FOLDER WORDS
    gives 1 "$2" hologram compile "made/bad/$1" -o out.holo
}
refused code "it would run code: 'somewhere.danger'"
refused outside "tensor 'embeddings.word_embeddings.weight': not all of it is in its storage"
refused offset "not all of it is in its storage"
refused negative "a whole number of 0 or more"
refused ranks "not as many strides as sizes"
refused overflow "more elements than can be counted"
refused expanded "far more memory than the size of its file"
refused strides "not all of it is in its storage"
refused big_endian "big-endian"
refused no_storage "its storage '0' is not in the file"
refused small_storage "its storage is smaller than it says"
refused no_pickle "no entry 'archive/data.pkl'"
refused list "not a dict of weights"
refused nothing "it has no tensors"
refused cut "cut off"
refused not_torch "not a checkpoint of PyTorch"
refused leads_out "is not a plain path below the model's folder"
refused no_shard "pytorch_model-00001-of-00001.bin"
check "nothing was written" test ! -e out.holo
