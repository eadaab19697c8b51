// The fast path on the processor: attention in tiles, compiled once for each instruction set and chosen when
// the program runs. The only room with intrinsics. Also: how much work a pass is, and what this processor
// could reach.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/fused/attention_work.h"
#include "core/fused/fused_backend.h"
#include "core/fused/fused_layout.h"
#include "core/fused/fused_row_path.h"
#include "core/fused/interleaved_runs.h"
#include "core/fused/machine_speed.h"
#include "core/fused/row_masks.h"
