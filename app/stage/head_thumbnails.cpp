#include "app/stage/head_thumbnails.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "app/session/head_gains.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/lessons/head_statistics.h"
#include "core/model/heads/head_scores.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"

namespace headwise {

namespace {

constexpr Index longest_named_text = 128;

HeadName named(const HeadScores& scores) {
  const auto habit = head_habit(scores);
  if (!habit) return {};
  const std::string name = habit_name(habit->score), value = fmt::format("{:.2f}", habit->value);
  HeadName head{
      fmt::format("{} {}", name, value), fmt::format("{} {}", short_habit_name(habit->score), value), {}};
  head.reason =
      habit->score == HeadScore::entropy
          ? fmt::format("in this text it attends almost evenly: entropy {} of its maximum, over {} queries",
                        value, habit->queries)
          : fmt::format("in this text, {}: {} on average over {} queries (uniform attention: {:.2f})", name,
                        value, habit->queries, habit->uniform);
  return head;
}

constexpr std::array<std::string_view, 2> ways{"shared", "per head"};

constexpr std::size_t fewest_letters = 4;  // of a name that is cut
constexpr const char* shortest_caption = "heads: click to show";

bool fits(ImFont* font, const std::string& text, float width) {
  return width_of(font, text) <= width;
}

// An ImGui item over a rectangle.
struct Item {
  bool hovered = false, clicked = false, double_clicked = false;
};

Item item_over(const char* id, Index number, const RectF& rect) {
  ImGui::PushID(static_cast<int>(number));
  ImGui::SetCursorScreenPos(corner(rect));
  ImGui::InvisibleButton(id, ImVec2(std::max(1.0f, float(rect.width)), std::max(1.0f, float(rect.height))));
  ui_probe_item(id, static_cast<int>(number));
  const Item item{ImGui::IsItemHovered(), ImGui::IsItemClicked(),
                  ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)};
  ImGui::PopID();
  return item;
}

PanelAction edit(HeadEdit gain) {
  PanelAction action;
  action.scenario = std::move(gain.scenario);
  action.edit_label = std::move(gain.label);
  return action;
}

// Only the module joins heads with a gain.
bool has_gains(const PanelContext& context) {
  return projects(context.scenario.op);
}

// All thumbnails are one tab stop: the arrow keys select a head, Enter or Space mutes the selected one.
void work_by_keys(const PanelContext& context, const HeadGrid& grid, PanelAction& action) {
  const Index heads = context.trace.options.num_heads, now = context.selection.head;
  const RectF first = grid.thumbnail(0), last = grid.thumbnail(std::min(heads, grid.columns) - 1),
              lowest = grid.number_line(heads - 1);
  const ImVec2 max(far_corner(last).x, far_corner(lowest).y);
  // While a page asks for a head, its buttons are for the keys: moving on from head to head would answer.
  if (heads <= 0 || context.points_at_heads ||
      !focus_area(context.focus, ImGui::GetID("heads"), corner(first), max, FocusKeys::choose))
    return;
  Index head = now;
  if (key_pressed(Key::left)) --head;
  if (key_pressed(Key::right)) ++head;
  if (key_pressed(Key::up)) head -= grid.columns;
  if (key_pressed(Key::down)) head += grid.columns;
  if (key_pressed(Key::home)) head = 0;
  if (key_pressed(Key::end)) head = heads - 1;
  if (head != now && head >= 0 && head < heads) action.selection = looking_at_head(context, head);
  if (press_key_pressed() && has_gains(context)) action = edit(toggle_mute(context.scenario, now));
}

// The caption's text, in `width` pixels: for a trained head also what it does,
// where the header may lack room for it.
std::string caption_text(const PanelContext& context, float width) {
  ImFont* font = context.fonts.small;
  const std::string heads = context.selection.colors_by_head ? "heads, colour scale per head" : "heads";
  std::string caption = context.picture ? heads : shortest_caption;
  if (!context.picture) {
    for (const char* hint : {"", ": click to show", ": click to show, dot to mute",
                             ": click to show, dot to mute, double-click to solo"}) {
      const bool mutes = std::string_view(hint).find("mute") != std::string_view::npos;
      if ((!mutes || has_gains(context)) && fits(font, heads + hint, width)) caption = heads + hint;
    }
  }
  if (context.scenario.parameters.source != ParameterSource::model) return caption;
  const auto purpose = head_description(context, context.selection.head);
  if (!purpose) return caption;
  const std::string label = fmt::format("head {}: {} · {}", context.selection.head, purpose->name, caption);
  return fits(font, label, width) ? label : caption;
}

// Above the thumbnails; at the end of its line the choice of colours, if the line has room for both.
void draw_caption(const PanelContext& context, const RectF& line, PanelAction& action) {
  const Painter paint = context.painter();
  ImFont* small = context.fonts.small;
  const ImU32 color = im_color(context.palette.text_dim);
  const float choice = color_choice_size(context).x + 12.0f * context.scale;
  float width = float(line.width);
  const bool chooses = !context.picture && context.trace.options.num_heads > 1 &&
                       fits(small, shortest_caption, width - choice);
  if (chooses) {
    width -= choice;
    const float middle = corner(line).y + 0.5f * small->FontSize;
    ImGui::SetCursorScreenPos({std::floor(corner(line).x + width + 12.0f * context.scale),
                               std::round(middle - 0.5f * color_choice_size(context).y)});
    draw_color_choice(context, action);
  }
  const std::string caption = caption_text(context, width);
  paint.text(small, corner(line), color, caption);
  // A label for the choice, if the caption leaves room for it.
  const std::string of_what = "colour scale";
  if (chooses && fits(small, caption + "   " + of_what, width)) {
    const float left = corner(line).x + width - width_of(small, of_what);
    paint.text(small, {left, corner(line).y}, color, of_what);
  }
}

PanelAction look_at_head(const PanelContext& context, Index head) {
  PanelAction action;
  action.selection = looking_at_head(context, head);
  if (context.points_at_heads) action.head = head;
  return action;
}

// On the map of a head: its marks and its tooltip; returns what a click requests.
void draw_thumbnail(const PanelContext& context, const RectF& rect, Index head, const StagePart* map,
                    const std::string& measured, PanelAction& action) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const bool frozen = is_frozen(context.scenario, head), chosen = is_marked_head(context, head);
  draw_head_marks(context, rect, head);
  const Item item = item_over("heads/thumbnail", head, rect);
  const auto description = head_description(context, head);
  std::string words = description
                          ? fmt::format("head {}, {}: {}", head, description->name, description->reason)
                          : fmt::format("head {}", head);
  if (!measured.empty()) words += "; " + measured;
  if (frozen) words += ". Frozen: its attention weights are fixed";
  if (context.selection.colors_by_head && map) words += ". Colours: " + range_text(map->spec.range);
  tooltip(paint, words);
  if (chosen || item.hovered) draw_head_frame(context, rect, chosen ? palette.focus : palette.text_dim);
  if (head == context.right_head) draw_right_head(context, rect);
  if (item.double_clicked && has_gains(context)) {
    action = edit(toggle_solo(context.scenario, head));
  } else if (item.clicked) {
    action = look_at_head(context, head);
  }
}

// What the head was measured to do, under its number; no name where nothing stands out.
void draw_name(const PanelContext& context, const RectF& line, Index head, const std::string& name,
               const std::string& reason, PanelAction& action) {
  if (name.empty()) return;
  if (!context.picture) {
    if (item_over("heads/name", head, line).clicked) action = look_at_head(context, head);
    tooltip(context, fmt::format("head {}: {}", head, reason));
  }
  const bool chosen = is_marked_head(context, head);
  context.painter().text(context.fonts.small, {corner(line).x, corner(line).y},
                         chosen ? context.palette.text : context.palette.text_dim, name);
}

// If the whole reach is to be lit up: marks on the maps what the focused number depends on,
// and what it feeds.
void draw_way(const PanelContext& context, const HeadGrid& grid, const std::vector<StagePart>& parts) {
  if (!context.reach) return;
  const Painter paint = context.painter();
  const float line = context.hairline(context.palette.stroke);
  const auto mark = [&](std::size_t head, const BoxRef& box, float opacity) {
    const StageMatrix& matrix = parts[head].matrix;
    const auto drawn = drawn_box(matrix, box);
    if (!drawn) return;
    const RectF thumbnail = grid.thumbnail(static_cast<Index>(head));
    const RectF rect = plane_geometry(thumbnail, matrix.view.rows, matrix.view.cols).rect(*drawn);
    // One cell of a thumbnail may be a few pixels wide: the outline lies around it,
    // on a hairline of the ground.
    const Box frame = Box(rect).grown(line);
    paint.outline(frame.grown(line), {context.palette.panel, 0.8f}, line);
    paint.outline(frame, {context.palette.focus, opacity}, line);
    ui_probe("heads/way", static_cast<int>(head), frame);
  };
  for (std::size_t head = 0; head < parts.size(); ++head) {
    for (const BoxRef& box : context.reach->forward) mark(head, box, 0.6f);
    for (const BoxRef& box : context.reach->back) mark(head, box, 1.0f);
  }
}

// Whether the text has each of these words, which are separated by spaces.
bool has_words(const std::vector<std::string>& labels, std::string_view words) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    if (std::ranges::none_of(labels, [&](const std::string& label) { return label == word; })) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

const std::vector<HeadName>& HeadNames::of(const PanelContext& context) {
  static const std::vector<HeadName> none;
  if (context.hides_heads()) return none;
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Index batch = context.selection.batch;
  if (weights && weights_.lock() == weights && batch_ == batch) return names_;
  names_.clear();
  weights_ = weights;
  batch_ = batch;
  if (!weights) return names_;
  if (weights->shape().size(2) > longest_named_text) return names_;
  work_probe("head names");
  for (Index head = 0; head < weights->shape().size(1); ++head) {
    const auto scores = traced_habits(context.trace, context.scenario, context.inputs, batch, head);
    if (!scores) break;
    names_.push_back(named(*scores));
  }
  return names_;
}

std::vector<double> head_name_widths(const PanelContext& context, const std::vector<HeadName>& names) {
  if (context.veil && context.veil->hides({TensorId::attn_weights})) return {};
  // Names side by side are apart from each other.
  const double apart = std::round(0.6 * static_cast<double>(context.fonts.small->FontSize));
  double full = 0.0, brief = 0.0;
  for (const HeadName& name : names) {
    full = std::max(full, static_cast<double>(width_of(context.fonts.small, name.full)));
    brief = std::max(brief, static_cast<double>(width_of(context.fonts.small, name.brief)));
  }
  if (full <= 0.0) return {};
  return {full + apart, brief + apart};
}

void HeadRanges::give(const std::vector<StagePart*>& maps, Index batch) {
  if (maps.empty()) return;
  const HeatmapSpec& first = maps.front()->spec;
  const TensorPtr mask = first.mask ? first.mask->tensor : nullptr;
  if (of_.lock() != first.values.tensor || mask_.lock() != mask || batch_ != batch ||
      ranges_.size() != maps.size()) {
    const bool probabilities = tensor_entry(maps.front()->matrix.name.id).probabilities;
    ranges_.clear();
    for (const StagePart* map : maps)
      ranges_.push_back(range_of(std::span(&map->spec, 1), !probabilities, probabilities));
    of_ = first.values.tensor;
    mask_ = mask;
    batch_ = batch;
  }
  for (std::size_t head = 0; head < maps.size(); ++head) maps[head]->spec.range = ranges_[head];
}

std::string range_text(ValueRange range) {
  const RangeTicks ticks = range_ticks(range, false, false);
  return ticks.hi.empty() ? ticks.lo : fmt::format("{} … {}", ticks.lo, ticks.hi);
}

ImVec2 color_choice_size(const PanelContext& context) {
  return segmented_control_size(context, ways);
}

void draw_color_choice(const PanelContext& context, PanelAction& action) {
  int chosen = context.selection.colors_by_head ? 1 : 0;
  if (stage_choice(context, "colors", ways, chosen)) {
    action.selection = context.selection;
    action.selection->colors_by_head = chosen == 1;
  }
  tooltip(context,
          "Colour scale of the maps. Shared: equal numbers have equal colours in every map. Per head: each "
          "head's colours end at its own largest number, so that weak patterns show beside strong ones.");
}

std::string own_colors_caption(const StagePart& map) {
  return fmt::format("{}, per head", to_string(map.matrix.name));
}

RangeTicks own_colors_ticks(const StageBar& bar) {
  const bool below = bar.range.lo < 0;
  return {below ? "−largest" : "0", "largest", below};
}

std::vector<StagePart> thumbnail_parts(const PanelContext& context, const StageContent& content,
                                       HeadRanges& ranges) {
  std::vector<StagePart> parts;
  if (!content.head_map) return parts;
  work_probe("head thumbnails");
  parts.reserve(static_cast<std::size_t>(content.head_total));
  for (Index head = 0; head < content.head_total; ++head)
    parts.push_back(part_at_head(*content.head_map, context.trace, context.selection.batch, head));
  if (context.selection.colors_by_head) {
    std::vector<StagePart*> maps;
    for (StagePart& part : parts) maps.push_back(&part);
    ranges.give(maps, context.selection.batch);
  }
  return parts;
}

void add_thumbnail_planes(const HeadGrid& grid, const std::vector<StagePart>& parts,
                          std::vector<HeatmapPlane>& planes) {
  for (std::size_t head = 0; head < parts.size(); ++head) {
    const RectF rect = grid.thumbnail(static_cast<Index>(head));
    planes.push_back({&parts[head].spec, corner(rect), far_corner(rect)});
  }
}

void draw_head_frame(const PanelContext& context, const Box& map, Rgba8 color) {
  context.painter().outline(map.grown(std::round(2.0f * context.scale)), color, context.hairline(1.5f),
                            2.0f * context.scale);
}

void draw_head_marks(const PanelContext& context, const RectF& map, Index head) {
  const Painter paint = context.painter();
  if (head_gain_of(context.scenario, head) == 0.0) draw_muted(paint, map);
  if (is_frozen(context.scenario, head)) draw_lock(paint, map);
}

void draw_right_head(const PanelContext& context, const Box& map) {
  const Box frame = map.grown(std::round(4.0f * context.scale));
  context.painter().outline(frame, right_answer_hue(context.palette),
                            std::max(2.0f, std::round(2.5f * context.scale)), 3.0f * context.scale);
  ui_probe("stage/right_head", frame);
}

Selection looking_at_head(const PanelContext& context, Index head) {
  Selection selection = context.selection;
  selection.head = head;
  if (!selection.pinned) return selection;
  const TensorPtr tensor = context.trace.tensor(selection.pinned->tensor);
  const auto moved = stage_matrix(context.trace, selection.pinned->tensor, {selection.batch, head});
  if (tensor && moved && tensor->shape().rank() == 4)
    std::copy(moved->leading.begin(), moved->leading.end(), selection.pinned->index.begin());
  return selection;
}

bool is_marked_head(const PanelContext& context, Index head) {
  return head == context.selection.head && !context.points_at_heads;
}

std::optional<HeadPurpose> head_description(const PanelContext& context, Index head) {
  if (context.hides_heads()) return std::nullopt;
  const ParametersSpec& parameters = context.scenario.parameters;
  if (is_of_model(context.scenario) && context.inputs.model_input) {
    // Columns that are regrouped form different heads.
    if (!context.inputs.head_count_note.empty()) return std::nullopt;
    const auto trained = trained_head(*parameters.file, parameters.layer, head);
    if (!trained || !has_words(context.inputs.labels.query, trained->needs)) return std::nullopt;
    HeadPurpose purpose{std::string(trained->name), std::string(trained->reason)};
    if (!trained->taught.empty()) purpose.reason += fmt::format("; {}", trained->taught);
    if (!trained->hint.empty() && has_words(context.inputs.labels.query, trained->hint_needs))
      purpose.reason += fmt::format(". {}", trained->hint);
    return purpose;
  }
  if (context.scenario.parameters.source != ParameterSource::hand_made || !has_gains(context))
    return std::nullopt;
  const Index heads = context.trace.options.num_heads;
  if (head < 0 || head >= heads) return std::nullopt;
  const HeadDescription made = describe_hand_made_heads(heads)[static_cast<std::size_t>(head)];
  return HeadPurpose{made.name, made.reason};
}

PanelAction draw_head_number(const PanelContext& context, const RectF& line, Index head,
                             const std::string& number, bool several) {
  PanelAction action;
  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const bool chosen = is_marked_head(context, head);
  const bool dotted = has_gains(context) && !several && !context.picture;
  const double gain = head_gain_of(context.scenario, head);
  const float u = context.scale;

  const float radius = std::clamp(float(line.width) * 0.08f, 2.5f * u, 4.5f * u);
  const ImVec2 dot(far_corner(line).x - radius - 1.0f, corner(line).y + float(line.height) * 0.55f);
  const double reach =
      dotted ? std::min(line.width * 0.5, std::max(9.0 * u, 2.0 * radius) + radius + 2.0) : 0.0;
  if (item_over("heads/number", head, {line.x, line.y, line.width - reach, line.height}).clicked)
    action = look_at_head(context, head);
  const std::size_t name_at = number.find(' ');  // what the head does, after its number
  const bool named = name_at != std::string::npos;
  tooltip(context, named ? fmt::format("show head {}", number) : "show this head");
  constexpr float least_shrunk = 0.82f;
  ImFont* font = chosen ? context.fonts.bold : context.fonts.small;
  if (context.presentation) {  // as large as its line has room for, below the frame around the map
    const Fonts& fonts = context.fonts;
    for (ImFont* larger :
         {chosen ? fonts.title : fonts.caption, chosen ? fonts.bold : fonts.sans, fonts.sans, fonts.small}) {
      font = larger;
      if (least_shrunk * width_of(larger, number) <= float(line.width) &&
          larger->FontSize <= 1.1f * float(line.height))
        break;
    }
  }
  // What a head does gives way to the dot, its number never.
  const float room = float(line.width - reach);
  const float needed = width_of(font, number);
  // A little smaller before it is cut.
  const float shrink = named ? std::clamp(room / std::max(needed, 1.0f), least_shrunk, 1.0f) : 1.0f;
  std::string shown = !named ? number : fitted_text(number, font, room / shrink);
  // A few letters are not enough to recognise the word.
  if (named && shown != number && shown.size() < name_at + 1 + fewest_letters + std::string_view("…").size())
    shown = number.substr(0, name_at);
  const float size = std::floor(font->FontSize * shrink);
  paint.text({font, size}, {corner(line).x, dot.y - size / 2}, chosen ? palette.text : palette.text_dim, shown);
  if (!dotted) return action;

  const Item mute = item_over("heads/dot", head, {line.x + line.width - reach, line.y, reach, line.height});
  tooltip(context, fmt::format("{} head {}", gain == 0.0 ? "unmute" : "mute", head));
  if (mute.clicked) action = edit(toggle_mute(context.scenario, head));
  const Rgba8 color = mute.hovered ? palette.text : head_hue(palette, head);
  if (gain == 0.0) {
    paint.ring(dot, radius - 0.5f, color, u);
  } else {
    // A head with a small gain has a smaller dot: a paler one would lose its contrast to the ground.
    const double share = std::clamp(std::abs(gain), 0.5, 1.0);
    paint.dot(dot, radius * float(share), color);
  }
  return action;
}

PanelAction draw_head_thumbnails(const PanelContext& context, const HeadGrid& grid,
                                 const std::vector<StagePart>& parts, const std::vector<HeadName>& names) {
  PanelAction action;
  draw_caption(context, grid.caption, action);
  const bool visible = !context.veil || !context.veil->hides({TensorId::attn_weights});
  for (Index head = 0; head < context.trace.options.num_heads; ++head) {
    const auto at = static_cast<std::size_t>(head);
    const HeadName name = visible && at < names.size() ? names[at] : HeadName{};
    draw_thumbnail(context, grid.thumbnail(head), head, at < parts.size() ? &parts[at] : nullptr, name.reason,
                   action);
    if (grid.name_form)
      draw_name(context, grid.name_line(head), head, *grid.name_form == 0 ? name.full : name.brief,
                name.reason, action);
    PanelAction number = draw_head_number(context, grid.number_line(head), head, fmt::format("{}", head));
    if (number.scenario || number.selection) action = std::move(number);
  }
  work_by_keys(context, grid, action);
  draw_way(context, grid, parts);
  return action;
}

PanelAction draw_heads_strip(const PanelContext& context, const StageContent& content, const RectF& area,
                             double largest, HeadRanges& ranges, const std::vector<HeadName>& names) {
  const HeadGrid grid =
      head_grid(content.head_total, area, context.scale, largest, head_name_widths(context, names));
  const std::vector<StagePart> parts = thumbnail_parts(context, content, ranges);
  std::vector<HeatmapPlane> planes;
  add_thumbnail_planes(grid, parts, planes);
  draw_heatmap_planes(ImGui::GetWindowDrawList(), context.heatmaps, planes);
  return draw_head_thumbnails(context, grid, parts, names);
}

}  // namespace headwise
