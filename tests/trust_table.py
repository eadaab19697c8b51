"""What was tested, with what, when and with which result, as a Markdown page: python3 trust_table.py JUNIT_FILE... > trust.md. `.ci/run`
writes it to build/trust.md from the files that ctest leaves."""
import datetime
import platform
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Optional

# A command and which of its words is the version; what is not installed is left out.
VERSIONS = {
    "Headwise": (["build/release/headwise", "--version"], -1),
    "commit": (["git", "rev-parse", "--short=12", "HEAD"], 0),
    "GCC": (["g++", "-dumpfullversion"], 0),
    "CMake": (["cmake", "--version"], 2),
    "Eigen": (["dpkg-query", "-W", "-f", "${Version}", "libeigen3-dev"], 0),
    "Mesa": (["dpkg-query", "-W", "-f", "${Version}", "libgl1-mesa-dri"], 0),
    "Chromium": (["dpkg-query", "-W", "-f", "${Version}", "chromium"], 0),
    "Firefox ESR": (["dpkg-query", "-W", "-f", "${Version}", "firefox-esr"], 0),
    "NumPy": (["/usr/bin/python3", "-c", "import numpy; print(numpy.__version__)"], 0),
}


def version(command: list[str], word: int) -> Optional[str]:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = ran.stdout.split()
    return words[word] if ran.returncode == 0 and words else None


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def result_of(case: ElementTree.Element) -> str:
    status = case.get("status")
    return {"run": "passed", "fail": "FAILED", "disabled": "skipped", "notrun": "skipped"}.get(status or "", status or "?")


def rows_of(file: str) -> list[str]:
    suite = ElementTree.parse(file).getroot()
    name = Path(file).stem
    return [f"| {name} | {case.get('name')} | {result_of(case)} | {float(case.get('time', 0)):.1f} |" for case in suite.iter("testcase")]


def main(files: list[str]) -> None:
    print("# What was tested\n")
    now = datetime.datetime.now(datetime.timezone.utc)
    print(f"{now:%Y-%m-%d %H:%M} UTC, {platform.system()} {platform.release()}, {processor()}.\n")
    print("| | version |\n|---|---|")
    for name, (command, word) in VERSIONS.items():
        found = version(command, word)
        if found:
            print(f"| {name} | {found} |")
    print("\n| build | suite | result | seconds |\n|---|---|---|---|")
    for file in files:
        print("\n".join(rows_of(file)))


if __name__ == "__main__":
    main(sys.argv[1:])
