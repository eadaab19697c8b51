#include <fmt/format.h>

#include "app/session/tensor_export.h"
#include "core/tensor/error.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

TensorExport at(TensorId id, Index batch = 0, Index head = 0) {
  TensorExport what;
  what.tensor = {id};
  what.batch = batch;
  what.head = head;
  return what;
}

std::string table(const TracedScenario& t, const TensorExport& what) {
  return map_as_table(*t.trace, t.inputs.labels, what);
}
std::string array(const TracedScenario& t, const TensorExport& what) {
  return map_as_numpy_array(*t.trace, t.inputs.labels, what);
}

}  // namespace

TEST_CASE("a copied table holds the trace's numbers of this head under its tokens") {
  const TracedScenario t =
      traced({"inputs.source=text", "inputs.text=\"a quick fox\"", "inputs.batch=2", "mask.is_causal=true"});
  std::string expected = "L\\S\ta\tquick\tfox\n";
  const std::string tokens[] = {"a", "quick", "fox"};
  for (Index row = 0; row < 3; ++row) {
    expected += tokens[row];
    for (Index col = 0; col < 3; ++col)
      expected += fmt::format("\t{}", static_cast<float>(t.trace->tensors.attn_weights->at({1, 2, row, col})));
    expected += "\n";
  }
  CHECK(table(t, at(TensorId::attn_weights, 1, 2)) == expected);
  CHECK_CONTAINS(table(t, at(TensorId::masked_scores)), "\t-inf\n");
}

TEST_CASE("a copied array is NumPy source whose numbers read back to the same bits") {
  const TracedScenario t = traced();
  const Tensor& k = *t.trace->tensors.k_heads;
  std::string expected = "np.array([";
  for (Index row = 0; row < 4; ++row) {
    expected += row == 0 ? "[" : ",\n          [";
    for (Index col = 0; col < 4; ++col) {
      expected += fmt::format("{}{}", col == 0 ? "" : ", ", static_cast<float>(k.at({0, 1, row, col})));
      CHECK(std::stof(fmt::format("{}", static_cast<float>(k.at({0, 1, row, col})))) ==
            static_cast<float>(k.at({0, 1, row, col})));
    }
    expected += "]";
  }
  CHECK(array(t, at(TensorId::k_heads, 0, 1)) == expected + "], dtype=np.float32)");
}

TEST_CASE("what is not finite, has one axis, or has no cell at all is NumPy source too") {
  const TracedScenario t = traced({"mask.is_causal=true"});
  CHECK_CONTAINS(array(t, at(TensorId::masked_scores)), ", -np.inf, -np.inf]");
  const std::string bias = array(t, at(TensorId::in_proj_bias));
  CHECK(bias.starts_with("np.array(["));
  CHECK_FALSE(bias.starts_with("np.array([["));
  CHECK(bias.ends_with("], dtype=np.float32)"));
  CHECK(std::count(bias.begin(), bias.end(), ',') == 36);  // between 36 numbers, and before the type
  const TracedScenario empty =
      traced({"inputs.self_attention=false", "inputs.query_length=0", "inputs.key_length=5"});
  CHECK(array(empty, at(TensorId::scores)) == "np.zeros((0, 5), dtype=np.float32)");
  CHECK(table(empty, at(TensorId::scores)) == "L\\S\tk 0\tk 1\tk 2\tk 3\tk 4\n");
}

TEST_CASE("a map that is not there, or is too large for a clipboard, is refused") {
  const TracedScenario t = traced();
  CHECK_THROWS_AS(table(t, at(TensorId::attn_weights, 0, 3)), Error);
  CHECK_THROWS_AS(array(t, at(TensorId::residual_output)), Error);
  const TracedScenario large = traced({"attention.embed_dim=3", "inputs.self_attention=false",
                                       "inputs.query_length=1025", "inputs.key_length=1024"});
  for (const auto copy : {&table, &array}) {
    try {
      copy(large, at(TensorId::scores));
      FAIL("was not refused");
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::memory);
      CHECK_CONTAINS(std::string(error.what()), "1025 × 1024");
    }
  }
}
