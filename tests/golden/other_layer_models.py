"""Models for layers/ that are not transformers': torch's own module, timm's ViT and nanoGPT's names."""
import torch
from torch import nn


class TorchLayers(nn.Module):
    """nn.MultiheadAttention on itself, and on keys of another width."""

    def __init__(self):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(16, 4, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(16, 4, kdim=12, vdim=12, batch_first=True)

    def forward(self, x, memory):
        return self.multihead_attn(self.self_attn(x, x, x)[0], memory, memory)[0]


class CausalSelfAttention(nn.Module):
    """(N,L,E) → (N,L,E), q, k and v from one Linear, H = 4"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 4)).transpose(1, 2) for part in self.c_attn(x).split(16, -1))
        blocked = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = (q @ k.transpose(-2, -1) / 2.0).masked_fill(blocked, float("-inf")).softmax(-1)
        return self.c_proj((weights @ v).transpose(1, 2).flatten(2))


class NanoGpt(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda: nn.ModuleDict({"attn": CausalSelfAttention()})
        self.transformer = nn.ModuleDict({"h": nn.ModuleList([block(), block()])})

    def forward(self, x):
        for block in self.transformer["h"]:
            x = x + block["attn"](x)
        return x


def timm_vit():
    from timm.models.vision_transformer import VisionTransformer
    model = VisionTransformer(img_size=16, patch_size=8, embed_dim=16, depth=2, num_heads=4, mlp_ratio=1, num_classes=2)
    for block in model.blocks:
        block.attn.fused_attn = False
    return model


def normal(*sizes):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(7))


# (name of the folder, what makes the model, its arguments); config.json says how many heads there are, and nothing else.
MODELS = [("torch_module", TorchLayers, lambda: (normal(1, 6, 16), normal(1, 5, 12))),
          ("timm_vit", timm_vit, lambda: (normal(1, 3, 16, 16),)),
          ("nanogpt", NanoGpt, lambda: (normal(1, 6, 16),))]
CONFIG = {"num_attention_heads": 4}
