# Sourced by the tests of the real window, which set $program: a display of its own, a home of its own, and how they end.

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

# A display of 1600 x 1000, whose number the server chooses. Without -noreset the server starts anew when its last client
# goes, and refuses the next program meanwhile.
start_display() {
  rm -f "$work/display"
  Xvfb -noreset -displayfd 3 -screen 0 1600x1000x24 3>"$work/display" >"$work/xvfb.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.1; done
  [ -s "$work/display" ] || skip "Xvfb does not start: $(tail -n 1 "$work/xvfb.log")"
  export DISPLAY=":$(cat "$work/display")"
  unset WAYLAND_DISPLAY
}

# start_program ARGUMENT…: in the background, as $window_program
start_program() {
  "$program" "$@" >"$work/stdout" 2>"$work/stderr" &
  window_program=$!
}
alive() { kill -0 "$window_program" 2>/dev/null; }

# until_seen SECONDS COMMAND…: tries again until it succeeds
until_seen() {
  local tries=$(($1 * 10)); shift
  for _ in $(seq $tries); do "$@" && return 0; alive || return 1; sleep 0.1; done
  return 1
}

# $window: what the keys go to
find_window() {
  window=$(xdotool search --onlyvisible --class headwise | tail -n 1)
  [ -n "$window" ] && xdotool windowfocus "$window"
}

# Ctrl+Q ends the program, with status 0 and nothing to say on stderr.
quit_program() {
  xdotool keydown ctrl keydown q; sleep 0.2; xdotool keyup q keyup ctrl
  for _ in $(seq 100); do alive || break; sleep 0.1; done
  alive && fail "Ctrl+Q does not end the program"
  local status
  wait "$window_program"; status=$?
  window_program=
  [ $status -eq 0 ] || fail "the exit status is $status"
  [ -s "$work/stderr" ] && fail "something is written to stderr"
  return 0
}
