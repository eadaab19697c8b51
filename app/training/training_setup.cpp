#include "app/training/training_setup.h"

#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel_frame.h"
#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr float buttons_height = 64.0f, column_gap = 36.0f;  // design units
constexpr std::array<std::string_view, 2> off_on{"off", "on"};

// The rows of a draft. Each changes it where the person does.
class DraftRows {
 public:
  DraftRows(const WidgetContext& widgets, TrainingDraft& draft) : widgets_(widgets), draft_(draft) {}

  TrainingDraft& draft() { return draft_; }
  TrainModelConfig& model() { return draft_.settings.model; }
  OptimiserConfig& optimiser() { return draft_.settings.optimiser; }
  bool changed() const { return changed_; }
  // A field shows something that is no number.
  bool is_mistyped() const { return is_mistyped_; }

  void caption(std::string_view words) { section_caption(widgets_, words); }

  bool integer(const RowLabel& label, Index& value, FieldOptions options) {
    std::optional<std::int64_t> held = value;
    options.required = true;
    const FieldResult result = integer_row(widgets_, label, held, options);
    if (result.changed && held) value = *held;
    return took(result);
  }
  void optional_integer(const RowLabel& label, std::optional<Index>& value, const FieldOptions& options) {
    took(integer_row(widgets_, label, value, options));
  }
  void number(const RowLabel& label, double& value, FieldOptions options) {
    std::optional<double> held = value;
    options.required = true;
    const FieldResult result = number_row(widgets_, label, held, options);
    if (result.changed && held) value = *held;
    took(result);
  }
  void optional_number(const RowLabel& label, std::optional<double>& value, const FieldOptions& options) {
    took(number_row(widgets_, label, value, options));
  }
  void flag(const RowLabel& label, bool& value) { choice(label, off_on, value); }
  template <class Choice>
  bool choice(const RowLabel& label, std::span<const std::string_view> names, Choice& value) {
    const bool other = choice_row(widgets_, label, names, value);
    changed_ = changed_ || other;
    return other;
  }

 private:
  bool took(const FieldResult& result) {
    if (!result.error.empty()) error_line(widgets_, result.error);
    is_mistyped_ = is_mistyped_ || !result.error.empty();
    changed_ = changed_ || result.changed;
    return result.changed;
  }

  WidgetContext widgets_;
  TrainingDraft& draft_;
  bool changed_ = false, is_mistyped_ = false;
};

FieldOptions within(Index least, Index most, Index step = 1) {
  return {.drag_step = static_cast<double>(step),
          .drag_least = static_cast<double>(least),
          .drag_most = static_cast<double>(most)};
}

void draw_task_rows(DraftRows& rows) {
  rows.caption("TASK");
  TaskSource& source = rows.draft().source;
  FieldOptions length, symbols;
  std::string usual_length, usual_symbols;
  if (source.file.empty()) {
    const TaskSizeRanges ranges = task_size_ranges(source.name);
    length = within(ranges.length.least, ranges.length.most, ranges.length.multiple);
    symbols = within(ranges.symbols.least, ranges.symbols.most);
    usual_length = fmt::format("{}", ranges.length.usual);
    usual_symbols = fmt::format("{}", ranges.symbols.usual);
    length.read_only = ranges.length.least == ranges.length.most;
  } else if (rows.draft().task) {
    length = within(1, 1024);
    length.read_only = source.file.ends_with(".json");
    symbols.read_only = true;
    usual_length = fmt::format("{}", rows.draft().task->length);
    usual_symbols = fmt::format("{}", rows.draft().task->vocabulary);
  }
  length.derived = usual_length;
  symbols.derived = usual_symbols;
  rows.optional_integer({"training/setup/length", "sequence length", "T",
                         "The number of tokens of an example. Empty: as usual for the task."},
                        source.sizes.length, length);
  rows.optional_integer(
      {"training/setup/symbols", "symbols", "",
       "The number of different words, numbers or keys. A file has the tokens that are in it. "
       "Empty: as usual for the task."},
      source.sizes.symbols, symbols);
}

void draw_size_rows(DraftRows& rows) {
  rows.caption("MODEL");
  TrainModelConfig& model = rows.model();
  constexpr std::array<std::string_view, 4> counts{"1", "2", "3", "4"};
  int layers = static_cast<int>(model.layers) - 1;
  if (rows.choice({"training/setup/layers", "layers", "",
                   "Each layer is attention and, behind it, the feed-forward. Induction needs two: one head "
                   "prepares what another one finds."},
                  counts, layers))
    model.layers = layers + 1;
  // A drag passes widths that the heads divide, and the other way round.
  // What was typed may be out of range, and is refused below.
  const Index step = model.head_width ? 1 : std::clamp<Index>(model.heads, 1, 16);
  rows.integer({"training/setup/width", "model width", "E", "The number of features of a token, 16 to 128."},
               model.width, within((16 + step - 1) / step * step, 128 / step * step, step));
  const std::vector<Index> head_stops = head_counts(model);
  Index heads = model.heads;
  if (rows.integer({"training/setup/heads", "heads", "H",
                    "Heads in parallel, 1 to 16. H must divide E, unless the head width is set."},
                   heads, {.drag_least = 1, .drag_stops = head_stops}))
    set_heads(model, heads);
  const std::vector<Index> group_stops = kv_head_counts(model);
  rows.integer({"training/setup/kv_heads", "key/value heads", "G",
                "Each serves H/G heads beside one another. G = H is multi-head attention, G = 1 multi-query "
                "attention. G must divide H."},
               model.kv_heads, {.drag_least = 1, .drag_stops = group_stops});
  const std::string usual_width =
      model.heads > 0 ? fmt::format("{}", model.width / model.heads) : std::string();
  FieldOptions head_width = within(1, 128);
  head_width.derived = usual_width;
  rows.optional_integer({"training/setup/head_width", "head width", "D",
                         "The features of a head's queries, keys and values, 1 to 128. Empty: E/H."},
                        model.head_width, head_width);
  FieldOptions latents = within(1, 128);
  latents.derived = "none";
  rows.optional_integer({"training/setup/latents", "latents", "C",
                         "Keys and values of all heads are made of this many numbers a token, as in "
                         "DeepSeek's models; needs G = H and no QK-norm. Empty: each head's own."},
                        model.latent_width, latents);
  rows.flag({"training/setup/feed_forward", "feed-forward", "",
             "Two linear maps with an activation between them, behind the attention of each layer. Off: "
             "attention alone."},
            model.feed_forward);
  if (!model.feed_forward) return;
  const std::string usual_inner =
      model.width > 0 && model.width <= 128 ? fmt::format("{}", 4 * model.width) : std::string();
  FieldOptions inner = within(1, 1024, 16);
  inner.derived = usual_inner;
  rows.optional_integer({"training/setup/feed_forward_width", "its width", "F",
                         "The width between its two linear maps, 1 to 1024. Empty: 4·E."},
                        model.feed_forward_width, inner);
  constexpr std::array<std::string_view, 2> activations{"ReLU", "GELU"};
  rows.choice({"training/setup/activation", "activation", "", "Between the two linear maps."}, activations,
              model.activation);
}

void draw_part_rows(DraftRows& rows) {
  rows.caption("ITS PARTS");
  TrainModelConfig& model = rows.model();
  constexpr std::array<std::string_view, 6> positions{"none",   "learned", "sinusoidal",
                                                      "rotary", "ALiBi",   "relative"};
  rows.choice(
      {"training/setup/positions", "positions", "",
       "How the model knows where a token stands. Without them only the causal mask tells it. Relative "
       "bias: each head learns what to add to its scores at each distance."},
      positions, model.positions);
  rows.flag(
      {"training/setup/causal", "causal mask", "",
       "Each token sees itself and those before it. Without the mask a model that predicts the next token "
       "can look at it."},
      model.causal);
  FieldOptions window = within(1, model.longest_sequence);
  window.derived = "all";
  rows.optional_integer({"training/setup/sliding_window", "window", "",
                         "Each token sees fewer places than this before it, and behind it if there is no "
                         "causal mask. Empty: all."},
                        model.sliding_window, window);
  rows.flag({"training/setup/scaled", "scale 1/√D", "", "Divides the scores by √D before the softmax."},
            model.scaled);
  rows.flag({"training/setup/qk_norm", "QK-norm", "",
             "Brings each head's rows of q and k to the length √D: divided by √D, no score then passes √D. "
             "There are no learned weights."},
            model.qk_norm);
  rows.flag({"training/setup/sink", "sink", "",
             "A learned score for each head, beside those of the keys. The weight that it takes goes to no "
             "value, so that a head that finds nothing has somewhere to rest."},
            model.sink);
  rows.flag(
      {"training/setup/output_gate", "output gate", "",
       "Multiplies each number of the heads' outputs by a gate between 0 and 1, computed from the token: "
       "σ(x·W_g)."},
      model.output_gate);
  rows.flag({"training/setup/out_projection", "output projection W_O", "",
             "Mixes what the heads found. Off: their outputs side by side are the output."},
            model.out_projection);
  rows.flag(
      {"training/setup/norms", "LayerNorm", "", "Before the attention, the feed-forward and the unembedding."},
      model.norms);
  constexpr std::array<std::string_view, 2> unembeddings{"free", "tied"};
  rows.choice({"training/setup/tied", "unembedding", "",
               "Tied: the same matrix as the embedding, so that reading and writing a token are one."},
              unembeddings, model.tied);
  constexpr std::array<std::string_view, 3> beginnings{"random", "equal", "equal but W_O"};
  int begin = !model.heads_begin_equal ? 0 : model.equal_out_projection ? 1 : 2;
  if (rows.choice(
          {"training/setup/beginning", "heads begin", "",
           "Equal: all as head 0, and they stay equal for ever. With random columns of W_O they part."},
          beginnings, begin)) {
    model.heads_begin_equal = begin > 0;
    model.equal_out_projection = begin != 2;
  }
}

void draw_training_rows(DraftRows& rows) {
  rows.caption("TRAINING");
  OptimiserConfig& optimiser = rows.optimiser();
  TrainingSettings& settings = rows.draft().settings;
  constexpr std::array<std::string_view, 4> kinds{"SGD", "momentum", "Adam", "AdamW"};
  rows.choice(
      {"training/setup/optimiser", "optimiser", "",
       "How a gradient becomes an update. SGD: w − lr·g. Momentum: by a decaying sum of the "
       "gradients. Adam and AdamW: by their running mean, divided by the root of that of their squares."},
      kinds, optimiser.kind);
  rows.number({"training/setup/learning_rate", "learning rate", "lr",
               "How far a step goes, above 0. Usual: 0.003 with Adam and AdamW; SGD needs much more."},
              optimiser.learning_rate, {.drag_step = 0.001, .drag_least = 0.001, .drag_most = 10.0});
  rows.number({"training/setup/weight_decay", "weight decay", "",
               "Draws every parameter towards 0 in each step. 0: none. Usual: 0.01."},
              optimiser.weight_decay, {.drag_step = 0.01, .drag_least = 0.0, .drag_most = 1.0});
  rows.optional_number({"training/setup/clip", "largest gradient norm", "",
                        "A longer gradient is scaled down to this length. Empty: never. Usual: 1."},
                       optimiser.clip_norm,
                       {.derived = "any", .drag_step = 0.1, .drag_least = 0.1, .drag_most = 100.0});
  rows.integer({"training/setup/warm_up", "warm-up steps", "",
                "The learning rate rises over these steps, and is whole after them. 0: none. Usual: 20."},
               optimiser.warm_up_steps, within(0, 10'000, 10));
  rows.optional_integer(
      {"training/setup/cosine", "falls to 0 by step", "",
       "The learning rate falls along half a cosine, to 0 at this step. Empty: it stays."},
      optimiser.cosine_steps,
      {.derived = "stays",
       .drag_step = 100.0,
       .drag_least = static_cast<double>(std::clamp<Index>(optimiser.warm_up_steps, 0, 9'999) + 1),
       .drag_most = 10'000.0});
  rows.number(
      {"training/setup/dropout", "dropout", "p",
       "The share of attention weights that are set to 0 at random while it trains, at least 0 and below 1."},
      rows.model().dropout, {.drag_step = 0.05, .drag_least = 0.0, .drag_most = 0.9});
  rows.integer({"training/setup/batch", "batch", "", "Sequences of a step, 1 to 4096. Usual: 64."},
               settings.batch, within(1, 4096, 8));
  auto seed = static_cast<Index>(settings.seed);
  if (rows.integer({"training/setup/seed", "seed", "",
                    "Decides how the parameters begin and which examples come. The same seed gives the same "
                    "training."},
                   seed, {.least = 0, .drag_least = 0.0, .drag_most = 1e6}))
    settings.seed = static_cast<std::uint64_t>(seed);
}

// What it comes to, or why it cannot be trained.
void draw_sum(const PanelContext& context, const LiveTraining& training, const TrainingDraft& draft,
              ImVec2 at, float width) {
  std::string text = draft.error;
  if (text.empty()) {
    text = fmt::format("{} parameters · at most {} of memory for its past", draft.parameters,
                       bytes_text(draft.most_bytes));
    if (training.reached() > 0)
      text += fmt::format(" · {} stays at step {}, in the list of tasks", training.name(), training.reached());
  }
  ImFont* font = context.fonts.small;
  context.painter().say(font, at, draft.error.empty() ? context.palette.text : context.palette.error,
                        fitted_text(text, font, width));
  ui_probe(draft.error.empty() ? "training/setup/sum" : "training/setup/error", at,
           {at.x + width, at.y + font->FontSize});
}

}  // namespace

TrainingSetupWish draw_training_setup(const PanelContext& context, const LiveTraining& training,
                                      TrainingSetupState& state, const RectF& area) {
  if (state.number != training.number()) {
    state.draft = draft_of(training);
    state.number = training.number();
  }
  DraftRows rows(context, state.draft);
  const float gap = context.px(column_gap);
  const float width = std::floor((float(area.width) - 2 * gap) / 3.0f);
  const float height = float(area.height) - context.px(buttons_height);
  const auto column = [&](int number, auto&& draw) {
    ImGui::SetCursorScreenPos({float(area.x) + float(number) * (width + gap), float(area.y)});
    ImGui::BeginChild(fmt::format("setup {}", number).c_str(), {width, height});
    draw();
    ImGui::EndChild();
  };
  column(0, [&] {
    draw_task_rows(rows);
    draw_size_rows(rows);
  });
  column(1, [&] { draw_part_rows(rows); });
  column(2, [&] { draw_training_rows(rows); });
  if (rows.changed()) weigh(state.draft);

  const float bottom = float(area.y) + height;
  draw_sum(context, training, state.draft, {float(area.x), bottom + context.px(6)}, float(area.width));
  TrainingSetupWish wish = TrainingSetupWish::none;
  ImGui::SetCursorScreenPos({float(area.x), bottom + context.px(30)});
  if (text_button(context, "begin", "Begin at step 0", ButtonLook::filled,
                  state.draft.error.empty() && !rows.is_mistyped()))
    wish = TrainingSetupWish::begin;
  named_item(context, "training/setup/begin",
             "Begins a training with these settings, paused before its first step.");
  ImGui::SameLine(0, context.px(8));
  if (text_button(context, "usual", "Usual for this task")) state.draft = usual_draft(state.draft.source);
  named_item(context, "training/setup/usual", "Sets all of this to what the task is usually learned with.");
  ImGui::SameLine(0, context.px(8));
  if (text_button(context, "close", "Back to the training", ButtonLook::plain))
    wish = TrainingSetupWish::close;
  named_item(context, "training/setup/close", "Nothing is changed (Escape).");
  return wish;
}

namespace {

constexpr std::string_view row_words = "Change one thing and train it beside:";
constexpr float answer_gap = 2.0f;  // design units
constexpr std::string_view more_words = "another change", one_word = "Remove the change";
// As buttons, in this order, as far as there is room; the list has all of them.
constexpr std::array buttons{TrainingChange::one_wide_head,  TrainingChange::no_scale,
                             TrainingChange::equal_heads,    TrainingChange::no_positions,
                             TrainingChange::no_causal_mask, TrainingChange::no_out_projection,
                             TrainingChange::one_key_head,   TrainingChange::high_learning_rate};

// The last button: in the colour of the second run.
void mark_as_trained(const PanelContext& context) {
  context.painter().outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), color_of_run(context.palette, 1),
                            context.px(2) * context.palette.stroke, context.px(4));
  ui_probe_item("training/chosen_change");
}

// What the change did, each in lines of that width.
std::vector<std::string> paragraphs(const PanelContext& context, const LiveTraining& training, float width) {
  std::vector<std::string> all{training.answer()->verdict};
  for (const std::string& reason : training.answer()->reasons) all.push_back(reason);
  for (std::string& each : all) each = with_line_breaks(each, context.fonts.small, width);
  return all;
}

}  // namespace

ChangesRowAction draw_training_changes(const PanelContext& context, const LiveTraining& training,
                                       TrainingViewState& state, const RectF& area) {
  ChangesRowAction action;
  ImFont* font = context.fonts.small;
  const TrainingSettings& settings = training.runs().front().settings;
  context.painter().say(font, {float(area.x), float(area.y) + context.px(5)}, context.palette.text_dim,
                        std::string(row_words));
  const float gap = context.px(6);
  float x = float(area.x) + width_of(font, row_words) + context.px(10);
  const float padding = context.px(22);  // of a button around its label, and a little more
  const bool beside = training.runs().size() > 1;
  const float list_width = drop_down_size(context, std::string(more_words)).x;
  const float end = float(area.x + area.width) - list_width -
                    (beside ? width_of(font, one_word) + padding + gap : 0.0f) - gap;
  for (const TrainingChange change : buttons) {
    if (!changed_settings(settings, change)) continue;
    const TrainingChangeEntry& entry = training_change_entry(change);
    const float width = width_of(context.fonts.sans, entry.label) + padding;
    if (x + width > end) continue;
    ImGui::SetCursorScreenPos({x, float(area.y)});
    const bool chosen = beside && training.runs()[1].change == change;
    const std::string name(entry.name);
    if (text_button(context, name.c_str(), entry.label)) action.begin = change;
    ui_probe_item("training/change/" + name);
    if (chosen) mark_as_trained(context);
    tooltip(context, entry.question);
    x = ImGui::GetItemRectMax().x + gap;
  }
  ImGui::SetCursorScreenPos({x, float(area.y)});
  std::vector<DropDownGroup> groups;
  for (const TrainingChangeEntry& entry : training_change_entries()) {
    if (!changed_settings(settings, entry.change)) continue;
    if (groups.empty() || groups.back().caption != entry.group)
      groups.push_back({std::string(entry.group), {}});
    groups.back().words.emplace_back(entry.label);
  }
  const DropDownResult chosen =
      drop_down(context, "training/changes", std::string(more_words), groups, state.changes);
  x = ImGui::GetItemRectMax().x + gap;
  if (chosen.chosen)
    for (const TrainingChangeEntry& entry : training_change_entries())
      if (entry.label == *chosen.chosen) action.begin = entry.change;
  if (!beside) return action;
  ImGui::SetCursorScreenPos({x, float(area.y)});
  action.end = text_button(context, "alone", one_word);
  named_item(context, "training/alone",
             "Shows the first model alone. The changed one goes on with its steps when you choose the change "
             "again.");
  return action;
}

float change_answer_height(const PanelContext& context, const LiveTraining& training, float width) {
  if (!training.answer()) return 0.0f;
  const ImFont* font = context.fonts.small;
  const float between = context.px(answer_gap) + 2.0f * ImGui::GetStyle().ItemSpacing.y;
  float height = 0.0f;
  for (const std::string& paragraph : paragraphs(context, training, width))
    height += font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, paragraph.c_str()).y + between;
  return height;
}

void draw_change_answer(const PanelContext& context, const LiveTraining& training, const RectF& area) {
  ImGui::SetCursorScreenPos(corner(area));
  // Each answer begins at its top.
  ImGui::BeginChild(fmt::format("answer {} {}", training.number(), training.step()).c_str(),
                    {float(area.width), float(area.height)});
  ImGui::PushFont(context.fonts.small);
  scroll_by_keys(context);
  if (training.runs().front().losses_from > 0) {
    dim_sentence(
        context,
        "What the change did is not known: the folder of this training has no curve.csv with the losses of "
        "its first steps.");
  } else if (!training.answer()) {
    dim_sentence(context, "To see here what the change did, pause (Space) when both are at the same step.");
  } else {
    const ImVec2 begin = ImGui::GetCursorScreenPos();
    for (const std::string& paragraph : paragraphs(context, training, ImGui::GetContentRegionAvail().x)) {
      ImGui::TextUnformatted(paragraph.c_str());
      ImGui::Dummy({1, context.px(answer_gap)});
    }
    ui_probe("training/answer_words", begin, ImGui::GetItemRectMax());
  }
  ImGui::PopFont();
  ImGui::EndChild();
  ui_probe(training.answer() ? "training/answer" : "training/no_answer", area);
}

}  // namespace headwise
