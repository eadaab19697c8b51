#!/usr/bin/env python3
"""Holds whole texts through models, as Headwise reads them, against transformers.

    python3 tests/peers/compare_texts_with_transformers.py build/release/headwise [--family NAME]… [--keep FOLDER]

For every model_type that assets/models/transformers.txt names it makes a small random model with a tokenizer of its own, writes it as
transformers does, and lets both read a text. Equal is: the input of every layer's attention within 1e-5 of its largest magnitude, the
weights of every head within 1e-5, and of the words predicted at each place the probabilities within 1e-4. Exit status 1 where one is not,
77 where there is no transformers.
"""
import argparse, json, os, pathlib, subprocess, sys, tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import numpy, torch, transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from small_models import VOCABULARY, make_model

IDS = [3, 17, 4, 4, 39, 21, 8, 30, 11, 62, 17, 5]
# Files of these have other names or no causal head; the families' own tests hold them.
NOT_HERE = {"headwise", "vit", "vit_msn", "deit"}  # pictures have compare_pictures_with_transformers.py
CHANGES = {"stablelm": [{}, {"use_parallel_residual": True}, {"use_qkv_bias": True, "qk_layernorm": True}],
           "cohere": [{}, {"use_qk_norm": True}],
           "granite": [{"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "logits_scaling": 2.0, "attention_multiplier": 0.3}],
           "gemma2": [{}, {"final_logit_softcapping": None}], "gemma3_text": [{}, {"final_logit_softcapping": 5.0}]}


def types():
    rows = (HERE.parents[1] / "assets/models/transformers.txt").read_text()
    rows = "\n".join(line for line in rows.split("\n") if not line.startswith("#"))
    return [word[5:] for word in rows.split() if word.startswith("type=") and word[5:] not in NOT_HERE]


def write_tokenizer(folder):
    """Every word "wN" is the token N, and nothing is put around a text."""
    vocabulary = {f"w{i}": i for i in range(VOCABULARY)}
    tokenizer = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
                 "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "w0"}}
    (pathlib.Path(folder) / "tokenizer.json").write_text(json.dumps(tokenizer))


def run(program, *arguments):
    made = subprocess.run([program, *arguments], capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(f"exit {made.returncode}: {made.stderr.strip()}")
    return made.stdout


def attention_inputs(model):
    """What goes into each module that gives weights, in order of their calls."""
    kept = []

    def keep(module, arguments, keywords, output):
        if isinstance(output, tuple) and len(output) > 1 and torch.is_tensor(output[1]) and output[1].dim() == 4:
            given = keywords.get("hidden_states", arguments[0] if arguments else None)
            kept.append((given[0].numpy(), output[1][0].numpy()))

    hooks = [module.register_forward_hook(keep, with_kwargs=True) for name, module in model.named_modules()
             if "attn" in name.split(".")[-1].lower() or "attention" in name.split(".")[-1].lower()]
    return kept, hooks


def apart(got, expected):
    return float(numpy.abs(got - expected).max() / max(numpy.abs(expected).max(), 1e-30))


def judge(program, model_type, changes, folder):
    model, _ = make_model(model_type, changes)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    kept, hooks = attention_inputs(model)
    with torch.no_grad():
        output = model(input_ids=torch.tensor([IDS]))
    for hook in hooks:
        hook.remove()
    text = " ".join(f"w{i}" for i in IDS)
    worst = {"input": 0.0, "weights": 0.0, "probabilities": 0.0}
    for layer, (given, weights) in enumerate(kept):
        out = os.path.join(folder, f"layer{layer}.npz")
        run(program, "run", folder, "--set", "inputs.source=text", "--set", f"inputs.text={text}", "--set", f"parameters.layer={layer}",
            "--strict", "--only", "query", "--only", "attn_weights", "-o", out)
        arrays = numpy.load(out)
        worst["input"] = max(worst["input"], apart(arrays["query"][0], given))
        worst["weights"] = max(worst["weights"], float(numpy.abs(arrays["attn_weights"][0] - weights).max()))
    told = json.loads(run(program, "info", folder, "--text", text, "--mute", "--json"))["text"]
    logits = getattr(output, "logits", None)
    if logits is not None:
        expected = logits[0].double().softmax(-1)
        for muted in (head.get("muted") for head in told["heads"]):  # what is predicted there while no head is muted
            there = float(expected[muted["position"], muted["before_id"]]) if muted else float("inf")
            worst["probabilities"] = max(worst["probabilities"], abs(there - muted["before_probability"]) if muted else there)
    limits = {"input": 1e-5, "weights": 1e-5, "probabilities": 1e-4}
    fine = kept and all(worst[what] <= limits[what] for what in worst)
    return fine, f"{len(kept)} layers, " + ", ".join(f"{what} {value:.1e}" for what, value in worst.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--keep")
    options = parser.parse_args()
    program, failed = os.path.abspath(options.program), 0
    for model_type in options.family or types():
        for number, changes in enumerate(CHANGES.get(model_type, [{}])):
            with tempfile.TemporaryDirectory() as temporary:
                folder = os.path.join(options.keep, f"{model_type}-{number}") if options.keep else temporary
                os.makedirs(folder, exist_ok=True)
                try:
                    fine, sentence = judge(program, model_type, changes, folder)
                except Exception as error:
                    fine, sentence = False, f"{type(error).__name__}: {error}"
            failed += not fine
            print(f"{'equal' if fine else 'DIFFERENT':9}  {model_type:18} {changes or ''} {sentence[:600]}", flush=True)
    print(f"transformers {transformers.__version__}: {failed} not equal" if failed else f"transformers {transformers.__version__}: all equal")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
