// The layer above the operating system: its window, OpenGL contexts with and without a screen, the heatmap
// shader, fonts, keys as they arrive, other programs.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/platform/desktop_program.h"
#include "app/platform/driver.h"
#include "app/platform/fonts.h"
#include "app/platform/frame_function.h"
#include "app/platform/heatmap_renderer.h"
#include "app/platform/offscreen_context.h"
#include "app/platform/picture_surface.h"
#include "app/platform/picture_texture.h"
#include "app/platform/window.h"
