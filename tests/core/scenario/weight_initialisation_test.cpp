#include "core/scenario/weight_initialisation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/projection_layouts.h"
#include "core/attention/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"

using namespace headwise;

namespace {

struct Moments {
  double mean = 0.0, deviation = 0.0, least = 0.0, most = 0.0;
};

Moments moments(const Tensor& tensor) {
  Moments m{0.0, 0.0, tensor.flat(0), tensor.flat(0)};
  for (Index i = 0; i < tensor.size(); ++i) {
    const double value = tensor.flat(i);
    m.mean += value;
    m.deviation += value * value;
    m.least = std::min(m.least, value);
    m.most = std::max(m.most, value);
  }
  m.mean /= static_cast<double>(tensor.size());
  m.deviation = std::sqrt(m.deviation / static_cast<double>(tensor.size()) - m.mean * m.mean);
  return m;
}

void check_uniform(const Tensor& tensor, double bound) {
  const Moments m = moments(tensor);
  CHECK(m.least >= -bound);
  CHECK(m.most <= bound);
  CHECK(m.most > 0.99 * bound);
  CHECK(m.least < -0.99 * bound);
  CHECK(m.deviation == doctest::Approx(bound / std::sqrt(3.0)).epsilon(0.03));
}

void check_normal(const Tensor& tensor, double deviation) {
  const Moments m = moments(tensor);
  CHECK(std::abs(m.mean) < 0.05 * deviation);
  CHECK(m.deviation == doctest::Approx(deviation).epsilon(0.05));
  CHECK(m.most > 2.5 * deviation);
}

TraceTensors tensors(const std::string& parameters,
                     const std::string& attention = "\"embed_dim\":64,\"num_heads\":4",
                     const std::string& inputs = "") {
  return make_scenario_inputs(scenario_from_json("{\"attention\":{" + attention + "},\"parameters\":{" +
                                                     parameters + "},\"inputs\":{" + inputs + "}}",
                                                 "test.json"),
                              DType::f64)
      .attention.tensors;
}

}  // namespace

TEST_CASE(
    "xavier_uniform is what PyTorch's module starts with: fans of the packed matrix, kaiming for the "
    "output") {
  const TraceTensors t = tensors("");
  check_uniform(*t.in_proj_weight, std::sqrt(6.0 / (64 + 3 * 64)));
  check_uniform(*t.out_proj_weight, 1.0 / std::sqrt(64.0));
  for (const double value : t.in_proj_bias->values<double>()) REQUIRE(value == 0.0);
  for (const double value : t.out_proj_bias->values<double>()) REQUIRE(value == 0.0);
}

TEST_CASE("where key and value have widths of their own, each matrix has its own fans") {
  const TraceTensors t =
      tensors("", "\"embed_dim\":64,\"num_heads\":4,\"kdim\":32,\"vdim\":128", "\"self_attention\":false");
  check_uniform(*t.q_proj_weight, std::sqrt(6.0 / (64 + 64)));
  check_uniform(*t.k_proj_weight, std::sqrt(6.0 / (64 + 32)));
  check_uniform(*t.v_proj_weight, std::sqrt(6.0 / (64 + 128)));
}

TEST_CASE("the other initialisations have the deviations of their formulas") {
  check_normal(*tensors("\"init\":\"xavier_normal\"").in_proj_weight, std::sqrt(2.0 / 256));
  check_normal(*tensors("\"init\":\"xavier_normal\"").out_proj_weight, std::sqrt(2.0 / 128));
  const TraceTensors dk = tensors("\"init\":\"normal_dk\",\"layout\":\"separate\"",
                                  "\"embed_dim\":64,\"num_heads\":4,\"v_head_dim\":32");
  check_normal(*dk.q_proj_weight, std::sqrt(2.0 / (64 + 16)));
  check_normal(*dk.v_proj_weight, std::sqrt(2.0 / (64 + 32)));
  check_normal(*dk.out_proj_weight, std::sqrt(2.0 / (64 + 128)));
  const Moments uniform = moments(*tensors("\"init\":\"uniform01\"").in_proj_weight);
  CHECK(uniform.least >= 0.0);
  CHECK(uniform.most < 1.0);
  CHECK(uniform.mean == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("identity: q, k and v are the inputs, also where a matrix is not square") {
  const TraceTensors t = tensors("\"init\":\"identity\"");
  for (Index row = 0; row < 192; ++row)
    for (Index column = 0; column < 64; ++column)
      REQUIRE(t.in_proj_weight->at({row, column}) == (row % 64 == column));
  CHECK(tensors("\"init\":\"identity\"", "\"embed_dim\":8,\"num_heads\":2,\"head_dim\":6")
            .out_proj_weight->at({7, 7}) == 1.0);
}

TEST_CASE("bias_k and bias_v are normal with deviation 1/√E") {
  const TraceTensors t = tensors("", "\"embed_dim\":1024,\"num_heads\":4,\"add_bias_kv\":true");
  check_normal(*t.bias_k, std::sqrt(1.0 / 1024));
  check_normal(*t.bias_v, std::sqrt(1.0 / 1024));
  CHECK(t.bias_k->at({0}) != t.bias_v->at({0}));
}

TEST_CASE("the three layouts hold the same numbers, also with grouped heads") {
  for (const char* source : {"random", "hand_made"}) {
    for (const char* groups : {"4", "2", "1"}) {
      CAPTURE(source);
      CAPTURE(groups);
      const std::string attention = std::string("\"embed_dim\":64,\"num_heads\":4,\"num_kv_heads\":") + groups;
      const auto with = [&](const char* layout) {
        return tensors(std::string("\"source\":\"") + source + "\",\"layout\":\"" + layout + "\"", attention);
      };
      const TraceTensors packed = with("packed");
      for (const char* layout : {"separate", "per_head"}) {
        const TraceTensors t = with(layout);
        REQUIRE(t.in_proj_weight == nullptr);
        CHECK(identical(packed_projections(*t.q_proj_weight, *t.k_proj_weight, *t.v_proj_weight),
                        *packed.in_proj_weight));
        CHECK(identical(*t.out_proj_weight, *packed.out_proj_weight));
      }
    }
  }
}
