#include "core/export/mask_lines.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/relative_bias.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Conditions that block a score, and numbers that are added to it: of whole arrays, or of one cell, where the
// style has functions for it.
class MaskLines {
 public:
  MaskLines(const CodeDialect& dialect, const Trace& trace, bool by_cell)
      : dialect_(dialect),
        by_cell_(by_cell),
        o_(trace.options),
        t_(trace.tensors),
        sizes_(attention_sizes(trace.options, trace.tensors)) {}

  std::vector<CodeLine> take();
  std::vector<CodeLine> take_position_bias();
  MaskFunctions functions(bool scaled);

 private:
  void add(std::string code, std::string comment = {}) {
    lines_.push_back({std::move(code), std::move(comment)});
  }
  // name = name + term; of a cell the first term is all there is yet.
  void gather(std::string_view name, const char* sign, const std::string& term, std::string comment = {}) {
    if (by_cell_ && !std::exchange(gathered_, true))
      add(fmt::format("{} = {}{}", name, sign == std::string_view("-") ? "-" : "", term), std::move(comment));
    else
      add(fmt::format("{0} = {0} {1} {2}", name, sign, term), std::move(comment));
  }
  void block(const std::string& where, std::string comment) {
    gather("blocked", "|", where, std::move(comment));
  }
  void add_bias(const std::string& term, const char* sign = "+") { gather("mask_bias", sign, term); }
  bool is_bool(const TensorPtr& mask) const { return mask && mask->dtype() == DType::boolean; }
  bool appends() const { return sizes_.all_keys > sizes_.keys; }
  bool adds_by_distance() const { return o_.alibi || o_.relative_bias; }
  std::string given_attn_mask() const;
  std::string cell_of_attn_mask() const;
  void add_indices(bool of_queries);
  void add_places();
  void add_blocked();
  void add_floats();
  void add_relative_bias(const RelativeBias& bias);
  void add_choice(const Indexer& indexer);
  std::string slopes() const;
  std::vector<CodeLine> body(const char* head, const std::string& result);

  const CodeDialect& dialect_;
  const bool by_cell_;
  const AttentionOptions& o_;
  const TraceTensors& t_;
  const AttentionSizes sizes_;
  bool gathered_ = false;  // of a function's lines: whether there is a first term
  std::vector<CodeLine> lines_;
};

// attn_mask in a shape that broadcasts to (N,H,L,S).
std::string MaskLines::given_attn_mask() const {
  if (by_cell_) return cell_of_attn_mask();
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

// Its number for one score; axes of size 1 have it for all.
std::string MaskLines::cell_of_attn_mask() const {
  const std::vector<Index> s = t_.attn_mask->shape().sizes();
  const bool keeps = o_.op == Op::scaled_dot_product_attention;
  const bool is_short = keeps && !s.empty() && s.back() != 1 && s.back() < sizes_.keys;
  std::vector<std::string> places{"b", "h", "q",
                                  is_short ? fmt::format("kv.clamp(max={})", s.back() - 1) : "kv"};
  if (!keeps && s.size() == 3) places = {"", fmt::format("b * {} + h", sizes_.heads), "q", "kv"};
  places.erase(places.begin(), places.end() - static_cast<std::ptrdiff_t>(s.size()));
  for (std::size_t axis = 0; keeps && axis < s.size(); ++axis)
    if (s[axis] == 1) places[axis] = "0";
  std::string cell = places.empty() ? "attn_mask" : fmt::format("attn_mask[{}]", join(places, ", "));
  if (is_short)  // the keys behind its columns are blocked
    cell = fmt::format("torch.where(kv < {}, {}, {})", s.back(), cell,
                       is_bool(t_.attn_mask) ? "False" : "-math.inf");
  return keeps && is_bool(t_.attn_mask) ? "~" + cell : cell;
}

// How far a key lies before its query.
void MaskLines::add_places() {
  const Index offset = causal_offset(o_, sizes_.queries, sizes_.keys);
  const std::string placed =
      t_.nonpad_kv_seqlen
          ? fmt::format(" + {} - {}", dialect_("of each batch", "nonpad_kv_seqlen"), sizes_.queries)
      : offset == 0 ? ""
                    : fmt::format(" + {}", offset);
  add(fmt::format("back = {}{} - {}", dialect_("query place"), placed, dialect_("key place")),
      "how far a key lies before its query");
}

void MaskLines::add_blocked() {
  if (is_bool(t_.attn_mask))
    block(given_attn_mask(), o_.op == Op::scaled_dot_product_attention ? "True takes part" : "True is blocked");
  if (is_bool(t_.key_padding_mask)) block(dialect_("of each key", "key_padding_mask"), "True is ignored");
  const std::string key = dialect_("key place");
  if (t_.valid_lens) {
    const bool per_query = t_.valid_lens->shape().rank() == 2;
    block(
        fmt::format("({} >= {})", key, dialect_(per_query ? "of each query" : "of each batch", "valid_lens")),
        "keys from the length on");
  }
  if (t_.nonpad_kv_seqlen)
    block(fmt::format("({} >= {})", key, dialect_("of each batch", "nonpad_kv_seqlen")),
          "keys that are not there");
  if (by_cell_ ? seen_by_position(o_).bounds() : depends_on_distance(o_)) add_places();
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
  add("position_bias = " + dialect_("of buckets", "relative_attention_bias_weight", "bucket"));
}

// Of the keys that are left the k with the largest scores, of equal ones the first.
void MaskLines::add_choice(const Indexer& indexer) {
  add("full_bias = mask_bias", "without the indexer's choice");
  add("left = " + dialect_("scores that are left", "mask_bias", "indexer_scores"));
  add("chosen = " + dialect_("falses"));
  add(dialect_("set largest", "chosen", "left", indexer.k), "the indexer's choice, the same for all heads");
  add("mask_bias = " + dialect_("blocked unless", "mask_bias", "chosen"));
}

std::string MaskLines::slopes() const {
  std::string numbers;
  for (const double slope : alibi_slopes(sizes_.heads, o_.alibi_scale))
    numbers += fmt::format("{}{:.17g}", numbers.empty() ? "" : ", ", slope);
  return "slopes = " + dialect_("vector", numbers);
}

void MaskLines::add_floats() {
  if (t_.attn_mask && !is_bool(t_.attn_mask)) add_bias(given_attn_mask());
  if (t_.key_padding_mask && !is_bool(t_.key_padding_mask))
    add_bias(dialect_("of each key", "key_padding_mask"));
  if (o_.alibi) {
    const std::string distance =
        o_.is_causal ? dialect_("at least zero", "back") : dialect_("absolute", "back");
    add_bias(dialect_("as scores", "(" + dialect_("of each head", "slopes") + " * " + distance + ")"), "-");
  }
  if (o_.relative_bias) {
    add_relative_bias(*o_.relative_bias);
    add_bias(dialect_("as scores", "position_bias"));
  }
}

void MaskLines::add_indices(bool of_queries) {
  if (of_queries) add(fmt::format("i = {}[:, None]", dialect_("arange", sizes_.queries)));
  add("j = " + dialect_("arange", sizes_.keys));
}

std::vector<CodeLine> MaskLines::take_position_bias() {
  add_indices(true);
  add_places();
  add_relative_bias(*o_.relative_bias);
  return std::move(lines_);
}

std::vector<CodeLine> MaskLines::take() {
  if (!t_.mask_bias) return {};
  const bool places = depends_on_distance(o_);
  if (places || t_.valid_lens || t_.nonpad_kv_seqlen) add_indices(places);
  add("blocked = " + dialect_("falses"));
  add_blocked();
  add("mask_bias = " + dialect_("zero or minus infinity", "blocked"));
  if (o_.alibi) add(slopes(), "ALiBi");
  add_floats();
  if (o_.indexer) add_choice(*o_.indexer);
  if (appends())
    add("mask_bias = " + dialect_("pad columns", "mask_bias", sizes_.all_keys - sizes_.keys, "0.0"),
        "appended columns are never blocked");
  return std::move(lines_);
}

// The lines so far as the body of a function.
std::vector<CodeLine> MaskLines::body(const char* head, const std::string& result) {
  std::vector<CodeLine> lines{{fmt::format("def {}:", head), {}}};
  if (appends()) {
    lines.push_back({"    kv = column.clamp(max=" + std::to_string(sizes_.keys - 1) + ")",
                     "appended columns are never blocked"});
  }
  for (CodeLine& line : lines_) lines.push_back({"    " + line.code, std::move(line.comment)});
  lines.push_back({"    return " + result, {}});
  lines_.clear();
  gathered_ = false;
  return lines;
}

MaskFunctions MaskLines::functions(bool scaled) {
  MaskFunctions made;
  const auto take_over = [&](std::vector<CodeLine> lines) {
    for (CodeLine& line : lines) made.lines.push_back(std::move(line));
  };
  const std::string column = appends() ? "column" : "kv", is_key = fmt::format("(column < {})", sizes_.keys);
  const std::string arguments = "b, h, q, " + column;
  add_blocked();
  made.has_mask_mod = gathered_;
  if (gathered_)
    take_over(body(("mask_mod(" + arguments + ")").c_str(),
                   appends() ? "~(blocked & " + is_key + ")" : "~blocked"));
  if (o_.alibi) made.lines.push_back({slopes(), "ALiBi"});
  if (adds_by_distance()) add_places();
  add_floats();
  const bool adds = gathered_;
  std::string result = scaled ? "scaled(score)" : "score";
  if (adds) result += appends() ? " + torch.where(" + is_key + ", mask_bias, 0.0)" : " + mask_bias";
  if (o_.mask_value && (made.has_mask_mod || adds)) {
    std::string open = made.has_mask_mod ? "mask_mod(" + arguments + ")" : "";
    if (adds)
      open += fmt::format("{}((mask_bias > -math.inf){})", open.empty() ? "" : " & ",
                          appends() ? " | ~" + is_key : "");
    result = fmt::format("torch.where({}, {}, {})", open, result, *o_.mask_value);
  }
  made.has_score_mod = result != "score";
  if (made.has_score_mod) take_over(body(("score_mod(score, " + arguments + ")").c_str(), result));
  return made;
}

}  // namespace

std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace) {
  return MaskLines(dialect, trace, false).take();
}

std::vector<CodeLine> position_bias_lines(const CodeDialect& dialect, const Trace& trace) {
  return MaskLines(dialect, trace, false).take_position_bias();
}

MaskFunctions mask_functions(const CodeDialect& dialect, const Trace& trace, bool scaled) {
  return MaskLines(dialect, trace, true).functions(scaled);
}

}  // namespace headwise
