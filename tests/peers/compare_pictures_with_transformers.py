#!/usr/bin/env python3
"""Holds pictures through models, as Headwise reads them, against transformers.

    python3 tests/peers/compare_pictures_with_transformers.py build/release/headwise [--keep FOLDER]

For every model of pictures in KINDS it makes a small random model with an image processor, writes both as transformers does, and lets
both read a PNG of another size. Equal is: the input of every layer's attention within 1e-5 of its largest magnitude, and the weights of
every head within 1e-5; the classes are held by tests/golden/make_picture_golden.py. Exit status 1 where one is not, 77 where there is no
transformers or no Pillow.
"""
import argparse, os, pathlib, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from compare_texts_with_transformers import apart, attention_inputs, run

import numpy, torch, transformers
sys.path.insert(0, str(HERE.parent / "golden"))
try:
    from make_picture_golden import name_whole
    from PIL import Image
    from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil
    from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SIZES = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96, "image_size": 48, "patch_size": 8,
         "num_labels": 7}
SQUARE = {"height": 48, "width": 48}
# name: class of the configuration and the model, what differs from the sizes, and the image processor
KINDS = {
    "vit": (transformers.ViTConfig, transformers.ViTForImageClassification, {}, ViTImageProcessorPil(size=SQUARE)),
    "vit_no_qkv_bias": (transformers.ViTConfig, transformers.ViTForImageClassification, {"qkv_bias": False, "hidden_act": "gelu_new"},
                        ViTImageProcessorPil(size=SQUARE, resample=3)),
    "vit_base": (transformers.ViTConfig, transformers.ViTModel, {}, ViTImageProcessorPil(size=SQUARE, do_normalize=False)),
    "vit_wide": (transformers.ViTConfig, transformers.ViTForImageClassification, {"image_size": [24, 60], "patch_size": [8, 10]},
                 ViTImageProcessorPil(size={"height": 24, "width": 60}, do_rescale=False)),
    "vit_msn": (transformers.ViTMSNConfig, transformers.ViTMSNForImageClassification, {},
                BitImageProcessorPil(size={"shortest_edge": 55}, crop_size=SQUARE)),
    "deit": (transformers.DeiTConfig, transformers.DeiTForImageClassification, {},
             DeiTImageProcessorPil(size={"height": 57, "width": 57}, crop_size=SQUARE)),
    "deit_teacher": (transformers.DeiTConfig, transformers.DeiTForImageClassificationWithTeacher, {},
                     DeiTImageProcessorPil(size={"height": 41, "width": 70}, crop_size=SQUARE)),
}


def photo():
    random = numpy.random.default_rng(3)
    y, x = numpy.mgrid[0:91, 0:137]
    colours = numpy.stack([x + y, 255 - y * 2, 128 + 127 * numpy.sin(x * y / 300)], -1) + random.normal(0, 30, (91, 137, 3))
    return Image.fromarray(colours.clip(0, 255).astype(numpy.uint8))


def judge(program, kind, folder):
    config_class, model_class, changes, processor = KINDS[kind]
    torch.manual_seed(23)
    model = model_class(config_class(**{**SIZES, **changes}, attn_implementation="eager")).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.25 + (0.5 if parameter.dim() == 1 else 0.0))
    model.save_pretrained(folder)
    name_whole(folder)
    processor.save_pretrained(folder)
    picture = os.path.join(folder, "photo.png")
    photo().save(picture)
    pixels = processor(Image.open(picture), return_tensors="pt")["pixel_values"]
    kept, hooks = attention_inputs(model)
    with torch.no_grad():
        output = model(pixel_values=pixels)
    for hook in hooks:
        hook.remove()
    worst = {"input": 0.0, "weights": 0.0}
    for layer, (given, weights) in enumerate(kept):
        out = os.path.join(folder, f"layer{layer}.npz")
        run(program, "run", folder, "--set", f"inputs.picture={picture}", "--set", f"parameters.layer={layer}", "--strict", "--only", "query",
            "--only", "attn_weights", "-o", out)
        arrays = numpy.load(out)
        worst["input"] = max(worst["input"], apart(arrays["query"][0], given))
        worst["weights"] = max(worst["weights"], float(numpy.abs(arrays["attn_weights"][0] - weights).max()))
    return len(kept) == 3 and max(worst.values()) <= 1e-5, f"{len(kept)} layers, " + ", ".join(
        f"{what} {value:.1e}" for what, value in worst.items()) + f", {tuple(pixels.shape)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--keep")
    options = parser.parse_args()
    program, failed = os.path.abspath(options.program), 0
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(options.keep, kind) if options.keep else temporary
            os.makedirs(folder, exist_ok=True)
            try:
                fine, sentence = judge(program, kind, folder)
            except Exception as error:
                fine, sentence = False, f"{type(error).__name__}: {error}"
        failed += not fine
        print(f"{'equal' if fine else 'DIFFERENT':9}  {kind:18} {sentence[:600]}", flush=True)
    print(f"transformers {transformers.__version__}: {f'{failed} not equal' if failed else 'all equal'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
