"""The page's operator against the program's, in real browsers: 500 scenarios over all options, and every preset."""
import os
import sys
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("NumPy is not installed: nothing is tested")
    sys.exit(77)

import browsers
import random_scenarios

PROGRAM = os.environ.get("HEADWISE_PROGRAM", "headwise")
HERE = Path(__file__).parent
SCRIPT = (HERE / "../../app/web/page/attention.js").read_text() + (HERE / "check_attention.js").read_text()
COUNT = 500


def main() -> int:
    installed = browsers.available()
    if not installed:
        print("Neither Chromium nor Firefox with python3-websocket is installed: nothing is tested")
        return 77
    cases, refused = random_scenarios.cases(PROGRAM, COUNT, seed=20261128)
    cases += random_scenarios.presets(PROGRAM)
    print(f"{len(cases)} scenarios, {refused} refused")
    if refused > COUNT // 3:
        print("too many of the scenarios are refused to say that all options are tried")
        return 1
    failed = False
    for name in installed:
        with browsers.open_browser(name) as page:
            page.go("about:blank")
            found = page.run(f"{SCRIPT}\nreturn checkAttention(args[0]);", cases)
        worst = max(found["largest"].values())
        print(f"{name}: largest difference {worst:.1e} of a tensor's largest number")
        for failure in found["failures"]:
            print("  " + failure)
        failed = failed or found["count"] > 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
