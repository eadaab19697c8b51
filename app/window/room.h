// The window as a whole: what it remembers from frame to frame, where its panels stand, menus, files, making
// and presenting playlists, and one frame from the input to the picture.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/window/run_window.h"
#include "app/window/slides.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_state.h"
#include "app/window/window_visit.h"
