#!/usr/bin/env python3
"""train.py PICTURES.npz OUT MINUTES - trains the demo's text-to-image model and writes it as a Diffusers folder.

It needs a GPU, PyTorch, transformers, tokenizers and safetensors. A third of the time goes to the autoencoder, the rest to the U-Net and the
text encoder. OUT/reference.safetensors has inputs and outputs of each network, to test with.
"""
import json
import math
import os
import random
import sys
import time

import numpy
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch.nn import functional as F
from transformers import CLIPTextConfig, CLIPTextModel

from networks import Autoencoder, UNet

DEVICE = "cuda"
TOKENS = 16
VAE = {
    "_class_name": "AutoencoderKL", "act_fn": "silu", "block_out_channels": [32, 64, 96],
    "down_block_types": ["DownEncoderBlock2D"] * 3, "up_block_types": ["UpDecoderBlock2D"] * 3, "in_channels": 3, "out_channels": 3,
    "latent_channels": 4, "layers_per_block": 1, "norm_num_groups": 16, "sample_size": 64,
}
UNET = {
    "_class_name": "UNet2DConditionModel", "act_fn": "silu", "attention_head_dim": 4, "block_out_channels": [40, 80, 128], "center_input_sample": False,
    "cross_attention_dim": 128, "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"], "downsample_padding": 1, "flip_sin_to_cos": True, "freq_shift": 0,
    "in_channels": 4, "out_channels": 4, "layers_per_block": 1, "mid_block_scale_factor": 1, "norm_eps": 1e-05, "norm_num_groups": 8, "sample_size": 16,
}
SCHEDULER = {
    "_class_name": "DDIMScheduler", "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear", "num_train_timesteps": 1000,
    "clip_sample": False, "set_alpha_to_one": False, "steps_offset": 1, "prediction_type": "epsilon",
}
TEXT = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 3, "num_attention_heads": 4, "max_position_embeddings": TOKENS}


# ---- captions

def make_tokenizer(captions):
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    trainer = trainers.BpeTrainer(vocab_size=2048, special_tokens=["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>")
    tokenizer.train_from_iterator((word for words in captions for word in words), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), False, False)
    tokenizer.enable_truncation(TOKENS)
    tokenizer.enable_padding(length=TOKENS, pad_id=1, pad_token="<|endoftext|>")
    return tokenizer


def ways(words, rng):
    """Ways to ask for a picture: its name, keywords, both."""
    name, rest = words[0], words[1:]
    yield name
    yield name
    for article in ("a ", "the "):
        yield article + name
    for _ in range(4):
        some = rng.sample(rest, min(len(rest), rng.randint(1, 3)))
        yield " ".join(some) if some else name
        yield name + " " + " ".join(some)


def caption_ids(captions, tokenizer):
    rng = random.Random(1)
    texts = [text for words in captions for text in ways(words, rng)]
    ids = torch.tensor([item.ids for item in tokenizer.encode_batch(texts)], device=DEVICE)
    return ids.view(len(captions), -1, TOKENS)


# ---- training

def schedule(done):
    """A part of the largest step, by how much of the time is over."""
    return min(1, done / 0.02) * (0.5 + 0.5 * math.cos(math.pi * min(done, 1))) + 1e-3


def moved(pictures, count):
    """Pictures, each moved, turned and made larger or smaller a little."""
    some = pictures[torch.randint(len(pictures), (count,), device=DEVICE)]
    return move(some)


def move(some):
    count = len(some)
    size = 1 + 0.08 * torch.randn(count, device=DEVICE).clamp(-1.5, 1.5)
    turn = 0.06 * torch.randn(count, device=DEVICE)
    at = torch.stack([size * turn.cos(), -size * turn.sin(), 0.04 * torch.randn(count, device=DEVICE),
                      size * turn.sin(), size * turn.cos(), 0.04 * torch.randn(count, device=DEVICE)], 1).view(-1, 2, 3)
    grid = F.affine_grid(at, some.shape, align_corners=False)
    return 1 + F.grid_sample(some - 1, grid, align_corners=False)  # white outside


def train(parameters, largest, seconds, loss_of, name, averaged=()):
    """Steps until the time is over. `averaged`: pairs of a network and its running mean."""
    optimizer = torch.optim.AdamW(parameters, lr=largest, betas=(0.9, 0.99), weight_decay=1e-2, fused=True)
    begin, step, shown = time.time(), 0, 0
    while True:
        done = (time.time() - begin) / seconds
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = largest * schedule(done)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = loss_of()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        keep = min(0.9995, (step + 1) / (step + 10))
        for network, mean in averaged:
            with torch.no_grad():
                torch._foreach_lerp_(list(mean.parameters()), list(network.parameters()), 1 - keep)
        step += 1
        if done >= shown:
            print(f"{name}: {100 * done:.0f} %, step {step}, loss {loss.item():.4f}", flush=True)
            shown += 0.1


def train_vae(pictures, seconds):
    vae = Autoencoder(VAE).to(DEVICE, memory_format=torch.channels_last)

    def loss_of():
        x = moved(pictures, 256).contiguous(memory_format=torch.channels_last)
        mean, log = vae.encode(x)
        log = log.clamp(-20, 10)
        y = vae.decode(mean + (0.5 * log).exp() * torch.randn_like(mean)).float()
        edges = sum((torch.diff(y, dim=d) - torch.diff(x, dim=d)).abs().mean() for d in (2, 3))
        kl = 0.5 * (mean.float() ** 2 + log.float().exp() - 1 - log.float()).mean()
        return (y - x).abs().mean() + (y - x).square().mean() + edges + 1e-4 * kl

    train(list(vae.parameters()), 2e-3, seconds, loss_of, "autoencoder")
    return vae.eval()


def latents_of(vae, pictures, copies):
    """Means of each picture, as it is and moved: [pictures, copies, 4, 16, 16]."""
    rows = []
    with torch.no_grad():
        for k in range(copies):
            shown = pictures if k % 4 == 0 else move(pictures)
            rows.append(torch.cat([vae.encode(part)[0] for part in shown.split(512)]))
    return torch.stack(rows, 1)


def train_unet(latents, ids, text_config, seconds):
    unet, text = UNet(UNET).to(DEVICE, memory_format=torch.channels_last), CLIPTextModel(text_config).to(DEVICE)
    unet_mean, text_mean = UNet(UNET).to(DEVICE, memory_format=torch.channels_last), CLIPTextModel(text_config).to(DEVICE)
    unet_mean.load_state_dict(unet.state_dict())
    text_mean.load_state_dict(text.state_dict())
    kept, empty = alphas(), torch.tensor([0] + [1] * (TOKENS - 1), device=DEVICE)
    count = 1024

    def loss_of():
        which = torch.randint(len(latents), (count,), device=DEVICE)
        x = latents[which, torch.randint(latents.shape[1], (count,), device=DEVICE)]
        words = ids[which, torch.randint(ids.shape[1], (count,), device=DEVICE)]
        words = torch.where(torch.rand(count, 1, device=DEVICE) < 0.1, empty, words)
        step = torch.randint(1000, (count,), device=DEVICE)
        noise, a = torch.randn_like(x), kept[step].view(-1, 1, 1, 1)
        context = text(words).last_hidden_state
        made = unet(a.sqrt() * x + (1 - a).sqrt() * noise, step, context)
        return (made.float() - noise).square().mean()

    train(list(unet.parameters()) + list(text.parameters()), 2e-3, seconds, loss_of, "U-Net", [(unet, unet_mean), (text, text_mean)])
    return unet_mean.eval(), text_mean.eval()


def alphas():
    betas = torch.linspace(SCHEDULER["beta_start"] ** 0.5, SCHEDULER["beta_end"] ** 0.5, 1000, dtype=torch.float64) ** 2
    return torch.cumprod(1 - betas, 0).float().to(DEVICE)


# ---- what comes out

@torch.no_grad()
def imagine(unet, text, vae, ids, factor, steps=25, guidance=4.0, seed=0):
    """Pictures by DDIM, to look at."""
    kept, count = alphas(), len(ids)
    generator = torch.Generator(DEVICE).manual_seed(seed)
    x = torch.randn(count, 4, 16, 16, device=DEVICE, generator=generator)
    empty = torch.tensor([[0] + [1] * (TOKENS - 1)], device=DEVICE).expand(count, -1)
    context = torch.cat([text(empty).last_hidden_state, text(ids).last_hidden_state])
    times = [1 + i * (1000 // steps) for i in range(steps)][::-1]
    for k, step in enumerate(times):
        without, with_ = unet(torch.cat([x, x]), torch.full((2 * count,), step, device=DEVICE), context).chunk(2)
        noise = without + guidance * (with_ - without)
        a, b = kept[step], kept[times[k + 1]] if k + 1 < steps else kept[0]
        clean = (x - (1 - a).sqrt() * noise) / a.sqrt()
        x = b.sqrt() * clean + (1 - b).sqrt() * noise
    return vae.decode(x / factor).clamp(-1, 1)


def write(path, config, network, skip=()):
    os.makedirs(path, exist_ok=True)
    with open(path + "/config.json", "w") as file:
        json.dump(config, file, indent=1)
    weights = {name: value.half().contiguous() for name, value in network.state_dict().items() if not name.startswith(tuple(skip))}
    name = "model.safetensors" if "architectures" in config else "diffusion_pytorch_model.safetensors"
    save_file(weights, f"{path}/{name}", {"format": "pt"})


def halved(network):
    """Rounds the weights to what is written."""
    for value in network.parameters():
        value.data = value.data.half().float()
    return network


@torch.no_grad()
def reference(out, unet, text, vae, ids):
    torch.manual_seed(5)
    x, step = torch.randn(2, 4, 16, 16, device=DEVICE), torch.tensor([421, 421], device=DEVICE)
    context = text(ids[:2]).last_hidden_state
    tensors = {"input_ids": ids[:2], "last_hidden_state": context, "sample": x, "timestep": step[:1],
               "out_sample": unet(x, step, context), "latent_sample": x, "decoded": vae.decode(x)}
    save_file({name: value.contiguous().cpu() for name, value in tensors.items()}, out + "/reference.safetensors")


def main(source, out, minutes):
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    data = numpy.load(source)
    captions = json.loads(str(data["captions"]))
    pictures = torch.tensor(data["pictures"], device=DEVICE).permute(0, 3, 1, 2).float() / 127.5 - 1
    tokenizer = make_tokenizer(captions)
    ids = caption_ids(captions, tokenizer)
    vae = halved(train_vae(pictures, 60 * minutes * 0.3))
    latents = latents_of(vae, pictures, 16)
    factor = round(1 / latents.std().item(), 4)
    text_config = CLIPTextConfig(vocab_size=tokenizer.get_vocab_size(), bos_token_id=0, eos_token_id=1, pad_token_id=1, **TEXT)
    unet, text = train_unet(latents * factor, ids, text_config, 60 * minutes * 0.7)
    unet, text = halved(unet), halved(text)
    write(out + "/unet", UNET, unet)
    write(out + "/vae", {**VAE, "scaling_factor": factor}, vae, ["encoder.", "quant_conv."])
    write(out + "/text_encoder", {**json.loads(text_config.to_json_string()), "architectures": ["CLIPTextModel"]}, text)
    os.makedirs(out + "/scheduler", exist_ok=True)
    os.makedirs(out + "/tokenizer", exist_ok=True)
    json.dump(SCHEDULER, open(out + "/scheduler/scheduler_config.json", "w"), indent=1)
    tokenizer.save(out + "/tokenizer/tokenizer.json")
    json.dump({"tokenizer_class": "CLIPTokenizer", "model_max_length": TOKENS, "pad_token": "<|endoftext|>"},
              open(out + "/tokenizer/tokenizer_config.json", "w"), indent=1)
    json.dump({"_class_name": "StableDiffusionPipeline", "scheduler": ["diffusers", "DDIMScheduler"],
               "text_encoder": ["transformers", "CLIPTextModel"], "tokenizer": ["transformers", "CLIPTokenizer"],
               "unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"]}, open(out + "/model_index.json", "w"), indent=1)
    prompts = ["red apple", "a cat", "blue heart", "green heart", "flag of france", "a pizza", "rainbow", "grinning face", "purple heart", "dog face",
               "a house", "sun", "rocket", "guitar", "blue car", "black cat", "crying face", "tree", "fish", "a green apple", "red circle", "full moon",
               "birthday cake", "flag of japan"]
    asked = torch.tensor([item.ids for item in tokenizer.encode_batch(prompts)], device=DEVICE)
    reference(out, unet, text, vae, asked)
    made = imagine(unet, text, vae, asked, factor)
    with torch.no_grad():
        shown = torch.cat([made, vae.decode(vae.encode(pictures[::80][:8])[0]), pictures[::80][:8]])
    grid = shown.view(-1, 8, 3, 64, 64).permute(0, 3, 1, 4, 2).reshape(-1, 8 * 64, 3)
    numpy.save(out + "/grid.npy", ((grid + 1) * 127.5).round().clamp(0, 255).byte().cpu().numpy())
    for name, network in (("unet", unet), ("text", text), ("decoder", vae.decoder)):
        print(name, sum(p.numel() for p in network.parameters()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
