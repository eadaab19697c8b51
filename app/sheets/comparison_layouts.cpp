// The projection written down in three ways.
#include <fmt/format.h>

#include <array>

#include "app/sheets/comparison_sheet.h"
#include "app/widgets/figures_table.h"
#include "app/widgets/text_column.h"
#include "core/answers/operation_counts.h"

namespace headwise {
namespace {

constexpr std::array<FigureColumn, 6> numbers{{{"layout"},
                                               {"matrices"},
                                               {"products", true},
                                               {"of in_proj", true},
                                               {"multiply-adds", true},
                                               {"max |Δ| of the output", true}}};
constexpr std::array<FigureColumn, 2> einsums{{{"layout"}, {"einsum"}}};

}  // namespace

void draw_layout_comparison(const PanelContext& context, const LayoutComparison& comparison) {
  const WidgetContext widgets = context.widgets();
  if (comparison.not_asked.empty()) {
    std::vector<FigureRow> rows, forms;
    bool first = true;
    for (const LayoutAnswer& answer : comparison.layouts) {
      if (!answer.possible()) {
        rows.push_back({{layout_words(answer.layout), "not possible here", "", "", "", ""}, -1.0, true});
        continue;
      }
      rows.push_back({{layout_words(answer.layout), matrices_text(answer), count_text(answer.products),
                       count_text(answer.parameters()), count_text(answer.multiply_adds),
                       first ? "–" : fmt::format("{:.2g}", answer.output_difference)}});
      forms.push_back({{layout_words(answer.layout), answer.einsum}});
      first = false;
    }
    draw_figures(widgets, "comparison/layouts", numbers, rows);
    ImGui::Dummy({1, widgets.px(8)});
    draw_figures(widgets, "comparison/einsums", einsums, forms);
    ImGui::Dummy({1, widgets.px(8)});
  }
  TextColumn column(widgets);
  for (const std::string& sentence : comparison.sentences) column.paragraph(sentence);
  if (comparison.not_asked.empty()) {
    column.space(6);
    column.paragraph(
        "Choose another layout next to “in_proj as” in the setup: names and shapes change, but no number "
        "does.",
        context.palette.text_dim);
  }
}

}  // namespace headwise
