// The path in OpenGL compute shaders: plans that cut the work to what a device allows, and the queue that
// runs it. It needs a current OpenGL context and knows nothing of windows.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_speed.h"
#include "core/gpu/gpu_tuning.h"
#include "core/gpu/object.h"
