#include "core/code/mask_lines.h"

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

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
  if (!keeps && s.size() == 3) {
    mask = dialect_.reshape(mask, fmt::format("{}, {}, {}, {}", sizes_.batch, sizes_.heads, s[1], s[2]));
  }
  if (keeps && !s.empty() && s.back() != 1 && s.back() < sizes_.keys) {
    mask = dialect_.pad_columns(mask, sizes_.keys - s.back(),
                                is_bool(t_.attn_mask) ? "False" : "-" + dialect_.infinity());
  }
  return keeps && is_bool(t_.attn_mask) ? "~" + mask : mask;
}

void MaskLines::add_blocked() {
  add("blocked = " + dialect_.falses());
  if (is_bool(t_.attn_mask)) {
    block(given_attn_mask(), o_.op == Op::scaled_dot_product_attention ? "True takes part" : "True is blocked");
  }
  if (is_bool(t_.key_padding_mask)) block("key_padding_mask[:, None, None, :]", "True is ignored");
  if (t_.valid_lens) {
    const bool per_query = t_.valid_lens->shape().rank() == 2;
    block(fmt::format("(j >= valid_lens[:, None, {}, None])", per_query ? ":" : "None"),
          "keys from the length on");
  }
  const Index offset = o_.causal_alignment == CausalAlignment::bottom_right ? sizes_.keys - sizes_.queries : 0;
  if (o_.is_causal || o_.sliding_window || o_.alibi) {
    add(fmt::format("back = i{} - j", offset == 0 ? "" : fmt::format(" + {}", offset)),
        "how far a key lies before its query");
  }
  if (o_.is_causal) block("(back < 0)", "causal");
  if (o_.sliding_window) {
    block(fmt::format("({} >= {})", dialect_.absolute("back"), *o_.sliding_window), "sliding window");
  }
}

void MaskLines::add_floats() {
  add("mask_bias = " + dialect_.added_zero_or_minus_infinity("blocked"));
  if (t_.attn_mask && !is_bool(t_.attn_mask)) add("mask_bias = mask_bias + " + given_attn_mask());
  if (t_.key_padding_mask && !is_bool(t_.key_padding_mask)) {
    add("mask_bias = mask_bias + key_padding_mask[:, None, None, :]");
  }
  if (o_.alibi) {
    std::string slopes;
    for (const double slope : alibi_slopes(sizes_.heads, o_.alibi_scale)) {
      slopes += fmt::format("{}{:.17g}", slopes.empty() ? "" : ", ", slope);
    }
    add("slopes = " + dialect_.vector(slopes), "ALiBi");
    const std::string distance = o_.is_causal ? dialect_.at_least_zero("back") : dialect_.absolute("back");
    add("mask_bias = mask_bias - " + dialect_.as_scores("(slopes[:, None, None] * " + distance + ")"));
  }
  if (sizes_.all_keys > sizes_.keys) {
    add("mask_bias = " + dialect_.pad_columns("mask_bias", sizes_.all_keys - sizes_.keys, "0.0"),
        "appended columns are never blocked");
  }
}

std::vector<CodeLine> MaskLines::take() {
  if (!t_.mask_bias) return {};
  const bool places = o_.is_causal || o_.sliding_window || o_.alibi;
  if (places || t_.valid_lens) {
    const std::string j = "j = " + dialect_.arange(sizes_.keys);
    if (places) add("i = " + dialect_.arange(sizes_.queries) + "[:, None]");
    add(j);
  }
  add_blocked();
  add_floats();
  return std::move(lines_);
}

}  // namespace

std::vector<CodeLine> mask_bias_lines(const CodeDialect& dialect, const Trace& trace) {
  return MaskLines(dialect, trace).take();
}

}  // namespace headwise
