// Another program's arrays against ours: where they first differ, and the one mistake that explains every
// cell.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/compare/array_compare.h"
#include "core/compare/likely_causes.h"
#include "core/compare/trace_compare.h"
