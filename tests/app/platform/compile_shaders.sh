#!/usr/bin/env bash
# Every shader file compiles by the reference compiler, which takes less than drivers do. The program gives compute
# shaders their first lines and the parts that they share (core/gpu/compute_program.h).
#   compile_shaders.sh FOLDER
set -u
command -v glslangValidator >/dev/null || { echo "SKIPPED: glslangValidator is missing (apt-get install glslang-tools)"; exit 77; }
shopt -s nullglob
files=("$1"/*.vert "$1"/*.frag "$1"/*.comp)
[ ${#files[@]} -gt 0 ] || { echo "no shader in $1"; exit 1; }
status=0
compile() {
  if [[ $1 != *.comp ]]; then glslangValidator "$1"; return; fi
  local defines
  for defines in "" RAGGED MASKED "RAGGED MASKED" SUBGROUPS "MASKED SUBGROUPS"; do
    [[ $1 == */subgroup_check.comp && $defines != *SUBGROUPS* ]] && continue
    {
      echo "#version 430 core"
      [[ $defines == *SUBGROUPS* ]] && echo "#extension GL_KHR_shader_subgroup_clustered : require"
      printf '#define %s\n' "ROWS 2u" "COLS 2u" "DEPTH 16u" "V_ROWS 16u"
      for define in $defines; do echo "#define $define"; done
      for part in "${1%/*}"/*.glsl; do [[ $part == */emulated_subgroups.glsl ]] || cat "$part"; done
      cat "$1"
    } | glslangValidator --stdin -S comp || return
  done
}
for file in "${files[@]}"; do
  if output=$(compile "$file" 2>&1); then
    echo "compiles: ${file##*/}"
  else
    echo "$output"
    status=1
  fi
done
exit $status
