#!/usr/bin/env bash
# Everything is installed, without rights and without a network:  installation.sh CMAKE BUILD_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --install "$2" --prefix "$folder" >/dev/null
for file in bin/headwise share/applications/headwise.desktop share/icons/hicolor/scalable/apps/headwise.svg \
  share/mime/packages/headwise.xml share/metainfo/org.example.headwise.metainfo.xml share/man/man1/headwise.1 \
  share/bash-completion/completions/headwise share/zsh/site-functions/_headwise share/fish/vendor_completions.d/headwise.fish \
  share/doc/headwise/README.md share/doc/headwise/docs/window.md; do
  [ -s "$folder/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done
# A desktop picks an icon by its folder, and believes it.
for size in 48 64 128 256; do
  icon=$folder/share/icons/hicolor/${size}x$size/apps/headwise.png
  [ "$(od -An -tu1 -j16 -N8 "$icon" | tr -s ' ')" = " 0 0 $((size / 256)) $((size % 256)) 0 0 $((size / 256)) $((size % 256))" ] ||
    { echo "$icon is no PNG of $size by $size pixels" >&2; exit 1; }
done
# The library is asked for by its component (library.sh).
[ ! -e "$folder/include" ] && [ ! -e "$folder/lib" ] || { echo "the library was installed without being asked for" >&2; exit 1; }
# The program needs nothing beside it, and the pictures of the documents are there.
(cd "$folder" && env -i bin/headwise list presets >/dev/null)
for document in README.md docs/*.md; do
  at=$folder/share/doc/headwise/$document
  for picture in $(sed -n 's/.*!\[[^]]*\](\([^)]*\)).*/\1/p' "$at"); do
    [ -s "$folder/share/doc/headwise/$picture" ] || [ -s "$folder/share/doc/headwise/docs/$picture" ] ||
      { echo "$document shows a picture that is not installed: $picture" >&2; exit 1; }
  done
done
