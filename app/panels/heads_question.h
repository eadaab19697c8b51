// "How many heads?": asked when a layer is opened whose model does not specify it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/widgets/painter.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct HeadsQuestion {
  bool open = false;
  bool appearing = false;  // its field gets the focus in the next frame
  Scenario scenario;       // the scenario asked about, with the assumed number
  AttentionLayer layer;
  std::string model;                // its name
  std::vector<HeadChoice> choices;  // the choices listed
  HeadChoice likeliest;
  std::string typed;  // number of heads, as typed
};

// Asks if nothing says how many heads the scenario's layer has, and its rows can be split at all. `path` is
// the model's. Throws Error(input) if the model cannot be opened.
void ask_heads(HeadsQuestion& question, const Scenario& scenario, const std::string& path);

struct HeadsAnswer {
  std::optional<HeadChoice> heads;  // none: Escape, and the assumed number stays
};

// Draws while open. Returns the answer, in the frame that gives it.
std::optional<HeadsAnswer> draw_heads_question(const WidgetContext& context, HeadsQuestion& question);

}  // namespace headwise
