// Moves the user's place as the commands request: to a step, a head, the next view,
// along the steps in time, and back out.
#pragma once

#include "core/attention/steps.h"

namespace headwise {

enum class Suggestion : int;  // app/session/suggestions.h
struct Settings;
struct WindowState;
struct WindowView;  // app/window/window_state.h

// With its motion if it follows the present one. A step that the scenario does not have is split_heads.
void go_to_step(WindowState& window, Step step);
// Along the shown steps, as far as there are any.
void step_by(WindowState& window, int by);
// Only says so if there is no such head.
void go_to_head(WindowState& window, Index head);
void go_to_next_view(WindowState& window);

// Starts or pauses playback. From the end, and from a result that was opened directly, it starts with the
// first step; in Gradients, which are walked backwards, with the last. A paused motion continues.
void play(WindowState& window);

// Escape: one thing at a time, the nearest first. Cancels what is being saved or computed; then leaves the
// focus, full screen, playing, notices, an edit without a result, the pinned cell, a lesson,
// and the stage alone.
void unpin(WindowState& window);

// Changes the settings as the commands request: at once, and in the settings file for the next start. If that
// cannot be written, a notice says why.

// Multiplies its speed by `factor`, between the slowest and the fastest.
void scale_motion(WindowView& view, float factor);
// Sets it; does nothing if it is that already.
void set_motion_speed(WindowView& view, float speed);
void toggle_setting(WindowView& view, bool Settings::*setting);
// Cycles through dark, light, projector.
void toggle_theme(WindowView& view);
// The size of type: 1 is the display's default. Clamped between the smallest and the largest.
void scale_text(WindowView& view, float scale);

// The opening scene was seen: the window no longer starts with it.
void remember_opening_seen(WindowView& view);

// A suggestion was tried or dismissed: it is not made again.
void remember_suggestion(WindowView& view, Suggestion suggestion);

// Shows the first steps again, from the beginning.
void begin_first_steps(WindowView& view);
// Hides them, now and at the next start.
void finish_first_steps(WindowView& view);

}  // namespace headwise
