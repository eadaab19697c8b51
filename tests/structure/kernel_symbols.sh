#!/usr/bin/env bash
# Of two equal inline functions the linker keeps one, so what is compiled for an instruction set must not hold
# any that another file could: each has to carry the set's name, as Eigen does there.
#   kernel_symbols.sh NM SET OBJECT...
set -euo pipefail
nm=$1 set=$2
shift 2
status=0
for object in "$@"; do
  shared=$("$nm" --defined-only "$object" | awk '$(NF-1) ~ /^[VWu]$/ {print $NF}' |
    grep -v -e "Eigen_$set" -e '^DW[.]ref[.]' -e '^__asan_' -e '^__odr_asan' || true)
  if [ -n "$shared" ]; then
    echo "$object shares with other files:"
    c++filt <<<"$shared" | sed 's/^/  /'
    status=1
  fi
done
exit $status
