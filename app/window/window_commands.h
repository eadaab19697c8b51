// What each command of the table does.
#pragma once

#include "app/session/commands.h"

namespace headwise {

struct PaletteEntry;  // app/panels/command_palette.h
struct PanelAction;   // app/panels/panel.h
struct WindowState;

void perform(WindowState& window, CommandCall call);
// Executes what was chosen in the command palette: a command, a step to go to, a view of the stage, a brush,
// a preset to open …
void perform(WindowState& window, const PaletteEntry& entry);

// Takes an edit or a new place that a panel requests. `from_setup`: an error sentence is shown in the setup.
void take_action(WindowState& window, const PanelAction& action, bool from_setup);

}  // namespace headwise
