"""The attention of a torch model while it runs."""
from __future__ import annotations

import contextlib
import io
import os
import tempfile
import warnings
import weakref
from types import TracebackType
from typing import Any, Iterator, Mapping

import numpy as np

from headwise.arrays import Array
from headwise.program import HeadwiseWarning, UsageError, run_json
from headwise.request import Request
from headwise.traces import Trace, remove_folder, run

#: The largest difference of a result, as a share of its largest number, that rounding explains.
_ALLOWED = 1e-3


def _difference(ours: Array, theirs: Array) -> float:
    """The same, where ours is a number: a query without keys has none. Infinite for other shapes."""
    if ours.shape != theirs.shape:
        return float("inf")
    numbers = np.isfinite(ours)
    if not numbers.any():
        return 0.0
    largest = float(np.abs(theirs[numbers]).max(initial=0)) or 1.0
    return float(np.abs(theirs[numbers] - ours[numbers]).max(initial=0)) / largest


class Recording(Mapping[str, Trace]):
    """The traces of the attention modules that ran, by the module's name; of one that ran several times, the last call.

    A trace is computed when it is asked for, and kept.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._handles: list[Any] = []
        self._requests: dict[str, Request] = {}
        self._refused: dict[str, Exception] = {}
        self._returned: dict[str, tuple[Any, ...]] = {}
        self._traces: dict[str, Trace] = {}
        self._owners: dict[str, tuple[str, Any]] = {}  # of modules of transformers: the model that they belong to
        self._files: dict[str, tuple[str, list[dict[str, Any]]]] = {}  # of each such model: its folder, and its layers

    def __enter__(self) -> "Recording":
        from headwise import torch_modules

        found = torch_modules.attention_modules(self._model)
        if not found:
            raise UsageError(
                f"record: {type(self._model).__name__} has no attention that is known: torch.nn.MultiheadAttention modules, or a model "
                "of transformers, were expected"
            )
        for name, module in found.items():
            if torch_modules.is_of_transformers(module):
                self._owners[name] = torch_modules.owner_of(self._model, name)
        for name, module in found.items():
            self._handles.append(module.register_forward_hook(self._hook(name), with_kwargs=True))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _hook(self, name: str) -> Any:
        from headwise import torch_modules

        def called(module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> None:
            self._traces.pop(name, None)
            self._refused.pop(name, None)
            try:
                if name in self._owners:
                    self._requests[name] = torch_modules.layer_request(module, inputs, keywords)
                else:
                    with warnings.catch_warnings():  # that it has a forward of its own: what it returned is compared
                        warnings.simplefilter("ignore", HeadwiseWarning)
                        self._requests[name] = torch_modules.request_of(module, inputs, keywords)
                results = output if isinstance(output, tuple) else (output,)
                self._returned[name] = tuple(torch_modules.to_array(result) for result in results if hasattr(result, "detach"))
            except Exception as refused:  # whatever it is, the model that is recorded goes on
                self._requests[name] = Request("")
                self._refused[name] = refused

        return called

    def __getitem__(self, name: str) -> Trace:
        if name not in self._traces:
            if name not in self._requests:
                raise KeyError(f"{name}: recorded were {', '.join(self._requests) or 'no calls: run the model inside of the with'}")
            if name in self._refused:
                raise self._refused[name]
            request = self._requests[name]
            if name in self._owners:
                self._find_layer(name, request)
            made = run(request)
            self._traces[name] = made
            self._check(name, made)
        return self._traces[name]

    def _find_layer(self, name: str, request: Request) -> None:
        """The module as a layer of the model's files, which Headwise reads by their family."""
        from headwise import torch_modules

        place, owner = self._owners[name]
        if place not in self._files:
            folder = tempfile.mkdtemp(prefix="headwise_model_")
            weakref.finalize(self, remove_folder, folder, os.getpid())
            with contextlib.redirect_stderr(io.StringIO()):  # a bar of progress
                owner.save_pretrained(folder)
            self._files[place] = (folder, run_json(["info", folder])["model"]["layers"])
        folder, layers = self._files[place]
        own_name = name[len(place) :].lstrip(".")
        found = [layer for layer in layers if f"{own_name}.".startswith(f"{layer['name']}.")]
        if not found:  # names in files may be older than those in the program: by their order
            modules = [other for other, (at, _) in self._owners.items() if at == place]
            if len(modules) == len(layers):
                found = [layers[modules.index(name)]]
        if not found:
            known = ", ".join(layer["name"] for layer in layers) or "none"
            raise UsageError(f"record: {name} is no layer that Headwise knows of this model: it found {known}")
        # A decoder's block has two: the call says which of them it is.
        crosses = "key" in request.arrays
        found = [layer for layer in found if layer["is_cross"] == crosses] or found
        layer = max(found, key=lambda layer: len(layer["name"]))
        request.scenario = folder
        request.settings["parameters.layer"] = layer["layer"]
        mask = request.arrays.get("attn_mask")
        if mask is not None and mask.ndim == 4:
            request.arrays["attn_mask"] = torch_modules.layer_mask(mask, layer["num_heads"])

    def _check(self, name: str, made: Trace) -> None:
        """A trace of something else than what ran must not go unnoticed."""
        from headwise.torch_modules import remark

        batch_first = made.scenario["inputs"].get("batch_first", True)
        pairs = []
        for number, theirs in enumerate(self._returned[name]):
            if theirs.ndim == 2 or (theirs.ndim == 3 and number > 0 and made["attn_weights"].shape[0] == 1 != theirs.shape[0]):
                theirs = theirs[None]
            elif number == 0 and not batch_first:
                theirs = theirs.swapaxes(0, 1)
            # Some modules of transformers end before the output projection.
            names = ["attn_weights", "attn_output_weights"] if number else ["output", *(["concat"] if name in self._owners else [])]
            pairs.append(min((_difference(made[result], theirs) for result in names if result in made), default=np.inf))
        if pairs and pairs[0] > _ALLOWED or any(_ALLOWED < pair < np.inf for pair in pairs[1:]):
            largest = max(pair for pair in pairs)
            remark(
                f"{name}: the trace differs from what the module returned, by {largest:.2g} of the largest number: a hook, dropout, position "
                "ids, half precision, or something of this model that Headwise does not compute"
            )

    def __iter__(self) -> Iterator[str]:
        return iter(self._requests)

    def __len__(self) -> int:
        return len(self._requests)

    def __repr__(self) -> str:
        return f"<headwise.Recording of {', '.join(self) or 'no calls'}>"


@contextlib.contextmanager
def layer_alone(module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[Request]:
    """The request for a call of an attention module of transformers without its model, whose files last as long as the block: a model of
    one such layer takes its place. Raises UsageError for a module that does not know of which model it is, and for a layer whose number
    says what it computes."""
    from headwise import torch_modules

    model, name = torch_modules.model_of_one(module)
    recording = Recording(model)
    recording._owners[name] = ("", model)
    request = torch_modules.layer_request(module, inputs, keywords)
    recording._find_layer(name, request)
    yield request


def record(model: Any) -> Recording:
    """Records every attention module of a torch model while it runs: torch.nn.MultiheadAttention, and the layers of a model of
    transformers whose family Headwise knows:

        with headwise.record(model) as recorded:
            model(x)
        recorded["encoder.layers.0.self_attn"]["attn_weights"]

    The model's modes, parameters and results are as without it; its hooks are gone after the block. For a model of transformers the
    first trace writes its files to a temporary folder, which takes as much disk as the model.
    """
    return Recording(model)
