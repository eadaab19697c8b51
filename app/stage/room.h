// The middle of the window: the views of a step, the step bar, the graph of tensors, the motion between
// steps, and the inspector, which says where a cell came from.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/stage/inspector_panel.h"
#include "app/stage/mask_bars.h"
#include "app/stage/stage_navigation.h"
#include "app/stage/stage_panel.h"
#include "app/stage/views.h"
