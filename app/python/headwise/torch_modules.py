"""Attention as torch has it: modules and functions, and the calls of a model, as requests to the program.

torch is imported here alone, and only for what comes from it.
"""
from __future__ import annotations

import inspect
import warnings
from typing import Any, Mapping

from headwise.program import HeadwiseWarning, UsageError
from headwise.request import Request

#: PyTorch's names of the parameters of nn.MultiheadAttention.
PARAMETERS = (
    "in_proj_weight",
    "in_proj_bias",
    "q_proj_weight",
    "k_proj_weight",
    "v_proj_weight",
    "bias_k",
    "bias_v",
    "out_proj.weight",
    "out_proj.bias",
)


def request_of(x: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Request:
    """The request for a call x(*inputs, **keywords). Raises UsageError where x is no attention that is known."""
    try:
        import torch
    except ImportError:
        raise UsageError(f"trace: {type(x).__name__} is no scenario: a dict, a path, the name of a preset, or torch's attention") from None
    if x is torch.nn.functional.scaled_dot_product_attention:
        return _sdpa_request(inputs, keywords)
    if isinstance(x, torch.nn.MultiheadAttention):
        return _mha_request(x, dict(x.named_parameters()), inputs, keywords)
    raise UsageError(
        f"trace: the attention of {type(x).__module__}.{type(x).__qualname__} is not known: a torch.nn.MultiheadAttention, "
        "F.scaled_dot_product_attention or a scenario was expected; give a module of your own its equal with like="
    )


def mha_call(x: Any, inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of nn.MultiheadAttention by name, with its defaults. Raises UsageError."""
    import torch

    try:
        call = inspect.signature(torch.nn.MultiheadAttention.forward).bind(x, *inputs, **keywords)
    except TypeError as wrong:
        raise UsageError(f"nn.MultiheadAttention: {wrong}: call it as the module: module, query, key, value, …") from None
    call.apply_defaults()
    return call.arguments


def _mha_request(x: Any, parameters: Mapping[str, Any], inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    call = mha_call(x, inputs, keywords)
    if call["is_causal"] and call["attn_mask"] is None:
        raise UsageError("nn.MultiheadAttention: is_causal is a hint, and needs the attn_mask that it is about: give attn_mask too")
    if x.training and x.dropout > 0:
        remark(f"the module is in training mode with dropout {x.dropout}: computed without dropout, as after module.eval()")
    attention = {
        "embed_dim": x.embed_dim,
        "num_heads": x.num_heads,
        "kdim": x.kdim,
        "vdim": x.vdim,
        "bias": x.in_proj_bias is not None,
        "add_bias_kv": x.bias_k is not None,
        "add_zero_attn": x.add_zero_attn,
        "need_weights": call["need_weights"],
        "average_attn_weights": call["average_attn_weights"],
    }
    request = _request("multi_head_attention", attention, {"batch_first": x.batch_first})
    given = {name: call[name] for name in ("query", "key", "value", "attn_mask", "key_padding_mask")}
    given.update({name: parameters[name] for name in PARAMETERS if parameters.get(name) is not None})
    return _with_arrays(request, given)


def attention_modules(model: Any) -> dict[str, Any]:
    """The nn.MultiheadAttention modules of a model by name; raises UsageError for what is no module."""
    import torch

    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"record: a torch.nn.Module was expected, got {type(model).__name__}")
    found = {name or "module": module for name, module in model.named_modules() if _is_attention(module)}
    # A block that holds attention and more is named after it too.
    return {name: module for name, module in found.items() if not any(_is_attention(part) for part in module.modules() if part is not module)}


def is_of_transformers(module: Any) -> bool:
    """Whether its meaning is in the files of the model that it belongs to, not in the module."""
    import torch

    return not isinstance(module, torch.nn.MultiheadAttention)


def _is_attention(module: Any) -> bool:
    import torch

    of_transformers = type(module).__module__.startswith("transformers.") and type(module).__name__.endswith("Attention")
    return isinstance(module, torch.nn.MultiheadAttention) or (of_transformers and hasattr(module, "config"))


def layer_request(inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    """The arrays of a call of an attention module of transformers; which layer of which model it is comes later."""
    hidden = inputs[0] if inputs else keywords["hidden_states"]
    given = {"query": hidden}
    for name in ("key_value_states", "encoder_hidden_states"):
        if keywords.get(name) is not None:
            given["key"] = given["value"] = keywords[name]
    mask = keywords.get("attention_mask")
    request = _with_arrays(Request(""), given)
    if mask is not None and mask.dim() == 4:
        request.arrays.update(_blocked(to_array(mask)))
    return request


def _blocked(mask: Any) -> dict[str, Any]:
    """key_padding_mask (N,S) where a mask of transformers, 0 or the least number, blocks keys of its own accord: those that the last
    query, which sees every key of a causal map, does not see."""
    blocked = mask[:, 0, -1, :] < -1e4 if mask.dtype != bool else ~mask[:, 0, -1, :]
    return {"key_padding_mask": blocked} if blocked.any() else {}


def checked_call(
    module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], like: Any, places: Mapping[str, str]
) -> tuple[Request, dict[str, Any]]:
    """What a module should compute of these arguments, and what it does. Raises UsageError."""
    import torch

    expected = module if like is None else like
    if not isinstance(expected, torch.nn.MultiheadAttention):
        raise UsageError(
            f"assert_attention_close: {type(expected).__name__} is no torch.nn.MultiheadAttention: say with like= which one it should equal"
        )
    if module.training and any(getattr(part, "p", getattr(part, "dropout", 0)) for part in module.modules() if _drops(part)):
        raise UsageError("assert_attention_close: the module drops weights in training mode, at random: call module.eval() first")
    own = dict(module.named_parameters())
    parameters = dict(expected.named_parameters())
    for name, place in places.items():
        if name not in PARAMETERS:
            raise UsageError(f"parameters: {name} is no parameter of nn.MultiheadAttention: {', '.join(PARAMETERS)}")
        if place not in own:
            raise UsageError(f"parameters: the module has no {place}: {', '.join(own)}")
        parameters[name] = own[place]
    call_inputs = inputs
    names = ("query", "key", "value")
    if len(inputs) == 1 and not any(name in keywords for name in names):
        call_inputs = (inputs[0], inputs[0], inputs[0])  # self-attention
    request = _mha_request(expected, parameters, call_inputs, keywords)
    with torch.no_grad():
        result = module(*(call_inputs if like is None else inputs), **keywords)
    output, weights = result if isinstance(result, tuple) else (result, None)
    theirs = {"output": to_array(output)}
    if isinstance(weights, torch.Tensor):
        batched = call_inputs[0].dim() == 3 if call_inputs else True
        per_head = weights.dim() == (4 if batched else 3)
        theirs["attn_weights" if per_head else "attn_output_weights"] = to_array(weights)
    return request, theirs


def _drops(part: Any) -> bool:
    import torch

    return isinstance(part, (torch.nn.Dropout, torch.nn.MultiheadAttention))


def _sdpa_request(inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    def call(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> dict[str, Any]:
        return locals()

    try:
        given = call(*inputs, **keywords)
    except TypeError as wrong:
        raise UsageError(f"F.scaled_dot_product_attention: {str(wrong).split('.')[-1]}: give its arguments after it") from None
    query, key, value = (given[name] for name in ("query", "key", "value"))
    if given["dropout_p"]:
        remark(f"dropout_p = {given['dropout_p']}: computed without dropout")
    if query.dim() not in (3, 4):
        raise UsageError(f"F.scaled_dot_product_attention: query {tuple(query.shape)}: (N,H,L,D) or (N,L,D) was expected: reshape it")
    if query.dim() == 3:  # batch entries without heads
        query, key, value = (array.unsqueeze(1) for array in (query, key, value))
        mask = given["attn_mask"]
        if mask is not None and mask.dim() == 3:
            given["attn_mask"] = mask.unsqueeze(1)
    if key.shape[1] != query.shape[1] and not given["enable_gqa"]:
        raise UsageError(
            f"F.scaled_dot_product_attention: key has {key.shape[1]} heads, query {query.shape[1]}: as many were expected, or enable_gqa=True"
        )
    attention = {"scale": given["scale"]} if given["scale"] is not None else {}
    request = _request("scaled_dot_product_attention", attention, {})
    if given["is_causal"]:
        request.settings["mask.is_causal"] = True
    return _with_arrays(request, {"query": query, "key": key, "value": value, "attn_mask": given["attn_mask"]})


def _request(op: str, attention: Mapping[str, Any], inputs: Mapping[str, Any]) -> Request:
    import json

    return Request("-", text=json.dumps({"op": op, "attention": attention, "inputs": inputs}))


def _with_arrays(request: Request, given: Mapping[str, Any]) -> Request:
    request.arrays = {name: to_array(array) for name, array in given.items() if array is not None}
    if any(array.dtype == "float64" for array in request.arrays.values()):
        request.dtype = "f64"
    return request


def to_array(tensor: Any) -> Any:
    """A copy as a NumPy array, from any device; half precisions, which become f32, exactly."""
    import torch

    if not isinstance(tensor, torch.Tensor):
        return tensor
    tensor = tensor.detach()
    if tensor.is_sparse or tensor.is_quantized:
        raise UsageError(f"a dense tensor was expected, got {tensor.layout}: call .to_dense() or .dequantize() first")
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return tensor.cpu().clone().numpy()


def remark(text: str) -> None:
    from headwise.program import caller_level

    warnings.warn(text, HeadwiseWarning, stacklevel=caller_level())
