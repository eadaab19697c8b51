#include "app/panels/typed_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/panels/setup_rows.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t most_offered = 6;
// Design units
constexpr float offered_height = 21.0f, offered_padding = 7.0f;
constexpr const char* take_key = "Tab";

std::shared_ptr<const TextModel> text_model(const SetupRows& rows) {
  const ModelInput* const input = rows.context().inputs.model_input.get();
  return input ? input->model : nullptr;
}

// Looks the words up again when the text or the model has changed.
void read_words(TypedWordsState& state, const std::shared_ptr<const TextModel>& model, const std::string& text) {
  if (model == state.model.lock() && text == state.text) return;
  state.model = model;
  state.text = text;
  state.hardly_known.clear();
  state.sentences.clear();
  if (!model || !model->tokenizer()) return;
  state.hardly_known = hardly_known_words(*model->tokenizer(), text);
  for (const HardlyKnownWord& word : state.hardly_known)
    state.sentences.push_back(knowledge_sentence(word, text));
}

std::vector<TextMark> marks_of(const TypedWordsState& state, const FocusOrder* focus, bool focused) {
  std::vector<TextMark> marks;
  for (std::size_t i = 0; i < state.hardly_known.size(); ++i) {
    const HardlyKnownWord& word = state.hardly_known[i];
    // A word still being typed is not yet one that the model does not know.
    if (focused && focus->cursor.at == word.end && !state.offered.empty()) continue;
    marks.push_back({word.begin, word.end, state.sentences[i]});
  }
  return marks;
}

bool pressed_on_list(const TypedWordsState& state) {
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
         Box(state.list_min, state.list_max).has(ImGui::GetIO().MousePos);
}

// Finds what to offer when the text was typed on; nothing once the cursor has moved elsewhere.
void find_offered(SetupRows& rows, TypedWordsState& state, const std::string& text,
                  const TextFieldResult& field) {
  const FocusOrder* const focus = rows.widgets().focus;
  const std::shared_ptr<const TextModel> model = text_model(rows);
  if (!state.offered.empty() && !field.focused && pressed_on_list(state)) return;  // a press takes the focus
  const bool moved = !field.focused || !focus || focus->cursor.has_selection() || focus->cursor.at != state.end;
  const bool closed = focus && focus->list == KeyedList::completions && key_pressed(Key::escape, false);
  if (!field.changed && (moved || closed)) state.offered.clear();
  if (!field.changed || !field.focused || !model || !model->tokenizer()) return;
  state.offered.clear();
  if (ImGui::GetIO().KeyCtrl) return;  // pasted or cut, not typed
  const std::size_t at = focus->cursor.at;
  const auto begin = typed_word_begin(text, at);
  if (!begin) return;
  state.begin = *begin;
  state.end = at;
  state.offered =
      completions(*model->tokenizer(), std::string_view(text).substr(*begin, at - *begin), most_offered);
}

void draw_offered_line(const WidgetContext& context, const std::string& word, float width, bool first) {
  const float height = std::round(context.px(offered_height)),
              padding = std::round(context.px(offered_padding));
  const ImVec2 min = ImGui::GetItemRectMin(), max{min.x + width, min.y + height};
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  if (ImGui::IsItemHovered()) paint.fill(min, max, palette.control_hover, context.px(3));
  const auto write = [&](ImFont* font, float x, Rgba8 color, const char* text) {
    paint.text(font, {std::round(x), std::round(0.5f * (min.y + max.y - font->FontSize))}, color, text);
  };
  write(context.fonts.sans, min.x + padding, palette.text, word.c_str());
  ImFont* small = context.fonts.small;
  if (first) write(small, max.x - padding - width_of(small, take_key), palette.text_dim, take_key);
}

// The word taken in this frame.
std::optional<std::string> draw_offered(const WidgetContext& context, TypedWordsState& state, ImVec2 below) {
  const float padding = std::round(context.px(offered_padding)), edge = std::round(context.px(4));
  float width = 0.0f;
  for (const std::string& word : state.offered) width = std::max(width, width_of(context.fonts.sans, word));
  width = std::ceil(width + 4 * padding + width_of(context.fonts.small, take_key));
  const float height = std::round(context.px(offered_height));
  const ImVec2 size{width + 2 * edge, height * float(state.offered.size()) + 2 * edge};
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float x = std::clamp(below.x - padding - edge, 0.0f, std::max(0.0f, screen.x - size.x));
  state.list_min = {std::round(x), std::round(below.y + context.px(4))};
  state.list_max = {state.list_min.x + size.x, state.list_min.y + size.y};
  ImGui::SetNextWindowPos(state.list_min);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {edge, edge});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, im_color(context.palette.panel));
  ImGui::Begin("completions", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing);
  std::optional<std::string> taken;
  for (std::size_t i = 0; i < state.offered.size(); ++i) {
    const std::string& word = state.offered[i];
    ImGui::InvisibleButton(word.c_str(), {width, height});
    ui_probe_item("completion/" + word);
    if (ImGui::IsItemClicked()) taken = word;
    draw_offered_line(context, word, width, i == 0);
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  FocusOrder& focus = *context.focus;
  if (focus.list == KeyedList::completions && key_pressed(Key::tab) && !ImGui::GetIO().KeyShift)
    taken = state.offered.front();
  focus.next_list = KeyedList::completions;
  return taken;
}

// Design units
constexpr float button_height = 18.0f, word_gap = 5.0f, line_gap = 4.0f, frame_padding = 8.0f;
constexpr const char* button_id = "setup/builder";

// Reads the patterns when another model is shown.
void find_patterns(SetupRows& rows) {
  SentenceBuilderState& state = rows.state().builder;
  const ModelInput* const input = rows.context().inputs.model_input.get();
  const std::shared_ptr<const TextModel> model = input ? input->model : nullptr;
  if (model == state.model.lock() && (model || (!state.patterns && state.refused.empty()))) return;
  state.model = model;
  state.patterns.reset();
  state.refused.clear();
  state.last.reset();
  if (!model) return;
  try {
    if (auto read = SentencePatterns::in_folder(model->files().folder()))
      state.patterns = std::make_shared<const SentencePatterns>(*std::move(read));
  } catch (const Error& error) {
    state.refused = error.what();
  }
}

// Puts words, chips and buttons side by side, and goes on in the next line where there is no room.
class WordFlow {
 public:
  WordFlow(const WidgetContext& context, float padding)
      : gap_(std::round(context.px(word_gap))),
        line_(drop_down_size(context, "").y),
        pitch_(line_ + std::round(context.px(line_gap))) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    left_ = at.x + padding;
    right_ = at.x + ImGui::GetContentRegionAvail().x - padding;
    x_ = left_;
    y_ = at.y + padding;
  }

  // Where something of this width stands; `joined`: without a gap before it.
  ImVec2 place(float width, bool joined = false) {
    const float before = x_ > left_ && !joined ? gap_ : 0.0f;
    if (x_ > left_ && x_ + before + width > right_) next_line();
    const ImVec2 at{x_ > left_ ? x_ + before : x_, y_};
    x_ = at.x + width;
    return at;
  }
  void next_line() {
    x_ = left_;
    y_ += pitch_;
  }
  float line_height() const { return line_; }
  float bottom() const { return y_ + line_; }

 private:
  float gap_, line_, pitch_;
  float left_ = 0.0f, right_ = 0.0f, x_ = 0.0f, y_ = 0.0f;
};

void draw_flowing_text(const WidgetContext& context, WordFlow& flow, const std::string& text) {
  ImFont* font = context.fonts.sans;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const ImVec2 place = flow.place(std::ceil(width_of(font, word)), word == ".");
    context.painter().text(font, {place.x, std::round(place.y + 0.5f * (flow.line_height() - font->FontSize))},
                           context.palette.text_dim, word);
    ui_text_probe(word, place);
    at = end + 1;
  }
}

struct PlaceWords {
  const char *id, *step_label;  // the latter of all steps through a list, which are one edit
  const char* tooltip;
};

const PlaceWords& words_of_place(SentencePlace place) {
  // In the order of SentencePlace.
  static constexpr PlaceWords all[] = {
      {"builder/subject", "subject of the sentence",
       "Who: a noun that the model knows well. The arrow keys go through the list."},
      {"builder/verb", "verb of the sentence",
       "What was not done: a verb that goes with these nouns in the model's training texts."},
      {"builder/object", "object of the sentence", "To what: the other noun that the pronoun may stand for."},
      {"builder/adjective", "adjective of the sentence",
       "Decides which noun the pronoun stands for: each adjective speaks of only one of the two."}};
  static_assert(std::size(all) == sentence_place_count);
  return all[static_cast<std::size_t>(place)];
}

std::vector<DropDownGroup> groups_of(const SentencePatterns& patterns, const PatternSentence& sentence,
                                     SentencePlace place) {
  std::vector<DropDownGroup> groups;
  for (WordGroup& group : patterns.choices(sentence, place))
    groups.push_back({group.of.empty() ? "" : fmt::format("the {} was too", group.of), std::move(group.words)});
  return groups;
}

// The sentence chosen in this frame.
struct BuilderChoice {
  std::optional<PatternSentence> sentence;
  std::string label;
  bool stepped = false;  // with the arrow keys: one undo step for all of them
};

void draw_pattern_chip(SetupRows& rows, WordFlow& flow, const PatternSentence& now, BuilderChoice& choice) {
  SentenceBuilderState& state = rows.state().builder;
  const std::vector<SentencePattern>& patterns = state.patterns->patterns();
  DropDownGroup names;
  for (const SentencePattern& pattern : patterns) names.words.push_back(pattern.name);
  const std::string& name = patterns[now.pattern].name;
  draw_flowing_text(rows.widgets(), flow, "About");
  ImGui::SetCursorScreenPos(flow.place(drop_down_size(rows.widgets(), name).x));
  const DropDownResult result =
      drop_down(rows.widgets(), "builder/pattern", name, std::span(&names, 1), state.list);
  tooltip(rows.widgets(), "The kind of sentence: who and what it is about.");
  if (!result.chosen) return;
  const auto at = std::ranges::find(patterns, *result.chosen, &SentencePattern::name);
  choice = {state.patterns->in_pattern(now, static_cast<std::size_t>(at - patterns.begin())),
            result.stepped ? "kind of sentence" : fmt::format("sentence about {}", *result.chosen),
            result.stepped};
}

void draw_places(SetupRows& rows, WordFlow& flow, const PatternSentence& now, BuilderChoice& choice) {
  SentenceBuilderState& state = rows.state().builder;
  for (const SentencePart& part : state.patterns->parts(now)) {
    if (!part.place) {
      draw_flowing_text(rows.widgets(), flow, part.text);
      continue;
    }
    ImGui::SetCursorScreenPos(flow.place(drop_down_size(rows.widgets(), part.text).x));
    const DropDownResult result = drop_down(rows.widgets(), words_of_place(*part.place).id, part.text,
                                            groups_of(*state.patterns, now, *part.place), state.list);
    tooltip(rows.widgets(), words_of_place(*part.place).tooltip);
    if (!result.chosen) continue;
    PatternSentence other = now;
    other.at(*part.place) = *result.chosen;
    choice = {other,
              result.stepped ? words_of_place(*part.place).step_label
                             : fmt::format("{} → {}", part.text, *result.chosen),
              result.stepped};
  }
}

// The next one drawn that differs from this one.
PatternSentence surprising(SentenceBuilderState& state, const PatternSentence& now) {
  constexpr int tries = 16;  // a model may have a single sentence
  PatternSentence drawn = now;
  for (int i = 0; i < tries && drawn == now; ++i) drawn = state.patterns->drawn(state.drawn++);
  return drawn;
}

void draw_builder_buttons(SetupRows& rows, const PatternSentence& now, bool in_text, BuilderChoice& choice) {
  const WidgetContext& widgets = rows.widgets();
  if (text_button(widgets, "builder/surprise", "Surprise me"))
    choice = {surprising(rows.state().builder, now), "random sentence", false};
  named_item(widgets, "builder/surprise", "Draws a sentence at random.");
  if (in_text) return;
  ImGui::SameLine();
  if (text_button(widgets, "builder/use", "Use it")) choice = {now, "built sentence", false};
  named_item(widgets, "builder/use", "Puts the sentence in place of your text. Undo brings your text back.");
}

}  // namespace

void draw_typed_text(SetupRows& rows, const RowLabel& label, std::string& text) {
  TypedWordsState& state = rows.state().typed_words;
  FocusOrder* const focus = rows.widgets().focus;
  const ImGuiID id = ImGui::GetID(label.id);
  read_words(state, text_model(rows), text);
  const bool focused = focus && focus->enabled && focus->focused == id;
  const TextFieldResult field = rows.sentence(label, text, marks_of(state, focus, focused));
  find_offered(rows, state, text, field);
  if (state.offered.empty() || !focus || !focus->enabled) return;
  const ImVec2 below = field.focused ? field.below_cursor : state.below;
  state.below = below;
  const std::optional<std::string> taken = draw_offered(rows.widgets(), state, below);
  if (!taken) return;
  text.replace(state.begin, state.end - state.begin, *taken);
  take_focus(*focus, id, state.begin + taken->size());
  focus->next_list = KeyedList::none;
  state.offered.clear();
  rows.edited(label.id, std::string(label.name), true);
}

void draw_builder_button(SetupRows& rows) {
  find_patterns(rows);
  SentenceBuilderState& state = rows.state().builder;
  if (!state.patterns) return;
  const WidgetContext& widgets = rows.widgets();
  const char* const label = state.open ? "Close builder" : "Build a sentence…";
  ImFont* font = widgets.fonts.small;
  const float padding = std::round(widgets.px(6)), height = std::round(widgets.px(button_height));
  const float width = std::ceil(width_of(font, label) + 2 * padding);
  const ImVec2 below = ImGui::GetCursorScreenPos(), line_end = ImGui::GetItemRectMax();
  const ImVec2 min{std::floor(below.x + ImGui::GetContentRegionAvail().x - width), line_end.y - height};
  const ImVec2 max{min.x + width, min.y + height};
  ImGui::SetCursorScreenPos(min);
  const auto [box, pressed, hovered, focused] = press_item(widgets, button_id, {width, height});
  named_item(widgets, button_id, "Choose the words of a sentence from lists of what this model knows well.");
  const Painter paint = widgets.painter();
  const Palette& palette = widgets.palette;
  paint.fill(min, max, hovered ? palette.control_hover : palette.control, widgets.px(4));
  paint.text(font, {min.x + padding, std::round(0.5f * (min.y + max.y - font->FontSize))}, palette.text, label);
  ImGui::SetCursorScreenPos(below);
  if (pressed) state.open = !state.open;
}

void draw_sentence_builder(SetupRows& rows) {
  SentenceBuilderState& state = rows.state().builder;
  if (!state.refused.empty()) warning_line(rows.widgets(), state.refused);
  if (!state.open || !state.patterns) return;
  std::string& text = rows.scenario().inputs.text;
  const std::optional<PatternSentence> in_text = state.patterns->recognised(text);
  if (in_text) state.last = in_text;
  if (!state.last) state.last = state.patterns->first(0);
  const PatternSentence now = *state.last;

  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float padding = std::round(rows.widgets().px(frame_padding)), width = ImGui::GetContentRegionAvail().x;
  WordFlow flow(rows.widgets(), padding);
  BuilderChoice choice;
  draw_pattern_chip(rows, flow, now, choice);
  flow.next_line();
  draw_places(rows, flow, now, choice);
  ImGui::SetCursorScreenPos({begin.x + padding, flow.bottom() + padding});
  draw_builder_buttons(rows, now, in_text.has_value(), choice);
  const ImVec2 end{begin.x + width, ImGui::GetItemRectMax().y + padding};
  rows.widgets().painter().outline(begin, end, rows.widgets().palette.border,
                                   std::max(1.0f, std::floor(rows.widgets().scale)), rows.widgets().px(4));
  ImGui::SetCursorScreenPos(begin);
  ImGui::Dummy({width, end.y - begin.y});
  if (!choice.sentence) return;
  state.last = choice.sentence;
  text = state.patterns->text(*choice.sentence);
  rows.edited("setup/text", choice.label, choice.stepped);
}

}  // namespace headwise
