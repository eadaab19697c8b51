"""The window, opened from Python."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from headwise.program import program_path, refusal
from headwise.traces import Trace, trace

#: How long a window that cannot be opened takes to say so, in seconds.
_REFUSAL = 0.5


def show(x: Any = None, *inputs: Any, **keywords: Any) -> "subprocess.Popen[str]":
    """Opens the window and returns at once: on a trace, a scenario, a file, a folder with a model, or what `trace` takes.

    The process is returned, whose .wait() waits until the window is closed. Raises NoDisplayError where there is no display.
    """
    words = [program_path()]
    made_here = isinstance(x, Trace) or not (x is None or (isinstance(x, (str, os.PathLike)) and not inputs and not keywords))
    if made_here:
        words.append(_kept(x if isinstance(x, Trace) else trace(x, *inputs, **keywords)))
    elif x is not None:
        words.append(os.fspath(x))
    window = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    if made_here:
        threading.Thread(target=_remove_after, args=(window, Path(words[-1]).parent), daemon=True).start()
    try:
        status = window.wait(_REFUSAL)
    except subprocess.TimeoutExpired:
        return window
    if status == 0:
        return window
    raise refusal(status, window.communicate()[1])


def _remove_after(window: "subprocess.Popen[str]", folder: Path) -> None:
    window.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _kept(made: Trace) -> str:
    """A copy that lives as long as the window may: the trace's own file goes with the trace."""
    folder = Path(tempfile.mkdtemp(prefix="headwise_window_"))
    path = folder / f"trace{made.path.suffix}"
    made.save(path)
    return str(path)
