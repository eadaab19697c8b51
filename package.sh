#!/usr/bin/env bash
# Makes what is handed out, in build/package: ./package.sh deb|tar|wheel; wheel-tools fetches what a wheel needs of PyPI, and no more.
# ./package.sh deb arm64 makes the package of another architecture, here (third_party/arm64.cmake).
# ./package.sh api makes the API pages of the library, in build/api.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/third_party/setup.sh"

# What a wheel must not bring along: OpenGL is the driver's, and X has to be that of the desktop's other programs. A bare system has no
# X libraries, which cairo and GLFW ask for even where nothing is shown: it gets ours (assets/package/start.sh).
wheel_spare_libraries=(libX11.so.6 libXext.so.6 libXrender.so.1 libxcb.so.1 libxcb-shm.so.0 libxcb-render.so.0 libXau.so.6
                       libXdmcp.so.6 libbsd.so.0 libmd.so.0)
# Systems without Python may lack this one too, which fontconfig asks for. Debian 12's wants GLIBC_2.36, more than a wheel may.
tar_spare_library=libexpat.so.1
wheel_platform=manylinux_2_35_x86_64

# What builds wheels, from PyPI, in an environment of its own.
fetch_wheel_tools() {
  local tools=$root/build/package/tools
  [ -x "$tools/bin/auditwheel" ] && return 0
  install_missing wheel
  say "fetching what builds wheels (third_party/wheel_tools.txt)"
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --requirement "$root/third_party/wheel_tools.txt" && return 0
  rm -rf "$tools"
  return 1
}

# add_spare_library NAME FOLDER: this system's library of that name, in a folder of its own.
add_spare_library() {
  mkdir -p "$2/$1"
  cp -L "$(ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }')" "$2/$1/"
}

# check_needed FOLDER: its programs and libraries need one another, and what every system with glibc has.
check_needed() {
  local folder=$1 missing
  missing=$(find "$folder" -type f \( -name 'headwise-program' -o -name '*.so.*' \) -exec objdump -p {} + |
    awk '$1 == "NEEDED" { print $2 }' | sort -u |
    grep -vxF -f <(find "$folder" -name '*.so.*' -printf '%f\n'; printf '%s\n' ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 \
      libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6 libz.so.1)) || return 0
  say "neither brought along nor of every system:" $missing
  return 1
}

# The wheel is built in build/release, where the program may be there already.
package_wheel() {
  local tools=$root/build/package/tools made=$root/build/package/wheel library unpacked licences said
  install_missing build
  build release headwise
  fetch_wheel_tools
  rm -rf "$made" "$root"/build/package/headwise-*.whl
  mkdir -p "$made"
  (cd "$root" && PATH="$tools/bin:$PATH" "$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation \
    --config-settings=build-dir=build/release --wheel-dir "$made" .)
  "$tools/bin/wheel" unpack --dest "$made" "$made"/headwise-*.whl >/dev/null
  rm "$made"/headwise-*.whl
  unpacked=$(echo "$made"/headwise-*)
  licences=$(echo "$unpacked"/headwise-*.dist-info/licenses)
  for library in "${wheel_spare_libraries[@]}"; do add_spare_library "$library" "$unpacked/headwise/spare_libraries"; done
  mv "$unpacked/headwise/bin/headwise" "$unpacked/headwise/bin/headwise-program"
  install -m 755 "$root/assets/package/start.sh" "$unpacked/headwise/bin/headwise"
  # What is brought along has licences of its own.
  for library in $(ldd "$unpacked/headwise/bin/headwise-program" | awk '$3 ~ /^\// { print $3 }'); do
    library=$(dpkg-query -S "*$(realpath "$library" | sed 's|^/usr||')" 2>/dev/null | sed -n '1s/:.*//p')
    [ -z "$library" ] || install -D -m 644 "/usr/share/doc/$library/copyright" "$licences/$library.txt"
  done
  "$tools/bin/wheel" pack --dest-dir "$made" "$unpacked" >/dev/null
  said=$(PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair --plat "$wheel_platform" --wheel-dir "$root/build/package" \
    "${wheel_spare_libraries[@]/#/--exclude=}" --exclude "libGL*" --exclude "libEGL*" "$made"/headwise-*.whl 2>&1) ||
    { printf '%s\n' "$said" >&2; return 1; }
  rm -rf "$made"
  say "made $(ls "$root"/build/package/headwise-*.whl)"
}

# What the wheel has, without Python, and the files of an installation: unpacked anywhere, bin/headwise runs. The same bytes for the
# same wheel.
package_tar() {
  local tools=$root/build/package/tools made=$root/build/package/tar name folder
  package_wheel
  rm -rf "$made" "$root"/build/package/headwise-*.tar.xz
  mkdir -p "$made"
  "$tools/bin/wheel" unpack --dest "$made" "$root"/build/package/headwise-*.whl >/dev/null
  name=$(basename "$made"/headwise-*)-linux-$(uname -m)
  mv "$made"/headwise-* "$made/unpacked"
  folder=$made/$name
  build release headwise_installed
  cmake --install "$root/build/release" --prefix "$folder" >/dev/null
  mkdir -p "$folder/lib/headwise"
  mv "$made/unpacked/headwise/bin" "$made/unpacked/headwise/spare_libraries" "$folder/lib/headwise/"
  add_spare_library "$tar_spare_library" "$folder/lib/headwise/spare_libraries"
  mv "$made/unpacked/headwise.libs" "$folder/lib/"
  mv "$made"/unpacked/headwise-*.dist-info/licenses "$folder/share/doc/headwise/licences"
  ln -sf ../lib/headwise/bin/headwise "$folder/bin/headwise"
  check_needed "$folder"
  tar -C "$made" --sort=name --mtime="@$(git -C "$root" log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner --mode=go=u-w \
    -cJf "$root/build/package/$name.tar.xz" "$name"
  rm -rf "$made"
  say "made $root/build/package/$name.tar.xz"
}

# What Debian's arm64 has of [build], for the compiler, in a folder of its own: libimgui-dev, for one, cannot be installed for two
# architectures. DEBIAN has what dpkg-shlibdeps asks of the packages of libraries, if they are not installed.
make_arm64_sysroot() {
  local sysroot=$root/build/arm64-sysroot names work deb kind link to
  local -a apt
  names=$(packages_of build | grep -E -- '-dev$|^fonts-')
  [ "$(cat "$sysroot/DEBIAN/packages" 2>/dev/null)" != "$names" ] || return 0
  say "fetching the libraries of arm64"
  rm -rf "$sysroot"
  work=$sysroot/DEBIAN/apt
  mkdir -p "$work/lists/partial" "$work/archives/partial"
  : >"$work/status"
  apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o Debug::NoLocking=1
       -o Dir::State="$work" -o Dir::State::status="$work/status" -o Dir::Cache="$work")
  "${apt[@]}" update >&2
  "${apt[@]}" install -y --download-only --no-install-recommends $names >&2
  for deb in "$work"/archives/*.deb; do
    dpkg-deb -x "$deb" "$sysroot"
    dpkg-deb -e "$deb" "$work/control"
    for kind in symbols shlibs; do
      [ ! -f "$work/control/$kind" ] || cat "$work/control/$kind" >>"$sysroot/DEBIAN/$kind"
    done
    rm -rf "$work/control"
  done
  # libz.so, for one, names its library from the root: the linker would find none, and take libz.a.
  find "$sysroot" -type l -lname '/*' -printf '%p %l\n' | while read -r link to; do ln -sfn "$sysroot$to" "$link"; done
  rm -rf "$work"
  printf '%s\n' "$names" >"$sysroot/DEBIAN/packages"
}

# package_deb release|arm64: a Debian package, the same bytes for the same commit. What Debian's lintian says against it is an error.
package_deb() {
  local preset=$1 work=$root/build/package/deb said made
  install_missing build package
  if [ "$preset" = arm64 ]; then
    install_missing arm64
    make_arm64_sysroot
    export DEB_HOST_ARCH=arm64  # for dpkg-shlibdeps
  fi
  build "$preset" headwise_installed
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
  export SOURCE_DATE_EPOCH
  # cpack writes the modes of its own files into the archive.
  umask 022
  rm -rf "$work"
  mkdir -p "$work"
  said=$(cd "$root/build/$preset" && cpack -G DEB -B "$work" 2>&1) || { printf '%s\n' "$said" >&2; return 1; }
  made=$(echo "$work"/headwise_*.deb)
  lintian --allow-root --fail-on error,warning "$made" >&2
  mv "$made" "$root/build/package/"
  rm -rf "$work"
  say "made $root/build/package/${made##*/}"
}

# Pages of the headers that each room of the library names (docs/library.md).
package_api() {
  local headers version
  install_missing api
  version=$(sed -n 's/^project(headwise VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
  rm -rf "$root/build/api"
  mkdir -p "$root/build/api"
  (cd "$root" &&
    headers=$(ls core/*/room.h | grep -vE '^core/(gpu|backend)/') &&
    { cat assets/package/Doxyfile &&
      echo "INPUT = docs/library.md" $headers $(sed -n 's/^#include "\(core.*\)"$/\1/p' $headers) &&
      printf '%s\n' "PROJECT_NAME = Headwise" "PROJECT_NUMBER = $version" "OUTPUT_DIRECTORY = build/api"; } | doxygen - >&2)
  say "made $root/build/api/html/index.html"
}

case $* in
  deb) package_deb release ;;
  "deb arm64") package_deb arm64 ;;
  tar) package_tar ;;
  wheel) package_wheel ;;
  wheel-tools) fetch_wheel_tools ;;
  api) package_api ;;
  *)
    echo "usage: ./package.sh deb [arm64]|tar|wheel|wheel-tools|api" >&2
    exit 2
    ;;
esac
