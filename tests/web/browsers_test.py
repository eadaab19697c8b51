"""Every method of browsers.py in each browser that is installed: exit code 77 where none is."""
import contextlib
import struct
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from browsers import BrowserError, Page, available, installed_or_skip, open_browser

PAGE = """<!DOCTYPE html><html lang="en"><title>Trial</title>
<meta name="viewport" content="width=device-width">
<style>body { margin: 0; background: rgb(255, 255, 255) } button { position: absolute; left: 100px; top: 50px; width: 80px; height: 40px }
@media (prefers-color-scheme: dark) { body { background: rgb(0, 0, 0) } }</style>
<h1>Heads</h1><button aria-label="Next step">Go</button><label>Name <input></label><div hidden>unseen</div>
<script>
const seen = [];
for (const type of ["keydown", "click", "mousemove"])
  addEventListener(type, e => seen.push(type === "keydown" ? [e.isTrusted, e.key, e.code, e.shiftKey, e.ctrlKey]
                                                         : [e.isTrusted, type, e.clientX, e.clientY, e.buttons]));
console.warn("careful", 7);
console.log("said");
</script>
<script>throw new Error("thrown aloud")</script>
<script>Promise.reject(new RangeError("rejected"))</script>
"""
POLICY = """<!DOCTYPE html><title>Strict</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'">
<img src="https://example.com/a.png"><script>fetch("https://example.com/b.json").catch(() => {})</script>"""
FAILING = """<!DOCTYPE html><title>Failing</title><img src="missing.png"><script src="https://example.invalid/c.js"></script>"""


def programs_in(folder: Path) -> list[str]:
    """Command lines of what runs with this profile, the browser and its children."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [line] if str(folder) in line else []
    return found


class InOneBrowser(unittest.TestCase):
    """The cases; a class below for each browser."""
    browser = ""
    folder: "tempfile.TemporaryDirectory[str]"
    here: Path
    block: contextlib.ExitStack
    shared: Page

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.here = Path(cls.folder.name)
        for name, text in (("page", PAGE), ("policy", POLICY), ("failing", FAILING)):
            (cls.here / f"{name}.html").write_text(text)
        start = time.monotonic()
        cls.block = contextlib.ExitStack()
        cls.shared = cls.block.enter_context(open_browser(cls.browser))
        print(f"{cls.browser}: started in {time.monotonic() - start:.1f} s")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.block.close()
        cls.folder.cleanup()

    def setUp(self) -> None:
        self.page = self.shared
        self.page.go(self.here / "page.html")

    def test_values_and_exceptions_come_out(self) -> None:
        page = self.page
        self.assertEqual(page.run("document.title"), "Trial")
        self.assertEqual(page.run("args[0] + args[1].length", 40, "zwölf"), 45)
        self.assertEqual(page.run("const x = await Promise.resolve([1, null, {a: 'é'}]); return x"), [1, None, {"a": "é"}])
        self.assertIsNone(page.run("seen.length = 0;"))
        self.assertIsNone(page.run("undefined"))
        self.assertIs(page.wait("document.readyState === 'complete'"), True)
        for code, text in (("nothing.at", "ReferenceError: nothing is not defined"), ("throw new TypeError('mine'); return 1", "TypeError: mine"),
                           ("1 +", "SyntaxError"), ("0 / 0", "NaN"), ("await Promise.reject(new Error('later'))", "Error: later")):
            with self.assertRaisesRegex(BrowserError, text):
                page.run(code)
        with self.assertRaisesRegex(BrowserError, "Not within 0.1 s: false"):
            page.wait("false", timeout=0.1)

    def test_keys_are_real(self) -> None:
        page = self.page
        page.key("ArrowRight")
        page.key("?")
        page.key("a", ctrl=True)
        page.key("é")
        self.assertEqual([key for key in page.run("seen") if key[1] not in ("Shift", "Control")],
                         [[True, "ArrowRight", "ArrowRight", False, False], [True, "?", "Slash", True, False],
                          [True, "a", "KeyA", False, True], [True, "é", "", False, False]])
        self.assertTrue(page.run("document.hasFocus()"))
        page.key("Tab")
        self.assertEqual(page.run("document.activeElement.localName"), "button")
        self.assertTrue(page.run("document.activeElement.matches(':focus-visible')"))
        page.key("Tab")
        page.type("Ab c?é")
        page.key("Backspace")
        self.assertEqual(page.run("[document.activeElement.localName, document.activeElement.value]"), ["input", "Ab c?"])
        page.key("a", ctrl=True)
        page.type("z")
        self.assertEqual(page.run("document.activeElement.value"), "z")
        page.key("Tab", shift=True)
        self.assertEqual(page.run("seen.length = 0; return document.activeElement.localName"), "button")
        for key in ("Enter", " "):
            page.key(key)
        self.assertEqual(page.run("seen.filter(it => it[1] === 'click').length"), 2)
        with self.assertRaisesRegex(BrowserError, "There is no key \"Rightarrow\""):
            page.key("Rightarrow")

    def test_the_mouse_is_real(self) -> None:
        page = self.page
        self.assertEqual(page.center("button"), (140, 70))
        page.move(20, 200)
        page.click(*page.center("button"))
        page.drag(10, 300, 50, 300)
        seen = page.run("seen")
        for event in ([True, "mousemove", 20, 200, 0], [True, "click", 140, 70, 0], [True, "mousemove", 50, 300, 1]):
            self.assertIn(event, seen)
        self.assertEqual(page.run("document.activeElement.localName"), "body")

    def test_sizes_and_pictures(self) -> None:
        page = self.page
        for width, height in ((390, 844), (320, 256), (1280, 720)):
            page.resize(width, height)
            self.assertEqual(page.run("[innerWidth, innerHeight, devicePixelRatio]"), [width, height, 1])
            page.screenshot(self.here / "seen.png")
            png = (self.here / "seen.png").read_bytes()
            self.assertEqual((png[:8], *struct.unpack(">II", png[16:24])), (b"\x89PNG\r\n\x1a\n", width, height))
        page.print_pdf(self.here / "page.pdf")
        self.assertEqual((self.here / "page.pdf").read_bytes()[:5], b"%PDF-")

    def test_preferences_of_a_person(self) -> None:
        ask = ("[matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(prefers-reduced-motion: reduce)').matches,"
               " getComputedStyle(document.body).backgroundColor]")
        self.assertEqual(self.page.run(ask), [False, False, "rgb(255, 255, 255)"])
        with open_browser(self.browser, 400, 300, dark=True, reduced_motion=True) as page:
            page.go(self.here / "page.html")
            self.assertEqual(page.run(ask), [True, True, "rgb(0, 0, 0)"])
            self.assertEqual(page.run("[innerWidth, innerHeight]"), [400, 300])

    def test_what_goes_wrong_is_told(self) -> None:
        with open_browser(self.browser) as page:
            self.assertEqual((page.messages, page.requests), ([], []))
            page.go(self.here / "page.html")
            messages = self.once(page, "rejected")
            for message in ("warn: careful 7", "log: said", "thrown aloud", "rejected"):
                self.assertEqual(len([it for it in messages if message in it]), 1, (message, messages))
            self.assertEqual(len(messages), 4, messages)
            self.assertEqual(page.requests, [])
            page.run("confirm('sure?')")
            self.once(page, "dialog: sure?")

    def test_a_policy_that_is_broken_is_told(self) -> None:
        with open_browser(self.browser) as page:
            page.go(self.here / "policy.html")
            for url in ("a.png", "b.json"):
                self.assertIn(url, " ".join(it for it in self.once(page, url) if it.startswith("csp: ")))

    def test_requests_are_told(self) -> None:
        with open_browser(self.browser) as page:
            page.go(self.here / "failing.html")
            for url in ((self.here / "missing.png").resolve().as_uri(), "https://example.invalid/c.js"):
                self.once(page, f"request failed: {url}")
                self.assertIn(url, page.requests)
            with self.assertRaises(BrowserError):
                page.go(self.here / "no.html")

    def test_a_file_reads_no_other_as_for_a_person(self) -> None:
        with self.assertRaisesRegex(BrowserError, "TypeError: (Failed to fetch|NetworkError)"):
            self.page.run("return (await fetch('policy.html')).ok")

    def test_the_accessible_tree(self) -> None:
        tree = self.page.accessible_tree()
        self.assertEqual(tree[0], ("document", "Trial"))
        for node in (("heading", "Heads"), ("button", "Next step"), ("textbox", "Name"), ("text", "Heads")):
            self.assertIn(node, tree)
        self.assertNotIn("unseen", str(tree))
        self.page.run("document.querySelector('button').ariaLabel = 'Last step';")
        self.assertIn(("button", "Last step"), self.page.accessible_tree())

    def test_a_page_that_hangs_fails_in_time_and_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as own, unittest.mock.patch.object(tempfile, "tempdir", own):
            with self.assertRaisesRegex(BrowserError, "did not answer .* within 2 s"):
                with open_browser(self.browser) as page:
                    folder, = Path(own).iterdir()
                    self.assertTrue(programs_in(folder))
                    page._connection.timeout = 2
                    start = time.monotonic()
                    page.run("while (true) {};")
            self.assertLess(time.monotonic() - start, 20)
            self.assertFalse(folder.exists())
        until = time.monotonic() + 10
        while left := programs_in(folder):
            self.assertLess(time.monotonic(), until, left)

    def once(self, page: Page, text: str) -> list[str]:
        """The messages, when one has this text."""
        until = time.monotonic() + 10
        while text not in "\n".join(messages := page.messages):
            self.assertLess(time.monotonic(), until, f"{text}: {messages}")
        return messages


class Chromium(InOneBrowser):
    browser = "chromium"


class Firefox(InOneBrowser):
    browser = "firefox"


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: object) -> unittest.TestSuite:
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Chromium, Firefox) if case.browser in available())


if __name__ == "__main__":
    installed_or_skip()
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
