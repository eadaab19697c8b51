// The report of scenario_info for people.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/scenario_info.h"
#include "app/cli/tensor_list.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

std::string heading(const std::string& text) {
  return "\n" + text + "\n";
}

std::string sentences(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& sentence : all) text += "  " + sentence + "\n";
  return text;
}

std::string sizes(const ScenarioInfo& info) {
  std::vector<TextRow> rows;
  for (const LetterSize& size : info.sizes) rows.push_back({size.letter, count_text(size.size), size.what});
  return heading("Sizes") + text_table(rows);
}

std::string parameters(const ScenarioInfo& info) {
  if (info.parameters.empty()) return heading("Parameters") + "  none\n";
  std::vector<TextRow> rows;
  for (const ParameterCount& count : info.parameters) {
    rows.push_back({std::string(tensor_entry(count.tensor).name), count.letters,
                    fmt::format("({})", join(count.sizes, ",")), count_text(count.numbers)});
  }
  rows.push_back({"all", "", "", count_text(total_parameters(info.parameters))});
  return heading("Parameters") + text_table(rows);
}

std::string products(const ScenarioInfo& info) {
  std::vector<TextRow> rows;
  for (const ProductCount& product : info.counts.products) {
    rows.push_back({std::string(step_entries()[static_cast<std::size_t>(product.step)].name),
                    std::string(tensor_entry(product.result).name), product.einsum, product.letters,
                    count_text(product.multiply_adds)});
  }
  rows.push_back({"all", "", "", "", count_text(info.counts.multiply_adds)});
  return heading("Multiply-adds, step by step") + text_table(rows) +
         fmt::format("  and {} exponentials in the softmax\n", count_text(info.counts.exponentials));
}

std::string memory(const ScenarioInfo& info) {
  return heading(fmt::format("Memory, in {}", dtype_name(info.dtype))) +
         text_table({{"inputs and parameters", bytes_text(info.input_bytes)},
                     {"the trace: every intermediate", bytes_text(info.trace_bytes)}}) +
         (info.trace_bytes > info.free_bytes
              ? fmt::format("  The trace does not fit: {} available.\n", bytes_text(info.free_bytes))
              : "");
}

std::string tensors(const ScenarioInfo& info) {
  if (!info.trace) return "";
  std::vector<TextRow> rows;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = info.trace->tensors.*(entry.member);
    if (!tensor) continue;
    rows.push_back({std::string(entry.name), dtype_name(tensor->dtype()), tensor->shape().letters(),
                    tensor->shape().sizes_text(), bytes_text(static_cast<Index>(tensor->bytes()))});
  }
  return heading("Tensors") + text_table(rows);
}

std::string layouts(const LayoutComparison& comparison) {
  std::string text = "\n  One packed matrix, three, or a small one per head?\n";
  if (comparison.not_asked.empty()) {
    std::vector<TextRow> rows{
        {"layout", "matrices", "products", "parameters", "multiply-adds", "max |Δ| output", "einsum"}};
    for (const LayoutAnswer& answer : comparison.layouts) {
      if (!answer.possible()) continue;
      rows.push_back({layout_words(answer.layout), matrices_text(answer), count_text(answer.products),
                      count_text(answer.parameters()), count_text(answer.multiply_adds),
                      fmt::format("{:.2g}", answer.output_difference), answer.einsum});
    }
    text += text_table(rows);
  }
  return text + sentences(comparison.sentences);
}

std::string head_width(const HeadWidthComparison& c) {
  std::string text = fmt::format("\n  {} heads of {}, or one of {}?\n", c.many.heads, c.many.head_dim,
                                 c.many.heads * c.many.head_dim);
  if (c.possible()) {
    const auto side = [](const HeadsCase& heads) {
      return TextRow{fmt::format("{} × {}", heads.heads, heads.head_dim),
                     count_text(heads.parameters),
                     count_text(heads.counts.multiply_adds),
                     count_text(heads.counts.exponentials),
                     fmt::format("{:.4g}", heads.scale),
                     heads.scores_einsum};
    };
    text +=
        text_table({{"heads", "parameters", "multiply-adds", "exponentials", "scale", "einsum of the scores"},
                    side(c.many),
                    side(c.wide)});
    std::vector<TextRow> rows{{"", "max |Δ|", "largest"}};
    rows.push_back(
        {"output", fmt::format("{:.3g}", c.output.difference), fmt::format("{:.3g}", c.output.magnitude)});
    if (!c.map_differences.empty()) {
      rows.push_back(
          {"attn_weights", fmt::format("{:.3g}", *std::ranges::max_element(c.map_differences)), "1"});
    }
    for (const TensorDistance& gradient : c.gradients) {
      rows.push_back({fmt::format("grad.{}", tensor_entry(gradient.tensor).name),
                      fmt::format("{:.3g}", gradient.difference), fmt::format("{:.3g}", gradient.magnitude)});
    }
    text += text_table(rows);
  }
  return text + sentences(c.sentences);
}

std::string lookup(const LookupComparison& c) {
  return fmt::format("\n  A soft look-up, or a hard one? (head {}, query {})\n", c.head, c.query) +
         sentences(c.sentences);
}

std::string output_shares(const std::vector<double>& shares) {
  std::string text = "\n  Which heads make up the output?\n";
  TextRow row;
  for (std::size_t h = 0; h + 1 < shares.size(); ++h)
    row.push_back(fmt::format("head {}: {:.1f} %", h, 100.0 * shares[h]));
  row.push_back(fmt::format("bias: {:.1f} %", 100.0 * shares.back()));
  return text + fmt::format(
                    "  output = Σ_h head_output_h · W_O,hᵀ + b. The sum of absolute values of each head's "
                    "part over all cells, as a share of the total over heads and bias: {}.\n",
                    join(row, ", "));
}

}  // namespace

std::string scenario_info_text(const ScenarioInfo& info) {
  std::string text =
      fmt::format("{}: scenario, {}, {}\n", one_line(info.name), choice_name(info.op), dtype_name(info.dtype));
  text += sizes(info) + parameters(info) + products(info) + memory(info) + tensors(info);
  text += heading("Are they the same?");
  if (!info.not_computed.empty()) text += "  Not computed: " + info.not_computed + ".\n";
  if (info.layouts) text += layouts(*info.layouts);
  if (info.head_width) text += head_width(*info.head_width);
  if (info.lookup) text += lookup(*info.lookup);
  if (!info.output_shares.empty()) text += output_shares(info.output_shares);
  return text;
}

}  // namespace headwise
