// Arrays with named axes in row-major memory, on which Eigen works in place; products and sums of them on as
// many threads as the machine has; counter-based random numbers; errors that say what was got, what was
// expected and the remedy. Every other room builds on this one.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/tensor/cancellation.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/given_array.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/join.h"
#include "core/tensor/kernel_table.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"
#include "core/tensor/random.h"
#include "core/tensor/shape.h"
#include "core/tensor/strided_layout.h"
#include "core/tensor/task_threads.h"
#include "core/tensor/tensor.h"
#include "core/tensor/version.h"
