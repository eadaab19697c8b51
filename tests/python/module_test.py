"""The Python module over the program: HEADWISE_PROGRAM names it, PYTHONPATH leads to app/python."""
import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed: nothing is tested")
    sys.exit(77)

import headwise

SMALL = {"attention": {"embed_dim": 8, "num_heads": 2}, "inputs": {"query_length": 3}}


class Traces(unittest.TestCase):
    def test_a_scenario_gives_every_tensor_as_the_program_writes_it(self):
        trace = headwise.trace(SMALL)
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "run.npz"
            trace_of_program = subprocess.run(
                [os.environ["HEADWISE_PROGRAM"], "run", "-", "-o", written, "--set", "attention.embed_dim=8", "--set",
                 "attention.num_heads=2", "--set", "inputs.query_length=3"], input="{}", text=True, check=True, capture_output=True)
            self.assertEqual(trace_of_program.returncode, 0)
            theirs = {name: array for name, array in np.load(written).items() if not name.startswith("__")}
            self.assertEqual(list(trace), list(theirs))
            for name, array in theirs.items():
                np.testing.assert_array_equal(trace[name], array)
            opened = headwise.open_trace(written)
            np.testing.assert_array_equal(opened["scores"], theirs["scores"])
            self.assertEqual(opened.scenario, trace.scenario)
        self.assertEqual(trace["attn_weights"].shape, (1, 2, 3, 3))
        self.assertEqual(trace.scenario["attention"]["embed_dim"], 8)
        self.assertEqual(trace.tokens["query"], ["q 0", "q 1", "q 2"])

    def test_arrays_are_mapped_and_cannot_be_written(self):
        scores = headwise.trace(SMALL)["scores"]
        self.assertIsInstance(scores, np.memmap)
        with self.assertRaises(ValueError):
            scores[0, 0, 0, 0] = 1
        # They outlive the trace, whose file is gone.
        self.assertTrue(np.isfinite(scores).all())

    def test_the_files_of_a_trace_go_with_it(self):
        trace = headwise.trace(SMALL)
        path = trace.path
        self.assertTrue(path.exists())
        del trace
        self.assertFalse(path.parent.exists())

    def test_given_arrays_take_the_place_of_those_that_would_be_made(self):
        query = np.arange(24, dtype=np.float64).reshape(1, 3, 8) / 10
        for arrays in ({"query": query}, self.file_of(query), [self.file_of(query)]):
            trace = headwise.trace(SMALL, arrays=arrays, dtype="f64")
            np.testing.assert_array_equal(trace["query"], query)
        weights = np.exp(trace["masked_scores"] - trace["masked_scores"].max(-1, keepdims=True))
        np.testing.assert_allclose(trace["attn_weights"], weights / weights.sum(-1, keepdims=True), rtol=1e-14)

    def file_of(self, query):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "query.npy"
        np.save(path, query)
        return path

    def test_settings_gradients_and_a_choice_of_tensors(self):
        causal = headwise.trace(SMALL, settings={"mask.is_causal": True}, only=["attn_weights"])
        self.assertEqual(list(causal), ["attn_weights"])
        np.testing.assert_array_equal(np.triu(causal["attn_weights"], 1), 0)
        gradients = headwise.trace(SMALL, backward=True, only=["output", "grad.query"])
        self.assertEqual(gradients["grad.query"].shape, (1, 3, 8))

    def test_a_saved_trace_is_the_same_trace(self):
        trace = headwise.trace(SMALL, dtype="f64")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kept.safetensors"
            trace.save(path)
            np.testing.assert_array_equal(headwise.open_trace(path)["output"], trace["output"])
            with self.assertRaisesRegex(headwise.UsageError, "ends in .safetensors"):
                trace.save(Path(folder) / "kept.npz")

    def test_empty_tensors(self):
        trace = headwise.trace({**SMALL, "inputs": {"query_length": 0}})
        self.assertEqual(trace["attn_weights"].shape[2], 0)


    def test_scenarios_and_arrays_of_numpy_and_others(self):
        trace = headwise.trace({"attention": {"embed_dim": np.int64(8), "num_heads": 2}}, settings={"attention.scale": np.float32(0.5)})
        self.assertEqual(trace.scenario["attention"]["scale"], 0.5)
        query = np.zeros((1, 3, 8), ">f4")[::1]
        self.assertEqual(headwise.trace(SMALL, arrays={"query": query})["query"].shape, (1, 3, 8))
        for arrays, words in (
            ({"query": np.ma.masked_array(np.zeros((1, 3, 8)), np.ones((1, 3, 8)))}, "masked array"),
            ({"query": [[1], [2, 3]]}, "array of numbers"),
            ({"query": "text"}, "array of numbers"),
            ({3: np.zeros(3)}, "names were expected"),
            ([np.zeros(3)], "paths of files"),
            (7, "paths of files"),
        ):
            with self.assertRaisesRegex(headwise.UsageError, words):
                headwise.trace(SMALL, arrays=arrays)
        with self.assertRaisesRegex(headwise.UsageError, "--help"):
            headwise.trace("--help")

    def test_copies_and_children_of_a_trace(self):
        trace = headwise.trace(SMALL)
        self.assertIs(copy.copy(trace), trace)
        self.assertIs(copy.deepcopy(trace), trace)
        with self.assertRaisesRegex(TypeError, "Trace.save"):
            pickle.dumps(trace)
        child = os.fork()
        if child == 0:
            del trace  # not the last one: its file stays
            os._exit(0)
        os.waitpid(child, 0)
        self.assertTrue(trace.path.exists())

    def test_files_that_are_no_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("a.npz", b"PK broken"), ("a.safetensors", b"x"), ("b.safetensors", b"\x02\0\0\0\0\0\0\0[]")):
                path = Path(folder) / name
                path.write_bytes(content)
                with self.assertRaisesRegex(headwise.InputError, "no file of a run"):
                    headwise.open_trace(path)
            with self.assertRaises(headwise.InputError):
                headwise.open_trace(folder)
        with self.assertRaises(FileNotFoundError):
            headwise.open_trace("/nowhere.safetensors")


class Cells(unittest.TestCase):
    def test_the_terms_of_a_cell_add_up_to_it(self):
        trace = headwise.trace(SMALL, dtype="f64")
        told = trace.provenance("scores", (0, 1, 2, 0))
        self.assertEqual(told.cell, "scores[0,1,2,0]")
        self.assertEqual(told.value, trace["scores"][0, 1, 2, 0])
        self.assertAlmostEqual(sum(term["value"] for term in told.terms), told.value, places=13)
        for term in told.terms:
            product = 1.0
            for factor in term["factors"]:
                product *= trace[factor["tensor"]][tuple(factor["index"])]
            self.assertAlmostEqual(product, term["value"], places=13)
        self.assertEqual([box["tensor"] for box in told.feeds], ["scaled_scores"])
        self.assertIn("Σ_d", told.formula)
        self.assertEqual(str(told).splitlines()[0].split(" = ")[0], "scores[0,1,2,0]")

    def test_what_is_not_finite_is_a_number_in_python(self):
        trace = headwise.trace(SMALL, settings={"mask.is_causal": True})
        told = trace.provenance("masked_scores", (0, 0, 0, 2))
        self.assertEqual(told.value, -np.inf)
        self.assertIn(-np.inf, [term["value"] for term in told.terms])

    def test_what_is_no_cell_is_refused(self):
        trace = headwise.trace(SMALL)
        for name, cell in (("scores", (0, 0, 0)), ("scores", (0, 2, 0, 0)), ("score", (0, 0, 0, 0))):
            with self.assertRaises(headwise.UsageError):
                trace.provenance(name, cell)
        with self.assertRaisesRegex(KeyError, "nothing: this trace has query, key"):
            trace["nothing"]


class Figures(unittest.TestCase):
    def setUp(self):
        self.trace = headwise.trace(SMALL)

    def test_a_figure_has_a_title_for_each_cell(self):
        svg = ElementTree.fromstring(self.trace.figure("attn_weights", head=1).svg())
        titles = [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(titles), 9)
        first = float(titles[0].rsplit(": ", 1)[1])
        self.assertAlmostEqual(first, float(self.trace["attn_weights"][0, 1, 0, 0]), places=5)

    def test_a_notebook_gets_both_themes_without_scripts_or_anything_from_elsewhere(self):
        page = self.trace.figure("attn_weights", head="all")._repr_html_()
        self.assertEqual(page.count("<svg"), 2)
        for word in ("<script", "http://", "https://", "onload", "<?xml"):
            rest = page.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
            self.assertNotIn(word, rest)
        ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.trace.figure("scores", theme="dark")._repr_html_().count("<svg"), 1)
        # A picture of its own: two in one page share no id.
        other = self.trace.figure("scores")._repr_html_()
        self.assertFalse(set(ids) & {part.split('"')[0] for part in other.split(' id="')[1:]})

    def test_a_text_never_becomes_markup(self):
        trace = headwise.trace("welcome", settings={"inputs.source": "text", "inputs.text": "<b>&</b>", "parameters.source": "random"})
        ElementTree.fromstring(trace.figure("attn_weights").svg())

    def test_it_is_saved_in_every_format(self):
        beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "csv": b"", "npy": b"\x93NUMPY"}
        with tempfile.TemporaryDirectory() as folder:
            for extension, begins in beginnings.items():
                path = Path(folder) / f"map.{extension}"
                self.trace.figure("scores", range=(-1, 1), title="").save(path)
                self.assertTrue(path.read_bytes().startswith(begins))
            saved = np.load(Path(folder) / "map.npy")
        np.testing.assert_array_equal(saved, self.trace["scores"][0, 0])

    def test_figures_of_gradients_and_of_what_has_no_heads(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIn("<svg", headwise.trace(SMALL, backward=True).figure("grad.query").svg())
            self.assertIn("<svg", self.trace.figure("in_proj_bias").svg())
        for range in (5, ("a", "b"), (1, 2, 3)):
            with self.assertRaisesRegex(headwise.UsageError, "range"):
                self.trace.figure("scores", range=range)

    def test_what_cannot_be_written_is_an_output_error_that_is_an_os_error(self):
        with self.assertRaises(headwise.OutputError) as refused:
            self.trace.figure("scores").save("/nowhere/map.png")
        self.assertIsInstance(refused.exception, OSError)


class Comparisons(unittest.TestCase):
    def test_the_same_agrees(self):
        trace = headwise.trace(SMALL)
        self.assertTrue(headwise.compare(trace, {"output": trace["output"]}))
        self.assertTrue(headwise.compare(SMALL, {"output": trace["output"], "scores": trace["scores"]}).agrees)

    def test_a_mistake_is_found_with_its_cell_and_its_cause(self):
        theirs = headwise.trace(SMALL, settings={"attention.scale": 1.0}, only=["attn_weights", "output"])
        found = headwise.compare(headwise.trace(SMALL), theirs)
        self.assertFalse(found)
        self.assertEqual(found.tensor, "attn_weights")
        self.assertEqual(found.theirs, theirs["attn_weights"][found.cell])
        self.assertEqual(len(found.cell), 4)
        self.assertIn("the scores are scaled by 1", found.causes[0])
        self.assertIn("Likely cause", found.report)
        self.assertTrue(headwise.compare(headwise.trace(SMALL), theirs, tolerance=1.0))


class Refusals(unittest.TestCase):
    def test_the_program_s_sentences_name_what_this_module_has(self):
        with self.assertRaisesRegex(headwise.UsageError, "add backward=True$"):
            headwise.trace("random", only=["grad.q"])
        with self.assertRaisesRegex(headwise.UsageError, "^dtype=: there is no such precision"):
            headwise.trace("random", dtype="f16")
        said = headwise.program.in_python("add them to the --input files, or use --set parameters.source=random if they are meant to be made")
        self.assertEqual(said, "add them to arrays=, or use settings={'parameters.source': 'random'} if they are meant to be made")

    def test_exit_statuses_are_exceptions_with_the_programs_sentence(self):
        cases = (
            (headwise.UsageError, "did you mean", lambda: headwise.trace({"attention": {"embed_dims": 8}})),
            (headwise.UsageError, "file not found", lambda: headwise.trace("nowhere.json")),
            (headwise.InputError, "query", lambda: headwise.trace(SMALL, arrays={"query": np.zeros((1, 3, 9))})),
            (headwise.OutOfMemoryError, "memory", lambda: headwise.trace(SMALL, settings={"inputs.query_length": 10000000})),
            (headwise.UsageError, "list of names", lambda: headwise.trace(SMALL, only="scores")),
            (headwise.UsageError, "arrays=", lambda: headwise.trace(SMALL, np.zeros(3))),
        )
        for error, words, call in cases:
            with self.assertRaisesRegex(error, words) as refused:
                call()
            self.assertNotIn("headwise: ", str(refused.exception))

    def test_remarks_are_warnings_at_the_callers_line(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            headwise.trace(SMALL, arrays={"in_proj_weight": np.zeros((24, 8), np.float32)})
        self.assertTrue(any("out_proj" in str(one.message) for one in seen))
        self.assertEqual({one.filename for one in seen}, {__file__})
        self.assertTrue(all(issubclass(one.category, headwise.HeadwiseWarning) for one in seen))

    def test_a_window_without_a_display(self):
        kept = {name: os.environ.pop(name) for name in ("DISPLAY", "WAYLAND_DISPLAY") if name in os.environ}
        try:
            with self.assertRaisesRegex(headwise.NoDisplayError, "display"):
                headwise.show()
        finally:
            os.environ.update(kept)

    @unittest.skipIf((Path(headwise.__file__).parent / "bin" / "headwise").exists(), "this package has the program")
    def test_a_missing_program_is_one_sentence(self):
        environment = {**os.environ, "PATH": "/nowhere"}
        environment.pop("HEADWISE_PROGRAM")
        told = subprocess.run([sys.executable, "-m", "headwise"], capture_output=True, text=True, env=environment)
        self.assertEqual(told.returncode, 1)
        self.assertEqual(len(told.stderr.splitlines()), 1)
        self.assertIn("HEADWISE_PROGRAM", told.stderr)


class Program(unittest.TestCase):
    def test_python_m_headwise_is_the_program(self):
        own = subprocess.run([os.environ["HEADWISE_PROGRAM"], "list", "tensors"], capture_output=True)
        over = subprocess.run([sys.executable, "-m", "headwise", "list", "tensors"], capture_output=True)
        self.assertEqual((own.returncode, own.stdout, own.stderr), (over.returncode, over.stdout, over.stderr))
        self.assertEqual(subprocess.run([sys.executable, "-m", "headwise", "run"], capture_output=True).returncode, 2)

    def test_the_command_does_not_start_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            command = Path(folder) / "headwise"
            command.write_text(f"#!{sys.executable}\nfrom headwise.__main__ import main\nmain()\n")
            command.chmod(0o755)
            environment = {**os.environ, "HEADWISE_PROGRAM": str(command), "PATH": folder}
            told = subprocess.run([command, "--version"], capture_output=True, text=True, env=environment, timeout=20)
        packaged = (Path(headwise.__file__).parent / "bin" / "headwise").exists()
        self.assertEqual(told.returncode, 0 if packaged else 1, told.stderr)

    def test_the_program_and_errors_need_no_numpy_and_nothing_needs_torch(self):
        loaded = "import sys, headwise; headwise.UsageError; sys.exit(int('numpy' in sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", loaded]).returncode, 0)
        traced = "import sys, headwise; headwise.trace('welcome').figure('scores').svg(); sys.exit(int('torch' in sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", traced]).returncode, 0)

    def test_every_name_of_the_package_is_there(self):
        for name in headwise.__all__:
            self.assertTrue(hasattr(headwise, name), name)
        source = Path(headwise.__file__).read_text()
        for name in headwise.__all__:
            self.assertIn(f"import {name} as {name}\n", source)
        with self.assertRaises(AttributeError):
            headwise.nothing

    def test_a_training_step_by_step(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            small = {"width": 16, "heads": 2, "batch": 8, "learning_rate": 0.01, "no_norms": True}
            steps = list(headwise.train("sort", run, steps=20, every=10, **small))
            self.assertEqual([step.step for step in steps], [10, 20])
            self.assertEqual(steps[-1].checkpoint, str(run / "checkpoint-20"))
            self.assertTrue(0 <= steps[-1].held_out_accuracy <= 1)
            self.assertEqual(headwise.trace(steps[-1].checkpoint, only=["attn_weights"])["attn_weights"].shape[1], 2)
            heeds_interrupts = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
            try:
                for step in headwise.train("sort", Path(folder) / "left", steps=100000, every=10, **small):
                    break  # it ends, with a checkpoint
            finally:
                signal.signal(signal.SIGINT, heeds_interrupts)
            left = sorted(int(path.name.split("-")[1]) for path in (Path(folder) / "left").glob("checkpoint-*"))
            self.assertLess(left[-1], 100000)
            with self.assertRaisesRegex(headwise.UsageError, "there is no task of that name"):
                list(headwise.train("srot", Path(folder) / "no"))
            with self.assertRaisesRegex(headwise.UsageError, "--wdith"):
                list(headwise.train("sort", Path(folder) / "no", wdith=3))

    def test_heads_of_a_model(self):
        found = headwise.heads("builtin:sentences", "the animal did not cross the street")
        self.assertEqual(sorted({head["layer"] for head in found}), list(range(len({head["layer"] for head in found}))))
        for head in found:
            self.assertLessEqual(head["previous_token"], 1)
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "left out at its end"):
            headwise.heads("builtin:sentences", "the animal " * 100)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
