#include "app/panels/heads_question.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"
#include "app/widgets/ui_probe.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Design units
constexpr float question_width = 500.0f, line_height = 26.0f, field_width = 84.0f;

std::string choice_text(const HeadChoice& choice) {
  std::string text = fmt::format("{} of {}", counted(choice.num_heads, "head"), choice.head_dim);
  if (choice.num_kv_heads != choice.num_heads)
    text += fmt::format(", {} for keys and values", choice.num_kv_heads);
  return text;
}

// "encoder.layer.0 of model.safetensors (BERT) is 384 wide, and its keys and values 128. …"
std::string question_text(const HeadsQuestion& question) {
  const AttentionLayer& layer = question.layer;
  std::string text = layer.name.empty()
                         ? fmt::format("{} ({})", question.model, layer.family->name)
                         : fmt::format("{} of {} ({})", layer.name, question.model, layer.family->name);
  const Index width = question.likeliest.num_heads * question.likeliest.head_dim;
  const Index kv_width = question.likeliest.num_kv_heads * question.likeliest.head_dim;
  text += fmt::format(" is {} wide", width);
  if (kv_width != width) text += fmt::format(", with keys and values {} wide", kv_width);
  return text +
         ". The arrays do not say how many heads that makes, and there is no config.json beside them. Check "
         "the model's documentation; heads are usually 64 or 128 wide, or 32 in small models.";
}

std::optional<HeadChoice> typed_choice(const HeadsQuestion& question) {
  Index heads = 0;
  const char* const end = question.typed.data() + question.typed.size();
  const auto [at, error] = std::from_chars(question.typed.data(), end, heads);
  return error == std::errc() && at == end ? choice_of_heads(question.layer, heads) : std::nullopt;
}

// The numbers that are possible when the typed one is not.
std::string no_choice_text(const HeadsQuestion& question) {
  std::string fitting;
  for (const HeadChoice& choice : head_choices(question.layer))
    fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", choice.num_heads);
  return fmt::format("These arrays can be split into {} heads.", fitting);
}

// A line of the list; true if it was pressed.
bool choice_line(const WidgetContext& context, const HeadsQuestion& question, std::size_t i, bool chosen) {
  const HeadChoice& choice = question.choices[i];
  ImGui::PushID(static_cast<int>(i));
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(1.0f, ImGui::GetContentRegionAvail().x), std::round(context.px(line_height))};
  const bool pressed = ImGui::InvisibleButton("choice", size);
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  if (chosen || ImGui::IsItemHovered())
    paint.fill(min, {min.x + size.x, min.y + size.y}, chosen ? palette.control : palette.control_hover,
               context.px(4));
  const ImVec2 dot{std::round(min.x + context.px(14)), std::round(min.y + 0.5f * size.y)};
  paint.ring(dot, context.px(5), chosen ? palette.focus : palette.text_dim, std::max(1.0f, context.px(1.2f)));
  if (chosen) paint.dot(dot, context.px(2.6f), palette.focus);
  ImFont* font = context.fonts.sans;
  const float y = std::round(min.y + 0.5f * (size.y - font->FontSize));
  const std::string text = choice_text(choice);
  paint.text(font, {min.x + context.px(28), y}, palette.text, text);
  if (choice == question.likeliest) {
    const float x = min.x + context.px(28) + width_of(font, text);
    paint.text(font, {std::round(x + context.px(12)), y}, palette.text_dim, "most likely");
  }
  ui_probe_item("heads_question/choice", static_cast<int>(i));
  ImGui::PopID();
  return pressed;
}

// The arrow keys go through the list, even while a number is typed. True if a line was pressed.
bool choose_head_by_keys(HeadsQuestion& question, const std::optional<HeadChoice>& typed) {
  const int by = key_pressed(Key::down) ? 1 : key_pressed(Key::up) ? -1 : 0;
  if (by == 0) return false;
  const auto at = typed ? std::ranges::find(question.choices, *typed) : question.choices.end();
  const int last = static_cast<int>(question.choices.size()) - 1;
  const int to = at == question.choices.end() ? (by > 0 ? 0 : last)
                                              : static_cast<int>(at - question.choices.begin()) + by;
  question.typed =
      std::to_string(question.choices[static_cast<std::size_t>(std::clamp(to, 0, last))].num_heads);
  return true;
}

}  // namespace

void ask_heads(HeadsQuestion& question, const Scenario& scenario, const std::string& path) {
  if (!projects(scenario.op)) return;
  const std::shared_ptr<const TextModel> model = TextModel::open(path);
  const auto layer = static_cast<std::size_t>(scenario.parameters.layer);
  if (layer >= model->layers().layers.size()) return;
  question.layer = model->layers().layers[layer];
  const std::optional<HeadChoice> likeliest = likeliest_heads(question.layer);
  if (!likeliest || !heads_are_assumed(scenario, question.layer)) return;
  question.open = question.appearing = true;
  question.scenario = scenario;
  question.model = model_name(path);
  question.choices = usual_head_choices(question.layer);
  question.likeliest = *likeliest;
  question.typed = std::to_string(likeliest->num_heads);
}

std::optional<HeadsAnswer> draw_heads_question(const WidgetContext& context, HeadsQuestion& question) {
  const bool was_open = question.open;
  if (!begin_overlay(context, "overlay/heads_question", "How many heads?", question.open,
                     {.width = question_width, .closes_outside = false}))
    return std::nullopt;
  dim_sentence(context, question_text(question));
  ImGui::Dummy({1, context.px(2)});
  bool listed = choose_head_by_keys(question, typed_choice(question));  // the number comes from the list
  std::optional<HeadChoice> chosen = typed_choice(question);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, context.px(1)});
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    if (choice_line(context, question, i, chosen == question.choices[i])) {
      question.typed = std::to_string(question.choices[i].num_heads);
      listed = true;
    }
  ImGui::PopStyleVar();
  ImGui::Dummy({1, context.px(4)});

  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImGuiID field_id = ImGui::GetID("number");
  listed |= std::exchange(question.appearing, false);
  if (context.focus && listed) {
    take_focus(*context.focus, field_id, question.typed.size());
    context.focus->cursor.anchor = 0;  // typing replaces it
  }
  const TextFieldResult field =
      text_field(context, "number", question.typed,
                 {.width = context.px(field_width), .wrong = !chosen, .placeholder = "a number"});
  ui_probe_item("heads_question/number");
  chosen = typed_choice(question);
  const std::string sentence = chosen ? choice_text(*chosen) : no_choice_text(question);
  const float beside = at.x + context.px(field_width + 12);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({beside, at.y + context.px(4)});
  if (chosen) {
    context.painter().text(context.fonts.sans, ImGui::GetCursorScreenPos(), context.palette.text_dim, sentence);
    ImGui::SetCursorScreenPos(below);
  } else {
    ImGui::SetCursorScreenPos(below);
    error_line(context, sentence);
  }
  ImGui::Dummy({1, context.px(6)});

  std::optional<HeadsAnswer> answer;
  bool accepted = field.entered && chosen;
  accepted |= text_button(context, "accept",
                          chosen ? fmt::format("Split into {}", counted(chosen->num_heads, "head")) : "Split",
                          ButtonLook::filled, chosen.has_value());
  ui_probe_item("heads_question/accept");
  ImGui::SameLine();
  if (text_button(context, "later", "Not now", ButtonLook::plain)) question.open = false;
  ui_probe_item("heads_question/later");
  if (accepted && chosen && question.open) answer = HeadsAnswer{chosen};
  if (was_open && !question.open) answer = HeadsAnswer{};
  if (answer) {
    question.open = false;
    ImGui::CloseCurrentPopup();
  }
  end_overlay();
  return answer;
}

}  // namespace headwise
