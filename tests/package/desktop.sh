#!/usr/bin/env bash
# What desktops read, held by their own tools:  desktop.sh desktop-file-validate|appstreamcli|update-mime-database ASSETS
set -euo pipefail
# Nothing here outlives the test.
export PKGSYSTEM_ENABLE_FSYNC=0
tool=$1 assets=$2
command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed" >&2; exit 77; }
case $tool in
  desktop-file-validate) said=$(desktop-file-validate --no-hints "$assets/headwise.desktop" 2>&1) || { echo "$said" >&2; exit 1; } ;;
  appstreamcli) appstreamcli validate --no-net "$assets/package/org.example.headwise.metainfo.xml" ;;
  update-mime-database)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir -p "$folder/mime/packages"
    cp "$assets/package/headwise.xml" "$folder/mime/packages/"
    update-mime-database "$folder/mime"
    types=$(sed -n 's/.*<mime-type type="\([^"]*\)".*/\1/p' "$assets/package/headwise.xml")
    for type in $types; do
      grep -qx "50:$type:[*].headwise.json" "$folder/mime/globs2" || { echo "$type has no name of files" >&2; exit 1; }
      grep -q "^MimeType=.*$type;" "$assets/headwise.desktop" || { echo "headwise.desktop does not open $type" >&2; exit 1; }
    done
    # Where GLib's program is there, it says what a file manager would take our own files for.
    command -v gio >/dev/null && [ -e /usr/share/mime/packages/freedesktop.org.xml ] || exit 0
    cp /usr/share/mime/packages/freedesktop.org.xml "$folder/mime/packages/"
    update-mime-database "$folder/mime"
    for kind in presets:scenario lessons:playlist; do
      for file in "$assets/${kind%:*}"/*.json; do
        cp "$file" "$folder/one.headwise.json"
        said=$(XDG_DATA_HOME=$folder XDG_DATA_DIRS=$folder gio info -a standard::content-type "$folder/one.headwise.json")
        [[ $said == *"application/x-headwise-${kind#*:}"* ]] || { echo "$file is taken for something else: $said" >&2; exit 1; }
      done
    done
    ;;
esac
