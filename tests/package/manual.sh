#!/usr/bin/env bash
# The manual page is set without a warning:  manual.sh FILE
set -euo pipefail
command -v man >/dev/null || { echo "skipped: man-db is not installed" >&2; exit 77; }
said=$(LC_ALL=C.UTF-8 MANROFFSEQ="" MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null)
[ -z "$said" ] || { echo "$said" >&2; exit 1; }
page=$(LC_ALL=C.UTF-8 MANWIDTH=80 man -E UTF-8 -l "$1" | sed 's/.\x08//g')
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS EXAMPLES "EXIT STATUS"; do
  grep -qx "$heading" <<<"$page" || { echo "the page has no part $heading" >&2; exit 1; }
done
