#!/usr/bin/env bash
# What fish offers where Tab is pressed:  complete_in_fish.sh PROGRAM FOLDER
set -euo pipefail
program=$1 completion=$2/headwise.fish
command -v fish >/dev/null || { echo "skipped: fish is not installed" >&2; exit 77; }
fish --no-config --no-execute "$completion"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
offers() {  # LINE EXPECTED...
  local line=$1 offered wanted
  shift
  offered=$(cd "$folder" && HOME=$folder PATH=$(dirname "$program"):$PATH \
    fish --no-config -c "source '$completion'; complete -C '$line'" | cut -f 1)
  for wanted in "$@"; do
    grep -qxF -e "$wanted" <<<"$offered" || { echo "$line<Tab> does not offer $wanted, but: $offered" >&2; failed=1; }
  done
}

offers "headwise ru" run
offers "headwise help re" render
offers "headwise export --ten" --tensor
offers "headwise export --tensor attn_w" attn_weights
offers "headwise export --theme " light dark projector
offers "headwise run wel" welcome
offers "headwise run --set attention.num_h" attention.num_heads=
offers "headwise run --only output,attn_w" output,attn_weights
offers "headwise bench --backend reference,f" reference,fused
offers "headwise list col" colormaps
offers "headwise train --beside one-" one-wide-head
exit $failed
