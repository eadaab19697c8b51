#!/usr/bin/env bash
# The real window, on a display of its own: it appears, answers keys, rests, is resized and closes; without a display it
# says so in one line.
#   window_smoke.sh PROGRAM FOLDER_FOR_SCREENSHOTS
set -u
program=$1
pictures=$2
mkdir -p "$pictures"

skip() { echo "SKIPPED: $1"; exit 77; }
fail() { echo "FAILED: $1"; [ -s "$work/stderr" ] && sed 's/^/  stderr: /' "$work/stderr"; exit 1; }
for tool in Xvfb xdotool xwd; do
  command -v $tool >/dev/null || skip "$tool is missing (apt-get install xvfb xdotool x11-apps)"
done

work=$(mktemp -d)
server= window_program=
cleanup() {
  [ -n "$window_program" ] && kill "$window_program" 2>/dev/null
  [ -n "$server" ] && kill "$server" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

# Nothing of the person's own settings is read or written.
export HOME=$work XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
export LIBGL_ALWAYS_SOFTWARE=1 HEADWISE_GL_DEBUG=1

# The display's driver is unloaded before leaks are looked for, so that what it keeps cannot be told from ours by its name;
# the same code is looked at for leaks where the tests drive it offscreen.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# Without a display
env -u DISPLAY -u WAYLAND_DISPLAY "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
[ $status -eq 7 ] || fail "without a display the exit status is $status, expected 7"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "without a display there is not exactly one line"
[ -s "$work/stdout" ] && fail "without a display something is written to stdout"

# A display of our own, whose number the server chooses
Xvfb -displayfd 3 -screen 0 1600x1000x24 3>"$work/display" >"$work/xvfb.log" 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.1; done
[ -s "$work/display" ] || skip "Xvfb does not start: $(tail -n 1 "$work/xvfb.log")"
export DISPLAY=":$(cat "$work/display")"
unset WAYLAND_DISPLAY

screenshot() { xwd -silent -root -out "$pictures/$1.xwd"; }
# A screen of one colour compresses to a few kilobytes.
something_is_drawn() { screenshot "$1" && [ "$(gzip -c "$pictures/$1.xwd" | wc -c)" -gt 30000 ]; }
alive() { kill -0 "$window_program" 2>/dev/null; }
# until SECONDS COMMAND…: tries again until it succeeds
until_seen() {
  local tries=$(($1 * 10)); shift
  for _ in $(seq $tries); do "$@" && return 0; alive || return 1; sleep 0.1; done
  return 1
}
differs_from() { screenshot "$2" && ! cmp -s "$pictures/$1.xwd" "$pictures/$2.xwd"; }
processor_ticks() { awk '{print $14 + $15}' "/proc/$window_program/stat"; }

begin=$(date +%s%N)
"$program" >"$work/stdout" 2>"$work/stderr" &
window_program=$!
until_seen 60 something_is_drawn first || fail "nothing is drawn within a minute"
echo "first picture after $((($(date +%s%N) - begin) / 1000000)) ms"
window=$(xdotool search --onlyvisible --class headwise | tail -n 1)
[ -n "$window" ] || fail "no window is called headwise"
xdotool windowfocus "$window"
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

xdotool keydown ctrl keydown q; sleep 0.05; xdotool keyup q keyup ctrl
for _ in $(seq 100); do alive || break; sleep 0.1; done
alive && fail "Ctrl+Q does not end the program"
wait "$window_program"; status=$?
window_program=
[ $status -eq 0 ] || fail "the exit status is $status"
[ -s "$work/stderr" ] && fail "something is written to stderr"

# A driver that was reset: one line, status 7, and what was in the window can be opened again.
env HEADWISE_LOSE_CONTEXT_AFTER=3 "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
[ $status -eq 7 ] || fail "with a lost context the exit status is $status, expected 7"
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "with a lost context there is not exactly one line"
[ -s "$XDG_STATE_HOME/headwise/rescued.json" ] || fail "with a lost context the scenario is not saved"
grep -q "reset" "$XDG_STATE_HOME/headwise/errors.log" || fail "with a lost context the log does not say so"
echo "the window works"
