#include "app/panels/setup_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

using Labels = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> off_on{"off", "on"};
constexpr std::array<std::string_view, 2> input_sources{"random", "text"};
constexpr std::array<std::string_view, 2> parameter_sources{"random", "hand-made"};
constexpr std::array<std::string_view, 2> attention_kinds{"self", "cross"};
constexpr std::array<std::string_view, 2> alignments{"top left", "bottom right"};
constexpr std::array<std::string_view, 2> fully_masked{"NaN", "0"};

std::size_t list_size(std::int64_t size) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, 100'000));
}

// Another number of sequences: new ones have the length that all others have. Lengths that differ stay as
// they are, and the error tells.
void fit_valid_lens(Scenario& scenario) {
  MaskSpec& mask = scenario.mask;
  if (!mask.valid_lens || mask.valid_lens->empty() || mask.valid_lens_per_query) return;
  const std::vector<std::int64_t> first = mask.valid_lens->front();
  const bool same = std::all_of(mask.valid_lens->begin(), mask.valid_lens->end(),
                                [&](const auto& lens) { return lens == first; });
  if (same) mask.valid_lens->resize(list_size(scenario.inputs.batch), first);
}

// One frame of the setup: the rows, and what they ask for.
class Setup {
 public:
  Setup(const PanelContext& context, SetupState& state)
      : context_(context), widgets_(context.widgets()), state_(state), edited_(context.scenario) {}

  void draw_text_section();
  void draw_sizes();
  void draw_mask();
  void draw_scale_and_dropout();
  void draw_last_edit();
  void draw_notes();
  PanelAction take();

 private:
  const WidgetContext& widgets() const { return widgets_; }
  bool is_wrong(const char* id) const { return !context_.error.empty() && state_.edited_row == id; }
  void edited(const char* id, std::string label, bool continues) {
    state_.edited_row = id;
    action_.edit_label = std::move(label);
    action_.edit_continues = continues;
    changed_ = true;
  }
  // The sentence under a row: first of its own, then why its Scenario has no trace.
  void draw_errors(const char* id, const std::string& own) {
    if (!own.empty()) {
      error_line(widgets_, own);
    } else if (is_wrong(id)) {
      error_line(widgets_, context_.error);
    }
  }
  FieldResult integer(const RowLabel& label, std::int64_t& value);
  void optional_integer(const RowLabel& label, std::optional<std::int64_t>& value,
                        const std::string& derived);
  void number(const RowLabel& label, std::optional<double>& value, const std::string& derived);
  // True where the choice changed; the caller then edits and names the edit.
  bool choice(const RowLabel& label, Labels labels, int& chosen) {
    return choice_row(widgets_, label, labels, chosen);
  }
  void sentence(const RowLabel& label, std::string& text);

  const PanelContext& context_;
  WidgetContext widgets_;
  SetupState& state_;
  Scenario edited_;
  PanelAction action_;
  bool changed_ = false;
};

FieldResult Setup::integer(const RowLabel& label, std::int64_t& value) {
  std::optional<std::int64_t> typed = value;
  const FieldResult field =
      integer_row(widgets_, label, typed, {.wrong = is_wrong(label.id), .required = true});
  if (field.changed && typed) {
    value = *typed;
    edited(label.id, std::string(label.name), true);
  }
  draw_errors(label.id, field.error);
  return field;
}

void Setup::optional_integer(const RowLabel& label, std::optional<std::int64_t>& value,
                             const std::string& derived) {
  const FieldResult field =
      integer_row(widgets_, label, value, {.derived = derived, .wrong = is_wrong(label.id)});
  if (field.changed) edited(label.id, std::string(label.name), true);
  draw_errors(label.id, field.error);
}

void Setup::number(const RowLabel& label, std::optional<double>& value, const std::string& derived) {
  const FieldResult field =
      number_row(widgets_, label, value, {.derived = derived, .wrong = is_wrong(label.id)});
  if (field.changed) edited(label.id, std::string(label.name), true);
  draw_errors(label.id, field.error);
}

void Setup::sentence(const RowLabel& label, std::string& text) {
  const TextFieldResult field = text_field(
      widgets_, label.id, text, {.lines = 5, .wrong = is_wrong(label.id), .placeholder = "type a sentence"});
  ui_probe_item(label.id);
  tooltip(widgets_, label.tooltip);
  if (field.changed) edited(label.id, std::string(label.name), true);
  draw_errors(label.id, "");
}

void Setup::draw_text_section() {
  section_caption(widgets_, "TEXT");
  InputsSpec& in = edited_.inputs;
  const bool text = in.source == InputSource::text;
  if (text) {
    sentence({"setup/text", "text", "",
              "Your own sentence: words and punctuation become tokens, one row of the query each."},
             in.text);
  }
  int source = text ? 1 : in.source == InputSource::random ? 0 : -1;
  if (choice({"setup/source", "inputs", "",
              "Where query, key and value come from: seeded random numbers of variance 1, or the words of a "
              "text as "
              "seeded embeddings (N,L,E)."},
             input_sources, source)) {
    in.source = source == 1 ? InputSource::text : InputSource::random;
    if (in.source == InputSource::text && in.text.empty()) in.text = "The animal didn't cross the street";
    edited("setup/source", fmt::format("inputs from {}", source == 1 ? "text" : "random numbers"), false);
  }
  draw_errors("setup/source", "");

  int heads = edited_.parameters.source == ParameterSource::random      ? 0
              : edited_.parameters.source == ParameterSource::hand_made ? 1
                                                                        : -1;
  if (choice({"setup/parameters", "heads", "",
              "Where W_q, W_k, W_v and W_O come from. Hand-made heads have a reason that can be read off W_q "
              "and W_k: the "
              "word before, the same word, the first word, itself, the average. Random ones are as a fresh "
              "module has them."},
             parameter_sources, heads)) {
    edited_.parameters.source = heads == 1 ? ParameterSource::hand_made : ParameterSource::random;
    edited("setup/parameters", heads == 1 ? "hand-made heads" : "random parameters", false);
  }
  draw_errors("setup/parameters", "");

  if (text) {
    int positions = in.positions ? 1 : 0;
    if (choice({"setup/positions", "positions", "",
                "Sinusoidal positions in the embeddings. Without them attention knows no order: the same "
                "words in another "
                "order give the same rows in another order."},
               off_on, positions)) {
      in.positions = positions == 1;
      edited("setup/positions", fmt::format("positions {}", off_on[static_cast<std::size_t>(positions)]),
             false);
    }
    draw_errors("setup/positions", "");
  }

  const bool cross_now = text ? in.key_text.has_value() : !in.self_attention;
  int cross = cross_now ? 1 : 0;
  if (choice({"setup/attention", "attention", "",
              "Self: queries, keys and values are the same rows. Cross: keys and values come from a second "
              "sentence (S rows)."},
             attention_kinds, cross)) {
    in.self_attention = cross == 0;
    if (text && cross == 1) in.key_text = "The street was too wide";
    if (cross == 0) in.key_text.reset();
    edited("setup/attention", cross == 1 ? "cross-attention" : "self-attention", false);
  }
  draw_errors("setup/attention", "");
  if (text && in.key_text) {
    sentence(
        {"setup/key_text", "key text", "", "The second sentence: keys and values are its words, S rows."},
        *in.key_text);
  }
}

void Setup::draw_sizes() {
  section_caption(widgets_, "SIZES");
  AttentionSpec& a = edited_.attention;
  InputsSpec& in = edited_.inputs;
  const AttentionOptions& now = context_.trace.options;
  integer({"setup/embed_dim", "embed_dim", "E",
           "The width of the model: how many numbers a token has. query is (N,L,E)."},
          a.embed_dim);
  const FieldResult heads =
      integer({"setup/num_heads", "num_heads", "H",
               "How many heads look at the same time. H must divide E; each gets D = E/H columns."},
              a.num_heads);
  if (!std::exchange(state_.typing_heads, heads.focused) || !heads.focused) {
    state_.gains_before_typing = context_.scenario.head_gain;
  }
  if (heads.changed && state_.gains_before_typing) {
    edited_.head_gain = state_.gains_before_typing;
    edited_.head_gain->resize(list_size(a.num_heads), 1.0);
  }

  optional_integer(
      {"setup/num_kv_heads", "num_kv_heads", "G",
       "How many heads keys and values have; each serves H/G neighbouring query heads. G = H is multi-head, "
       "G = 1 multi-query attention. Empty: as many as num_heads."},
      a.num_kv_heads, std::to_string(a.num_heads));
  std::optional<std::int64_t> head_dim;
  integer_row(widgets_,
              {"setup/head_dim", "head_dim", a.head_dim ? "D" : "D = E/H",
               "The width of one head's q and k: embed_dim / num_heads, unless the scenario's file sets it."},
              head_dim, {.derived = std::to_string(now.head_dim), .read_only = true});
  const FieldResult batch = integer(
      {"setup/batch", "batch", "N", "How many sequences are computed at once. They do not see each other."},
      in.batch);
  if (batch.changed) fit_valid_lens(edited_);

  if (in.source != InputSource::text) {
    integer({"setup/query_length", "query length", "L", "How many rows the query has."}, in.query_length);
    if (!in.self_attention) {
      optional_integer({"setup/key_length", "key length", "S",
                        "How many rows key and value have. Empty: as many as the query."},
                       in.key_length, std::to_string(in.query_length));
    }
  }
}

void Setup::draw_mask() {
  section_caption(widgets_, "MASK");
  MaskSpec& mask = edited_.mask;
  int causal = mask.is_causal ? 1 : 0;
  if (choice({"setup/causal", "causal", "",
              "On: query i sees the keys j ≤ i only, so no word sees what comes after it. In this window "
              "blocked cells are "
              "hatched. torch.nn.MultiheadAttention says True for blocked, F.scaled_dot_product_attention "
              "says True for "
              "takes part."},
             off_on, causal)) {
    mask.is_causal = causal == 1;
    edited("setup/causal", fmt::format("causal mask {}", off_on[static_cast<std::size_t>(causal)]), false);
  }
  draw_errors("setup/causal", "");
  if (mask.is_causal) {
    int alignment = mask.causal_alignment == CausalAlignment::top_left ? 0 : 1;
    if (choice({"setup/alignment", "aligned", "",
                "Where the diagonal lies when L and S differ. Top left: j ≤ i. Bottom right: j ≤ i + S − L, "
                "so that the "
                "last query sees every key."},
               alignments, alignment)) {
      mask.causal_alignment = alignment == 0 ? CausalAlignment::top_left : CausalAlignment::bottom_right;
      edited("setup/alignment",
             fmt::format("causal mask aligned {}", alignments[static_cast<std::size_t>(alignment)]), false);
    }
    draw_errors("setup/alignment", "");
  }

  // One number for the whole batch; what a file says for each sequence or query by itself is kept until typed
  // over.
  std::optional<std::int64_t> valid_length;
  std::string derived = context_.trace.tensors.k_heads
                            ? std::to_string(context_.trace.tensors.k_heads->shape().size(2))
                            : std::string();
  if (mask.valid_lens && !mask.valid_lens_per_query && !mask.valid_lens->empty() &&
      !mask.valid_lens->front().empty()) {
    const std::vector<std::int64_t>& first = mask.valid_lens->front();
    bool same = true;
    for (const auto& lens : *mask.valid_lens) same = same && lens == first;
    if (same) valid_length = first.front();
  }
  if (mask.valid_lens && !valid_length) derived = "own each";
  optional_integer(
      {"setup/valid_length", "valid length", "",
       "Padding: keys from this position on are blocked for every query (key_padding_mask; d2l's valid_lens: "
       "key j takes part where j < length). Padded queries are not masked. Empty: all keys are valid."},
      valid_length, derived);
  if (changed_ && state_.edited_row == "setup/valid_length") {
    mask.valid_lens_per_query = false;
    mask.valid_lens.reset();
    if (valid_length) {
      mask.valid_lens.emplace(
          static_cast<std::size_t>(std::clamp<std::int64_t>(edited_.inputs.batch, 1, 100'000)),
          std::vector<std::int64_t>{*valid_length});
    }
  }

  optional_integer(
      {"setup/window", "window", "w",
       "Sliding window: query i sees the keys with |i − j| < w, itself counted; with the causal mask only "
       "those before it. Empty: no window."},
      mask.sliding_window, "none");

  const FullyMaskedRows by_default = edited_.op == Op::multi_head_attention && edited_.attention.need_weights
                                         ? FullyMaskedRows::nan
                                         : FullyMaskedRows::zero;
  int row = mask.fully_masked_rows.value_or(by_default) == FullyMaskedRows::nan ? 0 : 1;
  if (choice(
          {"setup/fully_masked_rows", "row with no key left", "",
           "What softmax makes of a query whose every key is blocked. NaN: torch.nn.MultiheadAttention with "
           "need_weights. 0: F.scaled_dot_product_attention since 2.5, and ONNX."},
          fully_masked, row)) {
    mask.fully_masked_rows = row == 0 ? FullyMaskedRows::nan : FullyMaskedRows::zero;
    edited("setup/fully_masked_rows", fmt::format("rows with no key left become {}", row == 0 ? "NaN" : "0"),
           false);
  }
  draw_errors("setup/fully_masked_rows", "");
}

void Setup::draw_scale_and_dropout() {
  section_caption(widgets_, "SCALE AND DROPOUT");
  AttentionSpec& a = edited_.attention;
  const AttentionOptions& now = context_.trace.options;
  const double derived = 1.0 / std::sqrt(static_cast<double>(std::max<Index>(now.head_dim, 1)));
  number({"setup/scale", "scale", "1/√D",
          "Every score is multiplied by this before the masks: scaled_scores = scale · scores. Empty: 1/√D, "
          "so that wide heads "
          "are no louder than narrow ones. 0 makes attention uniform."},
         a.scale, fmt::format("{:.4g}", derived));
  std::optional<double> dropout = a.dropout;
  const FieldResult field = number_row(widgets_,
                                       {"setup/dropout", "dropout", "p",
                                        "Each attention weight becomes 0 with probability p, and the "
                                        "survivors are divided by 1 − p. In [0,1]; 0 "
                                        "as outside training. Rows of dropped_weights need not sum to 1."},
                                       dropout, {.wrong = is_wrong("setup/dropout"), .required = true});
  if (field.changed && dropout) {
    a.dropout = *dropout;
    edited("setup/dropout", "dropout", true);
  }
  draw_errors("setup/dropout", field.error);
  if (a.dropout > 0.0) {
    std::optional<std::int64_t> seed = static_cast<std::int64_t>(a.dropout_seed);
    const FieldResult seeded =
        integer_row(widgets_,
                    {"setup/dropout_seed", "dropout seed", "",
                     "Which weights are dropped. The same seed drops the same ones on every machine."},
                    seed, {.wrong = is_wrong("setup/dropout_seed"), .required = true, .least = 0});
    if (seeded.changed && seed) {
      a.dropout_seed = static_cast<std::uint64_t>(*seed);
      edited("setup/dropout_seed", "dropout seed", true);
    }
    draw_errors("setup/dropout_seed", seeded.error);
  }
}

void Setup::draw_last_edit() {
  if (!context_.last_edit.empty()) {
    section_caption(widgets_, "CHANGED JUST NOW");
    dim_sentence(widgets_, context_.last_edit);
    ui_probe_item("setup/last_edit");
  }
}

// What the person should know of the numbers that are shown: fully masked rows, text that was cut.
void Setup::draw_notes() {
  std::vector<std::string> notes = context_.inputs.notes;
  notes.insert(notes.end(), context_.trace.warnings.begin(), context_.trace.warnings.end());
  if (notes.empty()) return;
  section_caption(widgets_, "PLEASE NOTE");
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(notes.size(), most); ++i) warning_line(widgets_, notes[i]);
  if (notes.size() > most) dim_text(widgets_, fmt::format("… and {} more", notes.size() - most));
}

PanelAction Setup::take() {
  if (changed_) action_.scenario = std::move(edited_);
  return std::move(action_);
}

}  // namespace

PanelAction draw_setup_panel(const PanelContext& context, SetupState& state) {
  Setup setup(context, state);
  setup.draw_text_section();
  setup.draw_sizes();
  setup.draw_mask();
  setup.draw_scale_and_dropout();
  setup.draw_last_edit();
  setup.draw_notes();
  return setup.take();
}

}  // namespace headwise
