#include "app/content/stage_views.h"

#include <algorithm>
#include <array>

#include "app/session/token_predictions.h"

namespace headwise {
namespace {

constexpr std::array<StageViewEntry, stage_view_count> views{{
    {StageView::one_head, "One head", "one", "one head with its operands",
     "the step's product with its operands, for the selected head", StepMotion::shown, true, true},
    {StageView::all_heads, "All heads", "all", "all heads side by side",
     "the step's result for every head, side by side", StepMotion::shown, true, false},
    {.view = StageView::head_rows,
     .name = "Rows",
     .short_name = "rows",
     .way = "one query's row in every head",
     .what = "one query's attention weights in every head, with a dot that mutes each head, beside the "
             "prediction",
     .motion = StepMotion::skipped,
     .turns = false,
     .of_head = false,
     .title = "Rows",
     .question = "where does one token look in each head, and what does each head add to the prediction?"},
    {.view = StageView::tokens,
     .name = "Tokens",
     .short_name = "tok.",
     .way = "tokens joined by lines",
     .what = "the tokens, joined by lines as thick as their attention weights",
     .motion = StepMotion::unseen,
     .turns = false,
     .of_head = true,
     .title = "Tokens",
     .question = "which tokens does each token look at, and how strongly?"},
    {.view = StageView::elementwise,
     .name = "q∘k",
     .short_name = "q∘k",
     .way = "q ∘ k number by number",
     .what = "one query against every key, number by number",
     .motion = StepMotion::unseen,
     .turns = false,
     .of_head = true,
     .title = "q ∘ k",
     .question = "how does one query meet every key, number by number?"},
    {.view = StageView::query_key_plane,
     .name = "Q–K plane",
     .short_name = "plane",
     .way = "queries and keys as arrows and points",
     .what = "one head's queries and keys as arrows and points of a plane: drag a query to change its scores",
     .motion = StepMotion::skipped,
     .turns = false,
     .of_head = true,
     .title = "Q–K plane",
     .question = "which way does a query point, and which keys lie farthest along it?"},
    {.view = StageView::gradients,
     .name = "Gradients",
     .short_name = "grad.",
     .way = "each tensor beside its gradient",
     .what = "the step's tensors, each beside its gradient",
     .motion = StepMotion::skipped,
     .turns = true,
     .of_head = true,
     .question = "how much does the loss change with each number? start at Output and step back"},
    {StageView::compare, "Compare", "comp.", "beside another scenario",
     "the step's result beside that of another scenario, with the difference", StepMotion::skipped, true, true},
    {StageView::memory, "Memory", "mem.", "where each float lies",
     "where each float lies after view and transpose, and what a wrong view would read", StepMotion::skipped,
     true, false},
    {.view = StageView::prediction,
     .name = "Prediction",
     .short_name = "pred.",
     .way = "the words that the model predicts",
     .what = "the words that the model predicts, before and after your changes: what does a muted head do?",
     .motion = StepMotion::skipped,
     .turns = false,
     .of_head = false,
     .needs_model = true,
     .title = "Prediction",
     .question = "through the rest of the model: what does it predict?"},
}};
static_assert([] {
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].view != static_cast<StageView>(i)) return false;
  return true;
}());

}  // namespace

std::span<const StageViewEntry> stage_views() {
  return views;
}

const StageViewEntry& stage_view_entry(StageView view) {
  return views[static_cast<std::size_t>(view)];
}

std::vector<StageView> offered_views(const Scenario& scenario, StageView shown) {
  std::vector<StageView> offered;
  for (const StageViewEntry& entry : views)
    if (!entry.needs_model || entry.view == shown || offers_prediction(scenario))
      offered.push_back(entry.view);
  return offered;
}

StageView next_view(const Scenario& scenario, StageView shown) {
  const std::vector<StageView> offered = offered_views(scenario, shown);
  const auto next = std::ranges::find(offered, shown) + 1;
  return next == offered.end() ? offered.front() : *next;
}

std::string list_of_views() {
  std::string ways;
  for (const StageViewEntry& entry : views) {
    if (!ways.empty()) ways += ", ";
    ways += entry.way;
  }
  return ways;
}

}  // namespace headwise
