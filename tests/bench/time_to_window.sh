#!/usr/bin/env bash
# From a clone to the window: how long ./run.sh takes in a new folder until the window stands there, and how much processor time that
# costs. The packages have to be there already (third_party/packages.txt); the compiler cache, where there is one, is left out.
#   tests/bench/time_to_window.sh [FOLDER]       of the commit that is checked out; FOLDER (default: a temporary one) has to be new
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=
. "$root/tests/app/window/window_display.sh"

clone=${1:-$work/headwise}
git clone -q "$root" "$clone"
unset CMAKE_CXX_COMPILER_LAUNCHER CMAKE_C_COMPILER_LAUNCHER
start_display

began=$(date +%s%N)
"$clone/run.sh" 2>"$work/run.log" &
window_program=$!
until find_window; do
  alive || { cat "$work/run.log" >&2; fail "run.sh ended before a window stood there"; }
  sleep 1
done 2>/dev/null
wall=$((($(date +%s%N) - began) / 1000000))
# run.sh has become the program, which so counts the build among its children that have ended: fields 14 to 17 of its line.
processor=$(awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*[)] /, ""); printf "%.0f", ($12 + $13 + $14 + $15) / ticks }' "/proc/$window_program/stat")
quit_program
as_minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
echo "from the clone to the window: $(as_minutes $((wall / 1000))) of wall time, $(as_minutes "$processor") of processor time, $(nproc) processors"
