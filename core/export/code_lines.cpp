#include "core/export/code_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/memory_order.h"
#include "core/attention/output_gate.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/export/code_style.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// How all masks of a trace are combined into the one bias added to the scores, in Python.

class MaskLines {
 public:
  MaskLines(const CodeDialect& dialect, const Trace& trace)
      : dialect_(dialect),
        o_(trace.options),
        t_(trace.tensors),
        sizes_(attention_sizes(trace.options, trace.tensors)) {}

  std::vector<CodeLine> take();

 private:
  void add(std::string code, std::string comment = {}) {
    lines_.push_back({std::move(code), std::move(comment)});
  }
  void block(const std::string& where, std::string comment) {
    add("blocked = blocked | " + where, std::move(comment));
  }
  bool is_bool(const TensorPtr& mask) const { return mask && mask->dtype() == DType::boolean; }
  std::string given_attn_mask() const;
  void add_blocked();
  void add_floats();
  void add_relative_bias(const RelativeBias& bias);
  void add_choice(const Indexer& indexer);

  const CodeDialect& dialect_;
  const AttentionOptions& o_;
  const TraceTensors& t_;
  const AttentionSizes sizes_;
  std::vector<CodeLine> lines_;
};

// attn_mask in a shape that broadcasts to (N,H,L,S).
std::string MaskLines::given_attn_mask() const {
  const std::vector<Index> s = t_.attn_mask->shape().sizes();
  const bool keeps = o_.op == Op::scaled_dot_product_attention;
  std::string mask = "attn_mask";
  if (!keeps && s.size() == 3)
    mask = dialect_("reshape", mask, fmt::format("{}, {}, {}, {}", sizes_.batch, sizes_.heads, s[1], s[2]));
  if (keeps && !s.empty() && s.back() != 1 && s.back() < sizes_.keys)
    mask = dialect_("pad columns", mask, sizes_.keys - s.back(),
                    is_bool(t_.attn_mask) ? "False" : "-" + dialect_("infinity"));
  return keeps && is_bool(t_.attn_mask) ? "~" + mask : mask;
}

void MaskLines::add_blocked() {
  add("blocked = " + dialect_("falses"));
  if (is_bool(t_.attn_mask))
    block(given_attn_mask(), o_.op == Op::scaled_dot_product_attention ? "True takes part" : "True is blocked");
  if (is_bool(t_.key_padding_mask)) block("key_padding_mask[:, None, None, :]", "True is ignored");
  if (t_.valid_lens) {
    const bool per_query = t_.valid_lens->shape().rank() == 2;
    block(fmt::format("(j >= valid_lens[:, None, {}, None])", per_query ? ":" : "None"),
          "keys from the length on");
  }
  if (t_.nonpad_kv_seqlen) block("(j >= nonpad_kv_seqlen[:, None, None, None])", "keys that are not there");
  const Index offset = causal_offset(o_, sizes_.queries, sizes_.keys);
  const std::string placed = t_.nonpad_kv_seqlen
                                 ? fmt::format(" + nonpad_kv_seqlen[:, None, None, None] - {}", sizes_.queries)
                             : offset == 0 ? ""
                                           : fmt::format(" + {}", offset);
  if (depends_on_distance(o_))
    add(fmt::format("back = i{} - j", placed), "how far a key lies before its query");
  if (o_.is_causal) block("(back < 0)", "causal");
  if (const auto [behind, ahead] = window_of(o_); behind == ahead && behind < PositionWindow::unbounded) {
    block(fmt::format("({} >= {})", dialect_("absolute", "back"), behind + 1), "sliding window");
  } else {
    if (behind < PositionWindow::unbounded) block(fmt::format("(back > {})", behind), "too far behind");
    if (ahead < PositionWindow::unbounded) block(fmt::format("(-back > {})", ahead), "too far ahead");
  }
}

// T5's buckets: one for each of the near distances, logarithmic ones beyond.
void MaskLines::add_relative_bias(const RelativeBias& bias) {
  const Index buckets = bias.bidirectional ? bias.buckets / 2 : bias.buckets, exact = buckets / 2;
  const double ratio = std::log(static_cast<double>(bias.max_distance) / static_cast<double>(exact));
  add("distance = " + (bias.bidirectional ? dialect_("absolute", "back") : dialect_("at least zero", "back")),
      "relative bias, as in T5");
  add("further = " + dialect_("further bucket", "distance", exact, fmt::format("{:.17g}", ratio),
                              buckets - exact, buckets - 1));
  add("bucket = " + dialect_("choose", fmt::format("distance < {}", exact), "distance", "further"));
  if (bias.bidirectional) add(fmt::format("bucket = bucket + {} * (back < 0)", buckets), "keys ahead");
  add("position_bias = " + dialect_("heads first", "relative_attention_bias_weight[bucket]"));
  add("mask_bias = mask_bias + " + dialect_("as scores", "position_bias"));
}

// Of the keys that are left the k with the largest scores, of equal ones the first.
void MaskLines::add_choice(const Indexer& indexer) {
  add("full_bias = mask_bias", "without the indexer's choice");
  add("left = " + dialect_("scores that are left", "mask_bias", "indexer_scores"));
  add("chosen = " + dialect_("falses"));
  add(dialect_("set largest", "chosen", "left", indexer.k), "the indexer's choice, the same for all heads");
  add("mask_bias = " + dialect_("blocked unless", "mask_bias", "chosen"));
}

void MaskLines::add_floats() {
  add("mask_bias = " + dialect_("zero or minus infinity", "blocked"));
  if (t_.attn_mask && !is_bool(t_.attn_mask)) add("mask_bias = mask_bias + " + given_attn_mask());
  if (t_.key_padding_mask && !is_bool(t_.key_padding_mask))
    add("mask_bias = mask_bias + key_padding_mask[:, None, None, :]");
  if (o_.alibi) {
    std::string slopes;
    for (const double slope : alibi_slopes(sizes_.heads, o_.alibi_scale))
      slopes += fmt::format("{}{:.17g}", slopes.empty() ? "" : ", ", slope);
    add("slopes = " + dialect_("vector", slopes), "ALiBi");
    const std::string distance =
        o_.is_causal ? dialect_("at least zero", "back") : dialect_("absolute", "back");
    add("mask_bias = mask_bias - " + dialect_("as scores", "(slopes[:, None, None] * " + distance + ")"));
  }
  if (o_.relative_bias) add_relative_bias(*o_.relative_bias);
  if (o_.indexer) add_choice(*o_.indexer);
  if (sizes_.all_keys > sizes_.keys)
    add("mask_bias = " + dialect_("pad columns", "mask_bias", sizes_.all_keys - sizes_.keys, "0.0"),
        "appended columns are never blocked");
}

std::vector<CodeLine> MaskLines::take() {
  if (!t_.mask_bias) return {};
  const bool places = depends_on_distance(o_);
  if (places || t_.valid_lens || t_.nonpad_kv_seqlen) {
    const std::string j = "j = " + dialect_("arange", sizes_.keys);
    if (places) add("i = " + dialect_("arange", sizes_.queries) + "[:, None]");
    add(j);
  }
  add_blocked();
  add_floats();
  return std::move(lines_);
}

// The lines that compute mask_bias (N,H,L,S′), always with separate N and H. Empty if the trace has no mask.
std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace) {
  return MaskLines(dialect, trace).take();
}

using Id = TensorId;

std::string sizes_list(const std::vector<Index>& sizes) {
  return fmt::format("({})", join(sizes, ","));
}

// The shortest text that reads back as the same number.
std::string number(double value) {
  return fmt::format("{}", value);
}

class Lines {
 public:
  Lines(CodeStyle style, Step step, Id result, const Trace& trace)
      : style_(style),
        step_(step),
        result_(result),
        trace_(trace),
        t_(trace.tensors),
        o_(trace.options),
        sizes_(attention_sizes(trace.options, trace.tensors)),
        dialect_(style, sizes_) {}

  std::vector<CodeLine> take();

 private:
  void add(std::string code, std::string comment = {}) {
    lines_.push_back({std::move(code), std::move(comment)});
  }
  // result = expression
  void set(const std::string& expression, std::string comment = {}) {
    add(fmt::format("{} = {}", code_variable(result_), expression), std::move(comment));
  }
  std::string sizes(Id id) const { return trace_.tensor(id) ? sizes_list(folded_sizes(id)) : std::string(); }
  std::string linear(const std::string& layer, const std::string& x, const std::string& weight,
                     const std::string& bias) const {
    return bias.empty() ? dialect_("linear", layer, x, weight)
                        : dialect_("linear biased", layer, x, weight, bias);
  }
  std::vector<Index> folded_sizes(Id id) const;
  std::string swapped_sizes(Id id) const;
  std::string sizes_before_appending() const;
  std::string split_comment(Id from) const;
  std::string strides(const StridedLayout& layout) const;
  std::string concat_comment() const;
  std::string turned_strides() const;

  void inputs();
  void project();
  void project_latents();
  void split_latents();
  void normalise_latent(const std::string& rows, Id weight);
  void split_heads();
  void normalise();
  // The columns of a rotation by positions from `first` on; `width` columns in all.
  struct Turn {
    std::string rows;  // what is turned
    Index first, positions, width;
  };
  void turn();
  void turn(const Turn& of, const Rotation& rotation, const std::string& comment);
  void past();
  void choose();
  void scores();
  void scale();
  void mask();
  void freeze();
  void softmax();
  void weighted_sum();
  void concat();
  void gate();
  void output();

  CodeStyle style_;
  Step step_;
  Id result_;
  const Trace& trace_;
  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes sizes_;
  CodeDialect dialect_;
  std::vector<CodeLine> lines_;
};

// As the style has the tensor: d2l folds heads into the batch.
std::vector<Index> Lines::folded_sizes(Id id) const {
  std::vector<Index> s = trace_.tensor(id)->shape().sizes();
  if (s.size() == 4 && style_ == CodeStyle::d2l) {
    s[1] *= s[0];
    s.erase(s.begin());
  }
  return s;
}

// With the last two axes swapped, as in a transposed operand.
std::string Lines::swapped_sizes(Id id) const {
  std::vector<Index> s = folded_sizes(id);
  if (s.size() >= 2) std::swap(s[s.size() - 1], s[s.size() - 2]);
  return sizes_list(s);
}

// bias_k and the zero row are appended after the product.
std::string Lines::sizes_before_appending() const {
  std::vector<Index> s = trace_.tensor(result_)->shape().sizes();
  if (result_ != Id::q && s.size() == 3) s[1] = sizes_.new_keys();
  return sizes_list(s);
}

// Memory order: the split moves no numbers, it only reads them in another order.
std::string Lines::split_comment(Id from) const {
  const std::string shapes = fmt::format("{} → {}", sizes(from), sizes(result_));
  if (style_ == CodeStyle::d2l) return shapes;  // its last reshape copies
  return shapes + strides(memory_order(trace_, Step::split_heads, result_).states.back().layout);
}

// NumPy itself counts them in bytes.
std::string Lines::strides(const StridedLayout& layout) const {
  return fmt::format(", strides {}{}", layout.strides_text(), style_ == CodeStyle::numpy ? " in numbers" : "");
}

// The result of the transpose is not a view of (N,L,E): the last operation copies.
std::string Lines::concat_comment() const {
  const std::string shapes = fmt::format("{} → {}", sizes(Id::head_output), sizes(Id::concat));
  if (style_ == CodeStyle::d2l) return shapes;
  const MemoryOrder order = memory_order(trace_, Step::concat, Id::concat);
  if (order.refusal.empty()) return shapes + strides(order.states.back().layout);
  return shapes + strides(order.states[1].layout) + ", copied to " + order.states.back().layout.strides_text();
}

void Lines::inputs() {
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

// rows divided by their root mean square, times the weights
void Lines::normalise_latent(const std::string& rows, Id weight) {
  std::string line = rows + " / " + dialect_("root mean square", rows, number(o_.latent_norm_epsilon));
  if (trace_.tensor(weight)) line += " * " + code_variable(weight);
  set(line, sizes(result_));
}

void Lines::project_latents() {
  const auto layer = [&](const char* name, Id x, Id weight, std::optional<Id> bias = {}) {
    set(linear(name, code_variable(x), code_variable(weight),
               bias && trace_.tensor(*bias) ? code_variable(*bias) : std::string()),
        fmt::format("{} @ {} → {}", sizes(first_name(trace_, {x}).id), swapped_sizes(weight), sizes(result_)));
  };
  switch (result_) {
    case Id::q_a:
      return layer("W_DQ", Id::query, Id::q_a_weight, Id::q_a_bias);
    case Id::compressed_q:
      return normalise_latent("q_a", Id::q_a_norm_weight);
    case Id::q:
      return o_.q_lora_rank ? layer("W_UQ", Id::compressed_q, Id::q_b_weight)
                            : layer("W_q", Id::query, Id::q_proj_weight);
    case Id::kv_a:
      return layer("W_DKV", Id::key, Id::kv_a_weight, Id::kv_a_bias);
    case Id::compressed_kv:
      add(fmt::format("latent = kv_a[..., :{}]", sizes_.latent));
      return normalise_latent("latent", Id::kv_a_norm_weight);
    case Id::k_rot:
      set(dialect_("one head", fmt::format("kv_a[..., {}:]", sizes_.latent)),
          sizes(result_) + ", of all heads");
      if (const Rotation rotation = rotation_of_keys(o_))
        turn({code_variable(result_), 0, sizes_.keys, sizes_.rope}, rotation, sizes(result_));
      return;
    case Id::kv_b:
      return layer("W_UKV", Id::compressed_kv, Id::kv_b_weight);
    default:
      return;
  }
}

void Lines::split_latents() {
  const Index width = sizes_.nope + sizes_.v_head_dim;
  const auto of_heads = [&](const char* columns) {
    return fmt::format("{}[..., {}]", dialect_("split heads", "kv_b", sizes_.keys, sizes_.heads, width),
                       columns);
  };
  const std::string nope = std::to_string(sizes_.nope);
  switch (result_) {
    case Id::k_heads:
      return set(
          dialect_("side by side", of_heads((":" + nope).c_str()) + ", " + dialect_("for all heads", "k_rot")),
          sizes(result_));
    case Id::v_heads:
      return set(of_heads((nope + ":").c_str()), sizes(result_));
    case Id::q_absorbed: {
      const std::string q = code_variable(made_of(result_, o_));
      add(fmt::format("W_UK = {}[:, :{}]",
                      dialect_("reshape", "kv_b_proj_weight",
                               fmt::format("{}, {}, {}", sizes_.heads, width, sizes_.latent)),
                      nope),
          "of each head");
      return set(dialect_("side by side",
                          dialect_("times head weights", fmt::format("{}[..., :{}]", q, nope), "W_UK") +
                              fmt::format(", {}[..., {}:]", q, nope)),
                 sizes(result_));
    }
    case Id::k_absorbed:
      return set(dialect_("side by side", dialect_("one head", "compressed_kv") + ", k_rot"), sizes(result_));
    default:
      return;
  }
}

void Lines::project() {
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

void Lines::split_heads() {
  if (result_ == Id::q_rotary || result_ == Id::k_rotary) return turn();
  if (is_latent(o_) && result_ != Id::q_heads) return split_latents();
  const Id from = made_of(result_, o_);
  if (!trace_.tensor(result_) || !trace_.tensor(from)) return;
  const auto s = trace_.tensor(result_)->shape().sizes();  // (N,H,T,D)
  set(dialect_("split heads", code_variable(from), s[2], s[1], s[3]), split_comment(from));
  if (o_.clip_qkv) set(dialect_("clip", code_variable(result_), number(*o_.clip_qkv)), "clip_qkv");
}

// q_normed or k_normed, or what is rotated behind it.
void Lines::normalise() {
  if (result_ == Id::q_rotary || result_ == Id::k_rotary) return turn();
  const Id from = made_of(result_, o_);
  const std::string x = code_variable(from), epsilon = number(o_.qk_norm_epsilon);
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
                                     : fmt::format(" * ({} + {})", number(o_.qk_norm_offset), factor);
  }
  set(line, sizes(result_));
}

// What q_rotary or k_rotary is made of, each row rotated by its position.
void Lines::turn() {
  const bool of_queries = result_ == Id::q_rotary;
  turn({code_variable(made_of(result_, o_)),
        of_queries ? rotary_first_query(o_, sizes_.queries, sizes_.keys) : rotary_first_key(o_),
        of_queries ? sizes_.queries : sizes_.new_keys(), sizes_.head_dim},
       rotation_of(o_), sizes(result_));
}

// The columns of `of`, from rotation.first on.
void Lines::turn(const Turn& of, const Rotation& rotation, const std::string& comment) {
  const auto& [heads, first, positions, width] = of;
  const Index pairs = rotation.count(), begin = rotation.first, end = begin + 2 * pairs;
  const std::string frequencies =
      o_.rotary_base ? fmt::format("{} ** (-{} / {})", number(*o_.rotary_base),
                                   dialect_("range by", 0, rotary_width(o_), 2), rotary_width(o_))
                     : dialect_("doubles", join(rotation.inverse_frequencies, ", "));
  add(fmt::format("theta = {}[:, None] * {}", dialect_("range", first, first + positions), frequencies),
      fmt::format("({},{}), a position's angles", positions, pairs));
  const std::string longer = rotation.factor == 1.0 ? "" : number(rotation.factor) + " * ";
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
        fmt::format("column j is turned with column j + {}", pairs));
  } else {
    add(fmt::format("a, b = {0}[..., {2}:{1}:2], {0}[..., {3}:{1}:2]", heads, end, begin, begin + 1),
        begin % 2 == 0 ? "column 2j is turned with column 2j + 1"
                       : "column 2j + 1 is turned with column 2j + 2");
    made = dialect_("alternating", made, heads, 2 * pairs);
  }
  const bool is_part = begin > 0 || end < width;
  if (begin > 0) made = fmt::format("{}[..., :{}], {}", heads, begin, made);
  if (end < width) made += fmt::format(", {}[..., {}:]", heads, end);
  const bool joined = is_part || rotation.pairs == RotaryPairs::halves;
  set(joined ? dialect_("side by side", made) : made, comment);
}

// The indexer's tensors, whose heads have an axis of their own in every style.
// scaled_dot_product_attention is given all but the scores.
void Lines::choose() {
  const Indexer& indexer = *o_.indexer;
  const std::string shape = sizes_list(trace_.tensor(result_)->shape().sizes());
  if (result_ == Id::indexer_scores)
    return set(dialect_("indexer scores", "indexer_q", "indexer_k", "indexer_weights", indexer.width), shape);
  if (o_.op == Op::scaled_dot_product_attention) return;
  const bool of_queries = result_ == Id::indexer_q;
  const std::string name = code_variable(result_);
  if (result_ == Id::indexer_weights)
    return set(fmt::format("{} / {}", dialect_("product", "query", "indexer_weights_proj_weight"),
                           dialect_("sqrt", indexer.heads)),
               shape);
  set(of_queries ? dialect_("product", code_variable(indexer_source(o_)), "indexer_wq_b_weight")
                 : dialect_("product", "key", "indexer_wk_weight"));
  if (!of_queries) {
    std::string normed =
        dialect_("without mean", name) + " / " + dialect_("deviation", name, number(indexer_norm.epsilon));
    if (t_.indexer_k_norm_weight) normed += " * indexer_k_norm_weight";
    if (t_.indexer_k_norm_bias) normed += " + indexer_k_norm_bias";
    set(normed, "LayerNorm");
  }
  set(dialect_("indexer heads", name, of_queries ? indexer.heads : 1, indexer.width), shape);
  if (const Rotation rotation = indexer_rotation(o_))
    turn({name, of_queries ? rotary_first_query(o_, sizes_.queries, sizes_.keys) : rotary_first_key(o_),
          of_queries ? sizes_.queries : sizes_.new_keys(), indexer.width},
         rotation, shape);
}

// The keys or values of a cache, and those of this pass behind them.
void Lines::past() {
  const std::string cached = code_variable(result_ == Id::present_key ? Id::past_key : Id::past_value);
  set(dialect_("append to past", dialect_("in layout", cached), code_variable(made_of(result_, o_))),
      sizes(result_));
}

// For k_heads or k_rotary with its last two axes swapped, if it is not repeated first.
std::string Lines::turned_strides() const {
  const bool turns = style_ == CodeStyle::pytorch || style_ == CodeStyle::numpy;
  const MemoryOrder order = memory_order(trace_, Step::scores, Id::scores);
  const Id keys = path_of_keys(o_).back();
  if (!turns || order.result.tensor != keys || sizes_.heads != sizes_.kv_heads) return "";
  return fmt::format("; {}ᵀ{}", code_variable(keys), strides(order.states.back().layout).substr(1));
}

void Lines::scores() {
  if (!t_.scores) return;
  const Id queries = path_of_queries(o_).back(), keys = path_of_keys(o_).back();
  set(dialect_("scores", code_variable(queries), code_variable(keys)),
      fmt::format("{} @ {} → {}", sizes(queries), swapped_sizes(keys), sizes(Id::scores)) + turned_strides());
}

void Lines::scale() {
  const ScoreNotation notation{number, "*", [&](const std::string& x) { return dialect_("tanh", x); }};
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

void Lines::mask() {
  if (!t_.mask_bias) return set("scaled_scores", "no mask");
  for (CodeLine& line : mask_bias_lines(dialect_, trace_)) lines_.push_back(std::move(line));
  const std::string bias = dialect_("in layout", "mask_bias");
  const std::string sum = "scaled_scores + " + bias;
  if (o_.mask_value)
    return set(dialect_("where minus infinity", bias, number(*o_.mask_value), sum),
               "blocked scores are replaced");
  set(sum, sizes(Id::masked_scores));
}

// Frozen heads use the weights they were given.
void Lines::freeze() {
  if (o_.frozen_heads.empty()) return;
  const std::string heads = join(o_.frozen_heads, ", ");
  add(dialect_("freeze", code_variable(result_), heads, "frozen_weights"),
      fmt::format("head{} {} {} the weights held: {}", o_.frozen_heads.size() == 1 ? "" : "s", heads,
                  o_.frozen_heads.size() == 1 ? "keeps" : "keep", t_.frozen_weights->shape().sizes_text()));
}

void Lines::softmax() {
  const std::string scores = result_ == Id::full_weights ? "full_scores" : "masked_scores";
  if (result_ == Id::full_weights) {
    const std::string bias = dialect_("in layout", "full_bias"), sum = "scaled_scores + " + bias;
    add("full_scores = " +
            (o_.mask_value ? dialect_("where minus infinity", bias, number(*o_.mask_value), sum) : sum),
        "what the masks leave, chosen or not");
  }
  if (result_ == Id::dropped_weights) {
    set(fmt::format("attn_weights * {} {}", dialect_("in layout", "dropout_keep"),
                    o_.dropout < 1.0 ? "/ " + number(1.0 - o_.dropout) : "* 0.0"),
        fmt::format("p = {}; the weights that this seed keeps", number(o_.dropout)));
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

void Lines::weighted_sum() {
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

void Lines::concat() {
  if (!t_.concat || !t_.head_output) return;
  const std::string heads =
      t_.head_gain ? fmt::format("(head_output * {})", dialect_("gain", "heads_gain")) : "head_output";
  set(dialect_("concat", heads), concat_comment());
}

void Lines::gate() {
  if (result_ == Id::output_gate)
    return set(linear("W_g", "query", "output_gate_weight", t_.output_gate_bias ? "output_gate_bias" : ""),
               fmt::format("{} @ {} → {}", sizes(Id::query), swapped_sizes(Id::output_gate_weight),
                           sizes(Id::output_gate)));
  const bool by_head = sizes(Id::output_gate) != sizes(Id::concat);
  const std::string open = dialect_("sigmoid", "output_gate");
  set("concat * " + (by_head ? dialect_("repeat columns", open, sizes_.v_head_dim) : open), sizes(result_));
}

void Lines::output() {
  const Id weights = o_.dropout > 0 ? Id::dropped_weights : Id::attn_weights;
  if (o_.op == Op::scaled_dot_product_attention) {
    set(style_ == CodeStyle::d2l ? dialect_("with heads axis", "head_output") : "head_output", "(N,H,L,Dv)");
  } else if (result_ == Id::residual_output) {
    set("query + output", sizes(result_));
  } else if (result_ == Id::layer_norm_output) {
    set(dialect_("layer norm", t_.residual_output ? "residual_output" : "output", sizes_.embed_dim),
        sizes(result_));
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

std::vector<CodeLine> Lines::take() {
  using L = Lines;
  constexpr std::array<void (L::*)(), step_count> steps{
      // in the order of Step
      &L::inputs,       &L::project, &L::split_heads, &L::scores,    &L::scale, &L::mask, &L::softmax,
      &L::weighted_sum, &L::concat,  &L::output,      &L::normalise, &L::gate,  &L::past, &L::choose};
  (this->*steps[static_cast<std::size_t>(step_)])();
  return std::move(lines_);
}

}  // namespace

std::string code_variable(TensorId id) {
  std::string name(tensor_entry(id).name);
  std::ranges::replace(name, '.', '_');
  return name;
}

std::vector<CodeLine> code_lines(CodeStyle style, Step step, TensorId result, const Trace& trace) {
  return Lines(style, step, result, trace).take();
}

}  // namespace headwise
