"""Headwise: see multi-head attention happen, number by number.

    trace = headwise.trace("welcome")
    trace["attn_weights"]                              # (N,H,L,S)
    trace.provenance("scores", (0, 0, 7, 5))
    trace.figure("attn_weights", head=3).save("head3.pdf")

See `trace`, `record`, `compare`, `assert_attention_close`, `heads`, `train` and `show`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.arrays import Array as Array
    from headwise.comparison import Comparison as Comparison
    from headwise.comparison import assert_attention_close as assert_attention_close
    from headwise.comparison import compare as compare
    from headwise.figures import Figure as Figure
    from headwise.models import heads as heads
    from headwise.program import CancelledError as CancelledError
    from headwise.program import HeadwiseError as HeadwiseError
    from headwise.program import HeadwiseWarning as HeadwiseWarning
    from headwise.program import InputError as InputError
    from headwise.program import NoDisplayError as NoDisplayError
    from headwise.program import OutOfMemoryError as OutOfMemoryError
    from headwise.program import OutputError as OutputError
    from headwise.program import UsageError as UsageError
    from headwise.recording import Recording as Recording
    from headwise.recording import record as record
    from headwise.traces import Provenance as Provenance
    from headwise.traces import Trace as Trace
    from headwise.traces import open_trace as open_trace
    from headwise.traces import trace as trace
    from headwise.training import TrainingStep as TrainingStep
    from headwise.training import train as train
    from headwise.window import show as show

# Where each name lives: it is imported when it is first asked for, so that the command `headwise` starts without NumPy.
_HOMES = {
    "arrays": ("Array",),
    "comparison": ("Comparison", "assert_attention_close", "compare"),
    "figures": ("Figure",),
    "models": ("heads",),
    "program": (
        "CancelledError",
        "HeadwiseError",
        "HeadwiseWarning",
        "InputError",
        "NoDisplayError",
        "OutOfMemoryError",
        "OutputError",
        "UsageError",
    ),
    "recording": ("Recording", "record"),
    "traces": ("Provenance", "Trace", "open_trace", "trace"),
    "training": ("TrainingStep", "train"),
    "window": ("show",),
}

__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__version__":
        from importlib.metadata import version

        return version("headwise")
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(importlib.import_module(f"headwise.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'headwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
