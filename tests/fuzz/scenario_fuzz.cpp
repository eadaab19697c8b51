// Any bytes as a scenario file.
#include <algorithm>
#include <string_view>

#include "core/attention/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/fuzz/fuzz_target.h"

using namespace headwise;
using namespace headwise::fuzz;

namespace {

constexpr std::string_view where = "fuzz.json";

// Small enough to be computed for every input, and naming no file.
bool is_small(const Scenario& s) {
  const AttentionSpec& a = s.attention;
  const auto small = [](std::int64_t size) { return size <= 8; };
  for (const auto& size : {a.num_kv_heads, a.kdim, a.vdim, a.head_dim, a.v_head_dim, s.inputs.key_length}) {
    if (!small(size.value_or(0))) return false;
  }
  return a.embed_dim <= 32 && small(a.num_heads) && small(s.inputs.batch) && s.inputs.query_length <= 16 &&
         s.inputs.text.size() + s.inputs.key_text.value_or("").size() <= 64 && !s.inputs.file &&
         !s.parameters.file && !s.mask.file;
}

// A scenario that was accepted is computed, forward and backward, or refused as a whole.
void compute(const Scenario& scenario) {
  try {
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f64);
    reference_backward(*reference_forward(inputs.attention), inputs.grad_output);
  } catch (const Error& error) {
    const bool expected = error.status() == ExitStatus::usage || error.status() == ExitStatus::input ||
                          error.status() == ExitStatus::memory;
    require(expected, std::string("the wrong exit status: ") + error.what());
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "more than one line");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  Scenario scenario;
  try {
    const MemoryLimit limit((std::size_t{1} << 20) + 512 * size);
    scenario = scenario_from_json(json, std::string(where));
  } catch (const Error& error) {
    require_refusal(error, std::string(where), ExitStatus::usage);
    ++outcomes().refused;
    return 0;
  }
  ++outcomes().accepted;
  for (const bool complete : {false, true}) {
    const std::string written = scenario_to_json(scenario, complete);
    require(scenario_from_json(written, "written") == scenario, "another scenario came back from " + written);
    require(scenario_to_json(scenario_from_json(written, "written"), complete) == written,
            "the same scenario is written in two ways: " + written);
  }
  if (is_small(scenario)) compute(scenario);
  return 0;
}
