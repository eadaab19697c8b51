#include "app/panels/named_text.h"

#include <imgui_internal.h>

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr struct {
  std::string_view letter, meaning;
} meanings[] = {{"N", "batch"},
                {"L", "query length: number of query rows"},
                {"P", "past length: keys and values of a cache"},
                {"S", "key length: number of key rows"},
                {"S′", "key length, with appended rows"},
                {"E", "model width, embed_dim"},
                {"H", "heads"},
                {"G", "key/value heads"},
                {"D", "head width of q and k, head_dim"},
                {"Dv", "head width of v"},
                {"C", "width of the latent, kv_lora_rank"},
                {"Cq", "width of a compressed query, q_lora_rank"},
                {"Dn", "columns of a head without a position"},
                {"R", "columns of a head that RoPE rotates"},
                {"kdim", "width of key"},
                {"vdim", "width of value"}};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// An ImGui item that takes no space: it can be tested for the mouse, and have a tooltip.
bool hovered_at(const char* kind, ImVec2 min, ImVec2 max) {
  const ImRect rect(min, max);
  ImGui::PushID(static_cast<int>(min.x));
  const ImGuiID id = ImGui::GetID(fmt::format("{}{}", kind, static_cast<int>(min.y)).c_str());
  ImGui::PopID();
  return ImGui::ItemAdd(rect, id) && ImGui::ItemHoverable(rect, id);
}

// What a letter stands for, "query length"; empty if the text is not a letter.
std::string_view letter_meaning(std::string_view letter) {
  const auto* found = std::ranges::find_if(meanings, [&](const auto& each) { return each.letter == letter; });
  return found == std::end(meanings) ? std::string_view() : found->meaning;
}

// Its size in this trace: from the first tensor with such an axis.
std::optional<Index> letter_size(const Trace& trace, std::string_view letter) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace.tensor(entry.id);
    if (!tensor) continue;
    for (const Axis& axis : tensor->shape().axes()) {
      if (axis.name == letter) return axis.size;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<LetterRun> shape_letters(std::string_view text) {
  constexpr std::string_view prime = "′";
  std::vector<LetterRun> runs;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (text.substr(end).starts_with(prime)) end += prime.size();
    const std::string_view word = text.substr(at, end - at);
    if (!letter_meaning(word).empty()) runs.push_back({at, end, std::string(word)});
    at = end;
  }
  return runs;
}

bool axis_has_letter(std::string_view axis, std::string_view letter) {
  constexpr std::string_view dot = "·";
  if (axis.starts_with("P+")) return letter == "P" || axis_has_letter(axis.substr(2), letter);
  const auto bare = [](std::string_view name) { return name == "S′" ? std::string_view("S") : name; };
  while (!axis.empty()) {
    const std::size_t end = std::min(axis.find(dot), axis.size());
    if (bare(axis.substr(0, end)) == bare(letter)) return true;
    axis.remove_prefix(std::min(end + dot.size(), axis.size()));
  }
  return false;
}

bool draw_shape_text(const PanelContext& context, ImFont* font, ImVec2 at, Rgba8 color,
                     const std::string& text, bool with_number) {
  const Painter paint = context.painter();
  paint.text(font, at, color, text);
  if (!context.pointing) return false;
  bool any = false;
  for (LetterRun& run : shape_letters(text)) {
    if (with_number && text.compare(run.end, 1, " ") == 0) {
      ++run.end;
      while (run.end < text.size() && std::isdigit(static_cast<unsigned char>(text[run.end])) != 0) ++run.end;
    }
    const float begin = at.x + width_of(font, std::string_view(text).substr(0, run.begin));
    const float end = at.x + width_of(font, std::string_view(text).substr(0, run.end));
    const ImVec2 min(begin - 1.0f, at.y - 1.0f), max(end + 1.0f, at.y + font->FontSize + 2.0f);
    ui_probe("letter/" + run.letter, min, max);
    bool here = hovered_at("letter", min, max);
    // Each letter occurs once in the list of sizes: there the keyboard points at it.
    if (with_number && focus_stop(context.focus, GImGui->LastItemData.ID, FocusKeys::press)) here = true;
    const bool lit = context.pointed && axis_has_letter(run.letter, context.pointed->axis);
    any = any || here;
    if (here) {
      context.pointing->axis = run.letter;
      const std::optional<Index> size = letter_size(context.trace, run.letter);
      tooltip(context, fmt::format("{}: {}{}", run.letter, letter_meaning(run.letter),
                                   size ? fmt::format(", {} here", *size) : ""));
    }
    if (!lit) continue;
    paint.text(font, {begin, at.y}, context.palette.focus, {text.data() + run.begin, text.data() + run.end});
    const float y = std::floor(at.y + font->FontSize + context.scale) + 0.5f;
    paint.line({begin, y}, {end, y}, context.palette.focus, context.scale);
  }
  return any;
}

void point_at_tensor(const PanelContext& context, TensorName tensor) {
  const TensorPtr values = context.trace.tensor(tensor);
  if (!values || !context.pointing || values->size() == 0) return;
  context.pointing->boxes.push_back({tensor,
                                     std::vector<Index>(static_cast<std::size_t>(values->shape().rank()), 0),
                                     values->shape().sizes()});
}

std::optional<TensorName> tensor_of_symbol(const Trace& trace, std::string_view symbol) {
  constexpr struct {
    std::string_view symbol;
    TensorId id;
  } symbols[] = {{"Qₕ", TensorId::q_heads},           {"Kₕ", TensorId::k_heads},
                 {"Vₕ", TensorId::v_heads},           {"Aₕ", TensorId::attn_weights},
                 {"scoresₕ", TensorId::scores},       {"scaledₕ", TensorId::scaled_scores},
                 {"maskedₕ", TensorId::masked_scores}};
  symbol.remove_prefix(std::min(symbol.rfind('(') + 1, symbol.size()));  // of "exp(maskedₕ" what is inside
  constexpr std::string_view transposed = "ᵀ", of_head = "ₕ";
  if (symbol.ends_with(transposed)) symbol.remove_suffix(transposed.size());
  std::optional<TensorName> name;
  for (const auto& each : symbols) {
    if (each.symbol == symbol) name = TensorName{each.id};
  }
  if (symbol.ends_with(of_head)) symbol.remove_suffix(of_head.size());
  if (!name) name = find_tensor_name(symbol);
  return name && trace.tensor(*name) ? name : std::nullopt;
}

bool name_tensor(const PanelContext& context, TensorName tensor, ImVec2 min, ImVec2 max) {
  const TensorPtr values = context.trace.tensor(tensor);
  if (!values || !context.pointing || !hovered_at("tensor", min, max)) return false;
  point_at_tensor(context, tensor);
  tooltip(context, fmt::format("{}: {}\n{} {}", to_string(tensor), tensor_entry(tensor.id).what,
                               values->shape().letters(), values->shape().sizes_text()));
  return true;
}

}  // namespace headwise
