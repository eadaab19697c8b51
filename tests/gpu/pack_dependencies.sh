#!/usr/bin/env bash
# Packs what tests/gpu/on_a_gpu.sh takes along to a machine that has a GPU's driver and little else:
#
#   tests/gpu/pack_dependencies.sh FOLDER
#
# headers of Eigen, fmt, libepoxy, EGL and doctest and the libraries that find a driver, from Debian's packages (downloaded, not
# installed), and the two programs built from this checkout. FOLDER should be outside the repository, or ignored by it. At most 60 MiB.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?"a folder is needed: tests/gpu/pack_dependencies.sh FOLDER"}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
packages=(libeigen3-dev libfmt-dev libepoxy-dev libepoxy0 libegl-dev libgl-dev libglx-dev libx11-dev doctest-dev
          libegl1 libglvnd0 libopengl0 libgl1 libglx0 libx11-6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && chmod 755 . && apt-get download -q -o APT::Sandbox::User=root "${packages[@]}" >/dev/null)
for package in "$work"/*.deb; do dpkg -x "$package" "$work/all"; done
rm -rf "$folder/usr" "$folder/bin"
mkdir -p "$folder/usr/lib/x86_64-linux-gnu" "$folder/bin"
mkdir -p "$folder/usr/include"
for headers in eigen3 fmt epoxy EGL KHR doctest; do cp -r "$work/all/usr/include/$headers" "$folder/usr/include/"; done
cp -P "$work"/all/usr/lib/x86_64-linux-gnu/*.so.* "$folder/usr/lib/x86_64-linux-gnu/"
rm -rf "$folder/usr/include/eigen3/unsupported"

cmake -S "$root" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADWISE_GPU_ONLY=ON -DHEADWISE_DEPENDENCIES="$folder" \
  -DCMAKE_EXE_LINKER_FLAGS='-static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN' -DCMAKE_SKIP_RPATH=ON >/dev/null
cmake --build "$work/build" --target headwise_gpu_bench headwise_gpu_tests
cp "$work/build/headwise_gpu_bench" "$work/build/headwise_gpu_tests" "$folder/bin/"
strip "$folder"/bin/*
cp -L "$folder/usr/lib/x86_64-linux-gnu/libepoxy.so.0" "$folder/bin/"
git -C "$root" describe --always --dirty >"$folder/revision"
size=$(du -sm "$folder" | cut -f1)
echo "packed $size MiB in $folder" >&2
[ "$size" -le 60 ] || { echo "that is more than 60 MiB" >&2; exit 1; }
