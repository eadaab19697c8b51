#include "core/lessons/operation_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/score_path.h"
#include "core/tensor/error.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;

namespace {

// The operator once more, in plain loops over the trace's tensors that count what they do. Each result is
// held against the trace, so that the loop is known to be the operator and nothing else.
class CountingLoops {
 public:
  CountingLoops(const AttentionInputs& inputs, const Trace& trace)
      : t_(trace.tensors), o_(trace.options), s_(attention_sizes(inputs)) {}

  Index multiply_adds(TensorId result) {
    count_ = 0;
    switch (result) {
      case TensorId::q_a:
        linear(*t_.query, *t_.q_a_weight, t_.q_a_bias, *t_.q_a);
        break;
      case TensorId::kv_a:
        linear(*t_.key, *t_.kv_a_weight, t_.kv_a_bias, *t_.kv_a);
        break;
      case TensorId::kv_b:
        linear(latents(), *t_.kv_b_weight, nullptr, *t_.kv_b);
        break;
      case TensorId::q_absorbed:
        absorb();
        break;
      case TensorId::latent_output:
        sum_latents();
        break;
      case TensorId::q:
        if (is_latent(o_))
          t_.q_b_weight ? linear(*t_.compressed_q, *t_.q_b_weight, nullptr, *t_.q)
                        : linear(*t_.query, *t_.q_proj_weight, nullptr, *t_.q);
        else
          project(*t_.query, t_.in_proj_weight, t_.q_proj_weight, 0, *t_.q);
        break;
      case TensorId::k:
        project(*t_.key, t_.in_proj_weight, t_.k_proj_weight, s_.heads * s_.head_dim, *t_.k);
        break;
      case TensorId::v:
        project(*t_.value, t_.in_proj_weight, t_.v_proj_weight, (s_.heads + s_.kv_heads) * s_.head_dim, *t_.v);
        break;
      case TensorId::scores:
        scores();
        break;
      case TensorId::head_output:
        s_.absorbed ? expand() : weighted_sums();
        break;
      case TensorId::output_gate:
        gate();
        break;
      case TensorId::indexer_q:
        projected(is_latent(o_) ? *t_.compressed_q : *t_.query, *t_.indexer_wq_b);
        break;
      case TensorId::indexer_k:
        projected(*t_.key, *t_.indexer_wk);
        break;
      case TensorId::indexer_weights:
        projected(*t_.query, *t_.indexer_weights_proj);
        break;
      case TensorId::indexer_scores:
        indexer_scores();
        break;
      default:
        output();
    }
    return count_;
  }

 private:
  void add(double& sum, double a, double b) {
    sum += a * b;
    ++count_;
  }
  static void agrees(double sum, double cell) {
    if (std::isnan(sum) && std::isnan(cell)) return;
    CHECK(sum == doctest::Approx(cell).epsilon(1e-9));
  }

  void linear(const Tensor& x, const Tensor& weight, const TensorPtr& bias, const Tensor& y) {
    for (Index n = 0; n < x.shape().size(0); ++n)
      for (Index row = 0; row < x.shape().size(1); ++row)
        for (Index f = 0; f < y.shape().size(2); ++f) {
          double sum = bias ? bias->at({f}) : 0.0;
          for (Index e = 0; e < x.shape().size(2); ++e) add(sum, x.at({n, row, e}), weight.at({f, e}));
          agrees(sum, y.at({n, row, f}));
        }
  }

  // Of latent attention, a head's rows of kv_b_proj.weight from `first` on.
  double up(Index h, Index first, Index row, Index c) const {
    return t_.kv_b_weight->at({h * (s_.nope + s_.v_head_dim) + first + row, c});
  }

  void absorb() {
    const Tensor& q = t_.q_rotary ? *t_.q_rotary : *t_.q_heads;
    each_row([&](Index n, Index h, Index, Index l) {
      for (Index c = 0; c < s_.latent; ++c) {
        double sum = 0.0;
        for (Index d = 0; d < s_.nope; ++d) add(sum, q.at({n, h, l, d}), up(h, 0, d, c));
        agrees(sum, t_.q_absorbed->at({n, h, l, c}));
      }
    });
  }

  const Tensor& latents() const {
    return t_.present_compressed_kv ? *t_.present_compressed_kv : *t_.compressed_kv;
  }

  void sum_latents() {
    each_row([&](Index n, Index h, Index, Index l) {
      for (Index c = 0; c < s_.latent; ++c) {
        double sum = 0.0;
        for (Index key = 0; key < s_.all_keys; ++key)
          add(sum, t_.dropped_weights->at({n, h, l, key}), latents().at({n, key, c}));
        agrees(sum, t_.latent_output->at({n, h, l, c}));
      }
    });
  }

  void expand() {
    each_row([&](Index n, Index h, Index, Index l) {
      for (Index w = 0; w < s_.v_head_dim; ++w) {
        double sum = 0.0;
        for (Index c = 0; c < s_.latent; ++c)
          add(sum, t_.latent_output->at({n, h, l, c}), up(h, s_.nope, w, c));
        agrees(sum, t_.head_output->at({n, h, l, w}));
      }
    });
  }

  // The first rows of `y`: those behind them were appended, not projected.
  void project(const Tensor& x, const TensorPtr& packed, const TensorPtr& own, Index first_row,
               const Tensor& y) {
    const Tensor& weight = own ? *own : *packed;
    for (Index n = 0; n < x.shape().size(0); ++n) {
      for (Index row = 0; row < x.shape().size(1); ++row) {
        for (Index f = 0; f < y.shape().size(2); ++f) {
          double sum = t_.in_proj_bias ? t_.in_proj_bias->at({first_row + f}) : 0.0;
          for (Index e = 0; e < x.shape().size(2); ++e)
            add(sum, x.at({n, row, e}), weight.at({(own ? 0 : first_row) + f, e}));
          agrees(sum, y.at({n, row, f}));
        }
      }
    }
  }

  template <class Cell>
  void each_row(Cell&& cell) {
    for (Index n = 0; n < s_.batch; ++n) {
      for (Index h = 0; h < s_.heads; ++h)
        for (Index l = 0; l < s_.queries; ++l) cell(n, h, kv_head_of(h, s_.heads, s_.kv_heads), l);
    }
  }

  void scores() {
    each_row([&](Index n, Index h, Index g, Index l) {
      for (Index key = 0; key < s_.all_keys; ++key) {
        double sum = 0.0;
        for (Index d = 0; d < s_.score_width(); ++d)
          add(sum, queries_of_scores(t_, o_)->at({n, h, l, d}), keys_of_scores(t_, o_)->at({n, g, key, d}));
        agrees(sum, t_.scores->at({n, h, l, key}));
      }
    });
  }

  void weighted_sums() {
    each_row([&](Index n, Index h, Index g, Index l) {
      for (Index w = 0; w < s_.v_head_dim; ++w) {
        double sum = 0.0;
        for (Index key = 0; key < s_.all_keys; ++key)
          add(sum, t_.dropped_weights->at({n, h, l, key}), values_of_sum(t_)->at({n, g, key, w}));
        agrees(sum, t_.head_output->at({n, h, l, w}));
      }
    });
  }

  void gate() {
    for (Index n = 0; n < s_.batch; ++n)
      for (Index l = 0; l < s_.queries; ++l)
        for (Index f = 0; f < t_.output_gate->shape().size(2); ++f) {
          double sum = t_.output_gate_bias ? t_.output_gate_bias->at({f}) : 0.0;
          for (Index e = 0; e < s_.embed_dim; ++e)
            add(sum, t_.query->at({n, l, e}), t_.output_gate_weight->at({f, e}));
          agrees(sum, t_.output_gate->at({n, l, f}));
        }
  }

  // x·Wᵀ alone: what is behind it, a norm and a rotation, is no product.
  void projected(const Tensor& x, const Tensor& weight) {
    for (Index n = 0; n < x.shape().size(0); ++n)
      for (Index row = 0; row < x.shape().size(1); ++row)
        for (Index f = 0; f < weight.shape().size(0); ++f) {
          double sum = 0.0;
          for (Index e = 0; e < x.shape().size(2); ++e) add(sum, x.at({n, row, e}), weight.at({f, e}));
        }
  }

  void indexer_scores() {
    const Index heads = o_.indexer->heads, width = o_.indexer->width;
    for (Index n = 0; n < s_.batch; ++n)
      for (Index l = 0; l < s_.queries; ++l)
        for (Index key = 0; key < s_.keys; ++key) {
          double all = 0.0;
          for (Index m = 0; m < heads; ++m) {
            double sum = 0.0;
            for (Index d = 0; d < width; ++d)
              add(sum, t_.indexer_q->at({n, m, l, d}), t_.indexer_k->at({n, 0, key, d}));
            all +=
                t_.indexer_weights->at({n, l, m}) * std::max(sum, 0.0) / std::sqrt(static_cast<double>(width));
          }
          agrees(all, t_.indexer_scores->at({n, l, key}));
        }
  }

  void output() {
    for (Index n = 0; n < s_.batch; ++n) {
      for (Index l = 0; l < s_.queries; ++l) {
        for (Index e = 0; e < s_.embed_dim; ++e) {
          double sum = t_.out_proj_bias ? t_.out_proj_bias->at({e}) : 0.0;
          for (Index f = 0; f < s_.heads * s_.v_head_dim; ++f)
            add(sum, (t_.gated_concat ? t_.gated_concat : t_.concat)->at({n, l, f}),
                t_.out_proj_weight->at({e, f}));
          agrees(sum, t_.output->at({n, l, e}));
        }
      }
    }
  }

  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes s_;
  Index count_ = 0;
};

void check_counts(const AttentionInputs& inputs) {
  const TracePtr trace = reference_forward(inputs);
  const OperationCounts counts = operation_counts(inputs);
  CountingLoops loops(inputs, *trace);
  Index total = 0;
  for (const ProductCount& product : counts.products) {
    CAPTURE(product.letters);
    CHECK(product.multiply_adds == loops.multiply_adds(product.result));
    CHECK(product.step == step_of(product.result));
    total += product.multiply_adds;
  }
  CHECK(counts.multiply_adds == total);
  CHECK(counts.exponentials == trace->tensors.attn_weights->size());
  const auto counted = [&](TensorId id) {
    return std::ranges::find(counts.products, id, &ProductCount::result) != counts.products.end();
  };
  const bool mha = inputs.options.op == Op::multi_head_attention, module = projects(inputs.options.op);
  CHECK(counted(TensorId::q) == module);
  CHECK(counted(TensorId::k) == (mha && !inputs.tensors.static_k));
  CHECK(counted(TensorId::v) == (mha && !inputs.tensors.static_v));
  CHECK(counted(TensorId::output) == module);
  CHECK(counted(TensorId::output_gate) == (inputs.tensors.output_gate_weight != nullptr));
}

}  // namespace

TEST_CASE("multiply-adds by formula are those that a counting loop makes, with every option") {
  for (const test::NamedInputs& named : test::single_option_inputs()) {
    CAPTURE(named.name);
    check_counts(named.inputs);
  }
}

TEST_CASE("multiply-adds by formula are those that a counting loop makes, with options drawn together") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const test::NamedInputs named = test::random_combination(seed);
    CAPTURE(named.name);
    check_counts(named.inputs);
  }
}

TEST_CASE(
    "an operator without queries costs its key and value projections, one without keys its query's and "
    "output's") {
  check_counts(test::random_inputs(test::small_options(), {2, 0, 6}));
  check_counts(test::random_inputs(test::small_options(), {2, 4, 0}));
  check_counts(test::random_inputs(test::small_options(), {0, 4, 6}));
  CHECK(operation_counts(test::random_inputs(test::small_options(), {0, 4, 6})).multiply_adds == 0);
}

TEST_CASE("the parameters are those of PyTorch's module, 4·E·E + 4·E of them") {
  const std::vector<ParameterCount> counts = parameter_counts(test::random_inputs(test::small_options()));
  REQUIRE(counts.size() == 4);
  CHECK(counts[0].tensor == TensorId::in_proj_weight);
  CHECK(counts[0].sizes == std::vector<Index>{36, 12});
  CHECK(total_parameters(counts) == 4 * 12 * 12 + 4 * 12);
}

TEST_CASE("static keys and head gains are no parameters, bias_k and bias_v are") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.tensors.static_k = test::random_tensor({{"N", 2}, {"G", 4}, {"S", 6}, {"D", 3}}, "static_k");
  inputs.tensors.head_gain = test::random_tensor({{"H", 4}}, "gain");
  CHECK(total_parameters(parameter_counts(inputs)) == 4 * 12 * 12 + 4 * 12);
  inputs.tensors.bias_k = test::random_tensor({{"G·D", 12}}, "bias_k");
  CHECK(total_parameters(parameter_counts(inputs)) == 4 * 12 * 12 + 5 * 12);
}

TEST_CASE("counts that are beyond 63 bits are refused, not wrapped") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.head_dim = Index{1} << 61;
  CHECK_THROWS_AS(operation_counts(inputs), Error);
}

TEST_CASE("large numbers are written in groups of three") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(1048576) == "1,048,576");
  CHECK(count_text(-1234567) == "-1,234,567");
}
