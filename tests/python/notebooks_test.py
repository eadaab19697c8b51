"""The notebooks of docs/notebooks run from top to bottom, and show what their cells end with: as module_test.py."""
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

try:
    import numpy
except ImportError:
    print("NumPy is not installed: nothing is tested")
    sys.exit(77)

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"


def run(path):
    """What the cells print and show, as text."""
    shown = io.StringIO()
    names = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = ast.parse("".join(cell["source"]), str(path))
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(shown):
            exec(compile(code, str(path), "exec"), names)
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), names) if last else None
            if value is not None:
                print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return shown.getvalue()


class Notebooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)  # the figures that they save
        warnings.simplefilter("ignore")

    def test_figures_for_a_paper(self):
        shown = run(FOLDER / "figures-for-a-paper.ipynb")
        self.assertEqual(shown.count("<svg"), 4)
        self.assertTrue(Path("head3.pdf").read_bytes().startswith(b"%PDF"))
        self.assertRegex(shown, r"\[SEP\] +0\.000")
        self.assertIn("“it” gives", shown)

    def test_heads_of_a_model(self):
        shown = run(FOLDER / "heads-of-a-model.ipynb")
        self.assertIn("head 1.7\n", shown)
        self.assertRegex(shown, r"head 7: 0\.\d+ to animal")

    def test_find_the_fault(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        shown = run(FOLDER / "find-the-fault.ipynb")
        self.assertIn("the scores are scaled by 0.125 (1/D; 1/√E", shown)
        self.assertIn("now it agrees", shown)

    def test_every_notebook_is_tested_and_has_no_outputs(self):
        tested = {name.removeprefix("test_").replace("_", "-") for name in dir(self) if name.startswith("test_")}
        for path in FOLDER.glob("*.ipynb"):
            self.assertIn(path.stem, tested)
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), path)


if __name__ == "__main__":
    unittest.main()
