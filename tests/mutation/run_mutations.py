#!/usr/bin/env python3
"""Shows that the tests of the core are able to fail: makes one mistake at a time in a copy of the sources, builds and runs them,
and prints which test noticed. mutations.json lists the mistakes: what each is, the file, the text that stands there once, and
what takes its place.

    python3 tests/mutation/run_mutations.py [--folder build/mutation] [--only WORDS] [--days DAYS] [--in-place]

Not part of ctest: each mistake is a build of a file or two; CI makes all of them in nine weeks. Exit status 1 where a mistake went unnoticed.
"""
import argparse, concurrent.futures, json, os, re, shutil, subprocess, sys, tempfile, time

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


def failure_of(program, *filters):
    """The first test that does not pass, or None."""
    try:
        tests = run(program, *filters, "--abort-after=1", "--no-version", timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return f"still running after {TIME_LIMIT} seconds"
    if tests.returncode == 0:
        return None
    before_error = tests.stdout.partition("ERROR:")[0] if "ERROR:" in tests.stdout else ""
    names = re.findall(r"TEST CASE: +(.*)", before_error)
    return names[-1].strip() if names else f"the end of the program ({tests.returncode})"


def first_failure(program, file):
    """The same for all tests of the core: first those of the folder that the mistake is in, which notice most of them, then the quickest."""
    sources = [f"*/tests/{os.path.dirname(file)}/*", "*/tests/core/attention/*"]
    for number, own in enumerate(sources):
        if failure := failure_of(program, f"--source-file={own}", *without(sources[:number])):
            return failure
    return failure_of(program, "--source-file=*/tests/core/*", *without(sources))


def without(sources):
    return [f"--source-file-exclude={','.join(sources)}"] if sources else []


class Tester:
    """Runs the tests of copies of the program, one after the other, so that the next mistake is built meanwhile."""

    def __init__(self, source):
        self.program = os.path.join(build_folder(source), "headwise_core_tests")
        self.folder = tempfile.TemporaryDirectory(prefix="headwise_mutation_")
        self.workers = concurrent.futures.ThreadPoolExecutor(1)

    def begin(self, file):
        """The first failure of the program as it is now, with a mistake in the file, to be waited for."""
        with tempfile.NamedTemporaryFile(dir=self.folder.name, delete=False) as copy:
            shutil.copyfile(self.program, copy.name)
        os.chmod(copy.name, 0o700)

        def tested():
            try:
                return first_failure(copy.name, file)
            finally:
                os.remove(copy.name)

        return self.workers.submit(tested)


def made(source, mutation, tester):
    """What has become of the mistake: a pair, or where it could be built its first failure, to be waited for."""
    file, before, after = mutation["file"], mutation["before"], mutation["after"]
    path = os.path.join(source, file)
    text = open(path).read()
    if text.count(before) != 1:
        return "STALE", f"{file} has {text.count(before)} of: {before}"
    try:
        open(path, "w").write(text.replace(before, after))
        built = build(source)
        if built.returncode == 0:
            return tester.begin(file)
        error = re.search(r"error: .*", built.stdout)
        if error and "[-Werror" in error.group(0):
            return "caught", error.group(0)
        return "STALE", error.group(0) if error else built.stdout[-200:]
    finally:
        open(path, "w").write(text)


def outcome(done):
    if isinstance(done, tuple):
        return done
    failure = done.result()
    return ("caught", failure) if failure else ("LIVED", "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folder", default=os.path.join(ROOT, "build", "mutation"))
    arguments.add_argument("--only", action="append", default=[], help="only the mistakes whose description has these words; may be given several times")
    arguments.add_argument("--days", type=int, default=1, help="only this day's share, of all the mistakes in so many days")
    arguments.add_argument("--in-place", action="store_true", help="in this checkout and its build/release; only where nobody works in it")
    arguments.add_argument("--cmake", action="append", default=[], help="an argument for CMake")
    given = arguments.parse_args()
    source = ROOT if given.in_place else copied_sources(given.folder)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # A folder that is built already, of another compiler launcher too, stays as it is.
    is_configured = os.path.exists(os.path.join(build_folder(source), "build.ninja")) and not given.cmake
    configured = run("true") if is_configured else run("cmake", "-S", source, "-B", build_folder(source), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                                                       *launcher, *given.cmake)
    built = build(source)
    if configured.returncode or built.returncode:
        sys.exit(configured.stdout[-2000:] + built.stdout[-2000:])
    counts = {"caught": 0, "LIVED": 0, "STALE": 0}
    began = time.monotonic()

    def tell(mutation, done):
        result, remark = outcome(done)
        counts[result] += 1
        print(f"{result:7} {mutation['what']:60} after {time.monotonic() - began:4.0f} s  {remark}", flush=True)

    def end_on_failure():
        if failure := unchanged.result():
            tester.workers.shutdown(cancel_futures=True)
            sys.exit(f"the tests do not even pass without a mistake: {failure}")

    tester = Tester(source)
    unchanged, waiting = tester.begin("core/attention"), []
    for number, mutation in enumerate(json.load(open(MUTATIONS))):
        if (number - time.localtime().tm_yday) % given.days:
            continue
        if given.only and not any(words in mutation["what"] for words in given.only):
            continue
        waiting.append((mutation, made(source, mutation, tester)))
        if unchanged.done():
            end_on_failure()
            # What is built does not pile up.
            while len(waiting) > 2:
                tell(*waiting.pop(0))
    end_on_failure()
    for mutation, done in waiting:
        tell(mutation, done)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    sys.exit(1 if counts["LIVED"] or counts["STALE"] else 0)


main()
