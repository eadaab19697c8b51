#!/usr/bin/env bash
# Installs what is missing, builds and passes every test. Needs no display and no network once the packages are there.
#   ./test.sh [--preset release|debug|asan|tsan] [ctest arguments, e.g. -R core/attention]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/third_party/setup.sh"

preset=release
if [ "${1:-}" = --preset ]; then
  preset=${2:?"--preset needs one of release, debug, asan, tsan"}
  shift 2
fi

install_missing build test
# CI's options for the Release build. Sanitizers change what the optimiser sees and so what it warns about.
options=()
[ "$preset" = release ] && read -ra options <<<"${HEADWISE_BUILD_OPTIONS:-}"
build "$preset" all "${options[@]}"

# Software rendering everywhere, so that the pixels do not depend on the machine.
export LIBGL_ALWAYS_SOFTWARE=1
# Where memory was taken is told by its innermost frames: all thirty would cost a tenth of the time.
export ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:malloc_context_size=6:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/sanitizers/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
export TSAN_OPTIONS="halt_on_error=1:suppressions=$root/tests/sanitizers/tsan.supp:${TSAN_OPTIONS:-}"
# As many suites at a time as there are processors, unless the caller says otherwise.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
tests=(ctest --test-dir "$root/build/$preset" --output-on-failure "$@")
status=0
"${tests[@]}" || status=$?
# The leak checker may crash while it looks at threads that are ending, after every test of a suite has passed: that tells
# nothing about the program. What failed then runs once more.
if [ $status -ne 0 ] &&
  grep -q "LeakSanitizer has encountered a fatal error" "$root/build/$preset/Testing/Temporary/LastTest.log"; then
  status=0
  "${tests[@]}" --rerun-failed || status=$?
fi
exit $status
