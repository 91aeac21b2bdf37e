"""networks.py - the networks of Stable Diffusion in PyTorch, with the names that Diffusers gives their weights.

UNet is UNet2DConditionModel, Autoencoder is AutoencoderKL: a config is the one of their config.json.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Resnet(nn.Module):
    def __init__(self, inputs, outputs, groups, eps, time=0):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        if time:
            self.time_emb_proj = nn.Linear(time, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs, eps)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        if inputs != outputs:
            self.conv_shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, time=None):
        y = self.conv1(F.silu(self.norm1(x)))
        if time is not None:
            y = y + self.time_emb_proj(F.silu(time))[:, :, None, None]
        y = self.conv2(F.silu(self.norm2(y)))
        return y + (self.conv_shortcut(x) if hasattr(self, "conv_shortcut") else x)


class Attention(nn.Module):
    def __init__(self, size, context, heads, bias=False, groups=0, eps=1e-6):
        super().__init__()
        self.heads = heads
        if groups:
            self.group_norm = nn.GroupNorm(groups, size, eps)
        self.to_q = nn.Linear(size, size, bias=bias)
        self.to_k = nn.Linear(context, size, bias=bias)
        self.to_v = nn.Linear(context, size, bias=bias)
        self.to_out = nn.ModuleList([nn.Linear(size, size)])

    def forward(self, x, context=None):
        context = x if context is None else context
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.to_q(x), self.to_k(context), self.to_v(context)))
        return self.to_out[0](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class PictureAttention(Attention):
    """The attention in the middle of the autoencoder: over all places of a picture."""

    def __init__(self, size, groups):
        super().__init__(size, size, 1, bias=True, groups=groups)

    def forward(self, x):
        y = self.group_norm(x).flatten(2).transpose(1, 2)
        return x + super().forward(y).transpose(1, 2).unflatten(2, x.shape[2:])


class Gated(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.proj = nn.Linear(size, 8 * size)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, -1)
        return x * F.gelu(gate)


class FeedForward(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = nn.ModuleList([Gated(size), nn.Identity(), nn.Linear(4 * size, size)])

    def forward(self, x):
        return self.net[2](self.net[0](x))


class TransformerBlock(nn.Module):
    def __init__(self, size, context, heads):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(size) for _ in range(3))
        self.attn1 = Attention(size, size, heads)
        self.attn2 = Attention(size, context, heads)
        self.ff = FeedForward(size)

    def forward(self, x, context):
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class Transformer(nn.Module):
    def __init__(self, size, context, heads, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, size, 1e-6)
        self.proj_in = nn.Conv2d(size, size, 1)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(size, context, heads)])
        self.proj_out = nn.Conv2d(size, size, 1)

    def forward(self, x, context):
        y = self.proj_in(self.norm(x)).flatten(2).transpose(1, 2)
        y = self.transformer_blocks[0](y, context).transpose(1, 2).unflatten(2, x.shape[2:])
        return x + self.proj_out(y)


class Down(nn.Module):
    def __init__(self, size, is_even):
        super().__init__()
        self.is_even = is_even
        self.conv = nn.Conv2d(size, size, 3, stride=2, padding=1 if is_even else 0)

    def forward(self, x):
        return self.conv(x if self.is_even else F.pad(x, (0, 1, 0, 1)))


class Up(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = nn.Conv2d(size, size, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))


class Block(nn.Module):
    """Resnets, attentions behind them, and a change of size."""

    def __init__(self, inputs, outputs, eps, config, time=0, attends=False, down=None, up=False):
        super().__init__()
        groups = config["norm_num_groups"]
        self.resnets = nn.ModuleList(Resnet(size, outputs, groups, eps, time) for size in inputs)
        if attends:
            self.attentions = nn.ModuleList(
                Transformer(outputs, config["cross_attention_dim"], config["attention_head_dim"], groups) for _ in inputs)
        if down is not None:
            self.downsamplers = nn.ModuleList([down])
        if up:
            self.upsamplers = nn.ModuleList([Up(outputs)])

    def steps(self):
        return zip(self.resnets, getattr(self, "attentions", [None] * len(self.resnets)))


class UNetMiddle(nn.Module):
    def __init__(self, size, config, time):
        super().__init__()
        groups = config["norm_num_groups"]
        self.resnets = nn.ModuleList(Resnet(size, size, groups, 1e-5, time) for _ in range(2))
        self.attentions = nn.ModuleList([Transformer(size, config["cross_attention_dim"], config["attention_head_dim"], groups)])

    def forward(self, x, time, context):
        return self.resnets[1](self.attentions[0](self.resnets[0](x, time), context), time)


class TimeEmbedding(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(inputs, outputs), nn.Linear(outputs, outputs)

    def forward(self, x):
        return self.linear_2(F.silu(self.linear_1(x)))


def waves(step, size):
    at = torch.exp(-math.log(10000) * torch.arange(size // 2, device=step.device, dtype=torch.float32) / (size // 2))
    angle = step.float()[:, None] * at[None]
    return torch.cat([angle.cos(), angle.sin()], -1)


class UNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        sizes, layers = config["block_out_channels"], config["layers_per_block"]
        time = 4 * sizes[0]
        self.first = sizes[0]
        self.conv_in = nn.Conv2d(config["in_channels"], sizes[0], 3, padding=1)
        self.time_embedding = TimeEmbedding(sizes[0], time)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        kept = [sizes[0]]
        for i, size in enumerate(sizes):
            is_last, before = i == len(sizes) - 1, sizes[max(i - 1, 0)]
            self.down_blocks.append(Block([before] + [size] * (layers - 1), size, 1e-5, config, time,
                                          "CrossAttn" in config["down_block_types"][i], None if is_last else Down(size, True)))
            kept += [size] * (layers if is_last else layers + 1)
        self.mid_block = UNetMiddle(sizes[-1], config, time)
        before = sizes[-1]
        for i, size in enumerate(reversed(sizes)):
            inputs = []
            for _ in range(layers + 1):
                inputs.append(before + kept.pop())
                before = size
            self.up_blocks.append(Block(inputs, size, 1e-5, config, time, "CrossAttn" in config["up_block_types"][i],
                                        None, i < len(sizes) - 1))
        self.conv_norm_out = nn.GroupNorm(config["norm_num_groups"], sizes[0], 1e-5)
        self.conv_out = nn.Conv2d(sizes[0], config["out_channels"], 3, padding=1)

    def forward(self, x, step, context):
        time = self.time_embedding(waves(step, self.first).to(x.dtype))
        x = self.conv_in(x)
        kept = [x]
        for block in self.down_blocks:
            for resnet, attention in block.steps():
                x = resnet(x, time)
                x = attention(x, context) if attention else x
                kept.append(x)
            if hasattr(block, "downsamplers"):
                x = block.downsamplers[0](x)
                kept.append(x)
        x = self.mid_block(x, time, context)
        for block in self.up_blocks:
            for resnet, attention in block.steps():
                x = resnet(torch.cat([x, kept.pop()], 1), time)
                x = attention(x, context) if attention else x
            if hasattr(block, "upsamplers"):
                x = block.upsamplers[0](x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class CoderMiddle(nn.Module):
    def __init__(self, size, groups):
        super().__init__()
        self.resnets = nn.ModuleList(Resnet(size, size, groups, 1e-6) for _ in range(2))
        self.attentions = nn.ModuleList([PictureAttention(size, groups)])

    def forward(self, x):
        return self.resnets[1](self.attentions[0](self.resnets[0](x)))


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        sizes, layers, groups = config["block_out_channels"], config["layers_per_block"], config["norm_num_groups"]
        self.conv_in = nn.Conv2d(config["in_channels"], sizes[0], 3, padding=1)
        self.down_blocks = nn.ModuleList(
            Block([sizes[max(i - 1, 0)]] + [size] * (layers - 1), size, 1e-6, config,
                  down=Down(size, False) if i < len(sizes) - 1 else None) for i, size in enumerate(sizes))
        self.mid_block = CoderMiddle(sizes[-1], groups)
        self.conv_norm_out = nn.GroupNorm(groups, sizes[-1], 1e-6)
        self.conv_out = nn.Conv2d(sizes[-1], 2 * config["latent_channels"], 3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        for block in self.down_blocks:
            for resnet in block.resnets:
                x = resnet(x)
            x = block.downsamplers[0](x) if hasattr(block, "downsamplers") else x
        return self.conv_out(F.silu(self.conv_norm_out(self.mid_block(x))))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        sizes, layers, groups = config["block_out_channels"][::-1], config["layers_per_block"], config["norm_num_groups"]
        self.conv_in = nn.Conv2d(config["latent_channels"], sizes[0], 3, padding=1)
        self.mid_block = CoderMiddle(sizes[0], groups)
        self.up_blocks = nn.ModuleList(
            Block([sizes[max(i - 1, 0)]] + [size] * layers, size, 1e-6, config, up=i < len(sizes) - 1)
            for i, size in enumerate(sizes))
        self.conv_norm_out = nn.GroupNorm(groups, sizes[-1], 1e-6)
        self.conv_out = nn.Conv2d(sizes[-1], config["out_channels"], 3, padding=1)

    def forward(self, x):
        x = self.mid_block(self.conv_in(x))
        for block in self.up_blocks:
            for resnet in block.resnets:
                x = resnet(x)
            x = block.upsamplers[0](x) if hasattr(block, "upsamplers") else x
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class Autoencoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        latent = config["latent_channels"]
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.quant_conv, self.post_quant_conv = nn.Conv2d(2 * latent, 2 * latent, 1), nn.Conv2d(latent, latent, 1)

    def encode(self, x):
        """The mean and the logarithm of the variance."""
        return self.quant_conv(self.encoder(x)).chunk(2, 1)

    def decode(self, x):
        return self.decoder(self.post_quant_conv(x))
