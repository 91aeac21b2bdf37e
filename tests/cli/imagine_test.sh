# imagine_test.sh - hologram imagine: pictures of texts, by the pipeline of the demo.
. "$CHECKS"

model=$ROOT/demo/imagine/model
reference=$ROOT/demo/imagine/reference.safetensors
tensor() { python3 "$ROOT/tests/support/reference.py" "$reference" "$@"; }

# Each network agrees with PyTorch's, which computed convolutions in TF32.
quiet hologram compile -q "$model" -o emoji.holo
for name in input_ids sample timestep last_hidden_state; do tensor $name $name.npy; done
quiet hologram run -q emoji.holo --entry text_encoder --input input_ids=input_ids.npy --output text
check 'the text encoder' tensor last_hidden_state text/last_hidden_state.npy 1e-3
quiet hologram run -q emoji.holo --entry unet --input sample=sample.npy --input timestep=timestep.npy \
    --input encoder_hidden_states=last_hidden_state.npy --output unet
check 'the U-Net' tensor out_sample unet/out_sample.npy 2e-3
quiet hologram run -q emoji.holo --entry vae_decoder --input latent_sample=sample.npy --output vae
check 'the decoder' tensor decoded vae/sample.npy 5e-3

# The same picture for any number of threads, from the archive and from the folder; another for another seed.
quiet hologram imagine -q emoji.holo 'a red apple' --steps 6 -o one.png -t 1
quiet hologram imagine -q emoji.holo 'a red apple' --steps 6 -o two.png -t 2
same one.png two.png
quiet hologram imagine -q "$model" 'a red apple' --steps 6 -o folder.png
same one.png folder.png
quiet hologram imagine -q emoji.holo 'a red apple' --steps 6 --seed 1 -o other.png
gives 1 '' cmp -s one.png other.png

# Every scheduler draws an apple: red in the middle, white in the corner.
for scheduler in ddim euler euler-ancestral dpm++ lcm; do
    quiet hologram imagine -q emoji.holo 'red apple' --scheduler $scheduler --steps 12 --guidance 4 -o apple.png
    check "an apple by $scheduler" python3 "$ROOT/tests/support/apple.py" apple.png
done
gives 0 '64 x 64, 2 steps of ddim' hologram imagine emoji.holo 'a cat' --steps 2
check 'the default name' test -s out.png
gives 0 '"scheduler": "euler"' hologram imagine emoji.holo 'a cat' --steps 2 --scheduler euler --json
quiet hologram imagine -q emoji.holo 'a cat' --steps 2 --guidance 1 --negative 'a dog' --width 128 --height 64 -o wide.png

# What cannot be done is told.
gives 2 'ddim' hologram imagine emoji.holo 'a cat' --scheduler other
gives 1 'multiples of 4' hologram imagine emoji.holo 'a cat' --width 66
gives 2 'width' hologram imagine emoji.holo 'a cat' --width big
gives 1 'makes no pictures' hologram imagine "$ROOT/demo/digits.onnx" 'a cat'
mkdir pipeline
printf '{"_class_name": "OtherPipeline"}' > pipeline/model_index.json
gives 1 'OtherPipeline' hologram compile pipeline -o x.holo
printf '{"_class_name": "StableDiffusionPipeline"}' > pipeline/model_index.json
gives 1 'unet/config.json' hologram compile pipeline -o x.holo
