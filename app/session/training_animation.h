// A training as an animated picture: its curve, and the maps of its heads at the steps that were measured.
#pragma once

#include <vector>

#include "app/session/live_training.h"
#include "core/picture/animated_png.h"
#include "core/picture/picture.h"

namespace headwise {

// (side,side): −inf where a causal mask blocks, what HeatmapSpec::mask takes.
TensorPtr blocked_above_diagonal(Index side);

// One moment of it. `point` is one of run.past; `title` stands above.
Picture training_picture(const WatchedRun& run, const TrainingPoint& point, const std::string& title,
                         Theme theme);

// At most `frames` moments, evenly spaced, the last one longer than the others. Throws Error(usage) if nothing was measured, Error(cancelled).
AnimatedPng training_animation(const WatchedRun& run, const std::string& title, Theme theme, int frames = 32);

}  // namespace headwise
