"""A lesson as one HTML file, in real browsers: what it says, computes and judges, against the program (HEADWISE_PROGRAM)."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zlib
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import browsers

PROGRAM = os.environ.get("HEADWISE_PROGRAM", "headwise")
LESSONS = ("first_walk", "questions", "break_it", "heads_differ", "since_2017")
# Pages with cells of every kind: a preset, what is set, the step, the view and the head.
COLORED: list[tuple[str, list[str], str, str, int]] = [
    ("random", ["attention.embed_dim=16", "attention.num_heads=2"], "project", "one_head", 0),
    ("grouped_query", [], "scores", "one_head", 5),
    ("hand_made", ["mask.is_causal=true"], "mask", "one_head", 4),                       # blocked
    ("hand_made", ["mask.is_causal=true"], "softmax", "all_heads", 0),
    ("hand_made", ["mask.is_causal=true", "mask.value=-1"], "softmax", "one_head", 4),   # blocked, and yet with a weight
    ("hand_made", ["mask.preset=padding:12"], "softmax", "one_head", 0),                 # NaN
    ("hand_made", ['edits=[{"tensor":"query","index":[0,11,0],"value":3e38},{"tensor":"in_proj_weight","index":[320,0],"value":10}]'],
     "split_heads", "one_head", 4),                                                      # ∞
    ("welcome", [], "softmax", "head_rows", 0),
    ("long_context", ["attention.rotary_pairs=neighbours"], "softmax", "one_head", 3),   # stretched frequencies, and their factor
    ("sink", [], "softmax", "one_head", 7),                                              # rows of less than 1
    ("past", [], "scores", "one_head", 3),                                               # keys of a cache
    ("cross_attention", [], "weighted_sum", "one_head", 1),
    ("hand_made", ["heads.gain=[0,1,1,1,1,0.5,1,1]"], "concat", "one_head", 1),          # muted
]
BLOCKED, NAN = (0x6e, 0x74, 0x7d), (0xb4, 0, 0xfc)
# Of each map on the stage: its cells as [index in its tensor, [red, green, blue]], the colour of most of a cell's pixels.
CELLS = """for (const view of headwise.views()) {
        [view.marks, view.cursor, view.options.pinned] = [[], null, null];
        view.draw();
    }
    const commonest = (pixels, width, [left, top, across, down]) => {
        const counts = new Map();
        for (let y = top; y < top + down; y += 1)
            for (const color of pixels.subarray(y * width + left, y * width + left + across)) counts.set(color, (counts.get(color) || 0) + 1);
        counts.delete(0);   // the gap between cells is transparent
        const [color] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most));
        return [color & 255, (color >> 8) & 255, (color >> 16) & 255];
    };
    return headwise.views().map((view) => {
        const { canvas, plane, options } = view;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        const cells = [];
        for (let row = 0; row < plane.rows; row += 1)
            for (let column = 0; column < plane.columns; column += 1)
                cells.push([plane.index(row, column), commonest(pixels, canvas.width, view.rect(row, column))]);
        return { tensor: plane.name, shape: view.trace.tensors[plane.name].shape, range: options.range, cells };
    });"""
Color = tuple[int, int, int]
HOSTILE = "</script><script>window.harm=1</script><img src=x onerror=\"window.harm=1\">\"'&<!--"


def program(*words: str, **more: Any) -> str:
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, **more).stdout


def said_by_program(lesson: str) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = json.loads(program("info", lesson, "--json"))["pages"]
    return pages


def pixels_of(png: bytes) -> tuple[int, bytes]:
    """The width and the bytes of an 8-bit RGB PNG without filters, as Headwise writes it."""
    at, data, width = 8, b"", 0
    while at < len(png):
        length, kind = int.from_bytes(png[at:at + 4], "big"), png[at + 4:at + 8]
        if kind == b"IHDR":
            width = int.from_bytes(png[at + 8:at + 12], "big")
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    rows, line = zlib.decompress(data), 1 + 3 * width
    return width, b"".join(rows[begin + 1:begin + line] for begin in range(0, len(rows), line))


class Pages(unittest.TestCase):
    """Each test runs in one of the browsers that are installed: subclasses name it."""
    browser = ""
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name: str) -> Path:
        return Path(self.folder.name) / name

    def rendered(self, lesson: str, name: str) -> Path:
        path = self.path(f"{name}.html")
        if not path.exists():
            program("render", lesson, "-o", str(path), "-q")
        return path

    def playlist(self, name: str, pages: list[dict[str, Any]], title: str = "A lesson") -> Path:
        file = self.path(f"{name}.json")
        file.write_text(json.dumps({"headwise_playlist": 1, "title": title, "pages": pages}))
        return self.rendered(str(file), name)

    def open(self, path: Path, **more: Any) -> Any:
        context = browsers.open_browser(self.browser, **more)
        page = self.enterContext(context) if hasattr(self, "enterContext") else self.entered(context)
        self.turn(page, path, 1)
        return page

    def entered(self, context: Any) -> Any:
        page = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return page

    def turn(self, page: Any, path: Path, number: int) -> None:
        page.go("about:blank")
        page.go(f"file://{path}#{number}")
        page.wait("return window.headwise !== undefined")

    def check_silent(self, page: Any) -> None:
        self.assertEqual(page.messages, [])

    # What it says and computes

    def test_every_page_says_what_the_program_says_and_asks_for_the_same(self) -> None:
        for lesson in LESSONS:
            page = self.open(self.rendered(lesson, lesson))
            theirs = said_by_program(lesson)
            self.assertEqual(page.run("return headwise.lesson.pages.length"), len(theirs))
            for at, expected in enumerate(theirs):
                with self.subTest(lesson=lesson, page=at + 1):
                    said = page.run("headwise.texts(args[0])", at)
                    self.assertEqual(said["caption"], expected["says"]["caption"])
                    self.assertEqual(said["ask"], expected["says"]["ask"])
                    if "answer" in expected:
                        self.check_key(page.run("headwise.key(args[0])", at), expected["answer"])
            self.check_silent(page)
            self.assertEqual([url for url in page.requests if not url.startswith(("data:", "blob:", "file:"))], [])

    def check_key(self, key: dict[str, Any], expected: dict[str, Any]) -> None:
        theirs, kind = expected["key"], expected["kind"]
        if kind == "number":
            self.assertAlmostEqual(key["number"], theirs, delta=1e-5 * max(1.0, abs(theirs)))
        elif kind in ("choice", "tensor"):
            self.assertEqual(key["option"] + 1, theirs)
        elif kind == "weights":
            for ours, weight in zip(key["weights"]["weights"], theirs, strict=True):
                self.assertAlmostEqual(ours, weight, delta=1e-5)
        elif kind == "mask":
            mask = key["mask"]
            pairs = [[mask["row"] + i // mask["columns"], mask["column"] + i % mask["columns"]]
                     for i, blocked in enumerate(mask["blocked"]) if blocked]
            self.assertEqual(pairs, theirs)
        elif kind == "cell":
            self.assertEqual({part: key[part] for part in ("row", "column") if key.get(part) is not None}, theirs)
        else:
            self.assertEqual(key["sizes" if kind == "shape" else "head"], theirs)

    def test_switching_a_mask_or_a_head_computes_what_the_program_computes(self) -> None:
        page = self.open(self.rendered("first_walk", "first_walk"))
        for change, settings in (
                ("walk.settings = copy; copy.mask.is_causal = true", ["mask.is_causal=true"]),
                ("walk.settings = copy; copy.mask.sliding_window = 3", ["mask.sliding_window=3"]),
                ("walk.gains = [0, 1, 1, 1, 1, 0, 1, 1]", ["heads.gain=[0,1,1,1,1,0,1,1]"])):
            ours = page.run(f"""const walk = headwise.walks[11];
                const copy = JSON.parse(JSON.stringify(headwise.lesson.scenarios[walk.page.data].settings));
                [walk.settings, walk.gains, walk.trace] = [null, null, null];
                {change};
                return Array.from(headwise.traceOf(11).tensors.output.data)""")
            table = program("export", "hand_made", *[word for each in settings for word in ("--set", each)], "--tensor", "output",
                            "-o", str(self.path("output.csv")))
            self.assertIn("output.csv", table + "output.csv")
            rows = [line.split(",")[1:] for line in self.path("output.csv").read_text().splitlines()[1:]]
            theirs = [float(cell) for row in rows for cell in row]
            self.assertEqual(len(ours), len(theirs))
            largest = max(abs(number) for number in theirs)
            for mine, its in zip(ours, theirs):
                self.assertAlmostEqual(mine, its, delta=2e-5 * largest)

    # What it draws

    def cells_of_program(self, words: list[str]) -> list[Color]:
        """The colours of the cells in an exported picture, row by row and map by map: where they lie is said by the SVG."""
        for file, more in (("map.svg", ["--cell-titles"]), ("map.png", [])):
            program("export", *words, "--scale", "8", *more, "-o", str(self.path(file)), "-q")
        width, pixels = pixels_of(self.path("map.png").read_bytes())
        box = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*><title>')
        colors = []
        for found in box.finditer(self.path("map.svg").read_text()):
            left, top, across, down = (round(float(number)) for number in found.groups())
            lines = [pixels[3 * (y * width + left):3 * (y * width + left + across)] for y in range(top, top + down)]
            [(color, _)] = Counter(line[i:i + 3] for line in lines for i in range(0, len(line), 3)).most_common(1)
            colors.append((color[0], color[1], color[2]))
        return colors

    def check_colors(self, page: Any, words: list[str]) -> set[Color]:
        """Compares every cell on the stage, and gives the colours seen."""
        known: dict[str, list[Color]] = {}
        seen: set[Color] = set()
        for shown in page.run(CELLS):
            shape, (low, high) = shown["shape"], shown["range"]
            inner = shape[1:] if len(shape) > 2 else shape      # of the first batch
            of_all = [*words, "--tensor", shown["tensor"], f"--range={low!r}:{high!r}", *(["--head", "all"] if len(shape) == 4 else [])]
            request = " ".join(of_all)
            if request not in known:
                known[request] = self.cells_of_program(of_all)
            theirs = known[request]
            self.assertEqual(len(theirs), prod(inner), request)
            for index, color in shown["cells"]:
                at = 0
                for size, i in zip(inner, index[-len(inner):]):
                    at = at * size + i
                apart = max(abs(mine - its) for mine, its in zip(color, theirs[at]))
                self.assertLessEqual(apart, 2, f"{shown['tensor']}{index} is {color}, and {theirs[at]} in {request}")
                seen.add(theirs[at])
        return seen

    def test_each_cell_has_the_colour_that_it_has_in_the_programs_picture(self) -> None:
        path = self.playlist("colored", [{"scenario": preset, "set": changes, "step": step, "view": view, "head": head, "caption": "{L}"}
                                         for preset, changes, step, view, head in COLORED])
        for theme, kinds in (("light", {BLOCKED, NAN}), ("dark", set())):
            page = self.open(path, dark=theme == "dark", reduced_motion=True, width=1400, height=1000)
            seen: set[Color] = set()
            for at, (preset, changes, step, view, _) in enumerate(COLORED):
                if theme == "dark" and step not in ("mask", "project"):
                    continue    # one table is the same in both
                page.run("headwise.turnTo(args[0]);", at)
                with self.subTest(theme=theme, page=at + 1, step=step, view=view):
                    words = [preset, "--theme", theme, *[word for each in changes for word in ("--set", each)]]
                    seen |= self.check_colors(page, words)
            self.assertEqual(kinds - seen, set())
            if theme == "light":
                page.run("document.querySelector('#switch-mute').click();")     # of the last page, the head that it shows
                self.check_colors(page, ["hand_made", "--set", "heads.gain=[0,0,1,1,1,0.5,1,1]"])
                page.run("const [{options}] = headwise.views(); options.table = options.table.map(([r, g, b]) => [r, g, b < 128 ? b + 3 : b - 3]);")
                with self.assertRaises(AssertionError):
                    self.check_colors(page, ["hand_made", "--set", "heads.gain=[0,0,1,1,1,0.5,1,1]"])
            self.check_silent(page)

    # What a reader does

    def test_questions_are_judged_by_computing(self) -> None:
        page = self.open(self.rendered("questions", "questions"))
        theirs = said_by_program("questions")
        for at, expected in enumerate(theirs):
            if "answer" not in expected:
                continue
            kind, key = expected["answer"]["kind"], expected["answer"]["key"]
            right = self.right_answer(page, at, kind, key)
            with self.subTest(page=at + 1, kind=kind):
                verdict = page.run("headwise.answer(args[0], args[1])", at, right)
                self.assertIs(verdict["right"], True, verdict)
                self.assertIn("right", verdict["text"])
                if kind in ("choice", "tensor"):
                    options = page.run("headwise.lesson.pages[args[0]].answer.options.map(option => option.tensor || '')", at)
                    for option in range(len(options)):
                        given = options[option] or option + 1
                        wrong = page.run("headwise.answer(args[0], args[1])", at, given)
                        self.assertIs(wrong["right"], option + 1 == key, wrong)
        self.check_silent(page)

    @staticmethod
    def right_answer(page: Any, at: int, kind: str, key: Any) -> Any:
        if kind == "number":
            return repr(key)
        if kind == "shape":
            return ", ".join(map(str, key))
        if kind == "tensor":
            return page.run("headwise.lesson.pages[args[0]].answer.options[args[1] - 1].tensor", at, key)
        if kind == "cell":
            return [key.get("row", 0), key.get("column", 0)]
        return key

    def test_pages_turn_and_cells_are_read_by_the_keyboard_alone(self) -> None:
        path = self.rendered("first_walk", "first_walk")
        page = self.open(path, reduced_motion=True)
        self.assertIn("1  Words become rows", page.run("return document.body.innerText"))
        page.key("ArrowRight")
        self.assertIn("2  Three projections", page.run("return document.querySelector('h2').textContent"))
        page.key("ArrowLeft")
        self.assertIn("1  Words", page.run("return document.querySelector('h2').textContent"))
        self.turn(page, path, 5)
        page.run("document.querySelector('#stage canvas').focus();")
        page.key("ArrowDown")
        page.key("ArrowRight")
        self.assertIn("scores[0,0,1,1] =", page.run("return document.querySelector('#inspector').textContent"))
        self.turn(page, path, 4)  # asks for a cell, whose map is hidden
        page.run("document.querySelector('.result canvas').focus();")
        self.assertIn("hidden", page.run("return document.querySelector('#inspector').textContent"))
        for _ in range(8):
            page.key("ArrowDown")
        for _ in range(7):
            page.key("ArrowRight")
        page.key("Enter")
        self.assertIn("right", page.run("return document.querySelector('#verdict').textContent"))
        self.check_silent(page)

    def test_a_digit_chooses_an_option_and_typed_text_is_judged(self) -> None:
        page = self.open(self.rendered("questions", "questions"))
        page.key("2")
        self.assertIn("You chose", page.run("return document.querySelector('#verdict').textContent"))
        walk = self.rendered("first_walk", "first_walk")
        self.turn(page, walk, 3)
        page.run("document.querySelector('#words input').focus();")
        page.type("nothing")
        page.key("Enter")
        self.assertIn("type sizes", page.run("return document.querySelector('.message').textContent"))
        page.run("document.querySelector('#words input').value = ''")
        page.type("1 8 12 16")
        page.key("Enter")
        self.assertIn("right", page.run("return document.querySelector('#verdict').textContent"))
        self.check_silent(page)

    def test_a_mask_is_painted_and_a_row_of_weights_is_drawn(self) -> None:
        page = self.open(self.rendered("questions", "questions"), height=1400)
        self.turn(page, self.rendered("questions", "questions"), 22)
        key = said_by_program("questions")[21]["answer"]["key"]
        page.run("document.querySelector('#stage').scrollIntoView();")
        page.run("[...document.querySelectorAll('#stage canvas')].find(map => map.getAttribute('aria-label').includes('hidden')).focus()")
        at = [0, 0]
        for row, column in key:
            for axis, keys in ((0, ("ArrowDown", "ArrowUp")), (1, ("ArrowRight", "ArrowLeft"))):
                wanted = (row, column)[axis]
                while at[axis] != wanted:
                    page.key(keys[0] if at[axis] < wanted else keys[1])
                    at[axis] += 1 if at[axis] < wanted else -1
            page.key("Space")
        page.run("[...document.querySelectorAll('button')].find(button => button.textContent === 'answer').click()")
        self.assertIn("right", page.run("return document.querySelector('#verdict').textContent"))
        self.turn(page, self.rendered("first_walk", "first_walk"), 7)
        page.run("""const sliders = [...document.querySelectorAll('.bars input')];
            sliders[7].value = 0.9; sliders[7].dispatchEvent(new Event('input'));
            [...document.querySelectorAll('button')].find(button => button.textContent === 'answer').click();""")
        self.assertIn("right", page.run("return document.querySelector('#verdict').textContent"))
        self.check_silent(page)

    def test_a_finger_that_scrolls_answers_nothing(self) -> None:
        page = self.open(self.rendered("first_walk", "first_walk"), width=390, height=844)
        page.run("headwise.turnTo(3);")
        touch = """const map = document.querySelector("#stage canvas"), box = map.getBoundingClientRect();
            const at = {pointerType: "touch", bubbles: true, clientX: box.right - 20, clientY: box.bottom - 20};
            map.dispatchEvent(new PointerEvent("pointerdown", at));
            map.dispatchEvent(new PointerEvent(args[0], at));
            return document.querySelector("#verdict") !== null;"""
        self.assertFalse(page.run(touch, "pointercancel"))
        self.assertTrue(page.run(touch, "pointerup"))

    def test_only_hidden_maps_are_painted_and_what_was_wrong_is_outlined(self) -> None:
        page = self.open(self.rendered("questions", "questions"), reduced_motion=True)
        page.run("headwise.turnTo(21);")
        self.assertEqual(page.run("""return headwise.views().map(view => [view.options.veiled, view.options.painted !== null])"""),
                         [[False, False], [True, True], [True, True]])
        verdict = page.run("headwise.answer(21, [[0, 0], [3, 8]])")
        self.assertIs(verdict["right"], False)
        page.run("headwise.show({});")
        key = {tuple(pair) for pair in said_by_program("questions")[21]["answer"]["key"]}
        wrong = key ^ {(0, 0), (3, 8)}
        self.assertEqual(set(page.run("headwise.views().at(-1).options.wrong")), {f"{row},{column}" for row, column in wrong})

    def test_a_switch_keeps_the_focus_and_changes_no_judgement(self) -> None:
        page = self.open(self.rendered("first_walk", "first_walk"), reduced_motion=True)
        page.run("headwise.turnTo(6);")
        page.run("document.querySelector('#switch-causal').focus();")
        page.key("Space")
        self.assertEqual(page.run("document.activeElement.id"), "switch-causal")
        self.assertTrue(page.run("headwise.traceOf(6).settings.mask.is_causal"))
        key = said_by_program("first_walk")[6]["answer"]["key"]
        self.assertIs(page.run("headwise.answer(6, args[0])", key)["right"], True)
        page.run("headwise.turnTo(7);")
        page.run("document.querySelector('#pages').focus();")
        page.run("const list = document.querySelector('#pages'); list.value = '8'; list.dispatchEvent(new Event('change'));")
        self.assertEqual(page.run("document.activeElement.id"), "pages")

    def test_answers_are_kept_listed_and_saved_to_be_handed_in(self) -> None:
        path = self.rendered("first_walk", "first_walk")
        page = self.open(path)
        page.run("headwise.turnTo(2);")
        page.run("document.querySelector('#words input').focus();")
        page.type("(1,8,12,16)")
        page.key("Enter")
        page.run("headwise.turnTo(12);")
        self.assertIn("1 of 3 questions answered, 1 right", page.run("return document.body.innerText"))
        page.run("document.querySelector('input[autocomplete=name]').focus();")
        page.type("Ada L.")
        homework = page.run("return headwise.homework()")
        self.assertEqual((homework["headwise_homework"], homework["lesson"], homework["name"]),
                         (1, "One word through the layer", "Ada L."))
        self.assertEqual(homework["answers"], [{"page": 3, "title": "3  The split into heads", "kind": "shape",
                                                "given": "(1,8,12,16)", "right": True}])
        file = self.path("ada.json")
        file.write_text(json.dumps(homework))
        graded = program("grade", str(file), "--csv")
        self.assertIn("3  The split into heads", graded)
        self.turn(page, path, 13)
        self.assertIn("1 of 3 questions answered", page.run("return document.body.innerText"))
        self.check_silent(page)

    # Who reads it, and where

    def test_a_screen_reader_finds_names_and_a_table_with_headers(self) -> None:
        page = self.open(self.rendered("first_walk", "first_walk"))
        self.turn(page, self.rendered("first_walk", "first_walk"), 5)
        page.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        page.wait("return document.querySelectorAll('table').length > 1")
        tree = page.accessible_tree()
        names = {name for _, name in tree}
        self.assertIn("5  Scale by 1/√D", names)
        self.assertIn("next page", names)
        self.assertTrue(any("scaled_scores[0,0], 12 rows and 12 columns" in name for name in names), names)
        roles = {role.lower().replace(" ", "") for role, _ in tree}
        self.assertTrue({"table", "rowheader", "columnheader"} <= roles, roles)
        self.assertEqual(page.run("""return [...document.querySelectorAll('button, select, input, canvas, img')].filter(each =>
            !(each.textContent.trim() || each.getAttribute('aria-label') || each.alt || each.labels?.length)).map(each => each.outerHTML)"""), [])

    def test_it_fits_a_phone(self) -> None:
        for lesson in LESSONS:
            path = self.rendered(lesson, lesson)
            page = self.open(path, width=390, height=844)
            for at in range(page.run("return headwise.lesson.pages.length") + 1):
                page.run("headwise.turnTo(args[0]);", at)
                with self.subTest(lesson=lesson, page=at + 1):
                    self.assertLessEqual(page.run("return document.scrollingElement.scrollWidth"), 390)

    def test_dark_light_and_less_motion_are_followed(self) -> None:
        path = self.rendered("first_walk", "first_walk")
        colors = []
        for dark in (False, True):
            page = self.open(path, dark=dark, reduced_motion=True)
            colors.append(page.run("return getComputedStyle(document.body).backgroundColor"))
            page.run("headwise.turnTo(4);")
            self.assertFalse(page.run("return headwise.moving()"))
            self.check_silent(page)
        self.assertEqual(colors, ["rgb(251, 251, 252)", "rgb(22, 24, 28)"])
        moving = self.open(path)
        self.assertTrue(moving.run("headwise.turnTo(4); return headwise.moving()"))

    def test_printed_each_page_is_a_sheet(self) -> None:
        page = self.open(self.rendered("first_walk", "first_walk"))
        page.print_pdf(self.path("walk.pdf"))
        pdf = self.path("walk.pdf").read_bytes()
        plain = len(re.findall(rb"/Type\s*/Page\b", pdf))   # Firefox writes them into compressed streams
        self.assertTrue(plain >= 12 or (plain == 0 and len(pdf) > 100000), f"{plain} pages in {len(pdf)} bytes")
        sheets = page.run("""headwise.print();
            const texts = [...document.querySelectorAll(".sheet")].map(sheet => sheet.textContent);
            const inked = [...document.querySelectorAll(".sheet canvas")].every(map =>
                map.getContext("2d").getImageData(0, 0, map.width, map.height).data.some(value => value > 0));
            headwise.afterPrint();
            return {texts, inked};""")
        self.assertEqual(len(sheets["texts"]), 12)
        self.assertTrue(sheets["inked"])
        self.assertIn("12 tokens, each a row of 128 numbers", sheets["texts"][0])
        self.assertNotIn("Column 7", sheets["texts"][3])    # what was not asked yet stays open
        self.assertEqual(page.run("document.querySelectorAll('.sheet').length"), 0)

    def test_text_of_a_file_never_runs(self) -> None:
        path = self.playlist("hostile", [
            {"title": HOSTILE, "caption": HOSTILE, "scenario": {"inputs": {"source": "text", "text": HOSTILE}, "attention":
             {"embed_dim": 16, "num_heads": 2}}, "step": "softmax", "view": "all_heads"},
            {"title": HOSTILE, "ask": HOSTILE, "caption": HOSTILE, "step": "scores",
             "answer": {"kind": "choice", "options": [{"text": HOSTILE, "is": "L > 0", "why": HOSTILE}, {"text": "__proto__", "is": "L < 0"}]}},
            {"title": "constructor", "ask": "__proto__ {if inputs.source = '__proto__': a | else: b} toString", "caption": "{L}",
             "answer": {"kind": "number", "is": "L", "unit": HOSTILE}}], title=HOSTILE)
        page = self.open(path)
        for at in range(4):
            page.run("headwise.turnTo(args[0]);", at)
            page.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
            self.assertIsNone(page.run("return window.harm === undefined ? null : window.harm"))
        page.run("headwise.turnTo(1);")
        page.key("1")
        self.assertIn("You chose", page.run("return document.querySelector('#verdict').textContent"))
        self.assertEqual(page.run("return document.title"), HOSTILE)
        self.assertEqual(page.run("return document.querySelectorAll('img').length"), 0)
        self.check_silent(page)

    def test_a_page_too_large_for_a_browser_is_a_picture_with_its_words(self) -> None:
        large = {"inputs": {"query_length": 1500}, "attention": {"embed_dim": 128}}
        path = self.playlist("large", [
            {"scenario": large, "step": "softmax", "ask": "How many of {L} rows?", "caption": "All {L} of them.",
             "answer": {"kind": "number", "is": "L"}},
            {"scenario": "hand_made", "step": "scores", "caption": "{L} here."}])
        page = self.open(path)
        self.assertEqual(page.run("document.querySelectorAll('#stage img').length"), 1)
        self.assertIn("How many of 1,500 rows?", page.run("return document.body.innerText"))
        page.run("[...document.querySelectorAll('button')].find(button => button.textContent === 'show the answer').click();")
        self.assertIn("All 1,500 of them.", page.run("return document.body.innerText"))
        page.key("ArrowRight")
        self.assertIn("12 here.", page.run("return document.body.innerText"))
        self.check_silent(page)

    def test_names_that_a_script_would_know_are_no_numbers_of_a_text(self) -> None:
        for name in ("__proto__", "constructor[0]", "toString"):
            with self.assertRaises(subprocess.CalledProcessError) as refused:
                self.playlist(f"names-{name[:5]}", [{"step": "scores"}, {"caption": f"{{{name}}}"}])
            self.assertEqual(refused.exception.returncode, 2)
            self.assertIn("page 2: a number in a text", refused.exception.stderr)

    def test_the_file_is_small_and_loads_nothing(self) -> None:
        for lesson in LESSONS:
            text = self.rendered(lesson, lesson).read_text()
            self.assertLess(len(text), 3e6, lesson)
            self.assertIn("default-src 'none'", text)
            self.assertEqual(re.findall(r"""(?:src|href)=["']?https?:""", text), [])


def tests_of(browser: str) -> type[Pages]:
    return type(browser.capitalize(), (Pages,), {"browser": browser})


if __name__ == "__main__":
    installed = browsers.installed_or_skip()
    loader = unittest.TestLoader()
    chosen = [name for name in sys.argv[1:] if name in installed] or installed
    wanted = [word for word in sys.argv[1:] if word not in installed]
    suite = unittest.TestSuite()
    for name in chosen:
        cases = tests_of(name)
        names = [each for each in loader.getTestCaseNames(cases) if not wanted or any(word in each for word in wanted)]
        suite.addTests(cases(each) for each in names)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
