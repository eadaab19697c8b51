#include "app/content/step_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/rotary_embedding.h"
#include "core/picture/heatmap.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

// Null if there is none; a mask may be shared by all sequences or all heads.
std::optional<MatrixView> map_of(const TensorPtr& tensor, Index batch, Index head) {
  if (!tensor || tensor->shape().rank() != 4 || tensor->size() == 0) return std::nullopt;
  const std::array<Index, 2> place{std::clamp<Index>(batch, 0, tensor->shape().size(0) - 1),
                                   std::clamp<Index>(head, 0, tensor->shape().size(1) - 1)};
  return matrix_view(tensor, place);
}

}  // namespace

StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head) {
  const TraceTensors& t = trace.tensors;
  StepFacts facts;
  facts.options = trace.options;
  facts.projection_bias = t.in_proj_bias != nullptr;
  facts.output_bias = t.out_proj_bias != nullptr;
  facts.masked = t.mask_bias != nullptr;
  facts.blocks = false;
  if (const auto mask = step == Step::mask ? map_of(t.mask_bias, batch, head) : std::nullopt) {
    for (Index i = 0; i < mask->rows; ++i)
      for (Index j = 0; j < mask->cols; ++j) {
        const double bias = mask->value(i, j);
        facts.blocks |= bias == -INFINITY;
        facts.adds |= bias != -INFINITY && bias != 0.0;
      }
  }
  if (const auto weights = step == Step::softmax ? map_of(t.attn_weights, batch, head) : std::nullopt) {
    for (Index i = 0; i < weights->rows; ++i) {
      double sum = 0.0;
      for (Index j = 0; j < weights->cols; ++j) sum += weights->value(i, j);
      facts.nan_rows += std::isnan(sum) ? 1 : 0;
      facts.zero_rows += sum == 0.0 ? 1 : 0;
    }
  }
  return facts;
}

namespace {

using Id = TensorId;

struct Further {
  Id result;
  std::string_view formula, sentence;
};

constexpr Further further[] = {
    {Id::k, "k = key W_kᵀ + b_k",
     "The keys get the same from a layer of their own: column c of k is the dot product of a token's whole "
     "row with row c of W_k, plus a bias."},
    {Id::v, "v = value W_vᵀ + b_v",
     "And likewise the values: column c of v is the dot product of a token's whole row with row c of W_v, "
     "plus a bias. A head's output is a weighted sum of these rows."},
    {Id::k_heads, "Kₕ = k[:, g·D : (g+1)·D]",
     "Key/value head g takes D neighbouring columns of k. There is one for each query head (then g = h), or, "
     "in "
     "grouped attention, one for H/G neighbouring query heads."},
    {Id::v_heads, "Vₕ = v[:, g·Dv : (g+1)·Dv]",
     "Key/value head g takes Dv neighbouring columns of v. There is one for each query head (then g = h), "
     "or, in "
     "grouped attention, one for H/G neighbouring query heads."},
    {Id::q_rotary, "q_rotaryₕ = Qₕ cos θ + rotate_half(Qₕ) sin θ    θ = position · base^(−2j/D)",
     "Rotary position embedding: columns j and j + D/2 of a row are a point in a plane. The point is rotated "
     "by an angle that grows with the token's position, fast for the first pairs and slowly for the last. No "
     "length changes."},
    {Id::k_rotary, "k_rotaryₕ = Kₕ cos θ + rotate_half(Kₕ) sin θ    θ = position · base^(−2j/D)",
     "The keys are rotated likewise, each by its own position. A query times a key depends only on the "
     "difference between the two angles: a score sees how far apart two tokens are, not where they are."},
    {Id::dropped_weights, "droppedₕ = Aₕ ⊙ kept / (1 − p)",
     "In training a random share p of the weights is set to 0, and the others are multiplied by 1/(1 − p), "
     "so that a row sums to 1 only on average. The same seed drops the same weights."},
    {Id::residual_output, "residual_output = query + output",
     "The layer's output is added to its input: what attention does not change passes through."},
    {Id::layer_norm_output, "(x − mean) / √(variance + ε)",
     "Each token's row is normalised to mean 0 and standard deviation 1 over its E numbers."},
    {Id::attn_output_weights, "mean of Aₕ over the heads h",
     "The second result of PyTorch's module: the weights after dropout, averaged over the heads unless "
     "requested per head."},
};

// The formulas of a step with several are separated by four spaces.
std::vector<std::string> formula_lines(std::string_view formula) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < formula.size();) {
    const std::size_t end = std::min(formula.find("    ", at), formula.size());
    lines.emplace_back(formula.substr(at, end - at));
    at = std::min(formula.find_first_not_of(' ', end), formula.size());
  }
  return lines;
}

struct Backward {
  Step step;
  Id result;  // the result that the stage shows there
  std::string_view formula, sentence;
};

constexpr Backward backward[] = {
    {Step::inputs, Id::query, "grad query = grad q W_q + grad k W_k + grad v W_v",
     "Each token is used three times: the gradients from q, k and v add up if all three are made from the "
     "same rows."},
    {Step::project, Id::q, "grad W_q = grad qᵀ query    grad query = grad q W_q",
     "Each projection is a product: its parameters get the gradient of its result times its input; its input "
     "gets that gradient times the parameters."},
    {Step::split_heads, Id::q_heads, "grad q[:, h·D : (h+1)·D] = grad Qₕ",
     "Splitting changes no number: the gradients of the heads are put back side by side."},
    {Step::split_heads, Id::q_rotary, "grad Qₕ = grad q_rotaryₕ, rotated back by θ",
     "The gradient of a rotation is rotated back by the same angle: no length changes."},
    {Step::split_heads, Id::k_rotary, "grad Kₕ = grad k_rotaryₕ, rotated back by θ",
     "The gradient of a rotation is rotated back by the same angle: no length changes."},
    {Step::scores, Id::scores, "grad Qₕ = grad scoresₕ Kₕ    grad Kₕ = grad scoresₕᵀ Qₕ",
     "A score is one query times one key: each query's gradient is the sum of the keys, weighted by the "
     "gradients of its scores, and likewise each key's is a sum of the queries."},
    {Step::scale, Id::scaled_scores, "grad scoresₕ = grad scaledₕ · scale",
     "The backward pass multiplies by the same scale; a softcap multiplies by its slope."},
    {Step::mask, Id::masked_scores, "grad scaledₕ = grad maskedₕ",
     "Addition leaves gradients unchanged. A blocked score has weight 0, so the softmax passes no gradient "
     "back to it."},
    {Step::softmax, Id::attn_weights, "grad maskedₕ = Aₕ ∘ (grad Aₕ − Σ Aₕ ∘ grad Aₕ)    along each row",
     "A weight can grow only at the expense of the others in its row: the part common to all gradients "
     "cancels, and a weight near 0 passes almost nothing back. That is why rows of nearly 0 and 1 hardly "
     "learn."},
    {Step::weighted_sum, Id::head_output, "grad Aₕ = grad head_outputₕ Vₕᵀ    grad Vₕ = Aₕᵀ grad head_outputₕ",
     "A weight's gradient is the dot product of its value row and the gradient of the head's output; a value "
     "row gets its weighted share of the gradient of every output it contributed to."},
    {Step::concat, Id::concat, "grad head_outputₕ = grad concat[:, h·Dv : (h+1)·Dv]",
     "Each head gets back its own columns, times its gain: a muted head gets no gradient."},
    {Step::output, Id::output, "grad concat = grad output W_O    grad W_O = grad outputᵀ concat",
     "The backward pass starts here: how much the loss changes with each number of the output."},
};

// Given frequencies do not follow from a base.
std::vector<std::string> further_formulas(std::string_view formula, const AttentionOptions& options) {
  std::vector<std::string> lines = formula_lines(formula);
  if (lines.size() == 2 && !options.rotary_base) lines[1] = "θ = position · inverse frequency of pair j";
  return lines;
}

bool changes_scale(const AttentionOptions& options) {
  return options.scale || options.temperature != 1.0 || options.softcap > 0.0;
}

std::string scale_formula(const AttentionOptions& options) {
  std::string formula = options.scale ? fmt::format("{:g} · scoresₕ", *options.scale) : "scoresₕ / √D";
  if (options.temperature != 1.0) formula += fmt::format(" / {:g}", options.temperature);
  if (options.softcap > 0.0) formula = fmt::format("{0:g} · tanh({1} / {0:g})", options.softcap, formula);
  return "scaledₕ = " + formula;
}

// "k = key W_kᵀ + b_k" for a layer without biases
void without_bias(StepWords& words) {
  for (std::string& formula : words.formulas) {
    const std::size_t at = formula.find(" + b_");
    if (at != std::string::npos) formula.erase(at);
  }
  constexpr std::string_view said = ", plus a bias";
  if (const std::size_t at = words.sentence.find(said); at != std::string::npos)
    words.sentence.erase(at, said.size());
}

void say_mask(StepWords& words, const StepFacts& facts) {
  const std::optional<double>& fill = facts.options.mask_value;
  const std::string merged = " All masks are merged into this one number per pair.";
  if (!facts.masked) {
    words.sentence =
        "No mask is set, so nothing is added. A blocked pair would get −∞ added, which the softmax turns "
        "into exactly 0.";
    return;
  }
  if (!facts.blocks) {
    words.sentence =
        (facts.adds ? "Each pair's number from mask_bias is added: the lower it is, the less the key counts. "
                      "No pair of this map is blocked."
                    : "0 is added to every pair of this map, which changes nothing: none is blocked.") +
        merged;
    return;
  }
  const std::string allowed = facts.adds ? "an allowed pair gets its number from mask_bias added."
                                         : "an allowed pair gets 0 added and is unchanged.";
  if (!fill) {
    words.sentence =
        "A blocked pair gets −∞ added, which the softmax turns into exactly 0; " + allowed + merged;
    return;
  }
  const std::string number = decimal_text(*fill, 0);
  words.formulas = {fmt::format("maskedₕ = {} where blocked", number), "else scaledₕ + mask_bias"};
  words.sentence = fmt::format(
      "A blocked pair's score becomes {0}, not −∞: the softmax treats it like any other score, and its "
      "weight is close to 0 only if {0} is far below the row's other scores; {1}{2}",
      number, allowed, merged);
}

// "sums to 1" is said only of rows that do.
void say_rows(StepWords& words, const StepFacts& facts) {
  if (const Index n = facts.nan_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map has no finite score: it is NaN."
                             : fmt::format(" {} rows of this map have no finite score: they are NaN.", n);
  if (const Index n = facts.zero_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map is fully masked: it is set to 0."
                             : fmt::format(" {} rows of this map are fully masked: they are set to 0.", n);
}

}  // namespace

StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  const AttentionOptions& options = facts.options;
  const Id result = picture.result;
  if (result == Id::output && !picture.above) {
    return {{"output = head_output"},
            "scaled_dot_product_attention ends here: the heads are neither concatenated nor mixed."};
  }
  const auto own = std::ranges::find(further, result, &Further::result);
  const bool clips = options.clip_qkv && step == Step::split_heads &&
                     (result == Id::q_heads || result == Id::k_heads || result == Id::v_heads);
  const std::string clipped =
      clips ? fmt::format(" Then every number is clipped to [−{0:g}, {0:g}]: clip_qkv.", *options.clip_qkv)
            : "";
  if (own != std::end(further) && step != Step::inputs) {
    StepWords words{further_formulas(own->formula, options), std::string(own->sentence) + clipped};
    if (step == Step::project && !facts.projection_bias) without_bias(words);
    return words;
  }
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
  StepWords words{formula_lines(entry.formula), std::string(entry.sentence) + clipped};
  if (step == Step::scale && changes_scale(options)) {
    words.formulas = {scale_formula(options)};
    words.sentence += " Here it differs, as the formula above shows.";
  }
  if (step == Step::scores && has_rotary_embedding(options)) {
    words.formulas = {"scoresₕ = q_rotaryₕ k_rotaryₕᵀ"};
    words.sentence += " Both rows were first rotated by their positions.";
  }
  if ((step == Step::project && !facts.projection_bias) || (step == Step::output && !facts.output_bias))
    without_bias(words);
  if (step == Step::mask) say_mask(words, facts);
  if (step == Step::softmax) say_rows(words, facts);
  // Three products, and the stage shows one of them.
  if (step == Step::project && words.formulas.size() == 3 && result == Id::q) words.formulas.resize(1);
  return words;
}

std::string step_question(Step step, const AttentionOptions& options) {
  if (step == Step::split_heads && has_rotary_embedding(options)) {
    return options.op == Op::multi_head_attention
               ? "when are the heads split? here; then q and k are rotated by their positions"
               : "where are the tokens? q and k are rotated by their positions";
  }
  if (step == Step::split_heads && options.clip_qkv)
    return fmt::format("when are the heads split? here; then numbers beyond ±{:g} are clipped",
                       *options.clip_qkv);
  const std::string question(step_entries()[static_cast<std::size_t>(step)].question);
  if (step != Step::scale || !changes_scale(options)) return question;
  if (options.scale && *options.scale == 1.0 && options.temperature == 1.0 && options.softcap == 0.0)
    return "nothing is divided by √D here: how large are the scores?";
  return "not only divided by √D here: how large are the scores?";
}

std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  for (const Backward& words : backward)
    if (words.step == step && words.result == picture.result) {
      if (picture.left == Id::q_rotary && step == Step::scores)
        return StepWords{
            {"grad q_rotaryₕ = grad scoresₕ k_rotaryₕ", "grad k_rotaryₕ = grad scoresₕᵀ q_rotaryₕ"},
            std::string(words.sentence)};
      if (facts.options.mask_value && facts.blocks && step == Step::mask)
        return StepWords{formula_lines(words.formula),
                         "Addition leaves gradients unchanged. A blocked score was replaced by the fill "
                         "value, so it gets no gradient."};
      if (facts.options.clip_qkv && step == Step::split_heads && picture.result == Id::q_heads)
        return StepWords{
            formula_lines(words.formula),
            "The gradients of the heads are put back side by side; a clipped number gets no gradient."};
      return StepWords{formula_lines(words.formula), std::string(words.sentence)};
    }
  return std::nullopt;
}

}  // namespace headwise
