#!/usr/bin/env bash
# What bash offers where Tab is pressed:  complete_in_bash.sh PROGRAM FOLDER
set -euo pipefail
program=$1 completion=$2/headwise
bash -n "$completion"
# It is read by shells that stop at nothing.
set +eu
. "$completion"
[[ $(complete -p headwise) == "complete -F _headwise headwise" ]] || { echo "bash knows no completion of headwise" >&2; exit 1; }
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
touch mine.json "two words.npz"

# offers WORDS... :: EXPECTED...: as bash splits the line, the last of them being completed. "…" behind what is expected: and others.
offers() {
  local words=() wanted others=
  while [ "$1" != :: ]; do words+=("$1"); shift; done
  shift
  COMP_WORDS=("$program" "${words[@]}") COMP_CWORD=${#words[@]} COMPREPLY=()
  _headwise "$program" "${words[-1]}"
  if [ "${*: -1}" = … ]; then others=1; set -- "${@:1:$#-1}"; fi
  for wanted in "$@"; do
    [[ $'\n'$(printf '%s\n' "${COMPREPLY[@]}")$'\n' == *$'\n'"$wanted"$'\n'* ]] && continue
    echo "headwise ${words[*]}<Tab> does not offer $wanted, but: ${COMPREPLY[*]}" >&2
    failed=1
  done
  if [ -z "$others" ] && [ ${#COMPREPLY[@]} -ne $# ]; then
    echo "headwise ${words[*]}<Tab> offers other things than $*: ${COMPREPLY[*]}" >&2
    failed=1
  fi
}

offers ru :: run
offers "" :: run export render compare info bench train grade list help mine.json "two words.npz"
offers -- :: --no-intro --help --version
offers help re :: render
offers export --ten :: --tensor
offers export --tensor attn_w :: attn_weights
offers export welcome --tensor = attn_w :: attn_weights
offers export welcome --tensor = masked :: masked_scores
offers export --colormap "" :: viridis cividis blue_orange
offers export --head "" :: all
offers export --theme p :: projector
offers export --format "" :: png svg pdf csv npy
offers export --range "" :: own shared
offers export --range 0 : 1 ::
offers export --title "" ::
offers run wel :: welcome
offers run "" :: welcome copycat mine.json "two words.npz" …
offers run welcome "" ::
offers run --strict wel :: welcome
offers run --set attention.num_heads = 4 wel :: welcome
offers run --set attention.num_h :: attention.num_heads=
offers run --set attention.num_heads = ::
offers run welcome -o mi :: mine.json
offers run --only output,attn_w :: output,attn_weights
offers run --layers "" :: all
offers grade --lesson fir :: first_walk
offers grade --by s :: student
offers bench --backend reference,f :: reference,fused
offers bench --preset wel :: welcome
offers bench "" ::
offers render first :: first_walk
offers info break :: break_it
offers train ind :: induction
offers train --beside one- :: one-wide-head …
offers train --optimiser "" :: sgd momentum adam adamw
offers list col :: colormaps
offers list presets "" ::
exit $failed
