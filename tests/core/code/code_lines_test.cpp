#include "core/code/code_lines.h"

#include <algorithm>

#include "core/code/code_style.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

TracePtr traced(const std::string& json) {
  const Scenario scenario = scenario_from_json(json, "test");
  return reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
}

std::string code(const TracePtr& trace, Step step, TensorId result, CodeStyle style = CodeStyle::pytorch) {
  std::string text;
  for (const CodeLine& line : code_lines(style, step, result, *trace)) {
    text += line.code + (line.comment.empty() ? "" : "  # " + line.comment) + "\n";
  }
  return text;
}

const char* const plain =
    R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3}, "inputs": {"query_length": 4}})";
const char* const grouped = R"({"headwise": 1,
    "attention": {"embed_dim": 12, "num_heads": 4, "num_kv_heads": 2, "scale": 0.5, "softcap": 30,
                  "temperature": 2, "dropout": 0.25, "bias": false, "add_zero_attn": true, "residual": true},
    "inputs": {"query_length": 4}, "mask": {"is_causal": true, "value": -10000},
    "heads": {"gain": [1, 0, 1, 1]}})";

}  // namespace

TEST_CASE("the PyTorch lines of the plain module carry the sizes of the trace") {
  const TracePtr trace = traced(plain);
  CHECK(code(trace, Step::inputs, TensorId::query) == "key = value = query  # (1,4,12), batch first\n");
  CHECK(code(trace, Step::project, TensorId::k) ==
        "k = F.linear(key, in_proj_weight[12:24], in_proj_bias[12:24])  # (1,4,12) @ (12,12)ᵀ → (1,4,12)\n");
  CHECK(code(trace, Step::scores, TensorId::scores) ==
        "scores = q_heads @ k_heads.transpose(-2, -1)  # (1,3,4,4) @ (1,3,4,4) → (1,3,4,4); k_headsᵀ strides "
        "(48,4,1,12)\n");
  CHECK(code(trace, Step::scale, TensorId::scaled_scores) ==
        "scaled_scores = scores / math.sqrt(4)  # (1,3,4,4)\n");
  CHECK(code(trace, Step::mask, TensorId::masked_scores) == "masked_scores = scaled_scores  # no mask\n");
  CHECK(code(trace, Step::softmax, TensorId::attn_weights) ==
        "attn_weights = F.softmax(masked_scores, dim=-1)  # each row sums to 1\n");
  CHECK(
      code(trace, Step::concat, TensorId::concat) ==
      "concat = head_output.transpose(1, 2).reshape(1, 4, 12)  # (1,3,4,4) → (1,4,12), strides (48,4,16,1), "
      "copied to (48,12,1)\n");
  CHECK(code(trace, Step::output, TensorId::output) ==
        "output = F.linear(concat, out_proj_weight, out_proj_bias)  # (1,4,12) @ (12,12) → (1,4,12)\n");
}

TEST_CASE("the split says where the numbers lie: a head's row is D floats apart, the next token E") {
  CHECK(code(traced(plain), Step::split_heads, TensorId::q_heads) ==
        "q_heads = q.view(1, 4, 3, 4).transpose(1, 2)  # (1,4,12) → (1,3,4,4), strides (48,4,12,1)\n");
}

TEST_CASE("options change the lines that they change") {
  const TracePtr trace = traced(grouped);
  CHECK(code(trace, Step::project, TensorId::v) ==
        "v = F.linear(value, in_proj_weight[18:24])  # (1,4,12) @ (6,12)ᵀ → (1,4,6)\n"
        "v = F.pad(v, (0, 0, 0, 1))  # a row of zeros\n");
  CHECK_CONTAINS(code(trace, Step::scores, TensorId::scores), "k_heads.repeat_interleave(2, dim=1)");
  CHECK(code(trace, Step::scale, TensorId::scaled_scores) ==
        "scaled_scores = scores * 0.5 / 2  # (1,4,4,5)\n"
        "scaled_scores = 30 * torch.tanh(scaled_scores / 30)  # softcap\n");
  const std::string mask = code(trace, Step::mask, TensorId::masked_scores);
  CHECK_CONTAINS(mask, "blocked = blocked | (back < 0)  # causal\n");
  CHECK_CONTAINS(mask, "F.pad(mask_bias, (0, 1), value=0.0)");
  CHECK_CONTAINS(mask,
                 "masked_scores = (scaled_scores + mask_bias).masked_fill(mask_bias == -math.inf, -10000)");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::dropped_weights), "attn_weights * dropout_keep / 0.75");
  CHECK_CONTAINS(code(trace, Step::weighted_sum, TensorId::head_output), "dropped_weights @ v_heads");
  CHECK(code(trace, Step::concat, TensorId::concat)
            .starts_with("concat = (head_output * heads_gain[:, None, None])"));
  CHECK(code(trace, Step::output, TensorId::residual_output) ==
        "residual_output = query + output  # (1,4,12)\n");
}

TEST_CASE(
    "each style has its own way: einsum never repeats a key, NumPy has no framework, d2l folds the heads") {
  const TracePtr trace = traced(grouped);
  CHECK(
      code(trace, Step::scores, TensorId::scores, CodeStyle::einsum)
          .starts_with("scores = torch.einsum('ngrld,ngsd->ngrls', q_heads.unflatten(1, (2, 2)), k_heads)"));
  for (const StepEntry& entry : step_entries()) {
    for (const StepPicture& picture : step_pictures(entry.step, *trace)) {
      const std::string numpy = code(trace, entry.step, picture.result, CodeStyle::numpy);
      CHECK_LACKS(numpy, "torch");
      CHECK_LACKS(numpy, "F.");
    }
  }
  CHECK(code(trace, Step::scores, TensorId::scores, CodeStyle::d2l) ==
        "scores = torch.bmm(q_heads, k_heads.repeat_interleave(2, dim=0).transpose(1, 2))"
        "  # (4,4,3) @ (2,3,5) → (4,4,5)\n");
}

TEST_CASE("rotary position embedding is written out: the angles, the halves, and what is turned") {
  const TracePtr trace =
      traced(R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3, "rotary_base": 10000},
                                    "inputs": {"query_length": 4}})");
  CHECK(code(trace, Step::split_heads, TensorId::q_rotary) ==
        "theta = torch.arange(0, 4, dtype=torch.float64)[:, None] * 10000 ** (-torch.arange(0, 4, 2, "
        "dtype=torch.float64) / 4)  # (4,2), a position's angles\n"
        "cos, sin = torch.cos(theta).to(q_heads), torch.sin(theta).to(q_heads)\n"
        "a, b = q_heads[..., :2], q_heads[..., 2:4]  # column j is turned with column j + 2\n"
        "q_rotary = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)  # (1,3,4,4)\n");
  CHECK(code(trace, Step::scores, TensorId::scores) ==
        "scores = q_rotary @ k_rotary.transpose(-2, -1)  # (1,3,4,4) @ (1,3,4,4) → (1,3,4,4); k_rotaryᵀ "
        "strides "
        "(48,16,1,4)\n");
}

TEST_CASE("each operation has an expression in PyTorch and in NumPy, and another style has none of its own") {
  const auto has = [](const std::string& key) {
    return std::ranges::count(code_expressions(), key, &WordRow::key) == 1;
  };
  CHECK(code_expressions().size() > 90);
  for (const auto& [key, expression] : code_expressions()) {
    CAPTURE(key);
    CHECK_FALSE(expression.empty());
    const std::size_t end = key.find(' ');
    REQUIRE(end != key.npos);
    CHECK(find_code_style(key.substr(0, end)));
    const std::string operation(key.substr(end));
    CHECK(has("pytorch" + operation));
    CHECK(has("numpy" + operation));
  }
  const AttentionSizes sizes{.batch = 2, .queries = 3, .heads = 4, .kv_heads = 2, .v_head_dim = 5};
  CHECK(CodeDialect(CodeStyle::d2l, sizes)("scores", "q", "k") ==
        "torch.bmm(q, k.repeat_interleave(2, dim=0).transpose(1, 2))");
  CHECK(CodeDialect(CodeStyle::einsum, sizes)("clip", "q", 8.5) == "q.clamp(-8.5, 8.5)");
  CHECK_THROWS_AS(CodeDialect(CodeStyle::numpy, sizes)("no such operation"), Error);
}
