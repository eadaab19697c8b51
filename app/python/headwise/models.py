"""The heads of a model on a text."""
from __future__ import annotations

import os
import warnings
from typing import Any

from headwise.program import HeadwiseWarning, PathLike, UsageError, run_json


def heads(model: PathLike, text: str, *, mute: bool = False) -> list[dict[str, Any]]:
    """What every head of a model looks at in a text: a dict for each, ready for pandas.DataFrame.

    `model` is a folder of Hugging Face files, or builtin:sentences and other models of Headwise's own. Keys: layer, head, the
    scores (previous_token, induction …: a share of attention from 0 to 1, None where a text has no such token) and the entropy
    in bits; with `mute`, how much worse the model predicts without the head (muted: bits, words_changed …).
    """
    if not isinstance(text, str):
        raise UsageError(f"heads: a text was expected, got {type(text).__name__}")
    words = ["info", os.fspath(model), "--text", text, *(["--mute"] if mute else [])]
    told = run_json(words)["text"]
    if told.get("notice"):
        warnings.warn(told["notice"], HeadwiseWarning, stacklevel=2)
    found = told["heads"]
    assert isinstance(found, list)
    return found
