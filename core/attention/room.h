// The operator. Its options, one row each; its mathematics, one file per step, named after it; the trace,
// which holds every intermediate under its name with the rule by which each cell was made (formula,
// provenance, highlight and gradient follow from that rule); and the reference pass, forward and backward,
// which recomputes only what an edit has changed.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/attention/add_and_norm.h"
#include "core/attention/attention_mask.h"
#include "core/attention/attention_options.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/cell_reach.h"
#include "core/attention/changed_tokens.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/grad_output.h"
#include "core/attention/heads.h"
#include "core/attention/in_projection.h"
#include "core/attention/kept_weights.h"
#include "core/attention/linear.h"
#include "core/attention/memory_order.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/norm.h"
#include "core/attention/projection_layouts.h"
#include "core/attention/query_key_plane.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/rules.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/attention/stage_cache.h"
#include "core/attention/steps.h"
#include "core/attention/tensor_names.h"
#include "core/attention/trace.h"
#include "core/attention/trace_warnings.h"
