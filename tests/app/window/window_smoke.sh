#!/usr/bin/env bash
# The real window, on a display of its own: it appears, answers keys, rests, is resized and closes; without a display it
# says so in one line.
#   window_smoke.sh PROGRAM FOLDER_FOR_SCREENSHOTS
set -u
program=$1
pictures=$2
mkdir -p "$pictures"

. "$(dirname "${BASH_SOURCE[0]}")/window_display.sh"

# Without a display
env -u DISPLAY -u WAYLAND_DISPLAY "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
[ $status -eq 7 ] || fail "without a display the exit status is $status, expected 7"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "without a display there is not exactly one line"
[ -s "$work/stdout" ] && fail "without a display something is written to stdout"

start_display

screenshot() { xwd -silent -root -out "$pictures/$1.xwd"; }
# A screen of one colour compresses to a few kilobytes.
something_is_drawn() { screenshot "$1" && [ "$(gzip -c "$pictures/$1.xwd" | wc -c)" -gt 30000 ]; }
differs_from() { screenshot "$2" && ! cmp -s "$pictures/$1.xwd" "$pictures/$2.xwd"; }
processor_ticks() { awk '{print $14 + $15}' "/proc/$window_program/stat"; }

begin=$(date +%s%N)
start_program
until_seen 60 something_is_drawn first || fail "nothing is drawn within a minute"
echo "first picture after $((($(date +%s%N) - begin) / 1000000)) ms"
find_window || fail "no window is called headwise"
sleep 1
screenshot before_key

# A tap is held for two frames, and seen.
xdotool keydown Right; sleep 0.05; xdotool keyup Right
until_seen 20 differs_from before_key after_right || fail "the right arrow changes nothing"

# At rest the program sleeps: 3 seconds, of 100 ticks each.
sleep 2
ticks=$(processor_ticks)
sleep 3
ticks=$(($(processor_ticks) - ticks))
echo "at rest: $ticks ticks of 300"
[ $ticks -le 15 ] || fail "the program does not rest: $ticks of 300 ticks"

xdotool windowsize "$window" 1000 700
until_seen 20 differs_from after_right resized || fail "the new size changes nothing"
xdotool windowsize "$window" 1 1; sleep 0.5
alive || fail "the program ends at a size of one pixel"
xdotool windowsize "$window" 1600 1000; sleep 0.5
something_is_drawn last || fail "nothing is drawn after the window was made small and large"

quit_program

# What is unsaved survives the program, whatever ends it, and is offered to the next.
sessions=$XDG_STATE_HOME/headwise/sessions
backed_up() { grep -qs is_causal "$sessions"/*/*-scenario.json; }
left_by() { # the signal that ends it, or DISPLAY, which dies under it; its exit status
  start_program --no-intro
  until_seen 60 something_is_drawn "before_$1" || fail "nothing is drawn before $1"
  find_window || fail "no window is called headwise"
  sleep 0.5
  xdotool keydown c; sleep 0.05; xdotool keyup c
  until_seen 5 backed_up || fail "what was changed is not written within five seconds"
  if [ "$1" = DISPLAY ]; then kill -KILL "$server"; wait "$server" 2>/dev/null; server=
  else kill "-$1" "$window_program"; fi
  wait "$window_program" 2>/dev/null; local status=$?
  window_program=
  [ $status -eq "$2" ] || fail "$1 ends the program with status $status, expected $2"
  backed_up || fail "after $1 nothing is left of the unsaved work"
}
left_by KILL 137
[ -s "$work/stderr" ] && fail "something is written to stderr before SIGKILL"
rm -r "$sessions"
left_by TERM 6
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "after SIGTERM there is not exactly one line"
rm -r "$sessions"
left_by DISPLAY 7
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "after the display died there is not exactly one line"
start_display
start_program --no-intro
until_seen 60 something_is_drawn offered || fail "nothing is drawn beside the offer"
find_window || fail "no window is called headwise"
sleep 0.5
screenshot offered
xdotool keydown ctrl keydown shift keydown p; sleep 0.1; xdotool keyup p keyup shift keyup ctrl; sleep 0.5
xdotool type --delay 60 "restore last session"; sleep 0.5
xdotool keydown Return; sleep 0.1; xdotool keyup Return; sleep 1
screenshot restored
quit_program
[ -z "$(ls "$sessions")" ] || fail "a window that was closed leaves a backup"
grep -qs is_causal "$XDG_STATE_HOME/headwise/left.json" || fail "the unsaved work was not restored"

# A driver that was reset: one line, status 7, and what was in the window can be opened again.
env HEADWISE_LOSE_CONTEXT_AFTER=3 "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
[ $status -eq 7 ] || fail "with a lost context the exit status is $status, expected 7"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "with a lost context there is not exactly one line"
[ -s "$XDG_STATE_HOME/headwise/rescued.json" ] || fail "with a lost context the scenario is not saved"
grep -q "reset" "$XDG_STATE_HOME/headwise/errors.log" || fail "with a lost context the log does not say so"
echo "the window works"
