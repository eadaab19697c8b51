# Sourced by run.sh and test.sh: installs missing packages and builds. Not run by itself.
# Needs $root, the folder of the checkout.

say() { printf 'headwise: %s\n' "$*" >&2; }

# packages_of SECTION...: their names, one a line
packages_of() {
  local section
  for section in "$@"; do
    awk -v want="[$section]" '/^#/ || !NF { next } /^\[/ { on = ($1 == want); next } on { print $1 }' \
      "$root/third_party/packages.txt"
  done
}

# Installs what is missing and says what before it does; asks the network for nothing when all is there.
install_missing() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian: see third_party/README.md for what to install; building with what is here"
    return 0
  fi
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" { print $2 }')
  for package in $(packages_of "$@"); do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "these packages are missing: ${missing[*]}"
      say "run as root: apt-get install ${missing[*]}"
      return 1
    fi
    as_root=(sudo)
  fi
  say "installing the missing packages: ${missing[*]}"
  # The lists may be new enough: try without fetching them first.
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -qq
                 "${missing[@]}")
  if ! "${install[@]}" >/dev/null 2>&1 </dev/null; then
    say "fetching the package lists first"
    "${as_root[@]}" apt-get update -qq >&2 || say "the package lists could not be fetched; trying with the old ones"
    "${install[@]}" >&2 </dev/null || { say "apt-get could not install: ${missing[*]}"; return 1; }
  fi
}

# As many jobs as there are processors, but no more than one per 1.5 GiB of free memory.
jobs_that_fit() {
  local processors by_memory
  processors=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  [ "${by_memory:-0}" -lt 1 ] && by_memory=1
  echo $((processors < by_memory ? processors : by_memory))
}

# Reads what ninja says (NINJA_STATUS is below) and shows it as one line that moves, on a terminal; elsewhere as a line for every
# tenth. What the compiler says passes through.
show_progress() {
  local began=$SECONDS line done_ all left tenth=0
  while IFS= read -r line; do
    if [[ $line =~ ^@([0-9]+)/([0-9]+)\  ]]; then
      done_=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      if [ -t 2 ]; then
        left=$((done_ > 0 ? (SECONDS - began) * (all - done_) / done_ : 0))
        printf '\r\033[Kheadwise: building, %d of %d' "$done_" "$all" >&2
        if [ "$left" -ge 90 ]; then printf ', about %d min left' $(((left + 30) / 60)) >&2; fi
        if [ "$left" -gt 0 ] && [ "$left" -lt 90 ]; then printf ', about %d s left' "$left" >&2; fi
      elif [ $((done_ * 10 / all)) -gt "$tenth" ]; then
        tenth=$((done_ * 10 / all))
        say "building, $done_ of $all after $((SECONDS - began)) s"
      fi
    elif [ "$line" != "ninja: no work to do." ]; then
      if [ -t 2 ]; then printf '\r\033[K' >&2; fi
      printf '%s\n' "$line" >&2
    fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# build PRESET TARGET [CMAKE OPTION...]; everything it prints goes to stderr, so that a command's output stays clean
build() {
  local preset=$1 target=$2
  shift 2
  local folder=$root/build/$preset configured
  if [ ! -f "$folder/build.ninja" ] || [ $# -gt 0 ]; then
    configured=$(cd "$root" && cmake --preset "$preset" "$@" 2>&1) || { printf '%s\n' "$configured" >&2; return 1; }
  fi
  # pipefail: the status is that of the build.
  (cd "$root" && set -o pipefail &&
    NINJA_STATUS='@%f/%t ' cmake --build "build/$preset" --target "$target" -j "$(jobs_that_fit)" 2>&1 | show_progress) || return 1
  # Through sudo, what was built belongs to whoever owns the checkout, so that the next build works without sudo.
  if [ "$(id -u)" -eq 0 ] && [ "$(stat -c %u "$root")" -ne 0 ]; then
    chown -R --reference="$root" "$root/build"
  fi
}
