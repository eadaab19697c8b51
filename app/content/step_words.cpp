#include "app/content/step_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/output_gate.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/export/heatmap.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

// Null if there is none; a mask may be shared by all sequences or all heads.
std::optional<MatrixView> map_of(const TensorPtr& tensor, Index batch, Index head) {
  if (!tensor || tensor->shape().rank() != 4 || tensor->size() == 0) return std::nullopt;
  const std::array<Index, 2> place{std::clamp<Index>(batch, 0, tensor->shape().size(0) - 1),
                                   std::clamp<Index>(head, 0, tensor->shape().size(1) - 1)};
  return matrix_view(tensor, place);
}

using Id = TensorId;

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

// The formula and the sentence of this row of steps.txt, what it leaves open filled in; none without a row.
std::optional<StepWords> own_words(std::string_view key, const AttentionOptions& options) {
  const auto row = std::ranges::find(step_rows(), key, &WordRow::key);
  if (row == step_rows().end()) return std::nullopt;
  const std::vector<std::string_view> parts = parts_in(row->value);
  StepWords words{formula_lines(parts.front()), std::string(parts.back())};
  for (const auto& [open, id] : {std::pair<std::string_view, Id>("{latents}", latents_of_heads(options)),
                                 {"{rotated_keys}", rotated_keys_of_heads(options)}})
    for (std::string& formula : words.formulas)
      for (std::size_t at = 0; (at = formula.find(open)) != std::string::npos;)
        formula.replace(at, open.size(), tensor_entry(id).name);
  return words;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Where there is no RoPE.
void without_rotation(StepWords& words) {
  if (words.formulas.back().starts_with("θ")) words.formulas.pop_back();
  for (std::string& formula : words.formulas)
    for (const char* const rotation : {" rotated by θ", ", rotated back by θ", ", rotated"})
      replace_all(formula, rotation, "");
}

// The row of a step or picture of latents; first the one for compressed queries, or for the absorbed layout.
std::optional<StepWords> words_of_latents(const std::string& key, const AttentionOptions& options) {
  std::optional<StepWords> words;
  if (options.q_lora_rank) words = own_words(key + " of compressed latents", options);
  if (!words && is_absorbed(options)) words = own_words(key + " of absorbed latents", options);
  if (!words) words = own_words(key + " of latents", options);
  if (words && !has_rotary_embedding(options)) without_rotation(*words);
  return words;
}

// Given frequencies do not follow from a base.
void without_base(StepWords& words) {
  if (words.formulas.size() == 2 && words.formulas[1].starts_with("θ"))
    words.formulas[1] = "θ = position · inverse frequency of pair j";
}

std::string scale_formula(const AttentionOptions& options) {
  ScoreScale after = score_scale(options);
  after.steps.erase(after.steps.begin());
  return "scaledₕ = " +
         after.text(options.scale ? fmt::format("{:g} · scoresₕ", *options.scale) : "scoresₕ / √D",
                    {[](double number) { return fmt::format("{:g}", number); }});
}

std::string norm_gain(const StepFacts& facts) {
  const double offset = facts.options.qk_norm_offset;
  return !facts.norm_weights ? "" : offset == 0.0 ? "w ⊙ " : fmt::format("({:g} + w) ⊙ ", offset);
}

// "q_normed = (1 + w) ⊙ q / √(mean q² + ε)", for what is normalised, with what and how.
std::string norm_formula(char letter, const StepFacts& facts) {
  const AttentionOptions& o = facts.options;
  const std::string x(1, letter);
  const std::string normed = o.qk_norm_kind == NormKind::layer
                                 ? fmt::format("({0} − mean {0}) / √(variance + ε)", x)
                             : o.qk_norm_kind == NormKind::rms ? fmt::format("{0} / √(mean {0}² + ε)", x)
                                                               : fmt::format("{0} / √(Σ {0}² + ε)", x);
  return fmt::format("{}_normed = {}{}", x, norm_gain(facts), normed);
}

// "grad q = (dn − n ⊙ mean(dn ⊙ n)) / √(mean q² + ε)" and what dn is, likewise.
std::vector<std::string> norm_gradient_formulas(char letter, const StepFacts& facts) {
  const AttentionOptions& o = facts.options;
  const char* const divided = o.qk_norm_kind == NormKind::layer
                                  ? "(dn − mean dn − n ⊙ mean(dn ⊙ n)) / √(variance + ε)"
                              : o.qk_norm_kind == NormKind::rms ? "(dn − n ⊙ mean(dn ⊙ n)) / √(mean {0}² + ε)"
                                                                : "(dn − n ⊙ Σ(dn ⊙ n)) / √(Σ {0}² + ε)";
  return {fmt::format("grad {0} = {1}", letter, fmt::format(fmt::runtime(divided), letter)),
          fmt::format("dn = {}grad {}_normed", norm_gain(facts), letter)};
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

void add_mask_sentence(StepWords& words, const StepFacts& facts) {
  const std::optional<double>& fill = facts.options.mask_value;
  const std::string merged =
      facts.options.indexer ? " All masks and the indexer's choice are merged into this one number per pair."
                            : " All masks are merged into this one number per pair.";
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
void add_row_sentence(StepWords& words, const StepFacts& facts) {
  if (const Index n = facts.nan_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map has no finite score: it is NaN."
                             : fmt::format(" {} rows of this map have no finite score: they are NaN.", n);
  if (const Index n = facts.zero_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map is fully masked: it is set to 0."
                             : fmt::format(" {} rows of this map are fully masked: they are set to 0.", n);
}

// The words of the output projection, of the tensor that it multiplies behind a gate.
void behind_gate(StepWords& words) {
  for (std::string& formula : words.formulas) replace_all(formula, "concat", "gated_concat");
  replace_all(words.sentence, "concat", "gated_concat");
}

}  // namespace

StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head) {
  const TraceTensors& t = trace.tensors;
  StepFacts facts;
  facts.options = trace.options;
  facts.projection_bias = t.in_proj_bias != nullptr;
  facts.latent_bias = t.kv_a_bias != nullptr;
  facts.norm_weights = t.q_norm_weight != nullptr;
  facts.output_bias = t.out_proj_bias != nullptr;
  facts.gate_bias = t.output_gate_bias != nullptr;
  facts.sinks = t.sinks != nullptr;
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

std::string_view embedded_words_steps();

std::span<const WordRow> step_rows() {
  static const std::vector<WordRow> rows = word_rows(embedded_words_steps(), "steps.txt");
  return rows;
}

namespace {

// Whether scores are made of something other than q_heads and k_heads.
bool reads_other_rows(Id queries, const AttentionOptions& options) {
  return queries != Id::q_heads || path_of_keys(options).back() != Id::k_heads;
}

std::string_view head_symbol(Id id) {
  return id == Id::q_heads ? "Q" : id == Id::k_heads ? "K" : tensor_entry(id).name;
}

}  // namespace

StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  const AttentionOptions& options = facts.options;
  const Id result = picture.result;
  if (result == Id::output && !picture.above)
    return {{"output = head_output"},
            "scaled_dot_product_attention ends here: the heads are neither concatenated nor mixed."};
  const bool turns = result == Id::q_rotary || result == Id::k_rotary;
  const std::string name(tensor_entry(result).name);
  if (is_latent(options)) {
    if (std::optional<StepWords> of_latents = words_of_latents(name, options)) {
      if (!options.rotary_base) without_base(*of_latents);
      if (!facts.latent_bias) without_bias(*of_latents);
      return *of_latents;
    }
  }
  std::optional<StepWords> own = own_words(
      turns && options.rotary_pairs == RotaryPairs::neighbours ? name + " of neighbours" : name, options);
  const bool clips = options.clip_qkv && step == Step::split_heads &&
                     (result == Id::q_heads || result == Id::k_heads || result == Id::v_heads);
  const std::string clipped =
      clips ? fmt::format(" Then every number is clipped to [−{0:g}, {0:g}]: clip_qkv.", *options.clip_qkv)
            : "";
  if (own && step != Step::inputs) {
    own->sentence += clipped;
    if (result == Id::k_normed) own->formulas = {norm_formula('k', facts)};
    if (!options.rotary_base) without_base(*own);
    if (!has_rotary_embedding(options)) without_rotation(*own);
    if (turns && options.rotary_factor != 1.0) {
      own->formulas[0] =
          fmt::format("{} = {:.4g} · ({})", own->formulas[0].substr(0, own->formulas[0].find(" = ")),
                      options.rotary_factor, own->formulas[0].substr(own->formulas[0].find(" = ") + 3));
      constexpr std::string_view same_length = " No length changes.";
      if (own->sentence.ends_with(same_length))
        own->sentence.resize(own->sentence.size() - same_length.size());
      own->sentence += fmt::format(" The row is then made {:.4g} times as long.", options.rotary_factor);
    }
    if ((step == Step::project && !facts.projection_bias) || (step == Step::gate && !facts.gate_bias))
      without_bias(*own);
    return own.value();
  }
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
  StepWords words{formula_lines(entry.formula), std::string(entry.sentence) + clipped};
  if (step == Step::scale && !is_default_scale(options)) {
    words.formulas = {scale_formula(options)};
    words.sentence += " Here it differs, as the formula above shows.";
  }
  if (step == Step::scores && picture.left && reads_other_rows(*picture.left, options)) {
    const Id keys = path_of_keys(options).back();
    words.formulas = {fmt::format("scoresₕ = {}ₕ {}{}ᵀ", head_symbol(*picture.left), head_symbol(keys),
                                  keys == Id::k_absorbed ? "" : "ₕ")};
    if (*picture.left == Id::q_absorbed) {
      replace_all(words.sentence, "this head's D columns only", "the C + R columns of both");
      words.sentence += " Here a query that W_UK is multiplied into meets the latent, which all heads share.";
    } else if (*picture.left != Id::q_heads && is_latent(options)) {
      words.sentence += " The last R columns of both rows were first rotated by their positions.";
    } else if (*picture.left != Id::q_heads) {
      words.sentence += options.qk_norm && has_rotary_embedding(options)
                            ? " Both rows were first normalised, and rotated by their positions."
                        : options.qk_norm ? " Both rows were first normalised."
                                          : " Both rows were first rotated by their positions.";
    }
    if (options.past_length) words.sentence += " The keys of the past are among them.";
  }
  if (step == Step::past && options.past_length)
    words.formulas.front() =
        fmt::format("present_keyₕ = [past_keyₕ; {}ₕ]", head_symbol(made_of(Id::present_key, options)));
  if (step == Step::weighted_sum && options.past_length)
    words.formulas = {"head_outputₕ = Aₕ present_valueₕ"};
  if (step == Step::normalise) words.formulas = {norm_formula('q', facts)};
  if (step == Step::output && options.output_gate) behind_gate(words);
  if (step == Step::gate && facts.gate_bias) words.formulas.back() += " + b_g";
  if ((step == Step::project && !facts.projection_bias) || (step == Step::output && !facts.output_bias))
    without_bias(words);
  if (step == Step::choose && options.indexer)
    words.formulas.back() = fmt::format("the {} largest of each row take part", options.indexer->k);
  if (step == Step::mask) add_mask_sentence(words, facts);
  if (step == Step::softmax && facts.sinks)
    words = {
        {"Aₕ = exp(maskedₕ − max) / (exp(sinkₕ − max) + Σ exp(maskedₕ − max))    along each row"},
        "Each row becomes weights that sum to less than 1: the sum in the denominator has one more term, the "
        "head's sink, which is the same in every row. No value belongs to it, so a head whose keys all "
        "score low adds little to the output."};
  if (step == Step::softmax) add_row_sentence(words, facts);
  // Three products, and the stage shows one of them.
  if (step == Step::project && words.formulas.size() == 3 && result == Id::q) words.formulas.resize(1);
  return words;
}

std::string step_question(Step step, const AttentionOptions& options) {
  if (is_latent(options) && step == Step::project)
    return "what is kept of a key row? one latent, from which its keys and values are made, and k_rot";
  if (is_latent(options) && step == Step::split_heads && has_rotary_embedding(options))
    return "when are the heads split? here; then the last R columns of each q are rotated";
  if (is_latent(options) && step == Step::past)
    return "what is not computed again? the latents of earlier tokens, from a cache";
  if (step == Step::split_heads && has_rotary_embedding(options) && options.qk_norm != QkNorm::per_head) {
    return projects(options.op)
               ? "when are the heads split? here; then q and k are rotated by their positions"
               : "where are the tokens? q and k are rotated by their positions";
  }
  if (step == Step::split_heads && options.clip_qkv)
    return fmt::format("when are the heads split? here; then numbers beyond ±{:g} are clipped",
                       *options.clip_qkv);
  const std::string question(step_entries()[static_cast<std::size_t>(step)].question);
  if (step == Step::normalise && options.qk_norm == QkNorm::whole)
    return "how long is a whole row of q and k, all heads together? here all get the same length";
  if (step == Step::mask && options.relative_bias)
    return "which keys may this query look at? and what does their distance add?";
  if (step != Step::scale || is_default_scale(options)) return question;
  if (options.scale && *options.scale == 1.0 && score_scale(options).steps.size() == 1)
    return "nothing is divided by √D here: how large are the scores?";
  return "not only divided by √D here: how large are the scores?";
}

std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
  const std::string place = fmt::format("{}: grad {}", entry.name, tensor_entry(picture.result).name);
  std::optional<StepWords> words =
      is_latent(facts.options) ? words_of_latents(place, facts.options) : std::nullopt;
  const bool of_latents = words.has_value();
  if (!words) words = own_words(place, facts.options);
  if (!words) return words;
  if (!has_rotary_embedding(facts.options)) without_rotation(*words);
  if (of_latents) return words;
  if (step == Step::scores && picture.left && reads_other_rows(*picture.left, facts.options)) {
    const std::string_view q = head_symbol(*picture.left);
    const std::string_view k = head_symbol(path_of_keys(facts.options).back());
    words->formulas = {fmt::format("grad {}ₕ = grad scoresₕ {}ₕ", q, k),
                       fmt::format("grad {}ₕ = grad scoresₕᵀ {}ₕ", k, q)};
  }
  if (step == Step::output && facts.options.output_gate) behind_gate(*words);
  if (picture.result == Id::q_normed) words->formulas = norm_gradient_formulas('q', facts);
  if (picture.result == Id::k_normed) words->formulas = norm_gradient_formulas('k', facts);
  if ((picture.result == Id::q_rotary || picture.result == Id::k_rotary) && facts.options.rotary_factor != 1.0)
    words->sentence +=
        fmt::format(" It is also multiplied by {:.4g}, as cos and sin were.", facts.options.rotary_factor);
  if (facts.options.mask_value && facts.blocks && step == Step::mask)
    words->sentence =
        "Addition leaves gradients unchanged. A blocked score was replaced by the fill value, so it gets no "
        "gradient.";
  if (facts.options.clip_qkv && step == Step::split_heads && picture.result == Id::q_heads)
    words->sentence =
        "The gradients of the heads are put back side by side; a clipped number gets no gradient.";
  return words;
}

}  // namespace headwise
