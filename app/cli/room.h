// The command line: one file per command, one report, printed for people or as JSON.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/cli/command_line.h"
