// Where things are on the screen, by name, so that tests click on "step_bar/scores" and not on a pixel.
// Outside tests a call costs one comparison.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <imgui.h>

#include "app/widgets/painter.h"

namespace headwise {

using UiRect = Box;

// What the last frame has drawn. Names are "panel/thing", followed by indices: "heads/thumbnail/3".
using UiProbes = std::map<std::string, UiRect, std::less<>>;

// Where ui_probe() writes to; null: nowhere. Whoever sets it clears it before each frame.
void set_ui_probes(UiProbes* probes);
UiProbes* ui_probes();
bool ui_probes_wanted();

void ui_probe(std::string_view name, const Box& box);
inline void ui_probe(std::string_view name, ImVec2 min, ImVec2 max) {
  ui_probe(name, Box(min, max));
}
// The same with "/index" appended to the name.
void ui_probe(std::string_view name, int index, const Box& box);
inline void ui_probe(std::string_view name, int index, ImVec2 min, ImVec2 max) {
  ui_probe(name, index, Box(min, max));
}
// The rectangle of ImGui's last item.
void ui_probe_item(std::string_view name);
void ui_probe_item(std::string_view name, int index);
// The text written here, as "says/THIS STEP", so that tests read what the user reads.
void ui_text_probe(std::string_view words, ImVec2 at);

// The work that a frame does, by name, so that a test can verify that what is not shown costs nothing.
// Outside tests a call costs one comparison.

// Name of the work → how often it was done: "inspector" for the panel,
// "head statistics" for what is computed for one.
using WorkProbes = std::map<std::string, int, std::less<>>;

// Where work_probe() counts; null: nowhere.
void set_work_probes(WorkProbes* probes);

void work_probe(std::string_view work);

}  // namespace headwise
