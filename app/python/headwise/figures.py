"""Pictures of tensors, for files and notebooks."""
from __future__ import annotations

import hashlib
import re
from typing import Any, Sequence

from headwise.program import PathLike, run_program


def export_words(**options: Any) -> list[str]:
    """The words of `headwise export` for what is not None."""
    words: list[str] = []
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


class Figure:
    """A heatmap. A notebook shows it as an SVG that says each cell's number at the pointer, light or dark as the page is."""

    def __init__(self, trace: Any, words: Sequence[str], theme: str | None) -> None:
        self._trace = trace  # whose file the words name
        self._words = list(words)
        self.theme = theme

    def save(self, path: PathLike) -> None:
        """Writes a .png, .svg, .pdf, .csv or .npy, by its extension; the whole file or none."""
        run_program([*self._words, "--theme", self.theme or "light", "-o", str(path)])

    def svg(self, theme: str | None = None) -> str:
        """The picture as an SVG with a title for each cell (up to 10,000 cells)."""
        words = ["--theme", theme or self.theme or "light", "--format", "svg", "--cell-titles", "-o", "-"]
        return run_program([*self._words, *words])

    def _repr_html_(self) -> str:
        if self.theme is not None:
            return _inline(self.svg())
        light, dark = _inline(self.svg("light")), _inline(self.svg("dark"))
        name = "headwise-" + _digest(light)
        # As the system is, unless JupyterLab or VS Code say what they show.
        shown, hidden = "{display:block}", "{display:none}"
        style = (
            f".{name} .dark{hidden}"
            f"@media (prefers-color-scheme:dark){{.{name} .dark{shown}.{name} .light{hidden}}}"
            f"[data-jp-theme-light=true] .{name} .light{shown}[data-jp-theme-light=true] .{name} .dark{hidden}"
            f"[data-jp-theme-light=false] .{name} .dark{shown}[data-jp-theme-light=false] .{name} .light{hidden}"
            f".vscode-light .{name} .light{shown}.vscode-light .{name} .dark{hidden}"
            f".vscode-dark .{name} .dark{shown}.vscode-dark .{name} .light{hidden}"
        )
        return f'<style>{style}</style><div class="{name}"><div class="light">{light}</div><div class="dark">{dark}</div></div>'

    def __repr__(self) -> str:
        return f"<headwise.Figure: {' '.join(self._words)}>"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _inline(svg: str) -> str:
    """An SVG to stand in a page: without the XML declaration, its ids unlike those of other pictures there."""
    svg = re.sub(r"^<\?xml[^>]*\?>\s*", "", svg)
    own = "h" + _digest(svg)
    return re.sub(r'(<[a-zA-Z]+ id="|url\(#)', lambda found: found.group(1) + own, svg)
