#include "app/inspector/inspector_training.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/platform/needed_characters.h"
#include "app/session/watched_model.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double until_explained = 0.05;  // seconds to the next look

void draw_update_lines(const PanelContext& context, TextColumn& column, const ExplainedCell& explained) {
  ImFont* mono = context.fonts.mono_small;
  const auto columns = static_cast<std::size_t>(std::max(8.0f, column.width() / width_of(mono, "0")));
  for (const UpdateLine& line : update_lines(explained)) {
    if (!line.computed) {
      column.paragraph(line.text, context.palette.text_dim);
      continue;
    }
    need_characters(line.text, *mono);
    const Rgba8 color = line.result ? context.palette.text : context.palette.text_dim;
    for (const std::string& part : wrapped_code(line.text, columns)) {
      ImGui::GetWindowDrawList()->AddText(mono, mono->FontSize, column.cursor(), im_color(color), part.c_str());
      ui_says(part, column.cursor());
      column.skip(std::round(mono->FontSize * 1.45f));
    }
    column.space(2);
  }
  column.paragraph("The batch is that of the training step, not the text that is shown here.",
                   context.palette.text_dim);
}

}  // namespace

void draw_training_update(const PanelContext& context, TextColumn& column, const CellRef& cell) {
  if (!context.watched) return;
  const WatchedModel& model = *context.watched;
  const std::optional<CellQuestion> question = question_of(model, cell);
  if (!question) return;
  column.space(8);
  const ImVec2 from = column.cursor();
  column.heading("THE NEXT STEP OF ITS TRAINING");
  if (model.edited) {
    column.paragraph(
        "This model was edited and is no longer the training's. Undo the edits to see how the training "
        "changes "
        "this number.",
        context.palette.text_dim);
    ui_probe("inspector/edited", from, {from.x + column.width(), column.cursor().y});
    column.space(4);
    return;
  }
  const ExplainedCells::OutcomePtr outcome = model.cells->of(*question);
  if (!outcome) {
    column.paragraph("Computing …", context.palette.text_dim);
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, until_explained);
  } else if (!outcome->answer) {
    column.paragraph(outcome->error, context.palette.error);
  } else if (const TensorPtr shown = context.trace.tensor(cell.tensor);
             shown && shown->at(cell.index) == outcome->answer->update.value) {
    draw_update_lines(context, column, *outcome->answer);
    ui_probe("inspector/update", from, {from.x + column.width(), column.cursor().y});
  } else {
    column.paragraph("The training has another number here.", context.palette.text_dim);
  }
  column.space(4);
}

}  // namespace headwise
