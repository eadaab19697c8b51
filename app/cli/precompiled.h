// Parsed once for all files of the command line (CMakeLists.txt), as core/precompiled.h is for those of core.
#pragma once

#include "app/cli/subcommand.h"
#include "core/precompiled.h"
#include "core/scenario/scenario_inputs.h"
