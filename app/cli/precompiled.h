// Parsed once for the files of the command line that use CLI11 (app/CMakeLists.txt), as core/precompiled.h is for those of core.
#pragma once

#include "app/cli/command_options.h"
#include "app/cli/subcommand.h"
#include "core/precompiled.h"
#include "core/scenario/scenario_inputs.h"
