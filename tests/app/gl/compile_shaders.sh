#!/usr/bin/env bash
# Every shader file compiles by the reference compiler, which takes less than drivers do.
#   compile_shaders.sh FOLDER
set -u
command -v glslangValidator >/dev/null || { echo "SKIPPED: glslangValidator is missing (apt-get install glslang-tools)"; exit 77; }
shopt -s nullglob
files=("$1"/*.vert "$1"/*.frag "$1"/*.comp)
[ ${#files[@]} -gt 0 ] || { echo "no shader in $1"; exit 1; }
status=0
for file in "${files[@]}"; do
  if output=$(glslangValidator "$file" 2>&1); then
    echo "compiles: ${file##*/}"
  else
    echo "$output"
    status=1
  fi
done
exit $status
