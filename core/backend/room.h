// One interface to the three backends: which can compute given inputs, and which steps in if one cannot. Also
// the full size of today's models, seen through samples and tiles.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/backend/backend.h"
#include "core/backend/model_sizes.h"
#include "core/backend/sampled_agreement.h"
#include "core/backend/weight_tiles.h"
