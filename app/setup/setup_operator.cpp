#include <array>

#include "app/session/operator_switch.h"
#include "app/setup/setup_rows.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> operators{"MHA", "SDPA"};

}  // namespace

void draw_setup_operator(SetupRows& rows) {
  std::optional<OperatorSwitch>& left = rows.state().operator_switch;
  const bool sdpa = rows.scenario().op == Op::scaled_dot_product_attention;
  std::string what =
      "MHA: multi_head_attention, with its input and output projections (torch.nn.MultiheadAttention). SDPA: "
      "scaled_dot_product_attention alone, on the query, key and value of each head "
      "(F.scaled_dot_product_attention).";
  if (sdpa && left) {
    what += " Switching back to MHA restores its settings.";
  } else if (const std::vector<std::string> lost = left_by_switch(rows.scenario()); !sdpa && !lost.empty()) {
    what += " SDPA drops " + join(lost, ", ") + "; switching back to MHA restores what it drops.";
  }
  int chosen = sdpa ? 1 : 0;
  if (rows.choice({"setup/op", "operator", "", what}, operators, chosen)) {
    const Scenario before = rows.scenario();
    if (chosen == 1) {
      rows.scenario() = as_scaled_dot_product_attention(before);
      left = OperatorSwitch{before, rows.scenario()};
    } else {
      rows.scenario() = as_multi_head_attention(before, left);
    }
    rows.edited("setup/op", chosen == 1 ? "scaled_dot_product_attention" : "multi_head_attention", false);
  }
  rows.draw_errors("setup/op", "");
}

}  // namespace headwise
