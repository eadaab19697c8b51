"""Scenarios over all options of the operator, each with what the program computes of it in f64: the cases of check_attention.js."""
import base64
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

Json = dict[str, Any]


def pick(chance: random.Random, share: float, value: Any) -> Any:
    """The value in this share of the cases, else None."""
    return value if chance.random() < share else None


def random_scenario(chance: random.Random) -> tuple[Json, dict[str, np.ndarray]]:
    """A scenario as its JSON, and arrays that are given to it: masks, frozen weights, static keys."""
    module = chance.random() < 0.75
    heads = chance.choice([1, 2, 3, 4, 6])
    groups = chance.choice([group for group in (1, 2, 3, 4, 6) if heads % group == 0])
    width, value_width = 2 * chance.randint(1, 4), chance.choice([2, 3, 5, 8])
    queries, keys, batch = chance.randint(1, 7), chance.randint(1, 8), chance.choice([1, 1, 2, 3])
    crosses = not module or chance.random() < 0.4
    keys = keys if crosses else queries
    appends = module and chance.random() < 0.25
    rotates = not appends and chance.random() < 0.3
    attention: Json = {
        "num_heads": heads, "num_kv_heads": groups, "head_dim": width, "v_head_dim": value_width,
        "scale": pick(chance, 0.2, round(chance.uniform(0.05, 2), 3)), "softcap": pick(chance, 0.2, round(chance.uniform(0.5, 20), 2)) or 0,
        "temperature": pick(chance, 0.2, round(chance.uniform(0.2, 4), 2)) or 1, "dropout": pick(chance, 0.2, round(chance.uniform(0.1, 0.8), 2)) or 0,
        "dropout_seed": chance.choice([0, 1, 12345678901234]), "rotary_base": pick(chance, float(rotates), chance.choice([100, 10000]))}
    if module:
        attention |= {"embed_dim": chance.choice([4, 6, 8]), "bias": chance.random() < 0.7, "add_bias_kv": appends and chance.random() < 0.7,
                      "add_zero_attn": appends and chance.random() < 0.7, "clip_qkv": pick(chance, 0.15, round(chance.uniform(0.1, 1), 2)),
                      "residual": chance.random() < 0.25, "layer_norm": chance.random() < 0.25, "need_weights": chance.random() < 0.9,
                      "average_attn_weights": chance.random() < 0.7}
        if crosses and chance.random() < 0.4:
            attention |= {"kdim": chance.choice([3, 5]), "vdim": chance.choice([2, 7])}
    scenario: Json = {
        "headwise": 1, "op": "multi_head_attention" if module else "scaled_dot_product_attention", "attention": attention,
        "inputs": {"source": chance.choice(["random", "random", "uniform01"]), "seed": chance.randint(0, 9999), "batch": batch, "query_length": queries,
                   "key_length": keys if crosses else None, "self_attention": not crosses},
        "parameters": {"layout": chance.choice(["packed", "separate", "per_head"]) if module else "packed", "seed": chance.randint(0, 9999),
                       "init": chance.choice(["xavier_uniform", "normal_dk", "xavier_normal"])},
        "mask": {"is_causal": chance.random() < 0.3, "causal_alignment": chance.choice(["top_left", "bottom_right"]),
                 "sliding_window": pick(chance, 0.2, chance.randint(1, 4)), "alibi": chance.random() < 0.2, "alibi_scale": chance.choice([1, 0.5]),
                 "value": chance.choice(["-inf", "-inf", "-inf", -1, -10000, 0]), "fully_masked_rows": pick(chance, 0.5, chance.choice(["zero", "nan"]))},
        "heads": {"gain": pick(chance, 0.2 if module else 0, [chance.choice([0, 1, 0.5, -2]) for _ in range(heads)])}}
    rng = np.random.default_rng(chance.randint(0, 2**31))
    arrays: dict[str, np.ndarray] = {}
    if chance.random() < 0.3:
        shape = (queries, keys) if chance.random() < 0.6 or not module else (batch * heads, queries, keys)
        if not module and chance.random() < 0.5:
            shape = tuple(size if chance.random() < 0.6 else 1 for size in (batch, heads)) + (queries, keys)
        arrays["attn_mask"] = rng.random(shape) < 0.4 if chance.random() < 0.6 else rng.normal(size=shape)
    if module and chance.random() < 0.2:
        arrays["key_padding_mask"] = rng.random((batch, keys)) < 0.3 if chance.random() < 0.7 else rng.normal(size=(batch, keys))
    if not arrays and module and chance.random() < 0.3:
        scenario["mask"]["preset"] = chance.choice(
            ["causal", "causal_bottom_right", f"padding:{chance.randint(1, keys)}", "sliding_window:2", "prefix:1", "dilated:2:2", "document:0,1"])
    elif not arrays and chance.random() < 0.25:
        lens = rng.integers(0, keys + 1, size=(batch, queries) if chance.random() < 0.5 else batch)
        scenario["mask"]["valid_lens"] = lens.tolist()
    if chance.random() < 0.15:
        all_keys = keys + sum(bool(attention.get(each)) for each in ("add_bias_kv", "add_zero_attn"))
        frozen = sorted(chance.sample(range(heads), chance.randint(1, heads)))
        scenario["heads"]["frozen"] = {"heads": frozen, "attn_weights": rng.random((batch, len(frozen), queries, all_keys)).tolist()}
    if module and crosses and not appends and not rotates and chance.random() < 0.2:
        arrays["static_k"] = rng.normal(size=(batch * groups, keys, width))
        if chance.random() < 0.5:
            arrays["static_v"] = rng.normal(size=(batch * groups, keys, value_width))
    return scenario, arrays


def page_tensor(array: np.ndarray) -> Json:
    kept = array if array.dtype == bool else array.astype("<f8")
    return {"shape": list(array.shape), "type": "bool" if array.dtype == bool else "f64", "data": base64.b64encode(kept.tobytes()).decode()}


def case_of(program: str, scenario: Union[Json, str], arrays: dict[str, np.ndarray], folder: Path) -> Optional[Json]:
    """Of a scenario, or a preset's name. None where the program refuses the combination."""
    file, given, trace = folder / "scenario.json", folder / "arrays.npz", folder / "trace.npz"
    if isinstance(scenario, dict):
        file.write_text(json.dumps(scenario))
    else:
        file = Path(scenario)
    np.savez(given, **arrays)
    words = [program, "run", str(file), "--dtype", "f64", "-q", "-o", str(trace)]
    ran = subprocess.run(words + (["--input", str(given)] if arrays else []), capture_output=True, text=True)
    if ran.returncode == 2 or ran.returncode == 3:
        return None
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr)
    computed = dict(np.load(trace))
    record = json.loads(computed["__scenario__"].tobytes())
    listed = json.loads(subprocess.run([program, "list", "tensors", "--json"], capture_output=True, text=True, check=True).stdout)
    module = record["op"] == "multi_head_attention"
    leaf_names = {row["name"] for row in listed if row["role"] != "intermediate"} | (set() if module else {"q_heads", "k_heads", "v_heads"})
    leaves, expected = {}, {}
    scores = computed["scores"].shape
    sizes = {"N": scores[0], "H": scores[1], "L": scores[2], "S′": scores[3], "S": scores[3]}
    sizes["S"] -= sum(bool(record["attention"].get(each)) for each in ("add_bias_kv", "add_zero_attn"))
    sizes |= {"G": computed["k_heads"].shape[1], "D": computed["k_heads"].shape[3], "Dv": computed["v_heads"].shape[3],
              "E": computed["output"].shape[-1]}
    for name, array in computed.items():
        if name.startswith("__"):
            continue
        if name in ("bias_k", "bias_v"):     # the file has them as PyTorch does
            array = array.reshape(-1)
        if name in ("static_k", "static_v"):
            array = array.reshape(scores[0], -1, *array.shape[1:])
        (leaves if name in leaf_names else expected)[name] = page_tensor(array)
    return {"settings": record, "sizes": {key: int(size) for key, size in sizes.items()}, "tensors": leaves, "expected": expected}


def cases(program: str, count: int, seed: int) -> tuple[list[Json], int]:
    """So many cases, and how many combinations were refused on the way."""
    chance, made, refused = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as folder:
        while len(made) < count:
            case = case_of(program, *random_scenario(chance), Path(folder))
            if case is None:
                refused += 1
            else:
                made.append(case)
    return made, refused


def presets(program: str) -> list[Json]:
    listed = json.loads(subprocess.run([program, "list", "presets", "--json"], capture_output=True, text=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        made = [case_of(program, row["name"], {}, Path(folder)) for row in listed]
    return [case for case in made if case is not None]


if __name__ == "__main__":
    found, skipped = cases(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    json.dump(found, sys.stdout)
    print(f"{len(found)} cases, {skipped} refused", file=sys.stderr)
