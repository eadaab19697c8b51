// Parsed once for all tests of the window and of the command line (CMakeLists.txt),
// as core/precompiled.h is for core itself.
#pragma once

#include <doctest/doctest.h>

#include "core/precompiled.h"
#include "tests/app/window_bench.h"
