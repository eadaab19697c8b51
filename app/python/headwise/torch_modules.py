"""Attention as torch has it: modules and functions, and the calls of a model, as requests to the program.

torch is imported here alone, and only for what comes from it.
"""
from __future__ import annotations

import importlib
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
        if type(x).forward is not torch.nn.MultiheadAttention.forward or x._forward_pre_hooks:
            has = "a forward of its own" if not x._forward_pre_hooks else "hooks before its forward"
            remark(f"{type(x).__qualname__} has {has}: traced as torch.nn.MultiheadAttention computes these arguments, without it")
        return _mha_request(x, _parameters_of(x), inputs, keywords)
    remedy = "headwise.record(model) records the attention of a model, headwise.assert_attention_close checks a module of your own"
    name = getattr(x, "__qualname__", None) or type(x).__qualname__
    raise UsageError(
        f"trace: the attention of {name} is not known: a torch.nn.MultiheadAttention, F.scaled_dot_product_attention or a scenario was "
        f"expected; {remedy}"
    )


def _parameters_of(module: Any) -> dict[str, Any]:
    """By PyTorch's names, as the module has them now: also where they are computed from others."""
    found = {}
    for name in PARAMETERS:
        value = module
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            found[name] = value
    return found


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
    if call.get("is_causal") and call["attn_mask"] is None:
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
    request.is_complete = True
    given = {name: call[name] for name in ("query", "key", "value", "attn_mask", "key_padding_mask")}
    given.update({name: parameters[name] for name in PARAMETERS if parameters.get(name) is not None})
    return _with_arrays(request, given)


def attention_modules(model: Any) -> dict[str, Any]:
    """The attention modules of a model by name: nn.MultiheadAttention, and those of transformers. Raises UsageError for what is no module."""
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


def owner_of(model: Any, name: str) -> tuple[str, Any]:
    """The model of transformers that the module of this name belongs to, with its own name: whose files say what it computes."""
    owner, place = model, ""
    for part in ["", *name.split(".")]:
        if part:
            owner, place = getattr(owner, part), f"{place}.{part}".lstrip(".")
        if hasattr(owner, "save_pretrained"):
            return place, owner
    raise UsageError(f"record: {name} belongs to no model of transformers, whose files would say what it computes")


#: What configurations call the number of their layers.
_LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


def model_of_one(module: Any) -> tuple[Any, str]:
    """A model with one layer like the one of this attention module of transformers, and with its parameters; and the module's name there.

    Raises UsageError.
    """
    import copy

    import torch

    what = type(module).__qualname__
    remedy = "headwise.record(model) traces it within its model"
    config = copy.deepcopy(getattr(module, "config", None))
    if not _is_attention(module) or config is None or isinstance(module, torch.nn.MultiheadAttention):
        raise UsageError(f"trace: {what} does not say which model's attention it is: {remedy}")
    place = getattr(module, "layer_idx", None) or 0
    if getattr(config, "layer_types", None):
        config.layer_types = [config.layer_types[place]]
    elif place and any(_counts_layers(name, getattr(config, name)) for name in vars(config)):
        raise UsageError(f"trace: what {what} computes depends on the number of its layer, {place}: {remedy}")
    for name in _LAYER_COUNTS:
        if hasattr(config, name):
            setattr(config, name, 1)
    for name, value in {"vocab_size": 8, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None}.items():
        if hasattr(config, name):
            setattr(config, name, value)
    try:
        transformers = importlib.import_module("transformers")
        with torch.random.fork_rng(devices=[]):  # what its parameters begin with is thrown away
            model = transformers.AutoModel.from_config(config).eval()
        name, found = next((name, part) for name, part in model.named_modules() if type(part) is type(module))
        found.load_state_dict(module.state_dict())
    except Exception as wrong:
        reason = " ".join(str(wrong).split())[:200] or type(wrong).__name__
        raise UsageError(f"trace: no model of one {what} can be made ({reason}): {remedy}") from None
    return model.to(next(module.parameters()).dtype), name


def _counts_layers(name: str, value: Any) -> bool:
    """Whether a setting says that layers differ by their numbers."""
    by_number = ("layer_pattern", "max_window_layers", "no_rope_layers", "inverse_layer_idx", "sliding_window_pattern", "attn_layer")
    return bool(value) and any(part in name for part in by_number)


def layer_request(module: Any, inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    """The arrays of a call of an attention module of transformers; which layer of which model it is comes later.

    Raises UsageError for a call that reads keys of earlier calls.
    """
    hidden = inputs[0] if inputs else keywords["hidden_states"]
    for name in ("past_key_values", "past_key_value", "cache"):
        cache = keywords.get(name)
        if cache is not None and hasattr(cache, "get_seq_length") and cache.get_seq_length(getattr(module, "layer_idx", 0) or 0) > hidden.shape[1]:
            raise UsageError("record: this call reads the keys of earlier calls from a cache: run the model on the whole text at once")
    given = {"query": hidden}
    for name in ("key_value_states", "encoder_hidden_states"):
        if keywords.get(name) is not None:
            given["key"] = given["value"] = keywords[name]
    request = _with_arrays(Request(""), given)
    request.is_complete = True
    mask = keywords.get("attention_mask")
    if mask is not None and mask.dim() == 4:
        request.arrays["attn_mask"] = to_array(mask)  # (N,1 or H,L,S); layer_mask
    return request


def layer_mask(mask: Any, num_heads: int) -> Any:
    """A mask of transformers, True (takes part) or 0 and the least number (does not), as PyTorch's: (L,S), or (N·H,L,S); True blocks."""
    import numpy as np

    if mask.dtype == bool:
        made = ~mask
    else:
        blocked = mask < -1e4
        made = blocked if not mask[~blocked].any() else np.where(blocked, -np.inf, mask)
    if (made == made[:1, :1]).all():
        return made[0, 0]
    return np.broadcast_to(made, (made.shape[0], num_heads, *made.shape[2:])).reshape(-1, *made.shape[2:])


def checked_call(
    module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], like: Any, places: Mapping[str, Any]
) -> tuple[Request, dict[str, Any], float | None]:
    """What a module should compute of these arguments, what it does, and the tolerance that suits its precision (None: the usual one).

    Raises UsageError.
    """
    import torch

    expected = module if like is None else like
    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"assert_attention_close: a torch.nn.Module was expected, got {type(module).__name__}")
    if not isinstance(expected, (torch.nn.MultiheadAttention, Mapping)):
        raise UsageError(
            f"assert_attention_close: {type(expected).__name__} is no torch.nn.MultiheadAttention: say with like= which one it should equal, "
            "or which scenario"
        )
    if module.training and any(getattr(part, "p", getattr(part, "dropout", 0)) for part in module.modules() if _drops(part)):
        raise UsageError("assert_attention_close: the module drops weights in training mode, at random: call module.eval() first")
    parameters = _placed({} if isinstance(expected, Mapping) else _parameters_of(expected), module, places)
    call_inputs = inputs
    names = ("query", "key", "value")
    if len(inputs) == 1 and not any(name in keywords for name in names):
        call_inputs = (inputs[0], inputs[0], inputs[0])  # self-attention
    if isinstance(expected, Mapping):
        request = _scenario_request(expected, parameters, call_inputs, keywords)
    else:
        request = _mha_request(expected, parameters, call_inputs, keywords)
    with torch.no_grad():
        result = module(*(call_inputs if like is None else inputs), **keywords)
    output, weights = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not isinstance(output, torch.Tensor):
        raise UsageError(f"assert_attention_close: the module returned {type(result).__name__}: the output, or (output, weights), was expected")
    theirs = {"output": to_array(output)}
    if isinstance(weights, torch.Tensor):
        batched = call_inputs[0].dim() == 3 if call_inputs else True
        per_head = weights.dim() == (4 if batched else 3)
        theirs["attn_weights" if per_head else "attn_output_weights"] = to_array(weights)
    return request, theirs, {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(output.dtype)


def _scenario_request(scenario: Mapping[str, Any], parameters: Mapping[str, Any], inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Request:
    """A module as a scenario says it: grouped heads, rotated positions, a causal mask … Raises UsageError."""
    import json

    from headwise.program import plain

    given = {**dict(zip(("query", "key", "value"), inputs)), **keywords}
    names = ("query", "key", "value", "attn_mask", "key_padding_mask")
    arrays = {name: given[name] for name in names if given.get(name) is not None}
    if len({id(arrays[name]) for name in names[:3] if name in arrays}) == 1:  # self-attention
        arrays = {name: array for name, array in arrays.items() if name not in ("key", "value")}
    request = Request("-", text=json.dumps(scenario, default=plain))
    request.is_complete = True
    return _with_arrays(request, {**arrays, **parameters})


def _placed(parameters: dict[str, Any], module: Any, places: Mapping[str, Any]) -> dict[str, Any]:
    """These parameters, those in `places` from the module: by name, or several names one below the other."""
    import torch

    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    if not isinstance(places, Mapping):
        raise UsageError(f"parameters: a dict was expected, got {type(places).__name__}: {{'in_proj_weight': 'qkv.weight'}}")
    for name, place in places.items():
        if name not in PARAMETERS:
            raise UsageError(f"parameters: {name} is no parameter of nn.MultiheadAttention: {', '.join(PARAMETERS)}")
        found = [place] if isinstance(place, str) else place
        if not isinstance(found, (list, tuple)) or not all(isinstance(part, str) for part in found):
            raise UsageError(f"parameters: {name}: a name, or a list of names, of the module's parameters was expected")
        for part in found:
            if part not in own:
                raise UsageError(f"parameters: the module has no {part}: {', '.join(own)}")
        parameters[name] = torch.cat([own[part].detach() for part in found])
    # A packed projection and separate ones exclude each other: what is placed is meant.
    separate = {"q_proj_weight", "k_proj_weight", "v_proj_weight"}
    if separate & set(places):
        parameters.pop("in_proj_weight", None)
    elif "in_proj_weight" in places:
        for name in separate:
            parameters.pop(name, None)
    return parameters


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
    for name in ("query", "key", "value"):
        _require_tensor(given[name], name)
    if given["is_causal"] and given["attn_mask"] is not None:
        raise UsageError("F.scaled_dot_product_attention: attn_mask and is_causal=True are both given: leave one out")
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
    for name, array in given.items():
        if array is not None:
            _require_tensor(array, name)
            request.arrays[name] = to_array(array)
    if any(array.dtype == "float64" for array in request.arrays.values()):
        request.dtype = "f64"
    return request


def _require_tensor(array: Any, name: str) -> None:
    import torch

    if not isinstance(array, torch.Tensor):
        raise UsageError(f"{name}: a torch.Tensor was expected, got {type(array).__name__}")


def to_array(tensor: Any) -> Any:
    """A copy as a NumPy array, from any device; half precisions, which become f32, exactly."""
    import torch

    if not isinstance(tensor, torch.Tensor):
        return tensor
    tensor = tensor.detach()
    if tensor.is_nested:
        raise UsageError("a padded tensor was expected, got a nested one: build the TransformerEncoder with enable_nested_tensor=False")
    if tensor.is_sparse or tensor.is_quantized:
        raise UsageError(f"a dense tensor was expected, got {tensor.layout}: call .to_dense() or .dequantize() first")
    if tensor.is_meta:
        raise UsageError("a tensor with numbers was expected, got one on the device meta")
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return tensor.cpu().clone().numpy()


def remark(text: str) -> None:
    from headwise.program import caller_level

    warnings.warn(text, HeadwiseWarning, stacklevel=caller_level())
