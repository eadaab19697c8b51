"""Cases for the page's attention: seeded random scenarios over every option of the format, the presets and the
pages of the built-in lessons, each computed by the program in f64.

    random_scenarios.py HEADWISE -o cases.json --count 500 --seed 1 --lessons assets/lessons

A case is what the page gets, {"name", "settings", "sizes", "tensors"}, and what must come out of it besides these
tensors: "expected". What the program refuses is counted and left out. Python 3 and NumPy only.
"""

import argparse
import base64
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

LEAVES = ["query", "key", "value", "past_key", "past_value", "past_compressed_kv", "past_k_rot", "in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
          "q_a_proj.weight", "q_a_proj.bias", "q_a_layernorm.weight", "q_b_proj.weight", "kv_a_proj_with_mqa.weight",
          "kv_a_proj_with_mqa.bias", "kv_a_layernorm.weight", "kv_b_proj.weight",
          "q_norm.weight", "k_norm.weight", "sinks", "relative_attention_bias.weight",
          "indexer.wq_b.weight", "indexer.wk.weight", "indexer.k_norm.weight", "indexer.k_norm.bias", "indexer.weights_proj.weight", "bias_k", "bias_v", "static_k", "static_v",
          "output_gate.weight", "output_gate.bias", "out_proj.weight", "out_proj.bias", "attn_mask", "key_padding_mask", "valid_lens",
          "nonpad_kv_seqlen", "heads.gain", "frozen_weights"]
SDPA_LEAVES = ["q_heads", "k_heads", "v_heads", "indexer_q", "indexer_k", "indexer_weights"]  # what scaled_dot_product_attention is given
TYPES = {"bool": "bool", "float32": "f32", "float64": "f64", "int64": "i64"}
EXACT_IN_JAVASCRIPT = 2**53


def encoded(array):
    with numpy.errstate(over="ignore"):
        narrow = array.astype(numpy.float32) if array.dtype == numpy.float64 else array
    if narrow.size and numpy.array_equal(narrow, array, equal_nan=array.dtype != bool):
        array = narrow  # the same numbers in half the bytes
    bytes_of = numpy.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    return {"shape": list(array.shape), "type": TYPES[array.dtype.name], "data": base64.b64encode(bytes_of).decode()}


# What a scenario is made of. `chance` of each option is such that all of them meet all others now and then.


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)

    def chance(self, p):
        return self.random.random() < p

    def one_of(self, *choices):
        return self.random.choice(choices)

    def integer(self, least, most):
        return self.random.randint(least, most)

    def number(self, least, most):
        return self.random.uniform(least, most)

    def array(self, *shape):
        return self.numbers.normal(size=shape)

    def flags(self, p, *shape):
        return self.numbers.random(size=shape) < p


def spoil(draw, array):
    """A number that is not finite, where none is expected."""
    array.flat[draw.integer(0, array.size - 1)] = draw.one_of(numpy.inf, -numpy.inf, numpy.nan)


def draw_sizes(draw, sdpa):
    kv_heads = draw.integer(1, 3)
    s = {"N": draw.one_of(1, 1, 2, 3), "L": draw.integer(1, 9), "G": kv_heads, "H": kv_heads * draw.one_of(1, 1, 2, 3)}
    s["self"] = not sdpa and draw.chance(0.4)
    s["S"] = s["L"] if s["self"] else draw.integer(1, 9)
    s["D"] = draw.one_of(1, 2, 3, 4, 4, 6, 8)
    s["Dv"] = s["D"] if draw.chance(0.6) else draw.integer(1, 6)
    s["E"] = s["H"] * s["D"] if draw.chance(0.6) else draw.integer(1, 14)
    other_widths = not s["self"] and draw.chance(0.4)
    s["kdim"], s["vdim"] = (draw.integer(1, 9), draw.integer(1, 9)) if other_widths else (s["E"], s["E"])
    s["P"] = draw.integer(1, 5) if draw.chance(0.25) else 0
    s["T"] = s["P"] + s["S"]  # the keys that masks speak of
    return s


def draw_attention(draw, s, sdpa):
    a = {"num_heads": s["H"], "need_weights": draw.chance(0.8), "average_attn_weights": draw.chance(0.6)}
    if s["G"] != s["H"] or draw.chance(0.3):
        a["num_kv_heads"] = s["G"]
    if sdpa or s["E"] != s["H"] * s["D"]:
        a["head_dim"] = s["D"]
    if s["Dv"] != s["D"]:
        a["v_head_dim"] = s["Dv"]
    if not sdpa:
        a["embed_dim"] = s["E"]
        a["bias"] = draw.chance(0.7)
        for name in ("kdim", "vdim"):
            if s[name] != s["E"]:
                a[name] = s[name]
        for name, p in (("add_bias_kv", 0.2), ("add_zero_attn", 0.2), ("residual", 0.2), ("layer_norm", 0.2)):
            a[name] = draw.chance(p)
        if draw.chance(0.15):
            a["clip_qkv"] = draw.number(0.05, 1.5)
    if not sdpa and draw.chance(0.2):
        a["output_gate"] = True
    if not sdpa and draw.chance(0.25):  # what is appended is not normalised
        a["add_bias_kv"] = a["add_zero_attn"] = False
        a["qk_norm"] = draw.one_of("per_head", "whole", "per_head_after_rotary")
        a["qk_norm_kind"] = draw.one_of("rms", "rms", "layer", "l2")
        a["qk_norm_epsilon"] = draw.one_of(1e-6, 1e-5, draw.number(0, 1))
        a["qk_norm_offset"] = draw.one_of(0.0, 1.0)
    if draw.chance(0.3) and s["D"] > 1:  # every key needs a position, which appended ones have not
        a["add_bias_kv"] = a["add_zero_attn"] = False
        if s["D"] % 2 == 0 and draw.chance(0.6):
            a["rotary_base"] = draw.one_of(10000.0, 100.0, draw.number(1.5, 50))
        else:
            count = draw.integer(1, s["D"] // 2)
            a["rotary_inverse_frequencies"] = [draw.number(-1, 2) for _ in range(count)]
        a["rotary_pairs"] = draw.one_of("halves", "neighbours")
        a["rotary_factor"] = draw.one_of(1.0, 1.0, draw.number(0.5, 2))
    if sdpa:
        a.pop("add_bias_kv", None), a.pop("add_zero_attn", None)
    if draw.chance(0.25):
        a["scale"] = draw.one_of(0.0, -0.7, 1.0, draw.number(0, 2), draw.number(5, 60))
    if draw.chance(0.2):
        a["softcap"] = draw.number(0.2, 30)
    if draw.chance(0.2):
        a["temperature"] = draw.number(0.1, 4)
    if draw.chance(0.25):  # a number for all heads, or one for each
        a["sink"] = draw.one_of(0.0, draw.number(-3, 3), [draw.number(-5, 5) for _ in range(s["H"])])
    s["relative"] = draw.chance(0.25)
    if s["relative"]:  # few buckets, so that distances share them
        both = draw.chance(0.5)
        a["relative_bias"] = {"buckets": draw.integer(4, 12), "max_distance": draw.integer(7, 20), "bidirectional": both}
    if draw.chance(0.25):
        a["dropout"] = draw.one_of(0.1, 0.5, 1.0, draw.number(0, 1))
        a["dropout_seed"] = draw.one_of(0, 1, draw.integer(0, 2**32), draw.integer(0, 2**64 - 1))
    return a


def draw_attn_mask(draw, s, sdpa):
    if not sdpa:
        shape = draw.one_of((s["L"], s["T"]), (s["N"] * s["H"], s["L"], s["T"]))
    else:
        whole = [s["N"], s["H"], s["L"], s["T"]]
        if draw.chance(0.5) and s["T"] > 2:
            whole[3] = draw.integer(2, s["T"] - 1)  # shorter than the keys
        for axis in range(4 if whole[3] == s["T"] else 3):
            if draw.chance(0.25):
                whole[axis] = 1
        shape = tuple(whole[draw.integer(0, 3):])
    if draw.chance(0.5):
        return draw.flags(draw.one_of(0.3, 0.8), *shape)
    mask = draw.array(*shape)
    if draw.chance(0.5):
        mask[draw.flags(0.4, *shape)] = -numpy.inf
    if draw.chance(0.15):
        spoil(draw, mask)
    return mask if draw.chance(0.8) else mask.astype(numpy.float32)


def draw_preset(draw, s):
    starts = sorted(draw.random.sample(range(1, s["T"]), draw.integer(0, min(2, s["T"] - 1))))
    return draw.one_of("causal", "causal_bottom_right", "sliding_window", f"sliding_window:{draw.integer(1, 4)}",
                       f"prefix:{draw.integer(0, s['T'])}", f"dilated:{draw.integer(1, 3)}:{draw.integer(1, 3)}",
                       "document:" + ",".join(str(start) for start in [0, *starts]), f"padding:{draw.integer(0, s['T'])}")


def draw_mask(draw, s, a, sdpa, arrays):
    m = {"is_causal": draw.chance(0.25), "causal_alignment": draw.one_of("top_left", "bottom_right")}
    if draw.chance(0.2):
        m["sliding_window"] = draw.integer(1, 5)
    elif draw.chance(0.2):
        m["window_left"] = draw.one_of(None, draw.integer(0, 4))
        m["window_right"] = draw.one_of(None, draw.integer(0, 4))
    if draw.chance(0.2):
        m["alibi"] = True
        m["alibi_scale"] = draw.one_of(1.0, 1.0, -0.5, draw.number(0, 3))
    if draw.chance(0.2):
        length = lambda: draw.integer(0, s["T"])
        per_query = draw.chance(0.5)
        m["valid_lens"] = [[length() for _ in range(s["L"])] if per_query else length() for _ in range(s["N"])]
    if draw.chance(0.2):
        m["preset"] = draw_preset(draw, s)
    if draw.chance(0.25):
        m["value"] = draw.one_of(-1e9, -1e6, -10000.0, -3.5)
    if draw.chance(0.4):
        m["fully_masked_rows"] = draw.one_of("nan", "zero")
    fits = not sdpa or m.get("preset") in (None, "causal")  # a preset adds to a mask of (L,S) at its end
    if draw.chance(0.5 if sdpa else 0.3) and fits:
        arrays["attn_mask"] = draw_attn_mask(draw, s, sdpa)
    if draw.chance(0.2):
        padding = draw.flags(0.3, s["N"], s["T"])
        arrays["key_padding_mask"] = padding if draw.chance(0.6) else draw.array(s["N"], s["T"])
    appends = a.get("add_bias_kv") or a.get("add_zero_attn")
    s["indexer"] = 0  # its width
    if s["P"] == 0 and not appends and draw.chance(0.3):  # as wide as the columns that the layer rotates
        turned = s["D"] if "rotary_base" in a else 2 * len(a.get("rotary_inverse_frequencies", []))
        s["indexer"] = max(1, turned + draw.integer(0, 3))
        m["indexer"] = {"heads": draw.integer(1, 3), "width": s["indexer"], "k": draw.integer(1, s["T"] + 1),
                        "rotary_pairs": draw.one_of("halves", "neighbours")}
    if s["P"] == 0 and not s["relative"] and draw.chance(0.2):
        arrays["nonpad_kv_seqlen"] = numpy.array([draw.integer(0, s["S"]) for _ in range(s["N"])], dtype=numpy.int64)
    return m


def draw_arrays(draw, s, a, sdpa, arrays):
    """Inputs and parameters that the scenario does not make itself."""
    if s["P"] > 0 and draw.chance(0.5):
        arrays["past_key"] = draw.array(s["N"], s["G"], s["P"], s["D"])
        arrays["past_value"] = draw.array(s["N"], s["G"], s["P"], s["Dv"])
    if sdpa:
        if draw.chance(0.3):
            arrays["query"] = draw.array(s["N"], s["H"], s["L"], s["D"])
            arrays["key"] = draw.array(s["N"], s["G"], s["S"], s["D"])
            arrays["value"] = draw.array(s["N"], s["G"], s["S"], s["Dv"])
            if draw.chance(0.2):
                spoil(draw, arrays[draw.one_of("query", "key", "value")])
        return
    if draw.chance(0.3):
        arrays["query"] = draw.array(s["N"], s["L"], s["E"])
        if draw.chance(0.15):
            spoil(draw, arrays["query"])
    rows = (s["H"] + s["G"]) * s["D"] + s["G"] * s["Dv"]
    if a["bias"] and draw.chance(0.9):  # the program would make zeros
        arrays["in_proj_bias"] = draw.array(rows)
        arrays["out_proj.bias"] = draw.array(s["E"])
    if "output_gate" in a and draw.chance(0.6):
        columns = draw.one_of(s["H"], s["H"] * s["Dv"])
        arrays["output_gate.weight"] = draw.array(columns, s["E"])
        if draw.chance(0.5):
            arrays["output_gate.bias"] = draw.array(columns)
    if "qk_norm" in a and draw.chance(0.7):
        for name, heads in (("q_norm.weight", s["H"]), ("k_norm.weight", s["G"])):
            whole = a["qk_norm"] == "whole"
            arrays[name] = draw.array(*draw.one_of((s["D"],), (heads, s["D"])) if not whole else (heads * s["D"],))
    if s["indexer"] and draw.chance(0.5):
        arrays["indexer.k_norm.weight"] = draw.array(s["indexer"])
        arrays["indexer.k_norm.bias"] = draw.array(s["indexer"])
    if s["P"] > 0 or s["indexer"]:
        return
    if draw.chance(0.15) and not a["add_bias_kv"] and "qk_norm" not in a and "rotary_base" not in a and "rotary_inverse_frequencies" not in a:
        arrays["static_k"] = draw.array(s["N"] * s["G"], s["S"], s["D"])
    if draw.chance(0.15) and not a["add_bias_kv"]:
        arrays["static_v"] = draw.array(s["N"] * s["G"], s["S"], s["Dv"])
        if draw.chance(0.3):
            spoil(draw, arrays["static_v"])


def draw_heads(draw, s, a, sdpa, arrays):
    heads = {}
    if not sdpa and draw.chance(0.25):
        heads["gain"] = [draw.one_of(0.0, 1.0, draw.number(-2, 2)) for _ in range(s["H"])]
    if draw.chance(0.2):
        frozen = draw.random.sample(range(s["H"]), draw.integer(1, s["H"]))
        all_keys = s["T"] + (0 if sdpa else a["add_bias_kv"] + a["add_zero_attn"])
        weights = numpy.abs(draw.array(s["N"], len(frozen), s["L"], all_keys))
        heads["frozen"] = {"heads": frozen}
        if draw.chance(0.5):
            heads["frozen"]["attn_weights"] = weights.tolist()
        else:
            arrays["frozen_weights"] = weights
    return heads


def draw_edits(draw, s, sdpa):
    if sdpa or not draw.chance(0.25):
        return []
    edits = [{"tensor": "query", "index": [draw.integer(0, s["N"] - 1), draw.integer(0, s["L"] - 1), 0],
              "value": draw.one_of(3.0, -40.0, 1e120)}]
    if draw.chance(0.5):
        edits.append({"tensor": "out_proj.weight", "index": [0, 0], "value": 7.5})
    return edits


def as_latent(draw, s, scenario, arrays):
    """The same as multi_head_latent_attention, without what that does not have."""
    attention = scenario["attention"]
    for name in ("num_kv_heads", "head_dim", "vdim", "add_bias_kv", "add_zero_attn", "clip_qkv", "qk_norm", "qk_norm_kind", "qk_norm_epsilon",
                 "qk_norm_offset", "rotary_inverse_frequencies"):
        attention.pop(name, None)
    for name in ("in_proj_bias", "static_k", "static_v", "q_norm.weight", "k_norm.weight", "past_key", "past_value"):
        arrays.pop(name, None)
    C, Dn, R, Cq = draw.integer(1, 6), draw.integer(1, 5), 2 * draw.integer(1, 3), draw.one_of(None, draw.integer(1, 5))
    attention.update(kv_lora_rank=C, qk_nope_head_dim=Dn, qk_rope_head_dim=R, q_lora_rank=Cq, v_head_dim=s["Dv"],
                     layout=draw.one_of("expanded", "absorbed"), latent_norm_epsilon=draw.one_of(1e-6, draw.number(0, 1)))
    if draw.chance(0.6):
        attention.update(rotary_base=draw.one_of(10000.0, draw.number(1.5, 50)), rotary_pairs=draw.one_of("halves", "neighbours"))
    if draw.chance(0.7):
        arrays["kv_a_layernorm.weight"] = draw.array(C)
        arrays.update({"q_a_layernorm.weight": draw.array(Cq)} if Cq else {})
    if s["P"] > 0 and draw.chance(0.5):
        arrays["past_compressed_kv"] = draw.array(s["N"], s["P"], C)
        arrays["past_k_rot"] = draw.array(s["N"], 1, s["P"], R)
    if attention["bias"] and draw.chance(0.7):
        arrays["kv_a_proj_with_mqa.bias"] = draw.array(C + R)
        arrays.update({"q_a_proj.bias": draw.array(Cq)} if Cq else {})
    indexer = scenario["mask"].get("indexer")
    if indexer and not Cq:
        del scenario["mask"]["indexer"]
    elif indexer:  # as wide as the columns that are rotated
        indexer["width"] = max(indexer["width"], R if "rotary_base" in attention else 1)
        for name in ("indexer.k_norm.weight", "indexer.k_norm.bias"):
            if name in arrays:
                arrays[name] = draw.array(indexer["width"])
    scenario["op"] = "multi_head_latent_attention"


def draw_scenario(seed):
    """A scenario and the arrays beside it."""
    draw, arrays = Draw(seed), {}
    sdpa = draw.chance(0.3)
    s = draw_sizes(draw, sdpa)
    attention = draw_attention(draw, s, sdpa)
    source = draw.one_of("random", "random", "uniform01", "ones")
    scenario = {
        "headwise": 1,
        "op": "scaled_dot_product_attention" if sdpa else "multi_head_attention",
        "attention": attention,
        "inputs": {"source": source, "seed": seed, "batch": s["N"], "query_length": s["L"],
                   "past_length": s["P"]},
        "parameters": {"layout": draw.one_of("packed", "packed", "separate", "per_head"), "seed": seed,
                       "init": draw.one_of("xavier_uniform", "xavier_normal", "normal_dk", "uniform01", "identity")},
        "mask": draw_mask(draw, s, attention, sdpa, arrays),
        "heads": draw_heads(draw, s, attention, sdpa, arrays),
        "edits": draw_edits(draw, s, sdpa),
    }
    if not s["self"]:
        scenario["inputs"]["key_length"] = s["S"]
        scenario["inputs"]["self_attention"] = False
    draw_arrays(draw, s, attention, sdpa, arrays)
    appended = attention.get("add_bias_kv") or attention.get("add_zero_attn")
    if seed % 5 == 3 and not sdpa and not appended:
        as_latent(draw, s, scenario, arrays)
    return scenario, arrays


# What the program makes of it.


def record_of(trace, name):
    return json.loads(trace[name].tobytes().decode())


def case_of_run(name, path, forgets=False):
    """The page's data of a trace. `forgets`: without the leaves that settings hold as well."""
    with numpy.load(path, allow_pickle=False) as trace:
        settings = record_of(trace, "__scenario__")
        expected = {key: trace[key] for key in trace.files if not key.startswith("__")}
    attention, inputs = settings["attention"], settings["inputs"]
    sdpa = settings["op"] == "scaled_dot_product_attention"
    for place, key in ((attention, "dropout_seed"), (inputs, "seed"), (settings["parameters"], "seed")):
        if place[key] >= EXACT_IN_JAVASCRIPT:
            place[key] = str(place[key])
    leaves = [leaf for leaf in (SDPA_LEAVES + LEAVES if sdpa else LEAVES) if leaf in expected]
    if forgets:
        leaves = [leaf for leaf in leaves if not (leaf == "heads.gain" and settings["heads"]["gain"])
                  and not (leaf == "valid_lens" and settings["mask"]["valid_lens"])]
    batch, heads, queries, all_keys = expected["scores"].shape
    keys = inputs["query_length"] if inputs["key_length"] is None else inputs["key_length"]
    latent = settings["op"] == "multi_head_latent_attention"
    value_width = expected["head_output"].shape[3]
    kv_heads = 1 if latent and attention["layout"] == "absorbed" else heads if latent else expected["k_heads"].shape[1]
    sizes = {"N": batch, "L": queries, "P": inputs["past_length"], "S": keys, "S′": all_keys, "H": heads,
             "E": heads * value_width if sdpa else attention["embed_dim"], "G": kv_heads,
             "D": expected["q_heads"].shape[3], "Dv": value_width}
    return {"name": name, "settings": settings, "sizes": sizes,
            "tensors": {leaf: encoded(expected[leaf]) for leaf in leaves},
            "expected": {key: encoded(array) for key, array in expected.items() if key not in leaves}}


def computed_case(program, folder, name, scenario, arrays, extra=(), forgets=False):
    """The case, or what the program said instead."""
    trace = folder / "trace.npz"
    command = [program, "run", scenario if isinstance(scenario, str) else "-", "--dtype", "f64", *extra, "-o", str(trace)]
    if arrays:
        numpy.savez(folder / "arrays.npz", **arrays)
        command += ["--input", str(folder / "arrays.npz")]
    text = None if isinstance(scenario, str) else json.dumps(scenario)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return case_of_run(name, trace, forgets), ""


def random_cases(program, folder, count, seed):
    """`count` cases, and why others were refused."""
    cases, refusals = [], []
    for number in range(seed * 100000, seed * 100000 + 2 * count):
        if len(cases) == count:
            break
        scenario, arrays = draw_scenario(number)
        case, refusal = computed_case(program, folder, f"random {number}", scenario, arrays, forgets=number % 2 == 1)
        if case:
            cases.append(case)
        else:
            refusals.append(f"random {number}: {refusal}")
    return cases, refusals


def dropout_number(seed, cell):
    """The number in [0, 1) that decides whether dropout keeps a cell: Philox4x32-10, see core/tensor/random.h."""
    stream = 0xCBF29CE484222325
    for byte in b"dropout":
        stream = ((stream ^ byte) * 0x100000001B3) % 2**64
    counter, key = [cell % 2**32, cell >> 32, stream % 2**32, stream >> 32], [seed % 2**32, seed >> 32]
    for _ in range(10):
        a, c = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [(c >> 32) ^ counter[1] ^ key[0], c % 2**32, (a >> 32) ^ counter[3] ^ key[1], a % 2**32]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return ((counter[0] | counter[1] << 32) >> 11) * 2.0**-53


def edge_scenarios():
    """What no random number meets: a dropout of exactly a cell's number, which is kept, and a weight that is too
    small for a double beside an infinite value: 0·∞ is NaN."""
    for seed, cell in ((1, 0), (5, 7), (2**64 - 3, 11)):
        yield f"dropout of the number of cell {cell}", {
            "headwise": 1, "attention": {"embed_dim": 4, "num_heads": 2, "dropout_seed": seed,
                                         "dropout": dropout_number(seed, cell)},
            "inputs": {"query_length": 4}}, {}
    ones = numpy.ones((1, 1, 2, 1))
    for below in (-700.0, -707.5, -708.0, -709.0, -744.0, -800.0):
        keys, values = ones * [[0.0], [below]], ones * [[1.0], [numpy.inf]]
        yield f"a score {below} below another", {
            "headwise": 1, "op": "scaled_dot_product_attention", "inputs": {"self_attention": False},
        }, {"query": ones, "key": keys, "value": values}


def empty_scenarios():
    """Without a sentence, without queries, without keys: nothing to compute, or only biases."""
    for name, sizes in (("N = 0", {"batch": 0}), ("L = 0", {"query_length": 0}), ("S = 0", {"key_length": 0})):
        inputs = {"batch": 2, "query_length": 3, "key_length": 4, "self_attention": False, **sizes}
        for op in ("multi_head_attention", "scaled_dot_product_attention"):
            yield f"{op}, {name}", {"headwise": 1, "op": op, "attention": {"embed_dim": 6, "num_heads": 2},
                                    "inputs": inputs, "mask": {"is_causal": True}}, {}


def preset_names(program):
    listed = subprocess.run([program, "list", "presets"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def lesson_scenarios(lesson):
    """The different (scenario, changes) of a lesson's pages. A page without a scenario goes on from the page before."""
    scenario, changes, found = "welcome", [], []
    for number, page in enumerate(json.loads(lesson.read_text(encoding="utf-8"))["pages"], 1):
        if "scenario" in page:
            scenario, changes = page["scenario"], []
        changes = changes + page.get("set", [])
        if all((scenario, changes) != there[1:] for there in found):
            found.append((f"{lesson.stem}, page {number}", scenario, changes))
    return found


def fixed_cases(program, folder, lessons):
    """The presets, the lessons in a folder, and the scenarios above."""
    scenarios = [(f"preset {name}", name, []) for name in preset_names(program)]
    for lesson in sorted(lessons.glob("*.json")):
        scenarios += lesson_scenarios(lesson)
    settings = [[part for change in changes for part in ("--set", change)] for _, _, changes in scenarios]
    all_of = [(name, scenario, {}, extra) for (name, scenario, _), extra in zip(scenarios, settings)]
    all_of += [(*scenario, ()) for scenario in [*edge_scenarios(), *empty_scenarios()]]
    cases, refusals = [], []
    for name, scenario, arrays, extra in all_of:
        case, refusal = computed_case(program, folder, name, scenario, arrays, extra)
        if not case:
            refusals.append(f"{name}: {refusal}")
        elif case["settings"]["attention"]["rotary_scaling"] is None:  # a page is given its frequencies: lesson_page_test.py
            cases.append(case)
    return cases, refusals


# Which options occur.


def options_of(case):
    settings, tensors, sizes = case["settings"], {**case["tensors"], **case["expected"]}, case["sizes"]
    attention, mask, heads, inputs = (settings[section] for section in ("attention", "mask", "heads", "inputs"))
    sdpa = settings["op"] == "scaled_dot_product_attention"
    module = not sdpa
    given = {name: name in tensors for name in LEAVES}
    kind = lambda name, type_of: given[name] and (tensors[name]["type"] == "bool") == (type_of == "bool")
    rank = lambda name: len(tensors[name]["shape"])
    weights = tensors["attn_weights"]
    rows = numpy.frombuffer(base64.b64decode(weights["data"]), {"f32": "<f4", "f64": "<f8"}[weights["type"]])
    rows = rows.reshape(sizes["N"] * sizes["H"] * sizes["L"], sizes["S′"])
    forgotten = set(case["expected"]) & set(LEAVES)
    found = {
        settings["op"]: True,
        "latent, " + attention["layout"]: settings["op"] == "multi_head_latent_attention",
        "latent, a compressed query": attention["q_lora_rank"] is not None,
        "N > 1": sizes["N"] > 1,
        "L ≠ S": sizes["L"] != sizes["S"],
        "grouped heads": sizes["G"] != sizes["H"],
        "kdim or vdim ≠ E": module and (attention["kdim"] is not None or attention["vdim"] is not None),
        "H·D ≠ E": module and sizes["H"] * sizes["D"] != sizes["E"],
        "Dv ≠ D": sizes["Dv"] != sizes["D"],
        "self-attention": module and inputs["self_attention"],
        "bias false": module and not attention["bias"],
        "add_bias_kv": given["bias_k"],
        "add_zero_attn": attention["add_zero_attn"],
        "static_k": given["static_k"],
        "static_v": given["static_v"],
        "packed": given["in_proj_weight"],
        "separate matrices": given["q_proj_weight"],
        "layout " + settings["parameters"]["layout"]: module,
        "rotary_base": attention["rotary_base"] is not None,
        "rotary_inverse_frequencies": attention["rotary_inverse_frequencies"] is not None,
        "rotary, bottom_right, L ≠ S": "q_rotary" in tensors and mask["causal_alignment"] == "bottom_right"
        and sizes["L"] != sizes["S"],
        "output gate of each column": "output_gate" in tensors and tensors["output_gate"]["shape"] == tensors["concat"]["shape"],
        "output gate of each head, with a bias": "output_gate.bias" in tensors and tensors["output_gate"]["shape"][-1] == sizes["H"] < sizes["E"],
        "QK-norm per head, then rotary": attention["qk_norm"] == "per_head" and "q_rotary" in tensors,
        "QK-norm after rotary, with weights": attention["qk_norm"] == "per_head_after_rotary" and "q_rotary" in tensors
                                              and "q_norm.weight" in tensors,
        "QK-norm of whole rows": attention["qk_norm"] == "whole",
        "rotary of neighbours, with a factor": "q_rotary" in tensors and attention["rotary_pairs"] == "neighbours"
        and attention["rotary_factor"] != 1,
        "rotary, columns left over": "q_rotary" in tensors
        and 2 * len(attention["rotary_inverse_frequencies"] or [0] * (sizes["D"] // 2)) < sizes["D"],
        "scale": attention["scale"] is not None,
        "scale 0": attention["scale"] == 0,
        "softcap": attention["softcap"] > 0,
        "temperature": attention["temperature"] != 1,
        "clip_qkv": attention["clip_qkv"] is not None,
        "a sink": given["sinks"],
        "sinks by head": isinstance(attention["sink"], list),
        "an indexer": mask["indexer"] is not None,
        "an indexer with latents": mask["indexer"] is not None and attention["q_lora_rank"] is not None,
        "relative bias of both sides": attention["relative_bias"] is not None and attention["relative_bias"]["bidirectional"],
        "relative bias of keys behind": attention["relative_bias"] is not None and not attention["relative_bias"]["bidirectional"],
        "dropout": attention["dropout"] > 0,
        "dropout 1": attention["dropout"] == 1,
        "dropout_seed ≥ 2^53": attention["dropout"] > 0 and isinstance(attention["dropout_seed"], str),
        "is_causal": mask["is_causal"],
        "is_causal, bottom_right, L ≠ S": mask["is_causal"] and mask["causal_alignment"] == "bottom_right"
        and sizes["L"] != sizes["S"],
        "sliding_window": mask["sliding_window"] is not None,
        "window of two sides": mask["window_left"] is not None and mask["window_right"] is not None,
        "window with a bound ahead alone": mask["window_left"] is None and mask["window_right"] is not None,
        "alibi": mask["alibi"],
        "alibi, H no power of two": mask["alibi"] and sizes["H"] & (sizes["H"] - 1) != 0,
        "alibi_scale": mask["alibi"] and mask["alibi_scale"] != 1,
        "valid_lens (N)": given["valid_lens"] and rank("valid_lens") == 1,
        "valid_lens (N,L)": given["valid_lens"] and rank("valid_lens") == 2,
        "a past": given["past_key"],
        "a past, is_causal": given["past_key"] and mask["is_causal"],
        "a past of latents, " + attention["layout"]: given["past_k_rot"],
        "a past of latents behind RoPE": given["past_k_rot"] and "q_rotary" in tensors,
        "a past behind RoPE": given["past_key"] and "q_rotary" in tensors,
        "nonpad_kv_seqlen": given["nonpad_kv_seqlen"],
        "nonpad_kv_seqlen, is_causal": given["nonpad_kv_seqlen"] and mask["is_causal"],
        "attn_mask bool, module": module and kind("attn_mask", "bool"),
        "attn_mask float, module": module and kind("attn_mask", "float"),
        "attn_mask (N·H,L,S)": module and given["attn_mask"] and rank("attn_mask") == 3,
        "attn_mask bool, sdpa": sdpa and kind("attn_mask", "bool"),
        "attn_mask float, sdpa": sdpa and kind("attn_mask", "float"),
        "attn_mask of fewer than 4 axes, sdpa": sdpa and given["attn_mask"] and rank("attn_mask") < 4,
        "attn_mask short, sdpa": sdpa and given["attn_mask"] and 1 < tensors["attn_mask"]["shape"][-1] < sizes["S"],
        "key_padding_mask bool": kind("key_padding_mask", "bool"),
        "key_padding_mask float": kind("key_padding_mask", "float"),
        "mask.preset " + (mask["preset"] or "").split(":")[0]: mask["preset"] is not None,
        "mask.value": mask["value"] != "-inf",
        "fully_masked_rows " + str(mask["fully_masked_rows"]): mask["fully_masked_rows"] is not None,
        "NaN in attn_weights": numpy.isnan(rows).any(),
        "a row of zeros in attn_weights": sizes["S′"] > 0 and (rows == 0).all(axis=1).any(),
        "heads.gain": given["heads.gain"],
        "heads.frozen": given["frozen_weights"],
        "heads.frozen, all": given["frozen_weights"] and len(heads["frozen"]["heads"]) == sizes["H"],
        "heads.frozen and dropout": given["frozen_weights"] and attention["dropout"] > 0,
        "residual": attention["residual"],
        "layer_norm": attention["layer_norm"],
        "need_weights false": module and not attention["need_weights"],
        "average_attn_weights false": module and attention["need_weights"] and not attention["average_attn_weights"],
        "edits": bool(settings["edits"]),
        "heads.gain from the settings": "heads.gain" in forgotten,
        "valid_lens from the settings": "valid_lens" in forgotten,
    }
    return [option for option, occurs in found.items() if occurs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lessons", type=pathlib.Path, help="a folder of lessons: their scenarios too, the presets, and edges")
    parser.add_argument("--verbose", action="store_true", help="say what was refused, and how often each option occurs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases, refusals = random_cases(given.program, folder, given.count, given.seed)
        drawn = len(cases) + len(refusals)
        if given.lessons:
            fixed, refused = fixed_cases(given.program, folder, given.lessons)
            cases += fixed
            if refused:
                sys.exit("\n".join(["a scenario that is not drawn cannot be computed", *refused]))
    counts = collections.Counter(option for case in cases for option in options_of(case))
    print(f"{len(cases)} cases; {len(refusals)} of {drawn} drawn ones were refused")
    if given.verbose:
        print("\n".join(refusals))
        print("\n".join(f"{number:5} {option}" for option, number in sorted(counts.items())))
    if 3 * len(refusals) > drawn:
        sys.exit("more than a third of the drawn scenarios are refused")
    with open(given.output, "w", encoding="utf-8") as file:
        json.dump(cases, file, ensure_ascii=False)


if __name__ == "__main__":
    main()
