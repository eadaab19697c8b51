#include "app/inspector/cell_editor.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "app/session/cell_editing.h"
#include "app/widgets/labelled_field.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// The fewest digits that distinguish the stored number from its neighbours of the same type.
double shown(const Tensor& tensor, double value) {
  if (tensor.dtype() != DType::f32 || !std::isfinite(value)) return value;
  return std::stod(fmt::format("{}", static_cast<float>(value)));
}

}  // namespace

void draw_cell_editor(const PanelContext& context, const CellRef& cell, PanelAction& action) {
  if (!is_editable(context.trace, cell)) return;
  const TensorPtr tensor = context.trace.tensor(cell.tensor);
  std::optional<double> value = shown(*tensor, tensor->at(cell.index));
  const FieldResult field =
      number_row(context.widgets(),
                 {"inspector/set", "set to", "",
                  "Set this number by hand: everything that depends on it is recomputed. Undo restores it."},
                 value, {.width = 108.0f, .required = true});
  if (!field.error.empty()) error_line(context.widgets(), field.error);
  if (!field.changed || !value) return;
  action.scenario = with_cell(context.scenario, cell, *value);
  action.edit_label = fmt::format("set {}[{}]", to_string(cell.tensor), join(cell.index, ","));
  action.edit_continues = true;
}

}  // namespace headwise
