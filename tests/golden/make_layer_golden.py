#!/usr/bin/env python3
"""Writes layers/NAME: the attention layers of small random models as transformers writes them, and the weights that it computes.

    python3 make_layer_golden.py [NAME]…      (transformers 5, torch, safetensors, timm)

layers/README.md tells the format; layer_golden_cases.py and other_layer_models.py the models. What is drawn depends on names and sizes alone, so that a second
run writes the same numbers.
"""
import json, os, shutil, sys, tempfile, warnings

sys.dont_write_bytecode = True  # leave no __pycache__ beside the values
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers.utils import logging as transformers_logging
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "peers"))
import model_inputs
from attention_capture import Watch
from layer_golden_cases import CASES
from layer_judge import in_heads, matrices_by_path, three_dimensional
from other_layer_models import CONFIG, MODELS
from small_models import draw_parameters, model_classes, trusted_path
from watched_model import watched

model_inputs.LENGTH, model_inputs.SECOND_LENGTH = 6, 5


def made(model_type, settings):
    config = CONFIG_MAPPING[model_type](**settings)
    model = model_classes(config)[0]._from_config(config, attn_implementation=trusted_path(config)).float()
    draw_parameters(model, 0)
    return model.eval()


def write_case(name, model_type, settings):
    """How many attention layers it has."""
    model = made(model_type, settings)
    attentions, problem = watched(model)
    if not attentions or problem:
        raise RuntimeError(f"{name}: {problem or 'no attention was seen'}")
    with tempfile.TemporaryDirectory() as whole:
        model.save_pretrained(whole)
        return write_layers(name, model, attentions.values(), whole)


def write_other(name, make, arguments):
    """Likewise, of a model that is not transformers'."""
    model = make()
    draw_parameters(model, 0)
    watch = Watch(model.eval())
    with watch, torch.no_grad():
        model(*arguments())
    with tempfile.TemporaryDirectory() as whole:
        save_file({n: p.contiguous() for n, p in model.state_dict().items()}, os.path.join(whole, "model.safetensors"))
        with open(os.path.join(whole, "config.json"), "w") as file:
            json.dump(CONFIG, file)
        return write_layers(name, model, watch.attentions(), whole)


def write_layers(name, model, attentions, whole):
    """Writes the folder from that of the whole model; how many layers it has."""
    folder = os.path.join(HERE, "layers", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    expected, kept = {}, {}
    shutil.copy(os.path.join(whole, "config.json"), folder)
    names_of_path, _ = matrices_by_path(model, whole)
    with safe_open(os.path.join(whole, "model.safetensors"), "pt") as file:
        for found in attentions:
            module, matrix = found.matrix.rsplit(".", 1)
            of_query = [n for n in names_of_path.get(module, []) if n.endswith(matrix)]
            if not of_query or "query" not in found.inputs:
                raise RuntimeError(f"{name}: {found.path} has no matrix of queries")
            put_expected(expected, of_query[0], found)
            for path, names in names_of_path.items():
                if path == found.path or path.startswith(found.path + ".") or "norm" in path.lower() and "0." in path:
                    kept.update((n, file.get_tensor(n).contiguous()) for n in names)
        kept.update((n, file.get_tensor(n).contiguous()) for n in file.keys() if beside_attention(n, expected))
    save_file(kept, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
    save_file(expected, os.path.join(folder, "expected.safetensors"))
    return len(attentions)


def beside_attention(name, expected):
    """BERT's output projection and all else that lies in the block's attention, outside of the module that computes the weights."""
    return any(name.startswith(query.split(".self.")[0] + ".") for query in expected if ".self." in query) or \
        any(name.startswith(query.split("attention.attention.")[0] + "attention.output") for query in expected if "attention.attention." in query)


def put_expected(expected, query_matrix, found):
    put = lambda what, array: expected.__setitem__(f"{query_matrix}:{what}", torch.tensor(array))
    query, key, value = (three_dimensional(found.inputs.get(n, found.inputs["query"])) for n in ("query", "key", "value"))
    put("query", query)
    if key.shape != query.shape or (key != query).any():
        put("key", key)
        if (value != key).any():
            put("value", value)
    put("attn_weights", in_heads(found.weights))
    if found.output is not None:
        put("output", three_dimensional(found.output).reshape(query.shape[0], query.shape[1], -1))


def main():
    warnings.simplefilter("ignore")
    transformers_logging.disable_progress_bar()
    torch.set_num_threads(1)
    wanted = sys.argv[1:]
    failed = False
    for write, cases in ((write_case, CASES), (write_other, MODELS)):
        for case in cases:
            if wanted and case[0] not in wanted:
                continue
            try:
                print(f"{case[0]}: {write(*case)} attention layers")
            except Exception as error:
                failed = True
                print(f"{case[0]}: {type(error).__name__}: {str(error)[:300]}")
    sys.exit(1 if failed else 0)


main()
