#include "app/inspector/output_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/content/stage_marks.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/heads.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

constexpr std::size_t most_lines = 12;

}  // namespace

std::vector<OutputShare> output_shares(const Trace& trace, const Selection& selection, std::size_t shown) {
  const std::optional<CellRef> cell = focused_cell(trace, selection);
  const TraceTensors& t = trace.tensors;
  const bool output = cell && cell->tensor == TensorName{TensorId::output};
  if (!output || !t.out_proj_weight || !t.concat) return {};
  const Index heads = trace.options.num_heads;
  const OutputCellByHeads parts = output_cell_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(),
                                                       heads, cell->index[0], cell->index[1], cell->index[2]);
  std::vector<Index> order(static_cast<std::size_t>(heads));
  std::iota(order.begin(), order.end(), Index{0});
  if (order.size() > shown) {
    std::ranges::stable_sort(order, std::greater{}, [&](Index h) { return parts.share_of_head(h); });
    std::ranges::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
  }
  std::vector<OutputShare> shares;
  OutputShare others{fmt::format("{} other heads", order.size() - std::min(order.size(), shown))};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double value = parts.heads[static_cast<std::size_t>(order[i])], share = parts.share_of_head(order[i]);
    if (i < shown) {
      shares.push_back({fmt::format("head {}", order[i]), order[i], value, share});
    } else {
      others.value += value;
      others.share += share;
    }
  }
  if (order.size() > shown) shares.push_back(others);
  if (t.out_proj_bias) shares.push_back({"bias", std::nullopt, parts.bias, parts.share_of_bias()});
  return shares;
}

void draw_output_shares(const PanelContext& context, TextColumn& column) {
  const std::vector<OutputShare> shares = output_shares(context.trace, context.selection, most_lines);
  if (shares.empty()) return;
  column.heading("IS A SUM OVER HEADS");
  column.paragraph("%: share of all, ignoring signs", context.palette.text_dim);
  ImFont* small = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const ColorTable& table = color_table(ColorMap::blue_orange, context.theme);
  const float line = std::round(mono->FontSize * 1.5f);
  const float value_end = column.width() * 0.52f;
  const float percent_end =
      std::max(column.width() * 0.70f, value_end + width_of(mono, "100.0 %") + 8.0f * context.scale);
  const float bar_begin = percent_end + 10.0f * context.scale, bar_width = column.width() - bar_begin;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const OutputShare& share = shares[i];
    const ImVec2 at = column.cursor();
    const float y = at.y + 0.5f * line;
    const bool looked_at = share.head == context.selection.head;
    const float dot = 3.0f * context.scale, name_x = at.x + 2 * dot + 5.0f * context.scale;
    if (share.head)
      paint.dot({at.x + dot, std::round(at.y + 0.5f * line)}, dot, head_hue(context.palette, *share.head));
    paint.text_beside(small, {name_x, y}, looked_at ? palette.focus : palette.text_dim, share.name);
    paint.text_beside(mono, {at.x + value_end, y}, palette.text, decimal_text(share.value), Align::right);
    if (std::isfinite(share.share)) {
      paint.text_beside(mono, {at.x + percent_end, y}, palette.text_dim,
                        fmt::format("{:.1f} %", 100.0 * share.share), Align::right);
      const ImVec2 from(at.x + bar_begin, at.y + line * 0.26f);
      const float length = float(share.share) * bar_width;
      if (share.share > 0.0)
        paint.fill(from, {from.x + std::max(1.0f, length), at.y + line * 0.74f},
                   share.value < 0.0 ? table[64] : palette.bar);
    }
    ui_probe("inspector/share", static_cast<int>(i), at, ImVec2(at.x + column.width(), at.y + line));
    column.skip(line);
    tooltip(context,
            "the number is the sum of each head's contribution through its rows of W_O, plus the bias. The "
            "share ignores signs: |part| of Σ |part|, so parts that cancel each other also count");
  }
  column.space(10);
}

}  // namespace headwise
