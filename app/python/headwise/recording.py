"""The attention of a torch model while it runs."""
from __future__ import annotations

import shutil
import tempfile
import weakref
from types import TracebackType
from typing import Any, Iterator, Mapping

from headwise.program import UsageError, run_json
from headwise.request import Request
from headwise.traces import Trace, run


class Recording(Mapping[str, Trace]):
    """The traces of the attention modules that ran, by the module's name; of one that ran several times, the last call.

    A trace is computed when it is asked for, and kept.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._handles: list[Any] = []
        self._requests: dict[str, Request] = {}
        self._outputs: dict[str, Any] = {}
        self._traces: dict[str, Trace] = {}
        self._of_transformers: set[str] = set()
        self._files = ""  # the folder of a model of transformers, once a trace is asked for
        self._layers: list[dict[str, Any]] = []

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
                self._of_transformers.add(name)
            self._handles.append(module.register_forward_hook(self._hook(name), with_kwargs=True))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _hook(self, name: str) -> Any:
        from headwise import torch_modules

        def called(module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> None:
            if name in self._of_transformers:
                self._requests[name] = torch_modules.layer_request(inputs, keywords)
            else:
                self._requests[name] = torch_modules.request_of(module, inputs, keywords)
            self._outputs[name] = torch_modules.to_array(output[0] if isinstance(output, tuple) else output)
            self._traces.pop(name, None)

        return called

    def __getitem__(self, name: str) -> Trace:
        if name not in self._traces:
            if name not in self._requests:
                raise KeyError(f"{name}: recorded were {', '.join(self._requests) or 'no calls: run the model inside of the with'}")
            request = self._requests[name]
            if name in self._of_transformers:
                self._find_layer(name, request)
            self._traces[name] = run(request)
            self._check(name)
        return self._traces[name]

    def _find_layer(self, name: str, request: Request) -> None:
        """The module as a layer of the model's files, which Headwise reads by their family."""
        if not self._files:
            folder = tempfile.mkdtemp(prefix="headwise_model_")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._model.save_pretrained(folder)
            self._layers = run_json(["info", folder])["model"]["layers"]
            self._files = folder
        request.scenario = self._files
        places = [layer for layer in self._layers if f"{name}.".startswith(f"{layer['name']}.")]
        if not places:
            known = ", ".join(layer["name"] for layer in self._layers) or "none"
            raise UsageError(f"record: {name} is no layer that Headwise knows of this model: it found {known}")
        request.settings["parameters.layer"] = max(places, key=lambda layer: len(layer["name"]))["layer"]

    def _check(self, name: str) -> None:
        """A trace of something else than what ran must not go unnoticed."""
        import numpy as np

        from headwise.torch_modules import remark

        theirs, made = self._outputs[name], self._traces[name]
        if theirs.ndim == 2:
            theirs = theirs[None]
        elif not made.scenario["inputs"].get("batch_first", True):
            theirs = theirs.swapaxes(0, 1)
        # Some modules of transformers end before the output projection.
        results = [made[result] for result in ("output", "concat") if result in made and made[result].shape == theirs.shape]
        if name not in self._of_transformers:
            results = results[:1]
        largest = min((float(np.abs(theirs - ours).max(initial=0)) for ours in results), default=float("inf"))
        if not largest <= 1e-3 * max(1.0, float(np.abs(theirs).max(initial=0))):
            remark(
                f"{name}: the trace's output differs from what the module returned by {largest:.3g}: a hook, dropout, a mask, a cache or "
                "half precision?"
            )

    def __iter__(self) -> Iterator[str]:
        return iter(self._requests)

    def __len__(self) -> int:
        return len(self._requests)

    def __repr__(self) -> str:
        return f"<headwise.Recording of {', '.join(self) or 'no calls'}>"


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
