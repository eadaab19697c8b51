#!/bin/sh
# Writes to standard output what an installation says of the program besides itself, made from the program's own help, so that
# no command or option is declared twice:  make_from_help.sh manual|bash|zsh|fish PROGRAM, with what runs it before it, if anything does
set -eu
kind=$1
shift
folder=$(dirname "$0")
# In bytes, as the program counts when it writes its columns.
export LC_ALL=C
# A build under AddressSanitizer is not where leaks are looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
overview=$("$@" help)
commands=$(printf '%s\n' "$overview" | sed -n 's/^  headwise \([a-z][a-z-]*\)  .*/\1/p')
{
  printf '@overview %s\n%s\n' "$("$@" --version)" "$overview"
  for command in $commands; do
    printf '@command %s\n' "$command"
    "$@" help "$command"
  done
} | awk -f "$folder/read_help.awk" -f "$folder/write_$kind.awk"
