// The three linear layers at the entrance, and how their parameters are written down. core/attention/in_projection.h computes them,
// core/attention/projection_layouts.h converts between the layouts.
#pragma once

namespace headwise {

enum class Projection { q, k, v };

// One matrix, three, or one for each head of q, k and v.
enum class ProjectionLayout { packed, separate, per_head };

}  // namespace headwise
