"""Watches a model's forward pass and keeps what each attention module received and the weights that it computed.

Nothing here knows a family: weights are what the module's eager attention function returned, or else what its softmax gave;
queries, keys and values are what went into the matrices that are named after them.
"""
import re, sys
from dataclasses import dataclass, field

import torch
from torch.overrides import TorchFunctionMode

FUSED = torch.nn.functional.scaled_dot_product_attention
SOFTMAX = {torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax, torch.special.softmax}
PACKED = r"(c_attn|qkv|Wqkv|wqkv|query_key_value|qkv_proj|in_proj|W_pack|att_proj|qkv_linear|to_qkv)"
NAMED = {"query": r"(q|query|q_proj|q_lin|wq|query_proj|q_attn|linear_q|to_q|q_b_proj|q_a_proj|W_Q|linear_query|query_global)",
         "key": r"(k|key|k_proj|k_lin|wk|key_proj|linear_k|to_k|kv|kv_proj|to_kv|kv_a_proj_with_mqa|W_K|key_value|linear_key)",
         "value": r"(v|value|v_proj|v_lin|wv|value_proj|linear_v|to_v|kv|kv_proj|to_kv|W_V|key_value|linear_value)"}
OUTPUT = re.compile(r"(o|o_proj|out_proj|c_proj|dense|proj|out_lin|to_out|wo|Wo|out|attn_out|output|linear_out|projection|final_linear|out_proj_linear)")


@dataclass
class Call:
    """One call of a module that owns a matrix."""
    path: str
    given: torch.Tensor
    result: torch.Tensor
    order: int


@dataclass
class Attention:
    """One computation of attention weights."""
    path: str  # of the innermost module around it
    weights: torch.Tensor
    order: int
    source: str  # "eager", "softmax", "fused" or "torch.nn.MultiheadAttention"
    around: int = 0  # when the module around it was entered
    matrix: str = ""  # the module or parameter whose matrix makes the queries
    inputs: dict = field(default_factory=dict)  # query, key, value
    output: torch.Tensor = None


def fused_weights(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """The weights that F.scaled_dot_product_attention keeps to itself."""
    with torch._C.DisableTorchFunction():
        if enable_gqa:
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
        return scores.softmax(-1)


class Watch(TorchFunctionMode):
    """Use as a context around model(**inputs); afterwards `attentions` holds the first call of every attention module."""

    def __init__(self, model):
        super().__init__()
        self.paths = {module: path for path, module in model.named_modules()}
        self.stack, self.calls, self.found, self.order, self.hooks = [], [], [], 0, []
        self.inside_eager = 0

    def tick(self):
        self.order += 1
        return self.order

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func in SOFTMAX and torch.is_tensor(result) and result.dim() >= 3 and self.stack:
            self.keep(result, "softmax")
        if func is FUSED and self.stack:
            self.keep(fused_weights(*args, **(kwargs or {})), "fused")
        return result

    def keep(self, weights, source):
        # The innermost module that owns more than the softmax itself.
        for path, since, module in reversed(self.stack):
            if any(True for _ in module.parameters()):
                self.found.append(Attention(path, weights.detach().clone(), self.tick(), source, since))
                return

    def __enter__(self):
        hook = torch.nn.modules.module
        self.hooks = [hook.register_module_forward_pre_hook(self.entered),
                      hook.register_module_forward_hook(self.left, with_kwargs=True, always_call=True)]
        self.wrapped = []
        for name, module in list(sys.modules.items()):
            if name.startswith("transformers.models.") and "eager_attention_forward" in getattr(module, "__dict__", {}):
                self.wrapped.append((module, module.eager_attention_forward))
                module.eager_attention_forward = self.watched(module.eager_attention_forward)
        return super().__enter__()

    def __exit__(self, *error):
        for module, function in self.wrapped:
            module.eager_attention_forward = function
        for hook in self.hooks:
            hook.remove()
        return super().__exit__(*error)

    def watched(self, function):
        def eager_attention_forward(module, *args, **kwargs):
            result = function(module, *args, **kwargs)
            if isinstance(result, tuple) and len(result) == 2 and torch.is_tensor(result[1]) and self.stack:
                self.keep(result[1], "eager")
            return result
        return eager_attention_forward

    def entered(self, module, args):
        if module in self.paths:
            self.stack.append((self.paths[module], self.tick(), module))

    def left(self, module, args, kwargs, result):
        if module not in self.paths:
            return
        while self.stack and self.stack.pop()[2] is not module:
            pass
        given = args[0] if args else next((v for v in kwargs.values() if torch.is_tensor(v)), None)
        weight = getattr(module, "weight", None)
        if isinstance(module, torch.nn.MultiheadAttention):
            self.keep_torch_module(module, args, kwargs, result)
        elif torch.is_tensor(weight) and weight.dim() == 2 and torch.is_tensor(given) and torch.is_tensor(result):
            self.calls.append(Call(self.paths[module], given.detach().clone(), result.detach().clone(), self.tick()))

    def keep_torch_module(self, module, args, kwargs, result):
        given = dict(zip(("query", "key", "value"), args)) | {n: v for n, v in kwargs.items() if n in ("query", "key", "value")}
        told = {n: v for n, v in kwargs.items() if n in ("key_padding_mask", "attn_mask")}
        with torch._C.DisableTorchFunction(), torch.no_grad():
            output, weights = torch.nn.functional.multi_head_attention_forward(
                *(x.transpose(0, 1) if module.batch_first and x.dim() == 3 else x for x in given.values()), module.embed_dim,
                module.num_heads, module.in_proj_weight, module.in_proj_bias, module.bias_k, module.bias_v,
                module.add_zero_attn, 0.0, module.out_proj.weight, module.out_proj.bias, training=False, need_weights=True,
                average_attn_weights=False, use_separate_proj_weight=module.in_proj_weight is None, q_proj_weight=module.q_proj_weight,
                k_proj_weight=module.k_proj_weight, v_proj_weight=module.v_proj_weight, **told)
        matrix = "q_proj_weight" if module.in_proj_weight is None else "in_proj_weight"
        turn = lambda x: x if module.batch_first or x.dim() < 3 else x.transpose(0, 1)
        self.found = [a for a in self.found if a.path != self.paths[module]]
        self.found.append(Attention(self.paths[module], weights, self.tick(), "torch.nn.MultiheadAttention", 0,
                                    f"{self.paths[module]}.{matrix}", {n: turn(x).detach().clone() for n, x in given.items()}, turn(result[0]).detach()))

    def attentions(self):
        """The first attention of each module, eager ones before softmaxes, with inputs and output where they were seen."""
        best = {}
        for found in self.found:
            held = best.get(found.path)
            if held is None or (held.source == "softmax" and found.source == "eager" and found.around == held.around):
                best[found.path] = found
        for found in best.values():
            if not found.inputs:
                self.complete(found)
        return list(best.values())

    def complete(self, found):
        inside = [c for c in self.calls if c.path.startswith(found.path + ".") and found.around < c.order < found.order]
        name = lambda call: call.path.rsplit(".", 1)[-1]
        for role, names in NAMED.items():
            for call in inside:
                if role not in found.inputs and re.fullmatch(names, name(call)):
                    found.inputs[role] = call.given
                    found.matrix = found.matrix or call.path + ".weight"
        for call in inside:
            if re.fullmatch(PACKED, name(call)):
                for role in NAMED:
                    found.inputs.setdefault(role, call.given)
                found.matrix = found.matrix or call.path + ".weight"
        after = sorted((c for c in self.calls if c.order > found.order), key=lambda c: c.order)
        own = [c for c in after if c.path.startswith(found.path + ".") and OUTPUT.fullmatch(name(c))]
        parent = found.path.rsplit(".", 1)[0] + "."
        beside = [c for c in after if c.path.startswith(parent) and ".dense" in c.path[len(parent) - 1:]]
        chosen = own or beside[:1]
        if chosen and "query" in found.inputs:
            found.output = chosen[0].result
