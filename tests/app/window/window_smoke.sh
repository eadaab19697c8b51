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

# A driver that was reset: one line, status 7, and what was in the window can be opened again.
env HEADWISE_LOSE_CONTEXT_AFTER=3 "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
[ $status -eq 7 ] || fail "with a lost context the exit status is $status, expected 7"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "with a lost context there is not exactly one line"
[ -s "$XDG_STATE_HOME/headwise/rescued.json" ] || fail "with a lost context the scenario is not saved"
grep -q "reset" "$XDG_STATE_HOME/headwise/errors.log" || fail "with a lost context the log does not say so"
echo "the window works"
