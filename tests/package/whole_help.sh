#!/usr/bin/env bash
# The manual page and the completions know every command and every option of the program, read from its help in another way than
# make_from_help.sh does it:  whole_help.sh PROGRAM FOLDER
set -euo pipefail
program=$1 made=$2
failed=0
wants() {  # FILE WHAT, and a text on standard input that has to have the line
  grep -qxF -e "$2" || { echo "$1 does not have: $2" >&2; failed=1; }
}

# The commands are those that a wrong one is answered with.
commands=$({ "$program" help no-such-command 2>&1 || true; } | sed -n 's/.*expected \([a-z, ]*\).*/\1/p' | tr -d ',')
[ "$(wc -w <<<"$commands")" -ge 8 ] || { echo "the commands could not be read: $commands" >&2; exit 1; }
manual=$(sed 's/\\-/-/g; s/\\f[BRI]//g' "$made/headwise.1")
count=0
for command in $commands; do
  wants headwise.1 ".SS $command" <<<"$manual"
  section=$(awk -v section=".SS $command" '/^[.]S[HS]/ { on = $0 == section } on' <<<"$manual" | tr -s ' ,' '\n')
  bash_options=$(awk -v command="    $command)" '$0 == command { getline; gsub(/[ \x27]|options=/, "\n"); print; exit }' "$made/headwise")
  fish_options=$(sed -n "s/^complete .*'__headwise_after $command'\(.*\) -d .*/\1/p" "$made/headwise.fish" |
    sed -n 's/.* -l \([a-z-]*\).*/--\1/p')
  zsh_options=$(awk -v command="    $command)" '$0 == command { on = 1; next } /^    [a-z]+[)]/ { on = 0 } on' "$made/_headwise" |
    sed "s/'\[.*//" | grep -oE -e '--?[a-z][a-z-]*')
  for option in $("$program" "$command" --help | sed -nE 's/^  (-[a-zA-Z],)?(--[a-z][a-z-]*).*/\2/p'); do
    count=$((count + 1))
    wants "headwise.1, of $command," "$option" <<<"$section"
    wants "bash, of $command," "$option" <<<"$bash_options"
    wants "fish, of $command," "$option" <<<"$fish_options"
    wants "zsh, of $command," "$option" <<<"$zsh_options"
  done
done
[ "$count" -ge 100 ] || { echo "only $count options were read" >&2; exit 1; }
for option in $("$program" --help | sed -nE 's/^  headwise (--[a-z-]+).*/\1/p'); do
  wants headwise.1 "$option" <<<"$manual"
done
exit $failed
