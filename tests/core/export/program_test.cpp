#include "core/export/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "core/attention/reference_backend.h"
#include "core/compare/trace_compare.h"
#include "core/export/code_lines.h"
#include "core/export/code_style.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/export/python_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
using headwise::test::NamedInputs;

namespace {

struct Case {
  std::string name;
  TracePtr trace;
  CodeStyle style;
  test::PythonProgram program;
};

std::vector<NamedInputs> all_inputs() {
  std::vector<NamedInputs> all = test::single_option_inputs();
  for (std::uint64_t seed = 0; seed < 25; ++seed) all.push_back(test::random_combination(seed));
  return all;
}

// The programs of `style` for every option, written to the folder.
std::vector<Case> written_programs(CodeStyle style, const std::string& folder) {
  std::vector<Case> cases;
  for (const NamedInputs& named : all_inputs()) {
    const TracePtr trace = reference_forward(named.inputs);
    const std::string path = fmt::format("{}/{}_{}", folder, code_style_key(style), cases.size());
    write_program(path + ".py", *trace, style);
    cases.push_back({named.name, trace, style, {path + ".py", path + ".out.npz"}});
  }
  return cases;
}

void check_saved(const Case& one) {
  INFO(one.name, " in ", code_style_name(one.style));
  std::map<std::string, TensorPtr> saved;
  for (const NamedTensor& array : read_array_file(one.program.output)) saved[array.name] = array.tensor;
  int compared = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const auto found = saved.find(std::string(entry.name));
    const TensorPtr ours = one.trace->tensor(entry.id);
    if (found == saved.end() || !ours) continue;
    REQUIRE(found->second->size() == ours->size());
    const TensorDifference difference = compare_tensors(
        {entry.id}, *ours, found->second->reshaped(ours->shape()).converted(ours->dtype()), 1e-12);
    CHECK_MESSAGE(difference.agrees(), difference_text(difference));
    ++compared;
  }
  // At the least the path from scores to output is there, or what flex_attention makes of it.
  CHECK(compared >= (one.style == CodeStyle::flex ? 2 : 6));
}

void check_style(CodeStyle style, const std::string& modules) {
  const std::string python = test::python_with(modules);
  if (python.empty()) {
    MESSAGE("skipped: no Python with ", modules);
    return;
  }
  const TemporaryFolder folder;
  const std::vector<Case> cases = written_programs(style, folder.file(""));
  std::vector<test::PythonProgram> programs;
  for (const Case& one : cases) programs.push_back(one.program);
  CHECK(test::run_python_programs(python, programs, folder.file("")) == "");
  for (const Case& one : cases) check_saved(one);
}

TracePtr traced(const std::string& json) {
  const Scenario scenario = scenario_from_json(json, "test");
  return reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
}

std::string code(const TracePtr& trace, Step step, TensorId result, CodeStyle style = CodeStyle::pytorch) {
  std::string text;
  for (const CodeLine& line : code_lines(style, step, result, *trace))
    text += line.code + (line.comment.empty() ? "" : "  # " + line.comment) + "\n";
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

TEST_CASE("the PyTorch program of every option computes the trace") {
  check_style(CodeStyle::pytorch, "torch");
}
TEST_CASE("the einsum program of every option computes the trace") {
  check_style(CodeStyle::einsum, "torch");
}
TEST_CASE("the NumPy program of every option computes the trace") {
  check_style(CodeStyle::numpy, "numpy");
}
TEST_CASE("the d2l program of every option computes the trace") {
  check_style(CodeStyle::d2l, "torch");
}

TEST_CASE("the flex_attention program of every option computes the trace") {
  check_style(CodeStyle::flex, "torch.nn.attention.flex_attention");
}

TEST_CASE("flex_attention is given the masks and the scale as functions, or says what it lacks") {
  const CodeStyle flex = CodeStyle::flex;
  const TracePtr trace = traced(R"({"headwise": 1, "op": "scaled_dot_product_attention",
      "attention": {"embed_dim": 12, "num_heads": 3, "softcap": 20, "sink": 0.5},
      "inputs": {"query_length": 4}, "mask": {"is_causal": true, "alibi": true}})");
  CHECK_CONTAINS(code(trace, Step::scale, TensorId::scaled_scores, flex),
                 "def scaled(score):\n    return 20 * torch.tanh(score / 20)");
  const std::string mask = code(trace, Step::mask, TensorId::masked_scores, flex);
  CHECK_CONTAINS(mask, "    blocked = (back < 0)  # causal\n    return ~blocked\n");
  CHECK_CONTAINS(mask, "    return scaled(score) + mask_bias\n");
  CHECK_CONTAINS(code(trace, Step::weighted_sum, TensorId::head_output, flex),
                 "torch.sigmoid(aux.lse - sinks");
  CHECK_FALSE(code_computes(flex, *trace, TensorId::attn_weights));
  const std::string program = program_text(*trace, flex);
  CHECK_CONTAINS(program, "import AuxRequest, create_block_mask, flex_attention");
  CHECK(program.find("attn_weights=") == std::string::npos);

  const TracePtr dropped = traced(grouped);
  CHECK(missing_in_flex(*dropped) == std::vector<std::string>{"dropout"});
  CHECK_CONTAINS(code(dropped, Step::scores, TensorId::scores, flex), "# flex_attention has no dropout");
  CHECK_CONTAINS(program_text(*dropped, flex), "attn_weights=attn_weights");
  CHECK(program_text(*dropped, flex).find("import flex_attention") == std::string::npos);
}

TEST_CASE("the NumPy program of an f32 scenario stays in f32, behind every mask too") {
  const std::string python = test::python_with("numpy");
  if (python.empty()) {
    MESSAGE("skipped: no Python with numpy");
    return;
  }
  const char* const options[]{
      R"("mask": {"is_causal": true})",
      R"("mask": {"is_causal": true, "value": -1})",
      R"("mask": {"alibi": true, "sliding_window": 2})",
      R"("mask": {"alibi": true, "is_causal": true})",
      R"("mask": {"valid_lens": [3], "fully_masked_rows": "zero"})",
      R"("attention": {"embed_dim": 12, "num_heads": 3, "add_zero_attn": true, "dropout": 0.5, "residual": true, "layer_norm": true}, "mask": {"is_causal": true})",
  };
  const TemporaryFolder folder;
  std::vector<test::PythonProgram> programs;
  for (const char* const option : options) {
    const Scenario scenario = scenario_from_json(fmt::format("{{\"headwise\": 1, {}}}", option), "test");
    const TracePtr trace = reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
    const std::string path = folder.file(fmt::format("f32_{}", programs.size()));
    write_program(path + ".py", *trace, CodeStyle::numpy);
    programs.push_back({path + ".py", path + ".npz"});
  }
  REQUIRE(test::run_python_programs(python, programs, folder.file("")) == "");
  for (const test::PythonProgram& program : programs) {
    for (const NamedTensor& array : read_array_file(program.output)) {
      CAPTURE(program.path);
      CAPTURE(array.name);
      CHECK(array.stored_dtype == "f32");
    }
  }
}

TEST_CASE("the PyTorch program holds itself against PyTorch's own function and finds no difference") {
  const std::string python = test::python_with("torch");
  if (python.empty()) {
    MESSAGE("skipped: no Python with torch");
    return;
  }
  const char* const options[]{
      R"("attention": {"embed_dim": 12, "num_heads": 3})",
      R"("attention": {"embed_dim": 12, "num_heads": 3, "kdim": 5, "vdim": 7}, "inputs": {"self_attention": false})",
      R"("attention": {"embed_dim": 12, "num_heads": 3, "add_bias_kv": true, "add_zero_attn": true}, "mask": {"alibi": true})",
      R"("attention": {"embed_dim": 12, "num_heads": 3, "bias": false}, "mask": {"is_causal": true, "sliding_window": 3})",
      R"("attention": {"embed_dim": 12, "num_heads": 3}, "inputs": {"batch": 2}, "mask": {"valid_lens": [3, 7]})",
  };
  const TemporaryFolder folder;
  std::vector<test::PythonProgram> programs;
  for (const char* const option : options) {
    const Scenario scenario = scenario_from_json(fmt::format("{{\"headwise\": 1, {}}}", option), "test");
    const TracePtr trace = reference_forward(make_scenario_inputs(scenario, DType::f64).attention);
    const std::string path = folder.file(fmt::format("own_{}", programs.size()));
    write_program(path + ".py", *trace, CodeStyle::pytorch);
    programs.push_back({path + ".py", path + ".npz"});
  }
  REQUIRE(test::run_python_programs(python, programs, folder.file("")) == "");
  for (const test::PythonProgram& program : programs) {
    const std::string printed = content_of(program.path + ".txt");
    const std::size_t at = printed.find("largest difference from F.multi_head_attention_forward:");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(printed.substr(printed.find(':', at) + 1)) < 1e-12);
  }
}

TEST_CASE("a program whose arrays are large loads them from a file beside it, else it carries them") {
  const TemporaryFolder folder;
  AttentionInputs inputs = test::random_combination(3).inputs;
  const TracePtr small = reference_forward(inputs);
  REQUIRE(program_array_bytes(*small) <= largest_carried_bytes);
  write_program(folder.file("small.py"), *small, CodeStyle::numpy);
  CHECK_FALSE(std::ifstream(folder.file("small.npz")).good());
  CHECK_LACKS(content_of(folder.file("small.py")), "np.load");

  const std::string loading = program_text(*small, CodeStyle::numpy, "theirs.npz");
  CHECK_CONTAINS(loading, "np.load(pathlib.Path(__file__).with_name(\"theirs.npz\"))");
  CHECK_LACKS(loading, "unpack(");
}

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

TEST_CASE("a sink is one more column of the softmax, which every style drops") {
  const TracePtr trace = traced(R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3, "sink": 0.5},
      "inputs": {"query_length": 4}})");
  CHECK(code(trace, Step::softmax, TensorId::attn_weights) ==
        "attn_weights = F.softmax(torch.cat([masked_scores, sinks[:, None, "
        "None].expand(*masked_scores.shape[:-1], "
        "1)], dim=-1), dim=-1)[..., :-1]  # one more score a row, whose weight is dropped\n");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::attn_weights, CodeStyle::d2l),
                 "sinks.repeat(1)[:, None, None].expand");
}

TEST_CASE("a past is put in front of keys and values, and positions begin behind it") {
  const TracePtr trace =
      traced(R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3, "rotary_base": 10},
      "inputs": {"query_length": 4, "past_length": 2}, "mask": {"is_causal": true}})");
  CHECK(code(trace, Step::past, TensorId::present_key) ==
        "present_key = torch.cat([past_key, k_rotary], dim=-2)  # (1,3,6,4)\n");
  CHECK(code(trace, Step::past, TensorId::present_value, CodeStyle::d2l) ==
        "present_value = torch.cat([past_value.flatten(0, 1), v_heads], dim=-2)  # (3,6,4)\n");
  CHECK_CONTAINS(code(trace, Step::split_heads, TensorId::k_rotary),
                 "torch.arange(2, 6, dtype=torch.float64)");
  CHECK_CONTAINS(code(trace, Step::mask, TensorId::masked_scores), "back = i + 2 - j");
  CHECK_CONTAINS(code(trace, Step::weighted_sum, TensorId::head_output), "attn_weights @ present_value");
}

TEST_CASE("a past of latents is put in front of them, before heads are made of all") {
  for (const char* layout : {"expanded", "absorbed"}) {
    const TracePtr trace = traced(fmt::format(
        R"({{"headwise": 1, "op": "multi_head_latent_attention", "attention": {{"embed_dim": 12, "num_heads": 3,
        "rotary_base": 10, "kv_lora_rank": 5, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "layout": "{}"}},
        "inputs": {{"query_length": 4, "past_length": 2}}, "mask": {{"is_causal": true}}}})",
        layout));
    CHECK(code(trace, Step::past, TensorId::present_compressed_kv) ==
          "present_compressed_kv = torch.cat([past_compressed_kv, compressed_kv], dim=-2)  # (1,6,5)\n");
    CHECK(code(trace, Step::past, TensorId::present_compressed_kv, CodeStyle::d2l) ==
          "present_compressed_kv = torch.cat([past_compressed_kv, compressed_kv], dim=-2)  # (1,6,5)\n");
    CHECK(code(trace, Step::past, TensorId::present_k_rot, CodeStyle::numpy) ==
          "present_k_rot = np.concatenate([past_k_rot, k_rot], axis=-2)  # (1,1,6,2)\n");
    CHECK_CONTAINS(code(trace, Step::project, TensorId::k_rot), "torch.arange(2, 6, dtype=torch.float64)");
    if (trace->tensors.kv_b)
      CHECK_CONTAINS(code(trace, Step::split_heads, TensorId::kv_b), "F.linear(present_compressed_kv, ");
    else
      CHECK_CONTAINS(code(trace, Step::split_heads, TensorId::k_absorbed), "present_k_rot");
  }
}

TEST_CASE("an indexer chooses keys in the code, before the mask that it ends in") {
  const TracePtr trace = traced(R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3},
      "inputs": {"query_length": 4}, "mask": {"indexer": {"heads": 2, "width": 5, "k": 2}}})");
  CHECK(code(trace, Step::choose, TensorId::indexer_scores) ==
        "indexer_scores = (indexer_weights.transpose(1, 2)[..., None] * F.relu(indexer_q @ "
        "indexer_k.transpose(-2, -1) / math.sqrt(5))).sum(dim=1)  # (1,4,4)\n");
  CHECK_CONTAINS(code(trace, Step::choose, TensorId::indexer_k), "+ 1e-06)  # LayerNorm\n");
  CHECK_CONTAINS(code(trace, Step::mask, TensorId::masked_scores, CodeStyle::numpy),
                 "kind=\"stable\")[..., :2]");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::full_weights),
                 "full_weights = F.softmax(full_scores, dim=-1)");
}

TEST_CASE("the sink's share and the log-sum-exp have lines of their own") {
  const TracePtr trace = traced(R"({"headwise": 1, "attention": {"embed_dim": 12, "num_heads": 3, "sink": 0.5},
      "inputs": {"query_length": 4}})");
  CHECK(code(trace, Step::softmax, TensorId::lse) ==
        "lse = torch.logsumexp(masked_scores, dim=-1)  # (1,3,4), without the sink\n");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::sink_weights),
                 "sink_weights = torch.sigmoid((sinks[:, None] - lse))");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::lse, CodeStyle::numpy), "np.logaddexp.reduce(");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::lse, CodeStyle::d2l), ".unflatten(0, (1, 3))");
  CHECK_CONTAINS(code(trace, Step::softmax, TensorId::lse, CodeStyle::flex), "aux.lse");
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
        "a, b = q_heads[..., :2], q_heads[..., 2:4]  # column j is rotated with column j + 2\n"
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
