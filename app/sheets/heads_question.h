// "How many heads?": asked when a layer is opened whose model does not say it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/widgets/widget_context.h"
#include "core/model/layers/head_choices.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct HeadsQuestion {
  bool open = false;
  bool appearing = false;  // in the next frame its field gets the focus
  Scenario scenario;       // that is asked about, with the number that is assumed
  AttentionLayer layer;
  std::string model;                // as it is called
  std::vector<HeadChoice> choices;  // that are listed
  HeadChoice likeliest;
  std::string typed;  // how many heads
};

// Asks where nothing says how many heads the scenario's layer has, and its rows can be cut at all. `path` is the model's.
// Throws Error(input) where the model cannot be opened.
void ask_heads(HeadsQuestion& question, const Scenario& scenario, const std::string& path);

struct HeadsAnswer {
  std::optional<HeadChoice> heads;  // none: Escape, and what is assumed stays
};

// While open. The answer, in the frame that gives it.
std::optional<HeadsAnswer> draw_heads_question(const WidgetContext& context, HeadsQuestion& question);

}  // namespace headwise
