#!/usr/bin/env bash
# Installs the library, moves it, builds docs/example with it and compares what that computes with the program. Inside another project's
# build the library brings no tests, no program and no flags:  library.sh CMAKE BUILD_FOLDER SOURCE_FOLDER PROGRAM
set -euo pipefail
cmake=$1 build=$2 source=$3 program=$4
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
fail() { echo "$*" >&2; exit 1; }
[ -z "$(cached HEADWISE_SANITIZE)" ] || { echo "a sanitized library is for its own tests"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
options=(-G "$(cached CMAKE_GENERATOR)" "-DCMAKE_CXX_COMPILER=$(cached CMAKE_CXX_COMPILER)" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
# quietly COMMAND...: what it says is shown if it fails.
quietly() { "$@" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; fail "failed: $*"; }; }

quietly "$cmake" --install "$build" --component development --prefix "$folder/installed"
mv "$folder/installed" "$folder/moved"
library=$folder/moved
[ ! -e "$library/bin" ] && [ ! -e "$library/share" ] || fail "the component development has more than a library"

# No file contains a path of this machine; debug information would.
texts=(--include=*)
[ "$(cached CMAKE_BUILD_TYPE)" = Release ] || texts=(--include=*.cmake --include=*.h)
! grep -rlF "${texts[@]}" -e "$source" -e "$build" -e "$folder" "$library" || fail "a path of this machine is installed"
# Each header's own includes are installed too, and none of them is OpenGL's.
! grep -rlE '#include [<"](epoxy|GL|EGL|GLFW)/' "$library/include" || fail "a header of OpenGL is asked for"
grep -rhoE '#include "core/[^"]+"' "$library/include" | sort -u | sed 's/.*"\(.*\)"/\1/' | while read -r header; do
  [ -f "$library/include/headwise/$header" ] || fail "not installed: $header"
done

# With no flags, and with warnings that are errors even in our headers.
quietly "$cmake" -S "$source/docs/example" -B "$folder/plain" "${options[@]}" "-DCMAKE_PREFIX_PATH=$library"
quietly "$cmake" --build "$folder/plain"
quietly "$cmake" -S "$source/docs/example" -B "$folder/strict" "${options[@]}" "-DCMAKE_PREFIX_PATH=$library" \
  -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -pedantic"
quietly "$cmake" --build "$folder/strict"
! grep -E 'Wall|Wconversion|fsanitize|ggc-min' "$folder/plain/compile_commands.json" || fail "our flags reach whoever uses the library"

# A missing dependency is named with its package.
! "$cmake" -S "$source/docs/example" -B "$folder/missing" "${options[@]}" "-DCMAKE_PREFIX_PATH=$library" \
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON >"$folder/said" 2>&1 || fail "found without libpng"
tr -s '\n ' ' ' <"$folder/said" | grep -q "PNG was not found. Install it with: apt-get install libpng-dev" ||
  { cat "$folder/said" >&2; fail "the package of libpng is not named"; }

# The program computes the same numbers from the arrays that the example has written.
cd "$folder"
plain/own_arrays >plain.txt
strict/own_arrays | cmp - plain.txt
echo '{"headwise": 1, "attention": {"num_heads": 2, "bias": false}, "mask": {"is_causal": true}}' >own_arrays.json
ours=(own_arrays.json --input arrays.npz)
"$program" export "${ours[@]}" --dtype f64 --tensor attn_weights --head 1 -o weights.csv
"$program" run "${ours[@]}" --dtype f64 -o trace.npz
"$program" info trace.npz --cell scores:0,1,2,0 >cell.txt
"$program" export "${ours[@]}" --backend fused --tensor output -o output.csv
{
  LC_ALL=C awk -F, 'NR > 1 { for (i = 2; i <= NF; ++i) printf "%9.6f", $i; print "" }' weights.csv
  echo "$(sed -n 's/^ *formula: //p' cell.txt) = $(sed -n 's/^scores\[0,1,2,0\] = \([^ ]*\).*/\1/p' cell.txt)"
} >expected.txt
head -n 4 plain.txt | diff expected.txt - || fail "the example and the program differ"
diff <(LC_ALL=C awk -F, 'NR > 1 { for (i = 2; i <= NF; ++i) printf "%.4f ", $i }' output.csv) <(sed -n 7p plain.txt | tr -d '\n') ||
  fail "the fused path of the example and of the program differ"
grep -q "^refused with status 3: .*num_heads" plain.txt || { cat plain.txt >&2; fail "the example was not refused"; }

# In another project's build, where FetchContent answers the example's find_package.
mkdir theirs
cat >theirs/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.25)
project(theirs LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(headwise SOURCE_DIR $source OVERRIDE_FIND_PACKAGE)
add_subdirectory($source/docs/example example)
get_property(directories DIRECTORY $source PROPERTY SUBDIRECTORIES)
get_property(tested DIRECTORY $source PROPERTY TESTS)
if(TARGET headwise OR TARGET headwise_gpu OR TARGET headwise_core_tests OR tested)
  message(FATAL_ERROR "more than the library is built: \${directories}")
endif()
foreach(setting CMAKE_BUILD_TYPE CMAKE_CXX_STANDARD CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  if(\${setting})
    message(FATAL_ERROR "\${setting} was set: \${\${setting}}")
  endif()
endforeach()
EOF
quietly "$cmake" -S theirs -B inside "${options[@]}"
main=$(grep -F '"command"' inside/compile_commands.json | grep -F docs/example/main.cpp)
! grep -E 'Wall|Wconversion|fsanitize|ggc-min' <<<"$main" || fail "our flags reach whoever adds our folder"
