"""The attention of a torch model while it runs."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, Mapping

from headwise.program import UsageError
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

    def __enter__(self) -> "Recording":
        from headwise import torch_modules

        found = torch_modules.attention_modules(self._model)
        if not found:
            raise UsageError(
                f"record: {type(self._model).__name__} has no attention that is known: torch.nn.MultiheadAttention modules were expected"
            )
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
            self._requests[name] = torch_modules.request_of(module, inputs, keywords)
            self._outputs[name] = torch_modules.to_array(output[0])
            self._traces.pop(name, None)

        return called

    def __getitem__(self, name: str) -> Trace:
        if name not in self._traces:
            if name not in self._requests:
                raise KeyError(f"{name}: recorded were {', '.join(self._requests) or 'no calls: run the model inside of the with'}")
            self._traces[name] = run(self._requests[name])
            self._check(name)
        return self._traces[name]

    def _check(self, name: str) -> None:
        """A trace of something else than what ran must not go unnoticed."""
        import numpy as np

        from headwise.torch_modules import remark

        theirs, ours = self._outputs[name], np.asarray(self._traces[name]["output"])
        if theirs.ndim == 2:
            theirs = theirs[None]
        elif not self._traces[name].scenario["inputs"].get("batch_first", True):
            theirs = theirs.swapaxes(0, 1)
        largest = float(np.abs(theirs - ours).max(initial=0)) if theirs.shape == ours.shape else float("inf")
        if not largest <= 1e-3 * max(1.0, float(np.abs(theirs).max(initial=0))):
            remark(f"{name}: the trace's output differs from what the module returned by {largest:.3g}: a hook, dropout or half precision?")

    def __iter__(self) -> Iterator[str]:
        return iter(self._requests)

    def __len__(self) -> int:
        return len(self._requests)

    def __repr__(self) -> str:
        return f"<headwise.Recording of {', '.join(self) or 'no calls'}>"


def record(model: Any) -> Recording:
    """Records every torch.nn.MultiheadAttention of a model while it runs:

        with headwise.record(model) as recorded:
            model(x)
        recorded["encoder.layers.0.self_attn"]["attn_weights"]

    The model's modes, parameters and results are as without it; its hooks are gone after the block.
    """
    return Recording(model)
