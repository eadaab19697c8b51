// From the scores to the weighted sum in one call of PyTorch's flex_attention (2.5 or newer): Dong et al.,
// "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", 2024.
#include <limits>
#include <span>
#include <string>

#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/export/mask_lines.h"
#include "core/export/step_lines.h"
#include "core/tensor/join.h"

namespace headwise {

using Id = TensorId;

namespace {

// The steps of the scale behind its first factor, which is the call's argument.
std::span<const ScoreStep> steps_behind_scale(const ScoreScale& scale) {
  return std::span(scale.steps).subspan(1);
}

// A row of the trace whose keys are all blocked, as NaN.
bool has_undefined_rows(const Trace& trace) {
  const TensorPtr bias = trace.tensors.mask_bias;
  if (!bias || trace.options.fully_masked_rows == FullyMaskedRows::zero || trace.options.mask_value)
    return false;
  const Index columns = bias->shape().sizes().back();
  for (Index i = 0, open = 0; i < bias->size(); ++i) {
    if (i % columns == 0) open = 0;
    if (!(bias->flat(i) == -std::numeric_limits<double>::infinity())) ++open;
    if (i % columns == columns - 1 && open == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> missing_in_flex(const Trace& trace) {
  const AttentionOptions& o = trace.options;
  const AttentionSizes s = attention_sizes(o, trace.tensors);
  std::vector<std::string> missing;
  if (o.dropout > 0) missing.emplace_back("dropout");
  if (!o.frozen_heads.empty()) missing.emplace_back("frozen heads");
  if (s.batch * s.heads * s.queries * s.all_keys * s.head_dim * s.v_head_dim == 0)
    missing.emplace_back("empty sequences");
  return missing;
}

bool code_computes(CodeStyle style, const Trace& trace, Id tensor) {
  const bool is_inside =
      (tensor >= Id::scores && tensor <= Id::dropped_weights) || tensor == Id::attn_output_weights;
  return !is_inside || style != CodeStyle::flex || !missing_in_flex(trace).empty();
}

bool StepLines::is_fused() const {
  return !code_computes(style_, trace_, Id::scores);
}

void StepLines::fused_scores() {
  const Id queries = path_of_queries(o_).back(), keys = path_of_keys(o_).back();
  inside(fmt::format("{} @ {}ᵀ", code_variable(queries), code_variable(keys)));
}

void StepLines::fused_scale() {
  const ScoreScale scale = score_scale(o_);
  inside("which multiplies by its scale=" + scale_argument());
  const std::span<const ScoreStep> steps = steps_behind_scale(scale);
  if (steps.empty()) return;
  const ScoreNotation notation{python_number, "*", [&](const std::string& x) { return dialect_("tanh", x); }};
  add("def scaled(score):");
  for (const ScoreStep& step : steps)
    add(fmt::format("    {}{}", &step == &steps.back() ? "return " : "score = ", step.text("score", notation)),
        step.option);
}

std::string StepLines::scale_argument() const {
  return o_.scale ? python_number(*o_.scale) : "1 / " + dialect_("sqrt", sizes_.head_dim);
}

MaskFunctions StepLines::functions() const {
  const bool scaled = !steps_behind_scale(score_scale(o_)).empty();
  if (!o_.indexer) return mask_functions(dialect_, trace_, scaled);
  // The choice needs all scores of its row first.
  MaskFunctions made{mask_bias_lines({CodeStyle::pytorch, sizes_}, trace_), false, true};
  made.lines.push_back({"def score_mod(score, b, h, q, kv):", {}});
  const char* const bias = "mask_bias[b, h, q, kv]";
  const std::string score = scaled ? "scaled(score)" : "score", sum = fmt::format("{} + {}", score, bias);
  made.lines.push_back({"    return " + (o_.mask_value ? fmt::format("torch.where({} > -math.inf, {}, {})",
                                                                     bias, sum, *o_.mask_value)
                                                       : sum),
                        {}});
  return made;
}

void StepLines::fused_mask() {
  const MaskFunctions made = functions();
  if (result_ == Id::mask_bias || !bias_is_apart()) {
    lines_ = made.lines;
    if (takes_block_mask(made))
      add(fmt::format("block_mask = create_block_mask(mask_mod, {}, {}, {}, {}, device={}.device)",
                      sizes_.batch, sizes_.heads, sizes_.queries, sizes_.all_keys,
                      code_variable(path_of_queries(o_).back())),
          "blocks without an open cell are skipped");
  }
  if (result_ != Id::mask_bias) inside();
}

void StepLines::inside(const std::string& how) {
  add(fmt::format("# {} {}: inside flex_attention{}{}", code_variable(result_), sizes(result_),
                  how.empty() ? "" : ", ", how));
}

void StepLines::fused_softmax() {
  inside(result_ == Id::attn_weights   ? "row by row, in no array"
         : result_ == Id::lse          ? "which returns it as aux.lse"
         : result_ == Id::sink_weights ? "1 − σ(aux.lse − s)"
                                       : "");
}

void StepLines::fused_weighted_sum() {
  if (!t_.head_output) return;
  if (result_ == Id::head_output && is_absorbed(o_)) return weighted_sum();
  const Id queries = path_of_queries(o_).back(), keys = path_of_keys(o_).back(),
           values = path_of_values(o_).back();
  const MaskFunctions made = functions();
  std::string call = code_variable(queries) + ", " + code_variable(keys) + ", ";
  call += result_ == Id::latent_output ? dialect_("one head", code_variable(values)) : code_variable(values);
  if (made.has_score_mod) call += ", score_mod=score_mod";
  if (takes_block_mask(made)) call += ", block_mask=block_mask";
  call += ", scale=" + scale_argument();
  if (sizes_.kv_heads != sizes_.heads) call += ", enable_gqa=True";
  const std::string name = code_variable(result_);
  if (!t_.sinks && !has_undefined_rows(trace_)) return set("flex_attention(" + call + ")", sizes(result_));
  add(fmt::format("{}, aux = flex_attention({}, return_aux=AuxRequest(lse=True))", name, call), sizes(result_));
  if (t_.sinks)
    set(name + " * torch.sigmoid(aux.lse - sinks[:, None])[..., None]",
        "the sink's part is dropped: σ(lse − s)");
  else
    set(name + ".masked_fill((aux.lse == -math.inf)[..., None], math.nan)",
        "flex_attention makes 0 of a row whose keys are all blocked");
}

}  // namespace headwise
