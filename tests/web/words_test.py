"""The page's live text, keys and verdicts against what the program says of the same texts (word_cases.json), in real browsers. With --made
the cases are made anew by the program and have to be the same."""
import json
import os
import subprocess
import sys
from pathlib import Path

import browsers

HERE = Path(__file__).parent
PAGE = HERE / "../../app/web/page"
SCRIPT = "".join((PAGE / f"{name}.js").read_text() for name in ("attention", "live_value", "live_expression", "live_text", "answers"))
CASES = HERE / "word_cases.json"


def main() -> int:
    if "--made" in sys.argv:
        made = subprocess.run([sys.executable, HERE / "make_word_cases.py", os.environ["HEADWISE_PROGRAM"]], check=True, capture_output=True, text=True)
        if made.stdout != CASES.read_text():
            print("the program says something else now: make_word_cases.py PROGRAM > word_cases.json, and look at the difference")
            return 1
    installed = browsers.installed_or_skip()
    cases = json.loads(CASES.read_text())
    failed = False
    for name in installed:
        with browsers.open_browser(name) as page:
            page.go("about:blank")
            failures = page.run(f"{SCRIPT}\n{(HERE / 'check_words.js').read_text()}\nreturn checkWords(args[0]);", cases)
        print(f"{name}: {len(failures)} failures")
        for failure in failures[:20]:
            print("  " + failure)
        failed = failed or bool(failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
