"""Holds each layer that `headwise info` finds in a model's folder against the attention that was watched in the model."""
import json, os, re, subprocess
from dataclasses import asdict, dataclass

import numpy as np
import torch

WEIGHTS_BOUND, OUTPUT_BOUND = 1e-5, 1e-4  # the largest difference of weights; that of outputs, of the largest magnitude
USUAL_INPUT = 8.0  # of inputs that are larger scores are too, and what float32 rounds of them
CROSS = re.compile(r"(encoder_attn|EncDecAttention|crossattention|cross_attn|cross_attention|encoder_decoder_attention|enc_dec)")

UNKNOWN_FAMILY = re.compile(r"model_type.* is not known")


@dataclass
class Verdict:
    layer: int
    name: str
    family: str
    outcome: str  # EQUAL, UNKNOWN (equal, of a family that is said not to be known), WARNED (equal, with another warning), TOLD, VAGUE, REFUSED, SILENT, NO JUDGE, CRASHED
    weights_off: float = None
    output_off: float = None
    remark: str = ""


def matrices_by_path(model, folder):
    """{path of a module in the model: names of its arrays in the file}; names are those of the same numbers."""
    from safetensors import safe_open
    import glob
    by_numbers = {}
    for path in glob.glob(os.path.join(folder, "*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                array = file.get_tensor(name)
                by_numbers.setdefault(fingerprint(array), []).append(name)
    found = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        for of_file in by_numbers.get(fingerprint(parameter), []):
            if name.rsplit(".", 1)[-1] == of_file.rsplit(".", 1)[-1]:
                found.setdefault(name.rsplit(".", 1)[0], []).append(of_file)
    return found, {n for names in by_numbers.values() for n in names}


def fingerprint(array):
    return tuple(array.shape), array.detach().to(torch.float32).contiguous().numpy().tobytes()[:256], float(array.detach().double().sum())


def layers_of(program, folder):
    """What `headwise info` says of a model: its layers, its notes on the whole, and the problem where there are neither."""
    run = subprocess.run([program, "info", folder, "--json"], capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        return None, [], f"exit {run.returncode}: {run.stderr.strip()}"
    model = json.loads(run.stdout).get("model") or {}
    return model.get("layers", []), model.get("notes", []), ""


def match(layer, attentions, files_of_path):
    """The watched attention whose arrays lie under the layer's name; where there are two, self or cross by the family's name."""
    prefix = layer["name"] + "." if layer["name"] else ""
    inside = []
    for found in attentions:
        names = [n for path, names in files_of_path.items() if path == found.path or path.startswith(found.path + ".") for n in names]
        below = [n for n in names if n.startswith(prefix)]
        if below and "query" in found.inputs:
            inside.append((found, below))
    crosses = "cross" in layer["family"].lower()
    inside = [(f, n) for f, n in inside if bool(CROSS.search(n[0][len(prefix):])) == crosses]
    # With an empty name or a nested one the layer's own arrays lie least deep.
    inside.sort(key=lambda pair: min(n[len(prefix):].count(".") for n in pair[1]))
    return inside[0][0] if inside else None


def three_dimensional(array):
    """(N,L,E), of (L,E) and of windows (N,h,w,E) too."""
    array = array.detach().to(torch.float32)
    if array.dim() == 2:
        array = array[None]
    if array.dim() > 3:
        array = array.reshape(array.shape[0], -1, array.shape[-1])
    return array.contiguous().numpy()


def in_heads(weights):
    """(N,H,L,S)"""
    weights = weights.detach().to(torch.float32)
    return (weights[None] if weights.dim() == 3 else weights).numpy()


def batch_first(found):
    """The watched inputs and output with their batch first, which FSMT and ProphetNet keep second."""
    arrays = {n: x for n, x in {**found.inputs, "output": found.output}.items() if x is not None}
    batch, length = in_heads(found.weights).shape[0], found.weights.shape[-2]
    query = found.inputs["query"]
    if query.dim() == 3 and query.shape[:2] == (length, batch) and length != batch:
        arrays = {n: x.transpose(0, 1) if x.dim() == 3 else x for n, x in arrays.items()}
    return {n: three_dimensional(x) for n, x in arrays.items()}


def names_a_cause(message, settings, arrays):
    """Whether the message names a setting of config.json or the end of an array's name."""
    words = {w.strip(".") for w in re.findall(r"[\w.]+", message)}
    ends = set()
    for name in arrays:
        parts = name.removesuffix(".weight").removesuffix(".bias").split(".")
        ends |= {".".join(parts[-k:]) + tail for k in range(1, len(parts) + 1) for tail in ("", ".weight", ".bias")}
    # Files of transformers 5 have what earlier ones wrote as rope_scaling under rope_parameters.
    known = settings | ({"rope_scaling"} if "rope_parameters" in settings else set())
    return bool(words & (known | ends - {"weight", "bias"}))


def settings_in(config):
    found = set()
    for key, value in config.items():
        found.add(key)
        if isinstance(value, dict):
            found |= settings_in(value)
    return found


# Their weights are those before the sink takes its share, which only the output shows.
SINK_AFTER_WEIGHTS = ("granite_swa", "granitemoe_swa")


def judge_layer(program, folder, work, layer, found, seen):
    """One layer's Verdict, of a model Seen."""
    verdict = Verdict(layer["layer"], layer["name"], layer["family"], "NO JUDGE")
    command = [program, "run", folder, "--set", f"parameters.layer={layer['layer']}", "--set", "inputs.source=random"]
    output = os.path.join(work, "out.npz")
    if found is not None:
        given_to = batch_first(found)
        query, key, value = (given_to.get(n, given_to["query"]) for n in ("query", "key", "value"))
        given = {"query": query}
        if key.shape != query.shape or not np.array_equal(key, query) or not np.array_equal(value, query):
            given |= {"key": key, "value": value}
        if not all(np.isfinite(array).all() for array in given.values()):
            verdict.remark = "transformers itself computes no finite numbers here"
            return verdict
        np.savez(os.path.join(work, "in.npz"), **given)
        command += ["--input", os.path.join(work, "in.npz")]
    run = subprocess.run(command + ["-o", output, "--only", "attn_weights,output"], capture_output=True, text=True, timeout=600)
    # The arrays take the place of the random numbers, which are asked for only because a model would want a text.
    told = "\n".join(line for line in run.stderr.splitlines() if line.strip() and "inputs.source = " not in line)
    verdict.remark = told
    if run.returncode == 3:
        verdict.outcome = "REFUSED" if told else "CRASHED"
        return verdict
    if run.returncode != 0:
        verdict.outcome = "REFUSED" if 0 < run.returncode < 8 and told else "CRASHED"
        verdict.remark = f"exit {run.returncode}: {told}"
        return verdict
    if found is None:
        verdict.remark = "no attention of the model was seen under this name. " + told
        return verdict
    with np.load(output) as file:
        ours = {name: file[name] for name in ("attn_weights", "output")}
    theirs = in_heads(found.weights)
    if seen.model_type in SINK_AFTER_WEIGHTS:
        ours["attn_weights"] = ours["attn_weights"] / ours["attn_weights"].sum(-1, keepdims=True)
    equal = ours["attn_weights"].shape == theirs.shape
    if equal:
        both = np.isfinite(ours["attn_weights"]) & np.isfinite(theirs)
        apart = np.abs(np.where(both, ours["attn_weights"], 0).astype(float) - np.where(both, theirs, 0))
        verdict.weights_off = float(apart.max(initial=0.0)) if (np.isfinite(theirs) == np.isfinite(ours["attn_weights"])).all() else float("inf")
        equal = verdict.weights_off <= WEIGHTS_BOUND * max(1.0, float(np.abs(given_to["query"]).max(initial=0.0)) / USUAL_INPUT)
    else:
        verdict.remark = f"attn_weights {ours['attn_weights'].shape}, transformers' {theirs.shape}. " + told
    if found.output is not None and equal:
        expected = given_to["output"]
        if expected.shape == ours["output"].shape:
            scale = max(float(np.abs(expected).max(initial=0.0)), 1e-30)
            verdict.output_off = float(np.abs(expected - ours["output"]).max(initial=0.0)) / scale
            equal = verdict.output_off <= OUTPUT_BOUND
    if equal:
        others = [line for line in told.splitlines() if not UNKNOWN_FAMILY.search(line)]
        verdict.outcome = "WARNED" if others else "UNKNOWN" if told else "EQUAL"
    elif not told:
        verdict.outcome = "SILENT"
    else:
        verdict.outcome = "TOLD" if names_a_cause(told, seen.settings, seen.arrays) else "VAGUE"
    return verdict


def as_row(verdict):
    return asdict(verdict)
