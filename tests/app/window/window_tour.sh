#!/usr/bin/env bash
# A tour of the real window: steps, views, cells, a slider, the brush, sizes, themes, the stage alone and a lesson. A picture
# is taken at each stop and kept for people to look at. It may not be of one colour; where the stop has to change something it
# differs from the one before, and where it leads back it is the same again.
#   window_tour.sh PROGRAM FOLDER_FOR_PICTURES       $HEADWISE_TOUR_DIR, where set, takes the place of the folder
set -u
program=$1
pictures=${HEADWISE_TOUR_DIR:-$2}
lesson=$(dirname "${BASH_SOURCE[0]}")/../../../assets/lessons/first_walk.json
mkdir -p "$pictures"
pictures=$(cd "$pictures" && pwd)
rm -f "$pictures"/[0-9][0-9]-*.png "$pictures"/[0-9][0-9]-*.xwd.gz
. "$(dirname "${BASH_SOURCE[0]}")/window_display.sh"

stops=0
picture=  # of the last stop

look() { xwd -silent -id "$window" -out "$1" 2>/dev/null; }
# One colour compresses to a thousandth; text and maps do not go below a hundredth.
many_colours() { [ "$(gzip -c "$1" | wc -c)" -gt $(($(wc -c <"$1") / 300)) ]; }
# Not the picture $1 any more, where one is given, drawn, and the same twice: nothing is on its way
comes_to_rest() {
  look "$work/now.xwd" || return 1
  [ -n "$1" ] && cmp -s "$1" "$work/now.xwd" && return 1
  sleep 0.12
  look "$work/then.xwd" && cmp -s "$work/now.xwd" "$work/then.xwd" && many_colours "$work/now.xwd"
}
keep() {
  stops=$((stops + 1))
  local name
  name=$(printf '%02d-%s' $stops "$1")
  picture=$work/$name.xwd
  cp "$work/now.xwd" "$picture"
  # In the background, while the window moves on
  { convert "$picture" -quality 11 "png:$pictures/$name.png" || gzip -c "$picture" >"$pictures/$name.xwd.gz"; } 2>/dev/null &
  keeping+=($!)
}
keeping=()
# stop NAME: the window changes from what it was, and rests.   back NAME PICTURE: it becomes what it was there.
stop() {
  until_seen 15 comes_to_rest "$picture" && keep "$1" && return
  look "$work/now.xwd" && keep "$1-failed"
  wait "${keeping[@]}"
  fail "stop $stops, $1: the window is gone, shows nothing new, is of one colour or does not come to rest"
}
is_again() { look "$work/now.xwd" && cmp -s "$1" "$work/now.xwd"; }
back() {
  until_seen 15 is_again "$2" && keep "$1" && return
  keep "$1-failed"
  wait "${keeping[@]}"
  fail "stop $stops, $1: the window is not what it was in $(basename "$2" .xwd)"
}

# Keys are held for two frames at least; press MODIFIER… KEY.
press() {
  local key
  for key in "$@"; do xdotool keydown "$key"; done
  sleep 0.2
  for key in "$@"; do xdotool keyup "$key"; done
}
# Places are those of a window of 1600 x 1000.
point() { xdotool mousemove --window "$window" "$1" "$2"; sleep 0.1; }
aside() { point 1100 985; }
click() { point "$1" "$2"; xdotool mousedown 1; sleep 0.2; xdotool mouseup 1; sleep 0.1; }
drag() {
  local part
  point "$1" "$2"
  xdotool mousedown 1; sleep 0.2
  for part in 1 2 3 4; do point $(($1 + ($3 - $1) * part / 4)) $(($2 + ($4 - $2) * part / 4)); done
  xdotool mouseup 1; sleep 0.1
}

# open_at FIRST_STOP ARGUMENT…
open_at() {
  local name=$1; shift
  start_program "$@"
  until_seen 60 find_window || fail "no window is called headwise"
  aside
  picture=
  until_seen 60 comes_to_rest "" && keep "$name" || fail "$name: nothing is drawn, or it does not come to rest"
}

start_display
begin=$SECONDS
mkdir -p "$XDG_CONFIG_HOME/headwise"
echo '{"motion_speed": 4}' >"$XDG_CONFIG_HOME/headwise/settings.json"

open_at first hand_made
for step in project split-heads scores; do press Right; stop "$step"; done
for view in all-heads rows tokens q-k plane gradients compare memory one-head; do press a; stop "scores-$view"; done
for step in scale mask; do press Right; stop "$step"; done

point 880 400; stop cell-under-the-mouse
click 880 400; aside; stop cell-pinned
press Escape; stop cell-let-go
drag 178 586 205 586; aside; stop gain-dragged
click 928 150; drag 840 350 1050 560; aside; stop mask-painted
for step in softmax weighted-sum concat output; do press Right; stop "$step"; done

rest=$picture
xdotool windowsize "$window" 1280 720; stop size-1280x720
xdotool windowsize "$window" 320 200; stop size-320x200
xdotool windowsize "$window" 1600 1000; back size-1600x1000 "$rest"
for theme in light projector; do press t; stop "theme-$theme"; done
press t; back theme-dark "$rest"
press ctrl equal; stop larger-text
press ctrl 0; back normal-text "$rest"
press f; stop stage-alone
press Escape; back whole-window "$rest"
quit_program

# The opening scene, once with the other word; then the welcome scenario: a trained model, whose words change when the head is
# muted that it opens on.
open_at opening
press Tab; press space; stop opening-wide
press space; stop opening-tired
press Escape; stop welcome
for view in all-heads rows tokens q-k plane gradients compare memory prediction; do press a; stop "welcome-$view"; done
press m; stop welcome-head-muted
press ctrl z; stop welcome-head-heard
quit_program

open_at lesson first_walk
# A page that asks gives its answer at a key of its own.
presses=$(($(grep -c '"caption"' "$lesson") + $(grep -c '"ask"' "$lesson") - 1))
[ $presses -gt 1 ] || fail "$lesson has no pages"
for press in $(seq $presses); do press Page_Down; stop "lesson-press-$press"; done
quit_program

wait "${keeping[@]}"
kept=$(ls "$pictures"/[0-9][0-9]-* | wc -l)
[ "$kept" -eq $stops ] || fail "$kept of $stops pictures are kept in $pictures"
echo "$stops stops in $((SECONDS - begin)) seconds; their pictures are in $pictures"
