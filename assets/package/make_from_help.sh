#!/bin/sh
# Writes to standard output what an installation says of the program besides itself, made from the program's own help, so that
# no command or option is declared twice:  make_from_help.sh PROGRAM manual|bash|zsh|fish
set -eu
program=$1 kind=$2
folder=$(dirname "$0")
# In bytes, as the program counts when it writes its columns.
export LC_ALL=C
# A build under AddressSanitizer is not where leaks are looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
overview=$("$program" help)
commands=$(printf '%s\n' "$overview" | sed -n 's/^  headwise \([a-z][a-z-]*\)  .*/\1/p')
{
  printf '@overview %s\n%s\n' "$("$program" --version)" "$overview"
  for command in $commands; do
    printf '@command %s\n' "$command"
    "$program" help "$command"
  done
} | awk -f "$folder/read_help.awk" -f "$folder/write_$kind.awk"
