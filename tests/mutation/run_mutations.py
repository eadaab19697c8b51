#!/usr/bin/env python3
"""Shows that the tests of the core are able to fail: makes one mistake at a time in a copy of the sources, builds and runs them,
and prints which test noticed. mutations.json lists the mistakes: what each is, the file, the text that stands there once, and
what takes its place.

    python3 tests/mutation/run_mutations.py [--folder build/mutation] [--only WORDS] [--seventh [0…6]] [--in-place]

Not part of ctest: each mistake is a build of a file or two; CI makes a seventh of them a day. Exit status 1 where a mistake went unnoticed.
"""
import argparse, json, os, re, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MUTATIONS = os.path.join(ROOT, "tests", "mutation", "mutations.json")
TIME_LIMIT = 300  # seconds for one run of the tests; a mistake may make them endless


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


def copied_sources(folder):
    """The files that git knows, in a folder of their own; those that have not changed keep their time."""
    source = os.path.join(folder, "source")
    for name in run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard").stdout.splitlines():
        original, copy = os.path.join(ROOT, name), os.path.join(source, name)
        if not os.path.isfile(original):
            continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if not os.path.exists(copy) or open(copy, "rb").read() != open(original, "rb").read():
            shutil.copyfile(original, copy)
    return source


def build_folder(source):
    return os.path.join(source, "build", "release")  # where the checkout has it: a compiler cache serves both


def build(source):
    return run("cmake", "--build", build_folder(source), "--target", "headwise_core_tests", "-j2")


def first_failure(source):
    """The first test that does not pass, or None."""
    program = os.path.join(build_folder(source), "headwise_core_tests")
    for suites in ("*/tests/core/attention/*", "*/tests/core/*"):
        try:
            tests = run(program, f"--source-file={suites}", "--abort-after=1", "--no-version", timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            return f"still running after {TIME_LIMIT} seconds"
        if tests.returncode != 0:
            before_error = tests.stdout.partition("ERROR:")[0] if "ERROR:" in tests.stdout else ""
            names = re.findall(r"TEST CASE: +(.*)", before_error)
            return names[-1].strip() if names else f"the end of the program ({tests.returncode})"
    return None


def outcome(source, mutation):
    file, before, after = mutation["file"], mutation["before"], mutation["after"]
    path = os.path.join(source, file)
    text = open(path).read()
    if text.count(before) != 1:
        return "STALE", f"{file} has {text.count(before)} of: {before}"
    try:
        open(path, "w").write(text.replace(before, after))
        made = build(source)
        if made.returncode != 0:
            error = re.search(r"error: .*", made.stdout)
            if error and "[-Werror" in error.group(0):
                return "caught", error.group(0)
            return "STALE", error.group(0) if error else made.stdout[-200:]
        failure = first_failure(source)
        return ("caught", failure) if failure else ("LIVED", "")
    finally:
        open(path, "w").write(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folder", default=os.path.join(ROOT, "build", "mutation"))
    arguments.add_argument("--only", action="append", default=[], help="only the mistakes whose description has these words; may be given several times")
    arguments.add_argument("--seventh", type=int, nargs="?", const=time.localtime().tm_yday % 7,
                           help="only every seventh mistake, from this one on; without a number the day's: all of them in a week")
    arguments.add_argument("--in-place", action="store_true", help="in this checkout and its build/release; only where nobody works in it")
    arguments.add_argument("--cmake", action="append", default=[], help="an argument for CMake")
    given = arguments.parse_args()
    source = ROOT if given.in_place else copied_sources(given.folder)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # A folder that is built already, of another compiler launcher too, stays as it is.
    is_configured = os.path.exists(os.path.join(build_folder(source), "build.ninja")) and not given.cmake
    configured = run("true") if is_configured else run("cmake", "-S", source, "-B", build_folder(source), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                                                       *launcher, *given.cmake)
    made = build(source)
    if configured.returncode or made.returncode:
        sys.exit(configured.stdout[-2000:] + made.stdout[-2000:])
    failure = first_failure(source)
    if failure:
        sys.exit(f"the tests do not even pass without a mistake: {failure}")
    counts = {"caught": 0, "LIVED": 0, "STALE": 0}
    for number, mutation in enumerate(json.load(open(MUTATIONS))):
        what = mutation["what"]
        if given.seventh is not None and number % 7 != given.seventh % 7:
            continue
        if given.only and not any(words in what for words in given.only):
            continue
        began = time.monotonic()
        result, remark = outcome(source, mutation)
        counts[result] += 1
        print(f"{result:7} {what:60} {time.monotonic() - began:4.0f} s  {remark}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    sys.exit(1 if counts["LIVED"] or counts["STALE"] else 0)


main()
