#!/usr/bin/env bash
# Installs what is missing, builds a Release and starts Headwise. Arguments are passed on: ./run.sh run SCENARIO.json -o OUT.npz
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/third_party/setup.sh"

install_missing build
read -ra options <<<"${HEADWISE_BUILD_OPTIONS:-}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A first build is shown as it goes; one that has nothing to do is not worth a line.
if [ -x "$root/build/release/headwise" ]; then
  build release headwise "${options[@]}" 2>"$log" || { cat "$log" >&2; exit 1; }
else
  say "building (a few minutes the first time)"
  build release headwise "${options[@]}"
fi
rm -f "$log"
exec "$root/build/release/headwise" "$@"
