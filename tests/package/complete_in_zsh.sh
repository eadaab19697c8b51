#!/usr/bin/env bash
# What zsh offers where Tab is pressed, in a terminal that zsh itself makes:  complete_in_zsh.sh PROGRAM FOLDER
set -euo pipefail
program=$1 made=$2
command -v zsh >/dev/null || { echo "skipped: zsh is not installed" >&2; exit 77; }
zsh -n "$made/_headwise"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$made/_headwise" "$folder/"
failed=0
# becomes LINE EXPECTED: what the line is after Tab
becomes() {
  local line
  line=$(cd "$folder" && HOME=$folder PATH=$(dirname "$program"):$PATH zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1= RPS1= fpath=($PWD \$fpath); unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D
      show() { print -r -- \"<\$BUFFER>\" >line; exit }; zle -N show; bindkey ^X show; bindkey ^I complete-word; print ready"
    zpty -r shell text "*ready*ready*"
    zpty -w -n shell "$1"$'"'\t\x18'"'
    for _ in {1..600}; do [[ -s line ]] && break; sleep 0.1; done
    cat line
    rm -f line
    zpty -d shell' zsh "$1")
  [ "$line" = "<$2>" ] || { echo "$1<Tab> becomes $line instead of <$2>" >&2; failed=1; }
}

becomes "headwise ru" "headwise run "
becomes "headwise export --ten" "headwise export --tensor "
becomes "headwise export --tensor masked" "headwise export --tensor masked_scores "
becomes "headwise export --theme pro" "headwise export --theme projector "
becomes "headwise run wel" "headwise run welcome "
becomes "headwise run --set attention.num_h" "headwise run --set attention.num_heads="
becomes "headwise bench --backend reference,f" "headwise bench --backend reference,fused "
becomes "headwise list col" "headwise list colormaps "
exit $failed
