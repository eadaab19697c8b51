// What is done differently to the heads' output: projection, residual, normalisation, the returned weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/attention/add_and_norm.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/linear.h"
#include "core/attention/output_gate.h"
#include "core/attention/reference_backend.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/compare/program_variants.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Id = TensorId;
using Maker = std::function<Tensor(const Trace&)>;

void add(ProgramVariants& variants, std::string text, Id stage, Maker make) {
  variants.push_back({std::move(text), {{stage, std::move(make)}}});
}

Tensor sum(const Tensor& a, const Tensor& b, double factor = 1.0) {
  Tensor result = a;
  const std::span<double> cells = result.values<double>();
  const std::span<const double> others = b.values<double>();
  if (others.size() != cells.size())
    throw Error(ExitStatus::input,
                {"a sum", "the sizes differ", b.shape().to_string(), a.shape().to_string(), ""});
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += factor * others[i];
  return result;
}

// Rows of the output's width plus out_proj.bias.
Tensor with_bias(const Tensor& rows, const Trace& so_far) {
  const auto offsets = required(so_far, Id::out_proj_bias).values<double>();
  const Cells cell(rows);
  return filled3(so_far.tensors.output->shape(), [&](Index n, Index l, Index e) {
    return cell(n, l, e) + offsets[static_cast<std::size_t>(e)];
  });
}

// concat, or gated_concat.
const Tensor& joined_heads(const Trace& so_far) {
  return required(so_far, rows_of_output(so_far.tensors));
}

// The output gate without its σ, with another function, turned round, or behind the output projection.
void add_gates(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!inputs.options.output_gate) return;
  const auto gates = [&](const char* text, double (*open)(double)) {
    add(variants, text, Id::gated_concat, [open](const Trace& so_far) {
      const Tensor& x = required(so_far, Id::concat);  // beside a change that takes the gate away, as it is
      return so_far.tensors.output_gate ? gated(x, *so_far.tensors.output_gate, open) : x;
    });
  };
  gates("the output gate has no σ: concat is multiplied by the gate itself", [](double x) { return x; });
  gates("the output gate is SiLU, not σ", [](double x) { return x * sigmoid(x); });
  gates("the output gate is 1 + tanh, not σ", [](double x) { return 1.0 + std::tanh(x); });
  gates("the output gate is tanh, not σ", [](double x) { return std::tanh(x); });
  gates("the output gate is turned round: 1 − σ", [](double x) { return sigmoid(-x); });
  const Shape& shape = inputs.tensors.out_proj_weight->shape();
  if (shape.size(0) != shape.size(1)) return;
  add(variants, "the output gate is applied after the output projection", Id::output, [](const Trace& so_far) {
    const TraceTensors& u = so_far.tensors;
    Tensor ungated = linear(required(so_far, Id::concat),
                            {u.out_proj_weight.get(), 0, u.out_proj_bias.get(), 0}, u.output->shape());
    return u.output_gate ? gated(ungated, *u.output_gate) : ungated;
  });
}

void add_projections(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  const TensorPtr weight = t.out_proj_weight, bias = t.out_proj_bias;
  if (!weight) return;
  const bool square = weight->shape().size(0) == weight->shape().size(1);
  if (square) {
    add(variants, "the output projection is left out: output is concat", Id::output,
        [](const Trace& so_far) { return joined_heads(so_far).reshaped(so_far.tensors.output->shape()); });
    if (bias)
      add(variants, "of the output projection the bias alone is added", Id::output,
          [](const Trace& so_far) { return with_bias(joined_heads(so_far), so_far); });
    add(variants, "the output projection is applied twice", Id::output, [](const Trace& so_far) {
      const TraceTensors& u = so_far.tensors;
      return linear(*u.output, {u.out_proj_weight.get(), 0, u.out_proj_bias.get(), 0}, u.output->shape());
    });
  }
  if (bias)
    add(variants, "out_proj.bias is added twice", Id::output,
        [](const Trace& so_far) { return with_bias(*so_far.tensors.output, so_far); });
}

// The heads' outputs are summed, or averaged, to one of Dv columns, which is all that is projected, or is the
// output.
void add_sums_of_heads(const AttentionInputs& inputs, ProgramVariants& variants) {
  const TraceTensors& t = inputs.tensors;
  const Index heads = inputs.options.num_heads, width = inputs.options.v_head_dim;
  if (heads < 2 || !t.out_proj_weight) return;
  const auto add_sum = [&](const char* how, bool mean, bool projected, bool biased) {
    const std::string what = mean ? "averaged" : "summed";
    add(variants, fmt::format("the heads' outputs are {}, not concatenated, and {}", what, how), Id::output,
        [=](const Trace& so_far) {
          const TraceTensors& u = so_far.tensors;
          const Shape& shape = u.output->shape();
          const Cells cell(joined_heads(so_far));
          const Tensor total =
              filled3(Shape{shape.axes()[0], shape.axes()[1], {"Dv", width}}, [&](Index n, Index l, Index d) {
                double sum = 0.0;
                for (Index h = 0; h < heads; ++h) sum += cell(n, l, h * width + d);
                return mean ? sum / static_cast<double>(heads) : sum;
              });
          const std::span<const double> weight = u.out_proj_weight->values<double>(),
                                        sums = total.values<double>();
          return filled3(shape, [&](Index n, Index l, Index e) {
            const double own = biased && u.out_proj_bias ? u.out_proj_bias->flat(e) : 0.0;
            const auto row = sums.begin() + (n * shape.size(1) + l) * width;
            return projected ? std::inner_product(row, row + width, weight.begin() + e * heads * width, own)
                             : own + row[e];
          });
        });
  };
  for (const bool mean : {false, true}) {
    add_sum("projected by the first Dv columns of out_proj.weight", mean, true, true);
    if (width != t.out_proj_weight->shape().size(0)) continue;
    add_sum("not projected", mean, false, false);
    if (t.out_proj_bias) add_sum("not projected, but out_proj.bias is added", mean, false, true);
  }
}

// The mean and the spread of a row, as used in normalisation.
struct Norm {
  double epsilon = 1e-5;
  bool centred = true, unbiased = false, epsilon_outside = false;
};

Tensor normalised(const Tensor& x, const Norm& norm) {
  return mapped_rows(x, [&norm](std::span<double> row) {
    const auto count = static_cast<double>(row.size());
    double mean = 0.0, squares = 0.0;
    if (norm.centred) {
      for (const double cell : row) mean += cell / count;
    }
    for (const double cell : row) squares += (cell - mean) * (cell - mean);
    const double variance = squares / (norm.unbiased ? count - 1.0 : count);
    const double spread =
        norm.epsilon_outside ? std::sqrt(variance) + norm.epsilon : std::sqrt(variance + norm.epsilon);
    for (double& cell : row) cell = (cell - mean) / spread;
  });
}

void add_residuals(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const bool query_fits =
      t.query && t.out_proj_weight && t.query->shape().size(2) == t.out_proj_weight->shape().size(0);
  const auto plus = [](Id to, TensorPtr TraceTensors::*from, double factor) {
    return [=](const Trace& so_far) { return sum(required(so_far, to), *(so_far.tensors.*from), factor); };
  };
  if (!o.residual && query_fits) {
    add(variants, "the residual is in the output: query + output", Id::output,
        plus(Id::output, &TraceTensors::query, 1.0));
    add(variants, "the residual is subtracted: output − query", Id::output,
        plus(Id::output, &TraceTensors::query, -1.0));
  }
  const auto same = [&](const TensorPtr& other) {
    return other && other != t.query && t.query && other->shape().same_sizes(t.query->shape());
  };
  const Id end = o.residual ? Id::residual_output : Id::output;
  const double without = o.residual ? -1.0 : 0.0;  // the query that ours added is subtracted again
  const auto instead = [&](const char* text, TensorPtr TraceTensors::*from) {
    add(variants, text, end, [=](const Trace& so_far) {
      return sum(sum(required(so_far, end), *so_far.tensors.query, without), *(so_far.tensors.*from));
    });
  };
  if (same(t.key)) instead("the residual adds key, not query", &TraceTensors::key);
  if (same(t.value)) instead("the residual adds value, not query", &TraceTensors::value);
  if (!o.residual) return;
  add(variants, "the residual is left out", Id::residual_output,
      [](const Trace& so_far) { return *so_far.tensors.output; });
  add(variants, "the residual is added twice", Id::residual_output,
      plus(Id::residual_output, &TraceTensors::query, 1.0));
  add(variants, "the residual is in the output already, and added again", Id::output,
      plus(Id::output, &TraceTensors::query, 1.0));
  add(variants, "the output is left out of the residual sum", Id::residual_output,
      [](const Trace& so_far) { return *so_far.tensors.query; });
  variants.push_back({"the residual is in the output already: output is query + output",
                      {{Id::output, plus(Id::output, &TraceTensors::query, 1.0)},
                       {Id::residual_output, [](const Trace& so_far) { return *so_far.tensors.output; }}}});
}

void add_norms(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  const Id before = o.residual ? Id::residual_output : Id::output;
  const auto norms = [&](Id stage, const std::string& where) {
    const auto one = [&](const std::string& text, const Norm& norm) {
      add(variants, text + where, stage,
          [=](const Trace& so_far) { return normalised(required(so_far, before), norm); });
    };
    for (const double epsilon : {1e-6, 1e-12, 1e-3, 0.0, 1e-8, 1e-7, 1e-2, 1e-4})
      one(fmt::format("the layer norm adds {:g} to the variance, not 1e-5", epsilon), {epsilon});
    for (const double epsilon : {1e-5, 1e-6, 0.0}) {
      one("the layer norm divides the variance by E − 1, not by E", {epsilon, true, true});
      one("the layer norm adds its ε to the standard deviation, not to the variance",
          {epsilon, true, false, true});
      one("the layer norm divides the variance by E − 1 and adds its ε to the standard deviation",
          {epsilon, true, true, true});
      one("the layer norm does not subtract the mean (RMSNorm)", {epsilon, false});
    }
  };
  if (o.layer_norm) {
    norms(Id::layer_norm_output, "");
    add(variants, "the layer norm is left out", Id::layer_norm_output,
        [before](const Trace& so_far) { return required(so_far, before); });
    if (o.residual) {
      add(variants, "the layer norm is applied before the residual is added", Id::layer_norm_output,
          [](const Trace& so_far) { return sum(layer_norm(*so_far.tensors.output), *so_far.tensors.query); });
      add(variants, "the layer norm is applied to the output without the residual", Id::layer_norm_output,
          [](const Trace& so_far) { return layer_norm(*so_far.tensors.output); });
    }
  } else {
    add(variants, "the output is normalised (layer norm)", before,
        [before](const Trace& so_far) { return layer_norm(required(so_far, before)); });
    if (!o.residual)
      add(variants, "the residual is added and the sum normalised (layer norm)", Id::output,
          [](const Trace& so_far) {
            return layer_norm(add_residual(*so_far.tensors.query, *so_far.tensors.output));
          });
  }
  variants.push_back(
      {"the inputs are normalised first (pre-norm, layer norm)", [](AttentionInputs& other) {
         TraceTensors& t = other.tensors;
         const TensorPtr query = t.query, key = t.key, value = t.value;
         t.query = shared_tensor(layer_norm(*query));
         t.key = key == query ? t.query : shared_tensor(layer_norm(*key));
         if (!value) return;  // latents have none
         t.value = value == query ? t.query : value == key ? t.key : shared_tensor(layer_norm(*value));
       }});
}

void add_returned_weights(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!inputs.options.need_weights || !inputs.options.average_attn_weights) return;
  const auto over_heads = [&](const char* text, std::function<double(double, double)> join, bool first_only) {
    add(variants, text, Id::attn_output_weights, [=](const Trace& so_far) {
      const Tensor& weights = *so_far.tensors.dropped_weights;
      const Cells cell(weights);
      return filled3(required(so_far, Id::attn_output_weights).shape(), [&](Index n, Index l, Index s) {
        double all = cell(n, 0, l, s);
        for (Index h = 1; !first_only && h < weights.shape().size(1); ++h) all = join(all, cell(n, h, l, s));
        return all;
      });
    });
  };
  if (inputs.options.num_heads < 2) return;
  over_heads(
      "the returned weights are summed over the heads, not averaged",
      [](double a, double b) { return a + b; }, false);
  over_heads(
      "the returned weights are the largest of the heads', not their mean",
      [](double a, double b) { return std::max(a, b); }, false);
  over_heads("the returned weights are those of the first head, not the mean of all", nullptr, true);
  if (inputs.options.dropout > 0.0)
    add(variants, "the returned weights are those before dropout; PyTorch returns them as dropped",
        Id::attn_output_weights,
        [](const Trace& so_far) { return average_over_heads(*so_far.tensors.attn_weights); });
}

// Axes 0 and 1 of a (A,B,W) tensor swapped.
Tensor turned(const Tensor& x, const char* first, const char* second) {
  const Cells cell(x);
  const Shape& s = x.shape();
  return filled3(Shape{{first, s.size(1)}, {second, s.size(0)}, s.axes()[2]},
                 [&](Index i, Index j, Index k) { return cell(j, i, k); });
}

// The batch mistaken for the length: tokens at one position in all batches attend to each other.
void add_batch_axis(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes s = attention_sizes(inputs);
  if (s.batch < 2 || s.queries != s.keys || s.past > 0) return;
  AttentionInputs plain = inputs;
  TraceTensors& t = plain.tensors;
  t.attn_mask = t.key_padding_mask = t.valid_lens = t.nonpad_kv_seqlen = t.static_k = t.static_v =
      t.frozen_weights = nullptr;
  plain.options.frozen_heads.clear();
  add(variants, "the attention runs over the batch axis, not over the tokens: (N,L,E) is taken for (L,N,E)",
      Id::output, [plain](const Trace&) {
        AttentionInputs theirs = plain;
        TraceTensors& u = theirs.tensors;
        const bool one = u.query == u.key && (u.key == u.value || !u.value);
        u.query = shared_tensor(turned(*u.query, "N", "L"));
        u.key = one ? u.query : shared_tensor(turned(*u.key, "N", "S"));
        if (u.value) u.value = one ? u.query : shared_tensor(turned(*u.value, "N", "S"));
        return turned(*reference_forward(theirs)->tensors.output, "N", "L");
      });
}

}  // namespace

void add_output_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  if (!projects(inputs.options.op)) return;
  add_gates(inputs, variants);
  add_projections(inputs, variants);
  add_sums_of_heads(inputs, variants);
  add_residuals(inputs, variants);
  add_norms(inputs, variants);
  add_returned_weights(inputs, variants);
  add_batch_axis(inputs, variants);
}

}  // namespace headwise
