# onnx_folder_test.sh - folders whose graphs are ONNX files: one model, a decoder with what it kept of a text, an encoder and a decoder. A decoder that
# keeps something gives the same text as one that reads everything again.
. "$CHECKS"
ONNX=$ROOT/tests/support/onnx_model.py

config() { # FOLDER JSON
    mkdir -p "$1/onnx" && printf '%s\n' "$2" > "$1/config.json"
}

# ---- a decoder: each token sees the sum of all so far

config plain '{"model_type": "toy", "eos_token_id": 19, "max_position_embeddings": 40}'
python3 "$ONNX" plain/onnx/model.onnx in input_ids i64 b,n out logits f32 b,n,20 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - axis value_int=1 node CumSum e,axis c node Tanh c t node MatMul t,head logits
config past '{"model_type": "toy", "eos_token_id": 19, "max_position_embeddings": 40}'
python3 "$ONNX" past/onnx/model_quantized.onnx in input_ids i64 b,n in attention_mask i64 b,total in past_key_values.0.key f32 b,1,past,4 \
    out logits f32 b,n,20 out present.0.key f32 b,1,total,4 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one k node Concat past_key_values.0.key,k present.0.key axis=2 \
    node Constant - two value_int=2 node CumSum k,two c node Constant - axes 'value_ints=[2]' node ReduceSum past_key_values.0.key,axes s \
    node Add c,s y node Tanh y t node Squeeze t,one z node MatMul z,head logits
gives 0 'ONNX folder' hologram inspect plain
gives 0 'onnx/model_quantized.onnx' hologram inspect past
# The same in two files: the second takes one token, and what the last run gave.
config older '{"model_type": "toy", "eos_token_id": 19, "max_position_embeddings": 40}'
python3 "$ONNX" older/onnx/decoder_model.onnx in input_ids i64 b,n in attention_mask i64 b,n out logits f32 b,n,20 out present.0.key f32 b,1,n,4 \
    weight table 20,4 1 weight head 4,20 2 node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one present.0.key \
    node Constant - axis value_int=1 node CumSum e,axis c node Tanh c t node MatMul t,head logits
python3 "$ONNX" older/onnx/decoder_with_past_model.onnx in input_ids i64 b,1 in attention_mask i64 b,total in past_key_values.0.key f32 b,1,past,4 \
    out logits f32 b,1,20 out present.0.key f32 b,1,total,4 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one k node Concat past_key_values.0.key,k present.0.key axis=2 \
    node Constant - axes 'value_ints=[2]' node ReduceSum present.0.key,axes y node Tanh y t node Squeeze t,one z node MatMul z,head logits
for folder in plain past older; do
    quiet hologram compile $folder -o $folder.holo -q
    hologram generate $folder.holo --tokens 3,17,5 --max-tokens 12 --temperature 0 --json | sed '/seconds/d; /"file"/d' > $folder.json
done
same plain.json past.json
same plain.json older.json
gives 0 'use_cache_branch' hologram inspect older.holo

# ---- an encoder and a decoder

pair() { # FOLDER: its config, and its encoder
    config "$1" '{"model_type": "toy", "is_encoder_decoder": true, "decoder_start_token_id": 2, "eos_token_id": 19, "max_position_embeddings": 40}'
    python3 "$ONNX" "$1/onnx/encoder_model.onnx" in input_ids i64 b,s in attention_mask i64 b,s out last_hidden_state f32 b,s,4 weight table 20,4 3 \
        node Gather table,input_ids last_hidden_state
}
pair whole
python3 "$ONNX" whole/onnx/decoder_model.onnx in input_ids i64 b,n in encoder_hidden_states f32 b,s,4 out logits f32 b,n,20 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - axis value_int=1 node CumSum e,axis c node Constant - one 'value_ints=[1]' \
    node ReduceSum encoder_hidden_states,one source node Add c,source y node Tanh y t node MatMul t,head logits
pair merged
python3 "$ONNX" merged/onnx/decoder_model_merged.onnx in input_ids i64 b,n in encoder_hidden_states f32 b,s,4 in encoder_attention_mask i64 b,s \
    in past_key_values.0.decoder.key f32 b,1,past,4 in past_key_values.0.encoder.key f32 b,1,kept,4 in use_cache_branch bool 1 \
    out logits f32 b,n,20 out present.0.decoder.key f32 b,1,total,4 out present.0.encoder.key f32 b,1,s,4 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one k node Concat past_key_values.0.decoder.key,k present.0.decoder.key axis=2 \
    node Constant - two value_int=2 node CumSum k,two c node Constant - axes 'value_ints=[2]' node ReduceSum past_key_values.0.decoder.key,axes p \
    node Unsqueeze encoder_hidden_states,one present.0.encoder.key node ReduceSum present.0.encoder.key,axes now \
    node ReduceSum past_key_values.0.encoder.key,axes before node Where use_cache_branch,before,now source \
    node Add c,p a node Add a,source y node Tanh y t node Squeeze t,one z node MatMul z,head logits
pair older_pair
python3 "$ONNX" older_pair/onnx/decoder_model.onnx in input_ids i64 b,n in encoder_hidden_states f32 b,s,4 in encoder_attention_mask i64 b,s \
    out logits f32 b,n,20 out present.0.decoder.key f32 b,1,n,4 out present.0.encoder.key f32 b,1,s,4 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one present.0.decoder.key node Constant - two value_int=2 \
    node CumSum present.0.decoder.key,two c node Constant - axes 'value_ints=[2]' node Unsqueeze encoder_hidden_states,one present.0.encoder.key \
    node ReduceSum present.0.encoder.key,axes source node Add c,source y node Tanh y t node Squeeze t,one z node MatMul z,head logits
python3 "$ONNX" older_pair/onnx/decoder_with_past_model.onnx in input_ids i64 b,1 in encoder_attention_mask i64 b,s \
    in past_key_values.0.decoder.key f32 b,1,past,4 in past_key_values.0.encoder.key f32 b,1,s_out,4 \
    out logits f32 b,1,20 out present.0.decoder.key f32 b,1,total,4 weight table 20,4 1 weight head 4,20 2 \
    node Gather table,input_ids e node Constant - one 'value_ints=[1]' node Unsqueeze e,one k node Concat past_key_values.0.decoder.key,k present.0.decoder.key axis=2 \
    node Constant - axes 'value_ints=[2]' node ReduceSum present.0.decoder.key,axes p node ReduceSum past_key_values.0.encoder.key,axes source \
    node Add p,source y node Tanh y t node Squeeze t,one z node MatMul z,head logits
for folder in whole merged older_pair; do
    quiet hologram compile $folder -o $folder.holo -q
    hologram generate $folder.holo --tokens 3,17,5 --max-tokens 12 --temperature 0 --json | sed '/seconds/d; /"file"/d' > $folder.json
done
gives 0 'inputs of entry decoder' hologram inspect merged.holo
same whole.json merged.json
same whole.json older_pair.json
gives 0 'use_cache_branch' hologram inspect older_pair.holo
hologram generate whole.holo --tokens 3,16,5 --max-tokens 12 --temperature 0 --json | sed '/seconds/d; /"file"/d' > other.json
check 'another source gives another text' sh -c '! cmp -s whole.json other.json'
gives 1 'none was given' hologram bench whole.holo --prompt 4 --generate 4
