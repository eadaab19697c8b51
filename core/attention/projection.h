// The three input projections and the layout of their parameters. core/attention/in_projection.h computes them,
// core/attention/projection_layouts.h converts between the layouts.
#pragma once

namespace headwise {

enum class Projection { q, k, v };

// One matrix, three matrices, or one per head of q, k and v.
enum class ProjectionLayout { packed, separate, per_head };

}  // namespace headwise
