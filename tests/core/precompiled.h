// Parsed once for all tests of core (CMakeLists.txt), as core/precompiled.h is for core itself.
#pragma once

#include <doctest/doctest.h>

#include "core/attention/reference_backend.h"
#include "core/precompiled.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
