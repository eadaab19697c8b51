"""One configuration: its options, its arrays, and what PyTorch makes of them, as JSON."""

import base64

import torch

from counter_random import random_array
from torch_attention import DEFAULTS, by_torch, composed, resolve, torch_has

# What a trace calls the inputs of scaled_dot_product_attention.
HEADS_NAMES = {"query": "q_heads", "key": "k_heads", "value": "v_heads"}


def encoded(tensor):
    kind, dtype = {torch.bool: ("bool", "u1"), torch.int64: ("i64", "<i8"), torch.float64: ("f64", "<f8")}[tensor.dtype]
    data = tensor.detach().contiguous().numpy().astype(dtype).tobytes()
    return {"shape": list(tensor.shape), kind: base64.b64encode(data).decode()}


class Case:
    """Options, sizes, and the arrays that are more than random."""

    def __init__(self, name, N=2, L=3, S=4, options=None, separate=None, bias=True, out_bias=True, bias_kv=False, static="",
                 self_attention=False, masks=None, special=None, amplitude=2.0, weight_amplitude=0.5, batch_first=True,
                 keep=None, ones=False, norm_weights="", gate="", sinks=0.0, relative=0.0, past=None, indexer_norm=False):
        self.name, self.keep, self.batch_first, self.ones = name, keep, batch_first, ones
        self.options = o = resolve(options or {})
        H, G, D, Dv, E = o["num_heads"], o["num_kv_heads"], o["head_dim"], o["v_head_dim"], o["embed_dim"]
        self.random = {}  # name -> (shape, amplitude)
        self.given = dict(masks or {})
        self.self_attention = self_attention
        if sinks:
            self.random["sinks"] = ((H,), sinks)
        if relative:
            self.random["relative_attention_bias.weight"] = ((o["relative_bias"]["buckets"], H), relative)
        if past is not None and o["op"] == "multi_head_latent_attention":
            self.random["past_compressed_kv"] = ((N, past, o["kv_lora_rank"]), amplitude)
            self.random["past_k_rot"] = ((N, 1, past, o["qk_rope_head_dim"]), amplitude)
        elif past is not None:
            self.random["past_key"] = ((N, G, past, D), amplitude)
            self.random["past_value"] = ((N, G, past, Dv), amplitude)
        if o["indexer"]:
            heads, width = o["indexer"]["heads"], o["indexer"]["width"]
            if o["op"] == "scaled_dot_product_attention":
                self.random["indexer_q"] = ((N, heads, L, width), 1.0)
                self.random["indexer_k"] = ((N, 1, S, width), 1.0)
                self.random["indexer_weights"] = ((N, L, heads), 1.0)
            else:
                latent = o["op"] == "multi_head_latent_attention"
                self.random["indexer.wq_b.weight"] = ((heads * width, o["q_lora_rank"] if latent else E), weight_amplitude)
                self.random["indexer.wk.weight"] = ((width, o["kdim"]), weight_amplitude)
                self.random["indexer.weights_proj.weight"] = ((heads, E), weight_amplitude)
                if indexer_norm:
                    self.random["indexer.k_norm.weight"] = ((width,), 1.0)
                    self.random["indexer.k_norm.bias"] = ((width,), 0.5)
        if o["op"] == "scaled_dot_product_attention":
            self.random["query"] = ((N, H, L, D), amplitude)
            self.random["key"] = ((N, G, S, D), amplitude)
            self.random["value"] = ((N, G, S, Dv), amplitude)
            self.given.update(special or {})
            return
        if o["op"] == "multi_head_latent_attention":
            return self.latent(N, L, S, bias, special, amplitude, weight_amplitude, norm_weights, gate)
        if separate is None:
            separate = o["kdim"] != E or o["vdim"] != E
        rows = [H * D, G * D, G * Dv]
        self.random["query"] = ((N, L, E), amplitude)
        if not self_attention:
            self.random["key"] = ((N, S, o["kdim"]), amplitude)
            self.random["value"] = ((N, S, o["vdim"]), amplitude)
        if separate:
            self.random["q_proj_weight"] = ((rows[0], E), weight_amplitude)
            self.random["k_proj_weight"] = ((rows[1], o["kdim"]), weight_amplitude)
            self.random["v_proj_weight"] = ((rows[2], o["vdim"]), weight_amplitude)
        else:
            self.random["in_proj_weight"] = ((sum(rows), E), weight_amplitude)
        if bias:
            self.random["in_proj_bias"] = ((sum(rows),), weight_amplitude)
        if bias_kv:
            self.random["bias_k"] = ((G * D,), 1.0)
            self.random["bias_v"] = ((G * Dv,), 1.0)
        if "k" in static:
            self.random["static_k"] = ((N, G, S, D), 1.0)
        if "v" in static:
            self.random["static_v"] = ((N, G, S, Dv), 1.0)
        self.random["out_proj.weight"] = ((E, H * Dv), weight_amplitude)
        if out_bias and bias:
            self.random["out_proj.bias"] = ((E,), weight_amplitude)
        for name, heads in [("q_norm.weight", H), ("k_norm.weight", G)]:
            shapes = {"D": (D,), "HD": (heads, D), "H·D": (heads * D,)}
            if norm_weights:
                self.random[name] = (shapes[norm_weights], 1.0)
        if gate:
            rows = {"H": H, "H·Dv": H * Dv}[gate]
            self.random["output_gate.weight"] = ((rows, E), 1.0)
            if bias:
                self.random["output_gate.bias"] = ((rows,), weight_amplitude)
        if o["head_gain"]:
            self.given["heads.gain"] = torch.tensor(o["head_gain"])
        self.given.update(special or {})

    def latent(self, N, L, S, bias, special, amplitude, weight_amplitude, norm_weights, gate):
        """What multi_head_latent_attention reads, under DeepSeek's names."""
        o = self.options
        H, D, Dv, E, C, Cq, R = (o[n] for n in ("num_heads", "head_dim", "v_head_dim", "embed_dim", "kv_lora_rank", "q_lora_rank", "qk_rope_head_dim"))
        self.random["query"] = ((N, L, E), amplitude)
        if not self.self_attention:
            self.random["key"] = ((N, S, o["kdim"]), amplitude)
        matrices = {"kv_a_proj_with_mqa.weight": (C + R, o["kdim"]), "kv_b_proj.weight": (H * (o["qk_nope_head_dim"] + Dv), C),
                    "out_proj.weight": (E, H * Dv)}
        rows = {"kv_a_proj_with_mqa.bias": C + R, "out_proj.bias": E}
        norms = {"kv_a_layernorm.weight": C}
        if Cq:
            matrices.update({"q_a_proj.weight": (Cq, E), "q_b_proj.weight": (H * D, Cq)})
            rows["q_a_proj.bias"] = Cq
            norms["q_a_layernorm.weight"] = Cq
        else:
            matrices["q_proj_weight"] = (H * D, E)
        if gate:
            matrices["output_gate.weight"] = ({"H": H, "H·Dv": H * Dv}[gate], E)
        for name, shape in matrices.items():
            self.random[name] = (shape, weight_amplitude)
        for name, size in {**(rows if bias else {}), **(norms if norm_weights else {})}.items():
            self.random[name] = ((size,), 1.0)
        if o["head_gain"]:
            self.given["heads.gain"] = torch.tensor(o["head_gain"])
        self.given.update(special or {})

    def arrays(self, seed):
        a = {n: random_array(seed, n, shape, amplitude) for n, (shape, amplitude) in self.random.items()}
        for name, value in self.given.items():
            a[name] = value(a[name]) if callable(value) else value
        if self.self_attention:
            a["key"] = a["query"]
            if self.options["op"] == "multi_head_attention":
                a["value"] = a["query"]
        return a

    def to_json(self, seed):
        a = self.arrays(seed)
        grad_output = self.grad_output(seed)
        r, gradients, last = self.with_gradients(composed, a, grad_output)
        by = "composed from torch primitives"
        # 1.13 fills a float mask where keys are padding, 2.x adds to it: the mask's gradients differ in rows that are NaN.
        float_mask = "attn_mask" in a and a["attn_mask"].is_floating_point()
        filled_nan = float_mask and "key_padding_mask" in a and bool(r["head_output"].isnan().any())
        if self.options["op"] == "multi_head_attention" and torch_has(self.options, a) and not filled_nan:
            torchs, torchs_gradients, _ = self.with_gradients(by_torch, a, grad_output)
            by = torchs.pop("by")
            for mine, theirs in [(r, torchs), (gradients, torchs_gradients)]:
                for name, value in theirs.items():
                    assert torch.allclose(value, mine[name], rtol=1e-11, atol=1e-13, equal_nan=True), (self.name, name)
                    mine[name] = value
        arrays = {}
        for name, value in a.items():
            if self.self_attention and name in ("key", "value"):
                arrays[name] = "query"
            elif name in self.given:
                arrays[name] = encoded(value)
            else:
                arrays[name] = {"shape": list(value.shape), "amplitude": self.random[name][1]}
        if grad_output is not None:
            arrays["grad_output"] = {"shape": list(last.shape), "amplitude": 1.0}
        expected = {n: encoded(x) for n, x in r.items() if self.keep is None or n in self.keep}
        for name, value in gradients.items():
            given = name.removeprefix("grad.") in [*a, *HEADS_NAMES.values()]
            if self.keep is None or name in self.keep or given and "grad" in self.keep:
                expected[name] = encoded(value)
        options = {n: x for n, x in self.options.items() if x != DEFAULTS[n]}
        return {"name": self.name, "by": by, "seed": seed, "options": options, "arrays": arrays, "expected": expected}

    def grad_output(self, seed):
        """A function of the last output's shape, or None: all ones."""
        return None if self.ones else lambda shape: random_array(seed, "grad_output", shape, 1.0)

    def with_gradients(self, function, a, grad_output):
        """(the tensors that the function makes, the gradients of what it read and made, the last output)"""
        leaves = {n: x.clone().requires_grad_() if x.is_floating_point() else x for n, x in a.items()}
        if self.self_attention:
            leaves.update({n: leaves["query"] for n in ("key", "value") if n in leaves})
        if function is by_torch:
            by, output, weights = by_torch(self.options, leaves, self.batch_first)
            r = {"by": by, "output": output}
            if weights is not None:
                r["attn_output_weights"] = weights
        else:
            r = function(self.options, leaves)
        made = {n: x for n, x in r.items() if torch.is_tensor(x) and n != "attn_output_weights"}
        last = next(made[n] for n in ("layer_norm_output", "residual_output", "output", "head_output") if n in made)
        for x in made.values():
            if x.requires_grad:
                x.retain_grad()
        (last if grad_output is None else last * grad_output(last.shape)).sum().backward()
        gradients = {}
        for name, x in {**leaves, **made}.items():
            if not x.is_floating_point() or (self.self_attention and name in ("key", "value")):
                continue
            if (name in made and x.grad is None) or name.startswith("indexer"):
                continue  # not on the way to the loss
            if self.options["op"] == "scaled_dot_product_attention":
                name = HEADS_NAMES.get(name, name)
            gradients["grad." + name] = torch.zeros_like(x) if x.grad is None else x.grad
        return {n: x.detach() if torch.is_tensor(x) else x for n, x in r.items()}, gradients, last
