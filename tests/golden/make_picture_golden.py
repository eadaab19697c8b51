#!/usr/bin/env python3
"""Writes tests/golden/pictures and models/NAME of pictures: what Pillow and transformers make of small pictures and models.

    python3 tests/golden/make_picture_golden.py      (PyPI: torch, transformers 5.24, pillow)

pictures/COLOUR-DEPTH[-interlaced].png is every kind of PNG, written here byte by byte from known numbers, which expected.npz has as RGB
(checked against Pillow where it reads them alike); photo.png is resized by every filter of Pillow. A model has config.json,
preprocessor_config.json, model.safetensors, and values.npz: 0.pixel_values of photo.png by transformers' image processor, and as
make_text_golden.py's 0.hidden.l, 0.attention.l, 0.final and 0.logits.
"""
import json, os, pathlib, shutil, struct, sys, zlib

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
import numpy, torch, transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

PICTURES = HERE / "pictures"
WIDTH, HEIGHT = 11, 9
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
NAMES = {0: "grey", 2: "rgb", 3: "palette", 4: "grey-alpha", 6: "rgb-alpha"}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def scan_lines(samples, depth):
    lines = b""
    for row in samples:
        bits = "".join(format(int(value), f"0{depth}b") for value in row.reshape(-1))
        bits += "0" * (-len(bits) % 8)
        lines += b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    return lines


def png(samples, depth, colour, interlaced, palette=None, transparent=None):
    height, width = samples.shape[:2]
    parts = [samples[top::down, left::right] for left, top, right, down in ADAM7] if interlaced else [samples]
    data = b"".join(scan_lines(part, depth) for part in parts if part.size)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced)))
    if palette is not None:
        made += chunk(b"PLTE", palette.astype(numpy.uint8).tobytes())
    if transparent is not None:
        made += chunk(b"tRNS", transparent)
    return made + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def write_pictures():
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    random, expected = numpy.random.default_rng(5), {}
    for colour, depths in DEPTHS.items():
        for depth in depths:
            samples = random.integers(0, 2 ** depth, (HEIGHT, WIDTH, CHANNELS[colour]))
            palette = random.integers(0, 256, (2 ** depth, 3)) if colour == 3 else None
            if colour == 3:
                rgb = palette[samples[..., 0]]
            else:
                eight = samples >> 8 if depth == 16 else samples * (255 // (2 ** depth - 1))
                colours = eight[..., :3] if colour in (2, 6) else eight[..., :1]
                rgb = numpy.broadcast_to(colours, (HEIGHT, WIDTH, 3))
            for interlaced in (False, True):
                name = f"{NAMES[colour]}-{depth}" + ("-interlaced" if interlaced else "")
                (PICTURES / f"{name}.png").write_bytes(png(samples, depth, colour, interlaced, palette))
                expected[name] = rgb.astype(numpy.int64)
                if not (colour == 0 and depth == 16):  # which Pillow keeps in 16 bits
                    assert (numpy.asarray(Image.open(PICTURES / f"{name}.png").convert("RGB")) == rgb).all(), name
            if colour == 3 and depth == 2:
                name = "palette-2-transparent"
                (PICTURES / f"{name}.png").write_bytes(png(samples, depth, colour, False, palette, bytes([0, 128])))
                expected[name] = rgb.astype(numpy.int64)
    y, x = numpy.mgrid[0:37, 0:53]
    photo = numpy.stack([x * 4 + y, 255 - y * 6, 128 + 127 * numpy.sin(x * y / 40)], -1) + random.normal(0, 25, (37, 53, 3))
    photo[10:22, 20:33] = [250, 20, 30]
    photo = Image.fromarray(photo.clip(0, 255).astype(numpy.uint8))
    photo.save(PICTURES / "photo.png")
    expected["photo"] = numpy.asarray(photo).astype(numpy.int64)
    for number in range(6):
        for width, height in ((16, 16), (80, 24), (53, 12), (20, 37)):
            resized = photo.resize((width, height), resample=number)
            expected[f"photo.{number}.{width}.{height}"] = numpy.asarray(resized).astype(numpy.int64)
    numpy.savez_compressed(PICTURES / "expected.npz", **expected)
    print("pictures", len(expected), "arrays")


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 28, "image_size": 32, "patch_size": 8}
LABELS = {"id2label": {0: "cat", 1: "garden", 2: "lamp"}, "label2id": {"cat": 0, "garden": 1, "lamp": 2}}
SMALL = {"height": 32, "width": 32}
# class of the configuration and of the model, what differs from the sizes, and the image processor
MODELS = {
    "vit": (transformers.ViTConfig, transformers.ViTForImageClassification, LABELS, ViTImageProcessorPil(size=SMALL)),
    "vit_base": (transformers.ViTConfig, transformers.ViTModel, {"hidden_act": "gelu_new", "qkv_bias": False}, ViTImageProcessorPil(
        size=SMALL, resample=3, do_normalize=False)),
    "vit_wide": (transformers.ViTConfig, transformers.ViTForImageClassification, {"image_size": [16, 40], "patch_size": [8, 10], **LABELS},
                 ViTImageProcessorPil(size={"height": 16, "width": 40}, resample=3)),
    "vit_msn": (transformers.ViTMSNConfig, transformers.ViTMSNForImageClassification, LABELS, BitImageProcessorPil(
        size={"shortest_edge": 36}, crop_size=SMALL)),
    "deit": (transformers.DeiTConfig, transformers.DeiTForImageClassification, LABELS, DeiTImageProcessorPil(
        size={"height": 37, "width": 37}, crop_size=SMALL)),
    "deit_teacher": (transformers.DeiTConfig, transformers.DeiTForImageClassificationWithTeacher, LABELS, DeiTImageProcessorPil(
        size={"height": 30, "width": 30}, crop_size=SMALL)),
}


def name_whole(folder):
    """Gives the blocks of ViT-MSN the prefix that all else has: 5.24 writes them without it, 4.x with it."""
    path = os.path.join(folder, "model.safetensors")
    arrays = load_file(path)
    if "vit.embeddings.cls_token" in arrays:
        arrays = {f"vit.{name}" if name.startswith("encoder.") else name: array for name, array in arrays.items()}
        save_file(arrays, path, {"format": "pt"})


def write(name, config_class, model_class, changes, processor):
    torch.manual_seed(11)
    model = model_class(config_class(**{**SIZES, **changes}, attn_implementation="eager")).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + (1.0 if parameter.dim() == 1 else 0.0) * 0.5)
    folder = HERE / "models" / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    name_whole(folder)
    processor.save_pretrained(folder)
    pixels = processor(Image.open(PICTURES / "photo.png"), return_tensors="pt")["pixel_values"]
    before_norm = []
    norm = next(module for path, module in model.named_modules() if path.split(".")[-1] == "layernorm")
    norm.register_forward_pre_hook(lambda module, given: before_norm.append(given[0]))
    last = []
    norm.register_forward_hook(lambda module, given, output: last.append(output))
    with torch.no_grad():
        run = model(pixel_values=pixels, output_hidden_states=True, output_attentions=True)
    arrays = {"0.pixel_values": pixels[0].numpy()}
    for layer, state in enumerate([*run.hidden_states[:len(run.attentions)], before_norm[0]]):
        arrays[f"0.hidden.{layer}"] = state[0].numpy()
    for layer, weights in enumerate(run.attentions):
        arrays[f"0.attention.{layer}"] = weights[0].numpy()
    arrays["0.final"] = last[0][0].numpy()
    if hasattr(run, "logits"):
        arrays["0.logits"] = run.logits.numpy()
    numpy.savez(folder / "values.npz", **arrays)
    print(name, pixels.shape, sum(file.stat().st_size for file in folder.iterdir()), "bytes")


if __name__ == "__main__":
    write_pictures()
    for name, row in MODELS.items():
        write(name, *row)
