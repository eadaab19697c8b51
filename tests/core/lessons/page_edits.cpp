#include "tests/core/lessons/page_edits.h"

#include <fmt/format.h>

#include <limits>

#include "core/scenario/scenario_schema.h"

namespace headwise::lessons_test {
namespace {

// Visits one scenario and, at each key, makes copies of the page in which that key alone is another.
class Editor {
 public:
  Editor(const Scenario& page, const Trace& trace, std::vector<PageEdit>& edits)
      : page_(page), trace_(trace), edits_(edits) {}

  Scenario work;  // the copy that is visited; equal to the page between two edits

  template <class Member, class... Range>
  void field(std::string_view section, std::string_view key, Member& member, const Range&...) {
    const std::string name = section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
    vary(name, member);
  }
  void field(std::string_view, std::string_view key, std::optional<std::vector<double>>& list, const char*) {
    if (key != "gain") return;  // the frequencies of a rotation go with a model's file
    const auto heads = static_cast<std::size_t>(trace_.options.num_heads);
    for (std::size_t head = 0; head < heads; ++head) {
      std::vector<double> gains = page_.head_gain.value_or(std::vector<double>(heads, 1.0));
      gains.resize(heads, 1.0);
      gains[head] = gains[head] == 0.0 ? 1.0 : 0.0;
      set(fmt::format("mute or unmute head {}", head), list, std::optional(gains));
    }
    set("gains of 0", list, std::optional(std::vector<double>(heads, 0.0)));
    set("gains of −2", list, std::optional(std::vector<double>(heads, -2.0)));
    set("no gains", list, std::optional<std::vector<double>>());
  }
  void field(std::string_view, std::string_view, std::optional<RotaryScaling>& scaling) {
    std::optional<RotaryScaling> linear(std::in_place);
    linear->factor = 4.0;
    set("RoPE scaled by 4", scaling, linear);
    set("RoPE as it is", scaling, std::optional<RotaryScaling>());
  }
  void field(std::string_view, std::string_view, std::optional<RelativeBias>& bias) {
    set("no relative bias", bias, std::optional<RelativeBias>());
    set("relative bias", bias, std::optional<RelativeBias>(std::in_place));
    set("relative bias of few buckets", bias, std::optional(RelativeBias{4, 2, false}));
  }
  void field(std::string_view, std::string_view, std::optional<Indexer>& indexer) {
    set("no indexer", indexer, std::optional<Indexer>());
    set("an indexer", indexer, std::optional(Indexer{2, 64, 3}));
  }
  void valid_lens(std::string_view, std::string_view, MaskSpec& mask) {
    for (const std::int64_t length : {0, 1, 3, 5, 12})
      set(fmt::format("valid_lens {}", length), mask.valid_lens,
          std::optional(std::vector<std::vector<std::int64_t>>{{length}}));
  }
  void field(std::string_view, std::string_view, std::optional<double>& fill, const FillValue&) {
    set("mask.value −inf", fill, std::optional<double>());
    for (const double value : {-1e9, -1e4, -100.0, -1.0, 0.0, 5.0})
      set(fmt::format("mask.value {}", value), fill, std::optional(value));
  }
  void field(std::string_view, std::string_view, std::optional<FrozenHeads>& frozen) {
    set("nothing frozen", frozen, std::optional<FrozenHeads>());
    const Tensor& weights = *trace_.tensors.attn_weights;
    const Shape& s = weights.shape();
    for (std::int64_t head = 0; head < s.size(1); ++head) {
      std::vector<double> held;
      for (Index n = 0; n < s.size(0); ++n)
        for (Index i = 0; i < s.size(2); ++i)
          for (Index j = 0; j < s.size(3); ++j) held.push_back(weights.at({n, head, i, j}));
      FrozenHeads one;
      one.heads = {head};
      one.attn_weights = std::make_shared<const Tensor>(
          Shape{{"N", s.size(0)}, {"F", 1}, {"L", s.size(2)}, {"S", s.size(3)}}, held);
      set(fmt::format("freeze head {}", head), frozen, std::optional(one));
    }
  }
  void field(std::string_view, std::string_view, std::vector<CellEdit>& edits) {
    set("no cells edited", edits, std::vector<CellEdit>());
    const auto one = [&](const char* tensor, std::vector<std::int64_t> index, double value) {
      std::vector<CellEdit> more = page_.edits;
      more.push_back({tensor, std::move(index), value});
      set(fmt::format("{} set to {}", tensor, value), edits, more);
    };
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (const double value : {0.0, 7.0, inf}) {
      one("query", {0, 8, 3}, value);
      one("in_proj_weight", {3, 3}, value);
      one("out_proj.weight", {0, 0}, value);
      one("out_proj.bias", {0}, value);
    }
    one("attn_mask", {0, 0}, 1.0);
    one("attn_mask", {8, 7}, 1.0);
  }

 private:
  template <class Member>
  void set(const std::string& what, Member& member, Member value) {
    const Member before = member;
    if (value == before) return;
    member = std::move(value);
    edits_.push_back({what, work});
    member = before;
  }

  void vary(const std::string& name, bool& member) { set(name + " the other way", member, !member); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void vary(const std::string& name, Enum& member) {
    for (std::size_t i = 0; i < ChoiceNames<Enum>::names.size(); ++i)
      set(fmt::format("{} {}", name, ChoiceNames<Enum>::names[i]), member, static_cast<Enum>(i));
  }
  void vary(const std::string& name, std::int64_t& member) {
    for (const std::int64_t value : {member / 2, member * 2, member + 1, std::int64_t{1}, std::int64_t{3}})
      set(fmt::format("{} {} → {}", name, member, value), member, value);
  }
  void vary(const std::string& name, std::uint64_t& member) { set(name + " + 1", member, member + 1); }
  void vary(const std::string& name, std::string& member) {
    if (name != "inputs.text") return;
    for (const char* text :
         {"The animal didn't cross the street although it was too tired", "the cat sat on it",
          "it it it it it it it it it it it it", "a", "one two three four",
          "the dog saw the cat and then the cat saw the dog again and again"})
      set(fmt::format("{} \"{}\"", name, text), member, std::string(text));
  }
  void vary(const std::string& name, double& member) {
    for (const double value : {member / 2, member * 2, 0.0, 0.01, 0.5, 1.0, 30.0})
      set(fmt::format("{} {} → {}", name, member, value), member, value);
  }
  void vary(const std::string& name, std::vector<double>& member) {
    for (const std::vector<double>& value : {std::vector<double>{}, {0.5}, {-3.0}})
      set(fmt::format("{} {}", name, value.empty() ? "null" : fmt::format("{}", value[0])), member, value);
  }
  void vary(const std::string& name, std::optional<std::int64_t>& member) {
    set(name + " null", member, std::optional<std::int64_t>());
    for (const std::int64_t value : {1, 2, 4, 5, 8, 16, 32, 64})
      set(fmt::format("{} {}", name, value), member, std::optional(value));
  }
  void vary(const std::string& name, std::optional<double>& member) {
    set(name + " null", member, std::optional<double>());
    for (const double value : {0.0, 0.25, 1.0, 3.0, 10000.0})
      set(fmt::format("{} {}", name, value), member, std::optional(value));
  }
  void vary(const std::string& name, std::optional<std::string>& member) {
    set(name + " null", member, std::optional<std::string>());
    if (name == "mask.preset")
      for (const char* mask : {"causal", "causal_bottom_right", "sliding_window:3", "prefix:4", "dilated:2:3",
                               "document:0,4", "padding:1", "padding:2", "padding:3", "padding:12"})
        set(fmt::format("{} {}", name, mask), member, std::optional<std::string>(mask));
    if (name == "inputs.key_text") set(name, member, std::optional<std::string>("the old sea was calm"));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void vary(const std::string& name, std::optional<Enum>& member) {
    set(name + " null", member, std::optional<Enum>());
    for (std::size_t i = 0; i < ChoiceNames<Enum>::names.size(); ++i)
      set(fmt::format("{} {}", name, ChoiceNames<Enum>::names[i]), member, std::optional(static_cast<Enum>(i)));
  }

  const Scenario& page_;
  const Trace& trace_;
  std::vector<PageEdit>& edits_;
};

}  // namespace

std::vector<PageEdit> page_edits(const Scenario& page, const Trace& trace) {
  std::vector<PageEdit> edits{{"nothing", page}};
  Editor editor(page, trace, edits);
  editor.work = page;
  visit_scenario(editor.work, editor);
  Scenario nothing_appended = page;
  nothing_appended.attention.add_bias_kv = nothing_appended.attention.add_zero_attn = false;
  edits.push_back({"nothing appended", nothing_appended});
  if (page.inputs.past_length > 0) {
    Scenario nothing_cached = page;
    nothing_cached.inputs.past_length = 0;
    edits.push_back({"nothing cached", nothing_cached});
  }
  if (page.mask.sliding_window) {
    Scenario other_window = page;
    other_window.mask.sliding_window.reset();
    other_window.mask.window_left = page.mask.sliding_window;
    edits.push_back({"window_left instead of sliding_window", other_window});
    other_window.mask.window_left.reset();
    other_window.mask.window_right = page.mask.sliding_window;
    edits.push_back({"window_right instead of sliding_window", other_window});
  }
  if (page.op == Op::multi_head_latent_attention) {
    Scenario own_keys = page;
    own_keys.op = Op::multi_head_attention;
    own_keys.attention.kv_lora_rank.reset();
    own_keys.attention.q_lora_rank.reset();
    own_keys.attention.qk_nope_head_dim.reset();
    own_keys.attention.qk_rope_head_dim.reset();
    edits.push_back({"no latent", own_keys});
  }
  for (const std::int64_t layer : {0, 1}) {
    Scenario model = page;
    model.parameters.source = ParameterSource::model;
    model.parameters.file = "builtin:sentences";
    model.parameters.layer = layer;
    edits.push_back({fmt::format("layer {} of the trained model", layer), model});
  }
  return edits;
}

}  // namespace headwise::lessons_test
