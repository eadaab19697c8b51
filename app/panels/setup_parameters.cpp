#include <array>

#include "app/panels/setup_rows.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> parameter_sources{"random", "hand-made"};
constexpr std::array<std::string_view, 3> layouts{"packed", "3", "3·H"};
constexpr const char* layout_words[] = {"in_proj packed", "in_proj as 3 matrices",
                                        "in_proj as 3·H small matrices"};

}  // namespace

void draw_setup_parameters(SetupRows& rows) {
  section_caption(rows.widgets(), "PARAMETERS");
  int heads = rows.scenario().parameters.source == ParameterSource::random      ? 0
              : rows.scenario().parameters.source == ParameterSource::hand_made ? 1
                                                                                : -1;
  if (rows.choice(
          {"setup/parameters", "heads", "",
           "Where W_q, W_k, W_v and W_O come from. Hand-made heads have a reason that can be read off W_q "
           "and W_k: the "
           "word before, the same word, the first word, itself, the average. Random ones are as a fresh "
           "module has them."},
          parameter_sources, heads)) {
    rows.scenario().parameters.source = heads == 1 ? ParameterSource::hand_made : ParameterSource::random;
    rows.edited("setup/parameters", heads == 1 ? "hand-made heads" : "random parameters", false);
  }
  rows.draw_errors("setup/parameters", "");

  if (rows.scenario().op != Op::multi_head_attention) return;
  int layout = static_cast<int>(rows.scenario().parameters.layout);
  if (rows.choice(
          {"setup/layout", "in_proj as", "",
           "How W_q, W_k and W_v are held: packed in one in_proj_weight, as three matrices, or as a small "
           "matrix for each head. The same numbers either way: Help, Is it the same? shows it."},
          layouts, layout)) {
    rows.scenario().parameters.layout = static_cast<ProjectionLayout>(layout);
    rows.edited("setup/layout", layout_words[layout], false);
  }
  rows.draw_errors("setup/layout", "");
}

}  // namespace headwise
