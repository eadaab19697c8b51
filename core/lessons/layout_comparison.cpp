#include "core/lessons/layout_comparison.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "core/compare/trace_compare.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// If the bits are the same, the existing tensor stays, and everything computed from it.
void put(TensorPtr& slot, const TensorPtr& made) {
  if (made && !identical(*slot, *made)) slot = made;
}

constexpr std::array layouts{ProjectionLayout::packed, ProjectionLayout::separate, ProjectionLayout::per_head};

const char* matrix_name(Projection which) {
  return which == Projection::q ? "W_q" : which == Projection::k ? "W_k" : "W_v";
}

std::string matrix_letters(const ProjectionMatrix& matrix, ProjectionLayout layout) {
  if (layout == ProjectionLayout::packed) return "(H·D+G·D+G·Dv,E)";
  const char* cols = matrix.of == Projection::q ? "E" : matrix.of == Projection::k ? "kdim" : "vdim";
  const char* width = matrix.of == Projection::v ? "Dv" : "D";
  if (layout == ProjectionLayout::per_head) return fmt::format("({},{})", width, cols);
  return fmt::format("({}·{},{})", matrix.of == Projection::q ? "H" : "G", width, cols);
}

std::vector<MatrixGroup> grouped(const std::vector<ProjectionMatrix>& matrices, ProjectionLayout layout) {
  std::vector<MatrixGroup> groups;
  for (const ProjectionMatrix& matrix : matrices) {
    const std::string name = layout == ProjectionLayout::packed ? "in_proj_weight" : matrix_name(matrix.of);
    if (groups.empty() || groups.back().name != name)
      groups.push_back({0, name, matrix_letters(matrix, layout), matrix.out_features, matrix.in_features});
    ++groups.back().count;
  }
  return groups;
}

const char* einsum_of(ProjectionLayout layout) {
  return layout == ProjectionLayout::packed     ? "'nle,fe->nlf' once, f over the rows of q, k and v"
         : layout == ProjectionLayout::separate ? "'nle,fe->nlf' for each of q, k and v"
                                                : "'nle,hde->nhld': for each head 'nle,de->nld'";
}

// q, k and v as computed by one layout, and the operator's output for them.
struct Outcome {
  TensorPtr q, k, v, output;  // k and v are null if they are replaced
};

// What is projected, and the trace to compare with.
struct LayoutRun {
  TracePtr staged;
  AttentionInputs inputs;

  explicit LayoutRun(const Trace& trace) : staged(staged_trace(trace)), inputs(traced_inputs(*staged)) {}

  ProjectionParameters parameters() const {
    const TraceTensors& t = inputs.tensors;
    return {t.in_proj_weight, t.q_proj_weight, t.k_proj_weight, t.v_proj_weight, t.in_proj_bias};
  }

  // Projects with these matrices and computes what follows.
  Outcome run(const std::vector<ProjectionMatrix>& matrices, Index& products) const {
    const TraceTensors& t = inputs.tensors;
    const ProjectedInputs projected = project_with(
        inputs.options, matrices, {t.query, t.key, t.value, t.static_k == nullptr, t.static_v == nullptr});
    products = projected.products;
    return {projected.q, projected.k, projected.v, output_behind_projection(*staged, projected)};
  }
};

std::string why_not_packed(const AttentionInputs& inputs) {
  const AttentionOptions& o = inputs.options;
  if (o.kdim != o.embed_dim || o.vdim != o.embed_dim)
    return fmt::format(
        "key and value are {} and {} wide, query {}: matrices of different widths cannot be stacked into one",
        o.kdim, o.vdim, o.embed_dim);
  return "a matrix is missing, because static_k or static_v replaces its result";
}

double difference_of(const TensorPtr& a, const TensorPtr& b) {
  return a && b ? largest_difference(*a, *b) : 0.0;
}

LayoutAnswer answer_for(ProjectionLayout layout, const LayoutRun& run, std::optional<Outcome>& first) {
  const AttentionInputs& inputs = run.inputs;
  LayoutAnswer answer;
  answer.layout = layout;
  if (layout == ProjectionLayout::packed && !can_be_packed(inputs.options, run.parameters())) {
    answer.impossible_reason = why_not_packed(inputs);
    return answer;
  }
  const std::vector<ProjectionMatrix> matrices = projection_matrices(layout, inputs.options, run.parameters());
  answer.matrices = grouped(matrices, layout);
  answer.matrix_count = static_cast<Index>(matrices.size());
  for (const ProjectionMatrix& matrix : matrices) {
    answer.weights += matrix.out_features * matrix.in_features;
    answer.biases += matrix.bias ? matrix.out_features : 0;
  }
  // The same rows meet the same positions, however they are split.
  for (const ProductCount& product : operation_counts(inputs).products) {
    const bool projects =
        product.result == TensorId::q || product.result == TensorId::k || product.result == TensorId::v;
    answer.multiply_adds += projects ? product.multiply_adds : 0;
  }
  answer.einsum = einsum_of(layout);
  const Outcome outcome = run.run(matrices, answer.products);
  if (!first) first = outcome;
  answer.projection_difference =
      std::max({difference_of(outcome.q, first->q), difference_of(outcome.k, first->k),
                difference_of(outcome.v, first->v)});
  answer.output_difference = difference_of(outcome.output, first->output);
  return answer;
}

std::string products_text(const LayoutAnswer& answer) {
  return counted(answer.products, "product");
}

std::vector<std::string> layout_comparison_words(const LayoutComparison& comparison,
                                                 const AttentionInputs& inputs) {
  const LayoutAnswer& packed = comparison.layouts[0];
  const LayoutAnswer& separate = comparison.layouts[1];
  const LayoutAnswer& per_head = comparison.layouts[2];
  std::vector<std::string> sentences;
  const double difference = std::max(separate.output_difference, per_head.output_difference);
  const std::string bits = difference == 0.0 ? "to the last bit"
                                             : fmt::format("to rounding: max |Δ| {:.2g} of {:.3g}",
                                                           difference, comparison.output_magnitude);
  sentences.push_back(fmt::format(
      "Yes: {} hold the same {} parameters of the input projection ({} weights, {} biases) and give the same "
      "output, {}.",
      packed.possible() ? "one packed matrix, three matrices and small matrices for each head"
                        : "three matrices and small matrices for each head",
      count_text(separate.parameters()), count_text(separate.weights), count_text(separate.biases), bits));
  sentences.push_back(fmt::format(
      "They cost the same {} multiply-adds, in {}{} or {}: fewer, larger products just run faster.",
      count_text(separate.multiply_adds), packed.possible() ? products_text(packed) + ", " : "",
      products_text(separate), products_text(per_head)));
  if (!packed.possible())
    sentences.push_back("Packed is not possible here: " + packed.impossible_reason + ".");
  const TraceTensors& t = inputs.tensors;
  if (t.static_k || t.static_v)
    sentences.push_back(fmt::format("{} replaces the result of its matrix, which is not used.",
                                    t.static_k && t.static_v ? "static_k and static_v each"
                                    : t.static_k             ? "static_k"
                                                             : "static_v"));
  return sentences;
}

}  // namespace

TracePtr staged_trace(const Trace& asked) {
  const Trace& trace = asked.exact ? *asked.exact : asked;
  if (trace.stages.contains(TensorId::q)) return std::make_shared<const Trace>(trace);
  const TracePtr made = reference_forward(traced_inputs(trace));
  return made->exact ? made->exact : made;
}

TensorPtr output_behind_projection(const Trace& staged, const ProjectedInputs& projected) {
  const AttentionInputs inputs = traced_inputs(staged);
  const AttentionSizes sizes = attention_sizes(inputs);
  const auto with_appended_rows = [&](const TensorPtr& rows, const TensorPtr& bias_row) -> TensorPtr {
    if (!rows || sizes.all_keys == sizes.keys) return rows;
    return std::make_shared<const Tensor>(append_rows(*rows, bias_row.get(), inputs.options.add_zero_attn));
  };
  // A trace that differs only in q, k and v: the reference takes these three from it by their keys, and
  // recomputes whatever reads a changed one.
  Trace previous(staged);
  put(previous.tensors.q, projected.q);
  put(previous.tensors.k, with_appended_rows(projected.k, inputs.tensors.bias_k));
  put(previous.tensors.v, with_appended_rows(projected.v, inputs.tensors.bias_v));
  return reference_forward(inputs, &previous)->tensors.output;
}

LayoutComparison compare_layouts(const Trace& trace) {
  LayoutComparison comparison;
  for (std::size_t i = 0; i < layouts.size(); ++i) comparison.layouts[i].layout = layouts[i];
  if (trace.options.op == Op::scaled_dot_product_attention) {
    comparison.not_asked =
        "scaled_dot_product_attention itself has no projection: its query, key and value are already split "
        "into heads.";
    comparison.sentences = {comparison.not_asked};
    return comparison;
  }
  if (is_latent(trace.options)) {
    comparison.not_asked =
        "multi_head_latent_attention makes its keys and values of a latent: it has no W_q, W_k and W_v that "
        "could be packed.";
    comparison.sentences = {comparison.not_asked};
    return comparison;
  }
  const LayoutRun run(trace);
  std::optional<Outcome> first;
  for (std::size_t i = 0; i < layouts.size(); ++i) comparison.layouts[i] = answer_for(layouts[i], run, first);
  comparison.output_magnitude = largest_magnitude(*first->output);
  comparison.sentences = layout_comparison_words(comparison, run.inputs);
  return comparison;
}

double latent_layout_difference(const Trace& trace) {
  if (!is_latent(trace.options)) return 0.0;
  AttentionInputs inputs = traced_inputs(trace);
  AttentionOptions& options = inputs.options;
  options.layout = is_absorbed(options) ? LatentLayout::expanded : LatentLayout::absorbed;
  options.num_kv_heads = is_absorbed(options) ? 1 : options.num_heads;
  const TracePtr other = reference_forward(inputs);
  return largest_difference(*trace.tensors.output, *other->tensors.output);
}

std::string matrices_text(const LayoutAnswer& answer) {
  std::vector<std::string> shapes;
  for (auto group = answer.matrices.begin(); group != answer.matrices.end();) {
    const auto other_shape = std::find_if(group, answer.matrices.end(), [&](const MatrixGroup& other) {
      return other.rows != group->rows || other.cols != group->cols;
    });
    Index count = 0;
    const MatrixGroup& first = *group;
    for (; group != other_shape; ++group) count += group->count;
    shapes.push_back(fmt::format("{} × ({},{})", count, first.rows, first.cols));
  }
  return join(shapes, ", ");
}

std::string layout_words(ProjectionLayout layout) {
  return layout == ProjectionLayout::packed     ? "packed"
         : layout == ProjectionLayout::separate ? "three matrices"
                                                : "one for each head";
}

}  // namespace headwise
