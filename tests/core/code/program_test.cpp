#include "core/code/program.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "core/compare/trace_compare.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/checks.h"
#include "tests/core/code/python_run.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/trace/option_combinations.h"

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
  // At the least the path from scores to output is there.
  CHECK(compared >= 6);
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
