"""The page's operator against the program's, in real browsers: 500 random scenarios over all options, every preset, and cases at the edge."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import browsers

HERE = Path(__file__).parent
SCRIPT = (HERE / "../../app/web/page/attention.js").read_text() + (HERE / "check_attention.js").read_text()


def main() -> int:
    installed = browsers.installed_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        made = subprocess.run([sys.executable, HERE / "random_scenarios.py", os.environ["HEADWISE_PROGRAM"], "-o", file,
                               "--count", "500", "--seed", "20261128", "--lessons", HERE / "../../assets/lessons"])
        if made.returncode != 0:
            return made.returncode
        cases = json.loads(file.read_text())
    failed = False
    for name in installed:
        with browsers.open_browser(name) as page:
            page.go("about:blank")
            found = page.run(f"{SCRIPT}\nreturn checkAttention(args[0]);", cases)
        worst = max(found["largest"].values())
        print(f"{name}: {len(cases)} scenarios, largest difference {worst:.1e} of a tensor's largest number")
        for failure in found["failures"]:
            print("  " + failure)
        failed = failed or found["count"] > 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
