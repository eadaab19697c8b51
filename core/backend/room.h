// The three ways to compute behind one interface: which can, which stands in for it, and the full size of
// today's models, looked at through samples and tiles.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/backend/backend.h"
#include "core/backend/model_sizes.h"
#include "core/backend/sampled_agreement.h"
#include "core/backend/weight_tiles.h"
