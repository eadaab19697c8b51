#!/usr/bin/env python3
"""Holds whole texts through models, as Headwise reads them, against transformers.

    python3 tests/peers/compare_texts_with_transformers.py build/release/headwise [--family NAME]… [--keep FOLDER]

For every model_type that assets/models/transformers.txt names it makes a small random model with a tokenizer of its own, writes it as
transformers does, and lets both read a text: words that are the tokens' numbers, and where files of the type have a Unigram tokenizer,
also sentences through a small one. Of a model with an encoder and a decoder it is the encoder that reads. Equal is: the input of every layer's attention within 1e-5 of its largest magnitude, the
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

from small_models import MASKED_LM, VOCABULARY, make_model

IDS = [3, 17, 4, 4, 39, 21, 8, 30, 11, 62, 17, 5]
# Files of these have other names or no causal head; the families' own tests hold them.
NOT_HERE = {"headwise", "vit", "vit_msn", "deit"}  # pictures have compare_pictures_with_transformers.py
# Their published files have a Unigram tokenizer: pieces, unk_id, what is put around a text.
UNIGRAM = {**dict.fromkeys(("t5", "mt5", "umt5"), (["<pad>", "</s>", "<unk>"], 2, "$A </s>")),
           **dict.fromkeys(("xlm-roberta", "camembert"), (["<s>", "<pad>", "</s>", "<unk>"], 3, "<s> $A </s>"))}
SENTENCE = "The  na\u00efve \uff21ttention\tof \u6ce8\u610f heads, \U0001f600 e\u0301t tous"
# Short factors for texts of up to 8 tokens, long ones for the longer.
LONGROPE = {"original_max_position_embeddings": 8, "max_position_embeddings": 64,
            "rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0 + i / 8 for i in range(8)],
                                "long_factor": [2.0 + i / 4 for i in range(8)], "original_max_position_embeddings": 8}}
# Layers of other kinds stand between those with a softmax: no text goes through them, and a sentence says so.
REFUSED = {"qwen3_next": "a text cannot go through every layer: got layer 0 of the kind linear_attention"}
CHANGES = {"stablelm": [{}, {"use_parallel_residual": True}, {"use_qkv_bias": True, "qk_layernorm": True}],
           "cohere": [{}, {"use_qk_norm": True}],
           "granite": [{"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "logits_scaling": 2.0, "attention_multiplier": 0.3}],
           "phi3": [{}, {"partial_rotary_factor": 1.0, **LONGROPE}, {**LONGROPE, "original_max_position_embeddings": 32,
                    "rope_parameters": {**LONGROPE["rope_parameters"], "original_max_position_embeddings": 32}}],
           "smollm3": [{}, {"no_rope_layers": [0, 1, 1, 0]}],
           "modernbert": [{}, {"local_attention": 4, **dict.fromkeys(("norm_bias", "mlp_bias", "attention_bias", "classifier_bias"), True)}],
           "t5": [{}, {"feed_forward_proj": "gated-gelu"}, {"feed_forward_proj": "gated-silu"}], "mt5": [{}, {"num_decoder_layers": 1}],
           "exaone4": [{}, {"sliding_window": None, "layer_types": ["full_attention"] * 4}],
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


def write_unigram(folder, pieces, unknown, around):
    """A small Unigram tokenizer of letters and a few words, and the ids of SENTENCE."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    letters = "abcdefghijklmnopqrstuvwxyzTAN,.\u00e9\u00ef\u6ce8"
    words = "_the _The _he ads at ten tion _o _of _na _to ous _A".replace("_", "\u2581").split()
    scored = [("\u2581", -3.0), *((letter, -4.0 - i / 16) for i, letter in enumerate(letters)),
              *((word, -3.5 - i / 8) for i, word in enumerate(words))]
    tokenizer = Tokenizer(models.Unigram([(piece, 0.0) for piece in pieces] + scored, unknown, False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(pieces)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=around, special_tokens=[(piece, pieces.index(piece)) for piece in ("<s>", "</s>") if piece in around.split()])
    tokenizer.save(str(pathlib.Path(folder) / "tokenizer.json"))
    return tokenizer.encode(SENTENCE).ids


def run(program, *arguments):
    made = subprocess.run([program, *arguments], capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(f"exit {made.returncode}: {made.stderr.strip()}")
    return made.stdout


def attention_inputs(model):
    """What goes into each module that gives weights, in order of their calls."""
    kept = []

    def keep(module, arguments, keywords, output):
        if isinstance(output, tuple) and len(output) > 1 and torch.is_tensor(output[-1]) and output[-1].dim() == 4:
            given = keywords.get("hidden_states", arguments[0] if arguments else None)
            kept.append((given[0].numpy(), output[-1][0].numpy()))

    hooks = [module.register_forward_hook(keep, with_kwargs=True) for name, module in model.named_modules()
             if "attn" in name.split(".")[-1].lower() or "attention" in name.split(".")[-1].lower()]
    return kept, hooks


def apart(got, expected):
    return float(numpy.abs(got - expected).max() / max(numpy.abs(expected).max(), 1e-30))


def first_layer(program, folder):
    """The number of the first layer that a text goes through: a decoder's come before those of its encoder."""
    listed = json.loads(run(program, "info", folder, "--json"))["model"]["layers"]
    return next((number for number, layer in enumerate(listed) if layer["name"].startswith("encoder.block.")), 0)


def judge(program, model_type, changes, folder, reads_sentence):
    masked = [MASKED_LM] if model_type in ("modernbert", "xlm-roberta", "camembert") else []
    model, _ = make_model(model_type, changes, preferred=masked)
    model.save_pretrained(folder)
    if reads_sentence:
        ids, text = write_unigram(folder, *UNIGRAM[model_type]), SENTENCE
    else:
        write_tokenizer(folder)
        ids, text = IDS, " ".join(f"w{i}" for i in IDS)
    kept, hooks = attention_inputs(model)
    with torch.no_grad():
        # T5's scores are not scaled: the softmax of such large ones shows the rounding of f32, which is transformers' rather than ours.
        reader = model.double().get_encoder() if model.config.is_encoder_decoder else model
        output = reader(input_ids=torch.tensor([ids]), output_attentions=True)
    for hook in hooks:
        hook.remove()
    strict = [] if reads_sentence else ["--strict"]  # characters of the sentence that have no piece are a warning
    worst = {"input": 0.0, "weights": 0.0, "probabilities": 0.0}
    first = first_layer(program, folder) if model.config.is_encoder_decoder else 0
    for layer, (given, weights) in enumerate(kept):
        out = os.path.join(folder, f"layer{layer}.npz")
        run(program, "run", folder, "--set", "inputs.source=text", "--set", f"inputs.text={text}", "--set",
            f"parameters.layer={first + layer}", *strict, "--only", "query", "--only", "attn_weights", "-o", out)
        arrays = numpy.load(out)
        worst["input"] = max(worst["input"], apart(arrays["query"][0], given))
        worst["weights"] = max(worst["weights"], float(numpy.abs(arrays["attn_weights"][0] - weights).max()))
    logits = getattr(output, "logits", None)
    told = json.loads(run(program, "info", folder, "--text", text, *([] if logits is None else ["--mute"]), "--json"))["text"]
    if logits is not None:
        expected = logits[0].double().softmax(-1)
        for muted in (head.get("muted") for head in told["heads"]):  # what is predicted there while no head is muted
            there = float(expected[muted["position"], muted["before_id"]]) if muted else float("inf")
            worst["probabilities"] = max(worst["probabilities"], abs(there - muted["before_probability"]) if muted else there)
    limits = {"input": 1e-5, "weights": 1e-5, "probabilities": 1e-4}
    fine = kept and all(worst[what] <= limits[what] for what in worst)
    return fine, f"{len(kept)} layers, " + ", ".join(f"{what} {value:.1e}" for what, value in worst.items())


def judge_refused(program, model_type, sentence, folder):
    model, _ = make_model(model_type)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    made = subprocess.run([program, "run", folder, "--set", "inputs.source=text", "--set", "inputs.text=w3 w4", "--strict", "-o",
                           os.path.join(folder, "layer.npz")], capture_output=True, text=True)
    return made.returncode != 0 and sentence in made.stderr, made.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--keep")
    options = parser.parse_args()
    program, failed = os.path.abspath(options.program), 0
    for model_type in options.family or [*types(), *REFUSED]:
        if model_type in REFUSED:
            with tempfile.TemporaryDirectory() as folder:
                fine, sentence = judge_refused(program, model_type, REFUSED[model_type], folder)
            failed += not fine
            print(f"{'refused' if fine else 'DIFFERENT':9}  {model_type:18} {sentence[:600]}", flush=True)
            continue
        cases = [(changes, False) for changes in CHANGES.get(model_type, [{}])] + [({}, True)] * (model_type in UNIGRAM)
        for number, (changes, reads_sentence) in enumerate(cases):
            with tempfile.TemporaryDirectory() as temporary:
                folder = os.path.join(options.keep, f"{model_type}-{number}") if options.keep else temporary
                os.makedirs(folder, exist_ok=True)
                try:
                    fine, sentence = judge(program, model_type, changes, folder, reads_sentence)
                except Exception as error:
                    fine, sentence = False, f"{type(error).__name__}: {error}"
            failed += not fine
            said = "a sentence in Unigram" if reads_sentence else changes or ""
            print(f"{'equal' if fine else 'DIFFERENT':9}  {model_type:18} {said} {sentence[:600]}", flush=True)
    print(f"transformers {transformers.__version__}: {failed} not equal" if failed else f"transformers {transformers.__version__}: all equal")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
