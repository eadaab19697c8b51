#include "core/export/code_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/memory_order.h"
#include "core/attention/output_gate.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/export/code_style.h"
#include "core/export/mask_lines.h"
#include "core/export/step_lines.h"
#include "core/tensor/join.h"

namespace headwise {

using Id = TensorId;

std::string sizes_list(const std::vector<Index>& sizes) {
  return fmt::format("({})", join(sizes, ","));
}

std::string python_number(double value) {
  return fmt::format("{}", value);
}

// As the style has the tensor: d2l folds heads into the batch.
std::vector<Index> StepLines::folded_sizes(Id id) const {
  std::vector<Index> s = trace_.tensor(id)->shape().sizes();
  if (s.size() == 4 && style_ == CodeStyle::d2l) {
    s[1] *= s[0];
    s.erase(s.begin());
  }
  return s;
}

// With the last two axes swapped, as in a transposed operand.
std::string StepLines::swapped_sizes(Id id) const {
  std::vector<Index> s = folded_sizes(id);
  if (s.size() >= 2) std::swap(s[s.size() - 1], s[s.size() - 2]);
  return sizes_list(s);
}

// bias_k and the zero row are appended after the product.
std::string StepLines::sizes_before_appending() const {
  std::vector<Index> s = trace_.tensor(result_)->shape().sizes();
  if (result_ != Id::q && s.size() == 3) s[1] = sizes_.new_keys();
  return sizes_list(s);
}

// Memory order: the split moves no numbers, it only reads them in another order.
std::string StepLines::split_comment(Id from) const {
  const std::string shapes = fmt::format("{} → {}", sizes(from), sizes(result_));
  if (style_ == CodeStyle::d2l) return shapes;  // its last reshape copies
  return shapes + strides(memory_order(trace_, Step::split_heads, result_).states.back().layout);
}

// NumPy itself counts them in bytes.
std::string StepLines::strides(const StridedLayout& layout) const {
  return fmt::format(", strides {}{}", layout.strides_text(), style_ == CodeStyle::numpy ? " in numbers" : "");
}

// The result of the transpose is not a view of (N,L,E): the last operation copies.
std::string StepLines::concat_comment() const {
  const std::string shapes = fmt::format("{} → {}", sizes(Id::head_output), sizes(Id::concat));
  if (style_ == CodeStyle::d2l) return shapes;
  const MemoryOrder order = memory_order(trace_, Step::concat, Id::concat);
  if (order.refusal.empty()) return shapes + strides(order.states.back().layout);
  return shapes + strides(order.states[1].layout) + ", copied to " + order.states.back().layout.strides_text();
}

void StepLines::inputs() {
  if (o_.op == Op::scaled_dot_product_attention) {
    const Id ids[]{Id::q_heads, Id::k_heads, Id::v_heads};
    const auto* which = std::ranges::find(ids, result_);
    if (which == std::end(ids)) return;
    constexpr const char* names[]{"query", "key", "value"};
    return set(dialect_("in layout", names[which - ids]), sizes(result_));
  }
  if (is_latent(o_) && t_.key == t_.query) {
    add("key = query", fmt::format("{}, batch first", sizes(Id::query)));
  } else if (t_.key == t_.query && t_.value == t_.query) {
    add("key = value = query", fmt::format("{}, batch first", sizes(Id::query)));
  } else if (t_.value == t_.key && t_.key) {
    add("value = key", fmt::format("query {}, key {}", sizes(Id::query), sizes(Id::key)));
  } else {
    add(fmt::format("# {} {}", code_variable(result_), sizes(result_)));
  }
}

void StepLines::project() {
  if (is_latent(o_)) return project_latents();
  const auto pictures = step_pictures(Step::project, trace_);
  const auto found = std::ranges::find(pictures, result_, &StepPicture::result);
  if (found == pictures.end() || !found->left) return;
  const std::string name = code_variable(result_), from = code_variable(*found->left);
  if (!found->above) {
    set(dialect_("join heads", from), sizes_before_appending());
  } else {
    const Id weight = *found->above;
    const std::string rows = weight == Id::in_proj_weight
                                 ? fmt::format("[{}:{}]", found->above_row_begin, found->above_row_end)
                                 : std::string();
    // Separate weights share one bias vector, in the order q, k, v.
    const Index q_rows = sizes_.heads * sizes_.head_dim, k_rows = sizes_.kv_heads * sizes_.head_dim;
    const Index bias_begin = result_ == Id::q ? 0 : result_ == Id::k ? q_rows : q_rows + k_rows;
    const Index width = trace_.tensor(result_)->shape().sizes().back();
    const std::string bias =
        t_.in_proj_bias ? fmt::format("in_proj_bias[{}:{}]", bias_begin, bias_begin + width) : std::string();
    const Id input = result_ == Id::q ? Id::query : result_ == Id::k ? Id::key : Id::value;
    set(linear("W_" + name, code_variable(input), code_variable(weight) + rows, bias),
        fmt::format("{} @ ({},{})ᵀ → {}", sizes(*found->left), width, trace_.tensor(weight)->shape().size(1),
                    sizes_before_appending()));
  }
  if (result_ == Id::q) return;
  if (result_ == Id::k ? t_.bias_k : t_.bias_v)
    set(dialect_("append row", name, "bias_" + name), "one more key: bias_" + name);
  if (o_.add_zero_attn) set(dialect_("append zero row", name), "a row of zeros");
}

void StepLines::split_heads() {
  if (result_ == Id::q_rotary || result_ == Id::k_rotary) return turn();
  if (is_latent(o_) && result_ != Id::q_heads) return split_latents();
  const Id from = made_of(result_, o_);
  if (!trace_.tensor(result_) || !trace_.tensor(from)) return;
  const auto s = trace_.tensor(result_)->shape().sizes();  // (N,H,T,D)
  set(dialect_("split heads", code_variable(from), s[2], s[1], s[3]), split_comment(from));
  if (o_.clip_qkv) set(dialect_("clip", code_variable(result_), python_number(*o_.clip_qkv)), "clip_qkv");
}

// q_normed or k_normed, or what is rotated behind it.
void StepLines::normalise() {
  if (result_ == Id::q_rotary || result_ == Id::k_rotary) return turn();
  const Id from = made_of(result_, o_);
  const std::string x = code_variable(from), epsilon = python_number(o_.qk_norm_epsilon);
  const char* const divisor = o_.qk_norm_kind == NormKind::rms     ? "root mean square"
                              : o_.qk_norm_kind == NormKind::layer ? "deviation"
                                                                   : "length";
  std::string line = (o_.qk_norm_kind == NormKind::layer ? dialect_("without mean", x) : x) + " / " +
                     dialect_(divisor, x, epsilon);
  const Id weight_id = result_ == Id::q_normed ? Id::q_norm_weight : Id::k_norm_weight;
  if (const TensorPtr& weight = trace_.tensor(weight_id)) {
    std::string factor = code_variable(weight_id);
    if (weight->shape().rank() == 2) factor = dialect_("weights of heads", factor);
    line += o_.qk_norm_offset == 0.0 ? " * " + factor
                                     : fmt::format(" * ({} + {})", python_number(o_.qk_norm_offset), factor);
  }
  set(line, sizes(result_));
}

// What q_rotary or k_rotary is made of, each row rotated by its position.
void StepLines::turn() {
  const bool of_queries = result_ == Id::q_rotary;
  turn({code_variable(made_of(result_, o_)),
        of_queries ? rotary_first_query(o_, sizes_.queries, sizes_.keys) : rotary_first_key(o_),
        of_queries ? sizes_.queries : sizes_.new_keys(), sizes_.head_dim},
       rotation_of(o_), sizes(result_));
}

// The columns of `of`, from rotation.first on.
void StepLines::turn(const Turn& of, const Rotation& rotation, const std::string& comment) {
  const auto& [heads, first, positions, width] = of;
  const Index pairs = rotation.count(), begin = rotation.first, end = begin + 2 * pairs;
  const std::string frequencies =
      o_.rotary_base ? fmt::format("{} ** (-{} / {})", python_number(*o_.rotary_base),
                                   dialect_("range by", 0, rotary_width(o_), 2), rotary_width(o_))
                     : dialect_("doubles", join(rotation.inverse_frequencies, ", "));
  add(fmt::format("theta = {}[:, None] * {}", dialect_("range", first, first + positions), frequencies),
      fmt::format("({},{}), a position's angles", positions, pairs));
  const std::string longer = rotation.factor == 1.0 ? "" : python_number(rotation.factor) + " * ";
  const auto of_theta = [&](const char* function) {
    return dialect_(
        "in type of",
        longer.empty() ? dialect_(function, "theta") : "(" + longer + dialect_(function, "theta") + ")", heads);
  };
  add(fmt::format("cos, sin = {}, {}", of_theta("cosine"), of_theta("sine")));
  std::string made = "a * cos - b * sin, b * cos + a * sin";
  if (rotation.pairs == RotaryPairs::halves) {
    add(fmt::format("a, b = {0}[..., {3}:{1}], {0}[..., {1}:{2}]", heads, begin + pairs, end,
                    begin == 0 ? "" : std::to_string(begin)),
        fmt::format("column j is rotated with column j + {}", pairs));
  } else {
    add(fmt::format("a, b = {0}[..., {2}:{1}:2], {0}[..., {3}:{1}:2]", heads, end, begin, begin + 1),
        begin % 2 == 0 ? "column 2j is rotated with column 2j + 1"
                       : "column 2j + 1 is rotated with column 2j + 2");
    made = dialect_("alternating", made, heads, 2 * pairs);
  }
  const bool is_part = begin > 0 || end < width;
  if (begin > 0) made = fmt::format("{}[..., :{}], {}", heads, begin, made);
  if (end < width) made += fmt::format(", {}[..., {}:]", heads, end);
  const bool joined = is_part || rotation.pairs == RotaryPairs::halves;
  set(joined ? dialect_("side by side", made) : made, comment);
}

// The keys or values of a cache, or its latents, which have no heads, and those of this pass behind them.
void StepLines::past() {
  const Id past = *past_before(result_);
  const bool heads = trace_.tensor(past)->shape().rank() == 4;
  const std::string cached = code_variable(past);
  set(dialect_("append to past", heads ? dialect_("in layout", cached) : cached,
               code_variable(made_of(result_, o_))),
      sizes(result_));
}

// For k_heads or k_rotary with its last two axes swapped, if it is not repeated first.
std::string StepLines::turned_strides() const {
  const bool turns = style_ == CodeStyle::pytorch || style_ == CodeStyle::numpy;
  const MemoryOrder order = memory_order(trace_, Step::scores, Id::scores);
  const Id keys = path_of_keys(o_).back();
  if (!turns || order.result.tensor != keys || sizes_.heads != sizes_.kv_heads) return "";
  return fmt::format("; {}ᵀ{}", code_variable(keys), strides(order.states.back().layout).substr(1));
}

void StepLines::scores() {
  if (!t_.scores) return;
  const Id queries = path_of_queries(o_).back(), keys = path_of_keys(o_).back();
  set(dialect_("scores", code_variable(queries), code_variable(keys)),
      fmt::format("{} @ {} → {}", sizes(queries), swapped_sizes(keys), sizes(Id::scores)) + turned_strides());
}

void StepLines::scale() {
  const ScoreNotation notation{python_number, "*", [&](const std::string& x) { return dialect_("tanh", x); }};
  const ScoreScale scale = score_scale(o_);
  std::string line = "scores", comment = sizes(Id::scaled_scores);
  for (const ScoreStep& step : scale.steps) {
    if (!step.is_linear()) {
      set(line, comment);
      line = "scaled_scores";
      comment = step.option;
    }
    const bool derived = &step == &scale.steps.front() && !o_.scale;
    line = derived ? line + " / " + dialect_("sqrt", sizes_.head_dim) : step.text(line, notation);
  }
  set(line, comment);
}

bool StepLines::bias_is_apart() const {
  const auto pictures = step_pictures(Step::mask, trace_);
  return std::ranges::find(pictures, Id::mask_bias, &StepPicture::result) != pictures.end();
}

void StepLines::mask() {
  if (!t_.mask_bias) return set("scaled_scores", "no mask");
  if (result_ == Id::position_bias) {
    lines_ = position_bias_lines(dialect_, trace_);
    return;
  }
  if (result_ == Id::mask_bias || !bias_is_apart())
    for (CodeLine& line : mask_bias_lines(dialect_, trace_)) lines_.push_back(std::move(line));
  if (result_ == Id::mask_bias) return;
  const std::string bias = dialect_("in layout", "mask_bias");
  const std::string sum = "scaled_scores + " + bias;
  if (o_.mask_value)
    return set(dialect_("where minus infinity", bias, python_number(*o_.mask_value), sum),
               "blocked scores are replaced");
  set(sum, sizes(Id::masked_scores));
}

// Frozen heads use the weights they were given.
void StepLines::freeze() {
  if (o_.frozen_heads.empty()) return;
  const std::string heads = join(o_.frozen_heads, ", ");
  add(dialect_("freeze", code_variable(result_), heads, "frozen_weights"),
      fmt::format("head{} {} {} the weights held: {}", o_.frozen_heads.size() == 1 ? "" : "s", heads,
                  o_.frozen_heads.size() == 1 ? "keeps" : "keep", t_.frozen_weights->shape().sizes_text()));
}

void StepLines::softmax() {
  if (result_ == Id::lse)
    return set(dialect_("with heads axis", dialect_("log sum exp", "masked_scores")),
               sizes(result_) + ", without the sink");
  if (result_ == Id::sink_weights)
    return set(dialect_("sigmoid", "(sinks[:, None] - lse)"), "what the sink takes of each row");
  const std::string scores = result_ == Id::full_weights ? "full_scores" : "masked_scores";
  if (result_ == Id::full_weights) {
    const std::string bias = dialect_("in layout", "full_bias"), sum = "scaled_scores + " + bias;
    add("full_scores = " +
            (o_.mask_value ? dialect_("where minus infinity", bias, python_number(*o_.mask_value), sum) : sum),
        "what the masks leave, chosen or not");
  }
  if (result_ == Id::dropped_weights) {
    set(fmt::format("attn_weights * {} {}", dialect_("in layout", "dropout_keep"),
                    o_.dropout < 1.0 ? "/ " + python_number(1.0 - o_.dropout) : "* 0.0"),
        fmt::format("p = {}; the weights that this seed keeps", python_number(o_.dropout)));
    return freeze();
  }
  if (t_.sinks)
    set(dialect_("softmax with sink", scores, dialect_("gain", "sinks")),
        "one more score a row, whose weight is dropped");
  else
    set(dialect_("softmax", scores), "each row sums to 1");
  if (o_.fully_masked_rows == FullyMaskedRows::zero && t_.mask_bias && !t_.sinks)
    set(dialect_("zero empty rows", code_variable(result_), scores), "a fully masked row: 0");
  freeze();
}

void StepLines::weighted_sum() {
  if (!t_.head_output) return;
  const Id values = path_of_values(o_).back();
  if (result_ == Id::head_output && is_absorbed(o_)) {
    add(fmt::format(
            "W_UV = {}[:, {}:]",
            dialect_("reshape", "kv_b_proj_weight",
                     fmt::format("{}, {}, {}", sizes_.heads, sizes_.nope + sizes_.v_head_dim, sizes_.latent)),
            sizes_.nope),
        "of each head");
    return set(dialect_("times head weights transposed", "latent_output", "W_UV"), sizes(result_));
  }
  if (result_ == Id::latent_output)
    return set(dialect_("weighted sum", o_.dropout > 0 ? "dropped_weights" : "attn_weights",
                        dialect_("one head", code_variable(values))),
               sizes(result_));
  set(dialect_("weighted sum", o_.dropout > 0 ? "dropped_weights" : "attn_weights", code_variable(values)),
      fmt::format("{} @ {} → {}", sizes(Id::dropped_weights), sizes(values), sizes(Id::head_output)));
}

void StepLines::concat() {
  if (!t_.concat || !t_.head_output) return;
  const std::string heads =
      t_.head_gain ? fmt::format("(head_output * {})", dialect_("gain", "heads_gain")) : "head_output";
  set(dialect_("concat", heads), concat_comment());
}

void StepLines::gate() {
  if (result_ == Id::output_gate)
    return set(linear("W_g", "query", "output_gate_weight", t_.output_gate_bias ? "output_gate_bias" : ""),
               fmt::format("{} @ {} → {}", sizes(Id::query), swapped_sizes(Id::output_gate_weight),
                           sizes(Id::output_gate)));
  const bool by_head = sizes(Id::output_gate) != sizes(Id::concat);
  const std::string open = dialect_("sigmoid", "output_gate");
  set("concat * " + (by_head ? dialect_("repeat columns", open, sizes_.v_head_dim) : open), sizes(result_));
}

void StepLines::output() {
  const Id weights = o_.dropout > 0 ? Id::dropped_weights : Id::attn_weights;
  if (o_.op == Op::scaled_dot_product_attention) {
    set(style_ == CodeStyle::d2l ? dialect_("with heads axis", "head_output") : "head_output", "(N,H,L,Dv)");
  } else if (result_ == Id::residual_output) {
    set("query + output", sizes(result_));
  } else if (result_ == Id::layer_norm_output) {
    set(dialect_("layer norm", t_.residual_output ? "residual_output" : "output", sizes_.embed_dim),
        sizes(result_));
  } else if (!code_computes(style_, trace_, result_)) {
    add("# flex_attention returns no weights");
  } else if (result_ == Id::attn_output_weights) {
    const std::string name = code_variable(weights);
    if (o_.average_attn_weights) {
      set(dialect_("mean over heads", name), "the mean over heads");
    } else {
      set(dialect_("with heads axis", name), "every head's own");
    }
  } else if (t_.out_proj_weight) {
    const Id rows = rows_of_output(t_);
    set(linear("W_o", code_variable(rows), "out_proj_weight", t_.out_proj_bias ? "out_proj_bias" : ""),
        fmt::format("{} @ {} → {}", sizes(rows), swapped_sizes(Id::out_proj_weight), sizes(Id::output)));
  }
}

std::vector<CodeLine> StepLines::take() {
  using L = StepLines;
  struct Writers {
    void (L::*separate)();
    void (L::*fused)() = nullptr;  // null: as `separate`
  };
  constexpr std::array<Writers, step_count> steps{{// in the order of Step
                                                   {&L::inputs},
                                                   {&L::project},
                                                   {&L::split_heads},
                                                   {&L::scores, &L::fused_scores},
                                                   {&L::scale, &L::fused_scale},
                                                   {&L::mask, &L::fused_mask},
                                                   {&L::softmax, &L::fused_softmax},
                                                   {&L::weighted_sum, &L::fused_weighted_sum},
                                                   {&L::concat},
                                                   {&L::output},
                                                   {&L::normalise},
                                                   {&L::gate},
                                                   {&L::past},
                                                   {&L::choose}}};
  const Writers& step = steps[static_cast<std::size_t>(step_)];
  if (style_ == CodeStyle::flex && step_ == Step::scores && !is_fused())
    add("# flex_attention has no " + join(missing_in_flex(trace_), ", ") + ": as PyTorch writes it");
  (this->*(step.fused && is_fused() ? step.fused : step.separate))();
  return std::move(lines_);
}

std::string code_variable(TensorId id) {
  std::string name(tensor_entry(id).name);
  std::ranges::replace(name, '.', '_');
  return name;
}

std::vector<CodeLine> code_lines(CodeStyle style, Step step, TensorId result, const Trace& trace) {
  return StepLines(style, step, result, trace).take();
}

}  // namespace headwise
