// What each command of the table (app/session/commands.h) does.
#pragma once

#include "app/session/commands.h"

namespace headwise {

struct WindowState;

// Executes the command. Afterwards the selection may name something that the new trace no longer has.
void handle_command(WindowState& window, CommandCall call);

}  // namespace headwise
