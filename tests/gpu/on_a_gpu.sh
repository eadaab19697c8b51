#!/usr/bin/env bash
# Everything that a machine with a GPU can tell about the gl path, in one command of at most nine minutes:
#
#   tests/gpu/on_a_gpu.sh [--out FOLDER] [--carried FOLDER] [--programs FOLDER] [--small] [--software]
#
# --out       where summary.json, log.txt and shaders.tar.gz go; otherwise $OUT, or ./gpu_results
# --carried   a folder of tests/gpu/pack_dependencies.sh: its programs are tried first, and its headers where they do not run; otherwise
#             .gpu in the checkout, if it is there
# --programs  a folder with headwise_gpu_bench and headwise_gpu_tests, or with headwise_gpu_bench and headwise_app_tests
# --small     sizes that software computes in seconds
# --software  goes on where no GPU is found
#
# It needs bash and coreutils; a compiler and CMake where no carried program runs; no network. A phase that fails or takes too long is
# written down, and the next one goes on. summary.json is written anew after each. The exit status is 0 if every phase passed, 1 if one
# failed, 7 if there is no GPU.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${OUT:-$PWD/gpu_results} carried=$root/.gpu programs='' small='' software=''
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift ;;
    --carried) carried=$2; shift ;;
    --programs) programs=$2; shift ;;
    --small) small=--small ;;
    --software) software=yes ;;
    *) echo "on_a_gpu.sh: $1: expected --out, --carried, --programs, --small or --software" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out" || exit 4
begun=$SECONDS
most=${HEADWISE_GPU_SECONDS:-530}
work=$(mktemp -d) || exit 4
trap 'rm -rf "$work"' EXIT
log=$out/log.txt
: >"$log"
: >"$work/phases"
failed=0

# A text as a JSON string: its last 2,000 bytes.
json_string() {
  tail -c 2000 | tr -d '\000-\010\013-\037' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' | awk 'BEGIN { printf "\"" } NR > 1 { printf "\\n" } { printf "%s", $0 } END { printf "\"" }'
}

# Renamed into its place, so that a reader never sees half of it.
write_summary() {
  {
    printf '{\n"revision": %s,\n"machine": %s,\n"seconds": %d,\n"state": "%s",\n"phases": {\n' \
      "$( (cat "$carried/revision" 2>/dev/null || git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown) | json_string)" \
      "$( (uname -srm; nproc; nvidia-smi -L 2>/dev/null) | json_string)" $((SECONDS - begun)) "$1"
    cat "$work/phases"
    printf '\n}\n}\n'
  } >"$out/summary.json.new" && mv "$out/summary.json.new" "$out/summary.json"
}

# phase NAME SECONDS COMMAND...: at most so long, and no longer than is left. What it prints is its result if it is an object.
phase() {
  local name=$1 limit=$2 start=$SECONDS status left result
  shift 2
  left=$((most - (SECONDS - begun)))
  [ "$limit" -gt "$left" ] && limit=$left
  # Small sizes in software have no hurry: other tests may share the processors.
  local patience=$((limit * (${#small} ? 3 : 1)))
  echo "== $name ($(date -u +%T))" | tee -a "$log" >&2
  if [ "$limit" -lt 5 ]; then
    status=skipped
    : >"$work/out"
    : >"$work/err"
  else
    HEADWISE_PHASE_SECONDS=$((limit > 20 ? limit - 10 : limit)) timeout -k 5 "$patience" "$@" >"$work/out" 2>"$work/err"
    status=$?
  fi
  cat "$work/err" >>"$log"
  result=null
  if [ "$(head -c 1 "$work/out")" = '{' ] && [ "$(tail -c 2 "$work/out" | head -c 1)" = '}' ]; then
    result=$(cat "$work/out")
  else
    cat "$work/out" >>"$log"
    result=$(json_string <"$work/out")
  fi
  [ -s "$work/phases" ] && printf ',\n' >>"$work/phases"
  printf '"%s": {"status": "%s", "seconds": %d, "said": %s, "result": %s}' "$name" "$status" $((SECONDS - start)) \
    "$(json_string <"$work/err")" "$result" >>"$work/phases"
  case $status in 0) ;; *) failed=1 ;; esac
  echo "   status $status after $((SECONDS - start)) s" | tee -a "$log" >&2
  write_summary running
  [ "$status" = 0 ]
}

# cases PROGRAM ARGUMENTS...: each case in a process of its own, for a driver compiles on one processor, and most of the time goes there.
cases() {
  local count
  count=$("$@" --count | grep -oE '[0-9]+$' | tail -n 1)
  [ "${count:-0}" -gt 0 ] || { echo "no cases"; return 1; }
  # shellcheck disable=SC2016
  seq "$count" | xargs -P "$(nproc)" -I '{}' bash -c 'said=$("$@" --first="$0" --last="$0" 2>&1) || { echo "$said"; exit 1; }' '{}' "$@" || return 1
  echo "$count cases passed"
}
export -f cases

# Where glvnd does not find NVIDIA's driver by itself.
for vendor in /usr/share/glvnd/egl_vendor.d/10_nvidia.json /etc/glvnd/egl_vendor.d/10_nvidia.json \
              /usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json; do
  nvidia=${nvidia:-$([ -e "$vendor" ] && echo "$vendor")}
done
# Whoever ran here before has compiled nothing for this run. (Without any cache Mesa gives no binaries.)
mkdir -p "$work/cache"
export __GL_SHADER_DISK_CACHE_PATH=$work/cache MESA_SHADER_CACHE_DIR=$work/cache

if [ -z "$programs" ] && [ -x "$carried/bin/headwise_gpu_bench" ]; then
  # What finds a driver is the machine's own, if it has that.
  ldconfig -p 2>/dev/null | grep -q 'libEGL[.]so[.]1' || export LD_LIBRARY_PATH=$carried/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  phase carried_program 30 "$carried/bin/headwise_gpu_bench" devices && programs=$carried/bin
fi
if [ -z "$programs" ]; then
  programs=$work/build
  options=(-DCMAKE_BUILD_TYPE=Release -DHEADWISE_GPU_ONLY=ON)
  command -v ninja >/dev/null && options+=(-G Ninja)
  [ -d "$carried/usr/include" ] && options+=("-DHEADWISE_DEPENDENCIES=$carried")
  # shellcheck disable=SC2016
  phase build 240 bash -c 'cmake -S "$0" -B "$1" "${@:2}" >&2 && cmake --build "$1" -j "$(nproc)" >&2' "$root" "$programs" "${options[@]}"
fi
bench=$programs/headwise_gpu_bench
phase devices 60 "$bench" devices
if ! grep -q '"software": false' "$work/out" && [ -n "${nvidia:-}" ]; then
  export __EGL_VENDOR_LIBRARY_FILENAMES=$nvidia
  phase devices_by_name 60 "$bench" devices
fi
if grep -q '"software": false' "$work/out"; then
  export HEADWISE_EXPECT_GPU=1
elif [ -z "$software" ]; then
  echo "on_a_gpu.sh: no GPU computes in OpenGL here, only software or nothing; --software goes on all the same" >&2
  write_summary 'no GPU'
  exit 7
fi

if [ -x "$programs/headwise_gpu_tests" ]; then
  tests=("$programs/headwise_gpu_tests")
else
  tests=("$programs/headwise_app_tests" '--source-file=*/tests/core/gpu/*')
fi
[ -n "$small" ] && tests+=('--test-case=*limits*,*written outside*,*compute shader*')
tests+=(--no-version --no-colors=true)
# shellcheck disable=SC2016
each=(bash -c 'cases "$@"' cases)
phase tests 150 "${each[@]}" "${tests[@]}"
phase peak 30 "$bench" peak $small
phase kernels 110 "$bench" kernels $small
phase layers 120 "$bench" layers $small
if command -v python3 >/dev/null && [ -z "$small" ]; then
  phase pytorch 90 python3 "$root/tests/gpu/torch_layers.py"
  phase peak_again 30 "$bench" peak
fi
phase extremes 150 "$bench" extremes $small
phase tests_without_subgroups 100 env HEADWISE_GPU_LIMITS=no_subgroups "${each[@]}" "${tests[@]}"
phase tests_with_32_kib 100 env HEADWISE_GPU_LIMITS=shared=32768 "${each[@]}" "${tests[@]}"
mkdir "$work/binaries"
# Times of compilations are of compilations.
phase shaders 150 env __GL_SHADER_DISK_CACHE=0 "$bench" shaders $small --binaries "$work/binaries"
tar -C "$work" -czf "$out/shaders.tar.gz" binaries 2>>"$log"

write_summary "$([ $failed = 0 ] && echo 'all passed' || echo 'some failed')"
exit $failed
