#include "app/stage/views.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/panels/named_text.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// The operations that lead from one tensor to the other as a table: shape, strides, and the index of the
// focused cell after each.

constexpr std::array<const char*, 6> captions{"", "axes", "sizes", "strides", "cell", "float"};
constexpr std::size_t short_lines = 4;  // in the short form: without axes and cell
constexpr float smallest_text = 0.8f;   // of its usual size, before anything is cut

float line_height(const PanelContext& context) {
  return std::round(context.fonts.mono_small->FontSize * 1.3f);
}

std::string without_spaces(const std::string& text) {
  std::string narrow;
  for (const char c : text)
    if (c != ' ' || !narrow.ends_with(',')) narrow += c;
  return narrow;
}

// Without the spaces after commas if there is no room for them.
std::string narrowed(const std::string& text, ImFont* font, float width) {
  return width_of(font, text) <= width ? text : fitted_text(without_spaces(text), font, width);
}

const char* effect_of(const MemoryState& state, std::size_t i) {
  if (i == 0) return "the tensor as it was made: row by row, its last axis contiguous";
  if (state.copied) return "rewrites every float, row by row: the only operation here that moves floats";
  if (state.code.starts_with(".contiguous")) return "its floats already lie row by row: nothing is copied";
  if (state.code.starts_with(".view") || state.code.starts_with(".reshape"))
    return "the same floats in the same order under different axes: no float moves";
  return "two axes swap places along with their strides: no float moves";
}

// `short_form`: omits the axes and the cell, for a low stage.
float memory_table_height(const PanelContext& context, bool short_form) {
  return line_height(context) * float(short_form ? short_lines : captions.size());
}

class Table {
 public:
  Table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width, bool short_form)
      : context_(context), scene_(scene), at_(at), width_(width), short_(short_form), paint_(context.painter()) {
    font_ = context.fonts.mono_small;
    caption_ = width_of(context.fonts.small, "strides") + 10.0f * context.scale;
    columns_ = scene.order.states.size() + (scene.order.wrong.empty() ? 0 : 1);
    pitch_ = (width - caption_) / float(columns_);
  }

  void draw() const {
    const float line = line_height(context_);
    float y = at_.y;
    for (const std::string_view caption : captions) {
      if (short_ && (caption == "axes" || caption == "cell")) continue;
      paint_.text(context_.fonts.small, {at_.x, y}, context_.palette.text_dim, caption);
      y += line;
    }
    const auto& states = scene_.order.states;
    for (std::size_t i = 0; i < states.size(); ++i) column(states, i, i, false);
    if (!scene_.order.wrong.empty())
      column(scene_.order.wrong, scene_.order.wrong.size() - 1, states.size(), true);
  }

 private:
  // Text that is too wide is first made smaller, then cut.
  float size_for(const std::string& text, float room) const {
    const float width = width_of(font_, without_spaces(text));
    return font_->FontSize * std::clamp(room / std::max(width, 1.0f), smallest_text, 1.0f);
  }
  void column(const std::vector<MemoryState>& states, std::size_t state, std::size_t place, bool wrong) const {
    const Palette& palette = context_.palette;
    const MemoryState& shown = states[state];
    const float x = std::floor(at_.x + caption_ + pitch_ * float(place));
    const float room = pitch_ - 12.0f * context_.scale, line = line_height(context_);
    const Shape shape = shown.layout.shape();
    // For the wrong reading the same cell is shown, for the others the same float.
    const std::vector<Index> cell = wrong ? scene_.cell : cell_of(states, state, scene_.first_float);
    const Index lies_at = shown.layout.offset(cell);
    const Index float_there = wrong ? float_of(states, state, cell) : scene_.first_float;
    const bool differs = float_there != scene_.first_float;

    std::string code = narrowed(wrong ? "wrong: " + shown.code : shown.code, font_, room);
    if (code.ends_with("…")) code = narrowed(shown.code, font_, room / smallest_text);
    const Rgba8 head = wrong ? palette.warning : palette.text;
    float y = at_.y;
    const auto write = [&](const std::string& text, Rgba8 color) {
      const float size = size_for(text, room);
      paint_.text({font_, size}, {x, y + 0.5f * (font_->FontSize - size)}, color,
                  narrowed(text, font_, room * font_->FontSize / size));
      y += line;
    };
    write(code, head);
    const bool letters_fit = width_of(font_, shape.letters()) <= room;
    if (!short_ && letters_fit) {
      draw_shape_text(context_, font_, {x, y}, palette.text_dim, shape.letters());
      y += line;
    } else if (!short_) {
      write(shape.letters(), palette.text_dim);
    }
    write(shape.sizes_text(), palette.text_dim);
    const bool new_strides =
        state > 0 && shown.layout.strides_text() != states[state - 1].layout.strides_text();
    write(shown.layout.strides_text(), wrong         ? palette.warning
                                       : new_strides ? palette.text
                                                     : palette.text_dim);
    if (!short_) write(fmt::format("[{}]", join(cell, ",")), palette.text_dim);
    std::string where = fmt::format("{}", float_there);
    if (lies_at != float_there) where += fmt::format(" → at {}", lies_at);
    write(where, differs ? palette.warning : palette.text);

    const ImVec2 max(x + room, at_.y + memory_table_height(context_, short_));
    const std::string id = fmt::format("memory/{}", wrong ? "wrong" : std::to_string(place));
    ImGui::SetCursorScreenPos({x, at_.y});
    ImGui::PushID(id.c_str());
    ImGui::Dummy({std::max(room, 1.0f), line});
    ImGui::PopID();
    tooltip(context_, wrong ? fmt::format("{}: the right shape, but a different float in this cell",
                                          scene_.order.wrong_code)
                            : std::string(effect_of(shown, state)));
    ui_probe("stage/" + id, {x, at_.y}, {x + room, at_.y + line});
    if (wrong) {
      const float left = x - 8.0f * context_.scale;
      paint_.line({left, at_.y}, {left, max.y}, palette.text_faint, context_.scale);
    }
  }

  const PanelContext& context_;
  const MemoryScene& scene_;
  ImVec2 at_;
  float width_ = 0.0f, caption_ = 0.0f, pitch_ = 0.0f;
  bool short_ = false;
  std::size_t columns_ = 1;
  Painter paint_;
  ImFont* font_ = nullptr;
};

// At the lowest row height numbers just fit.
constexpr double least_row_units = 10.5, roomy_row_units = 15.0, highest_row_units = 34.0;
constexpr double title_lines = 1.5;  // over the cells
constexpr double least_col_units = 4.0, widest_col_units = 44.0;
constexpr Index wanted_rows = 4;  // of the matrix: its surroundings give way until this many fit
constexpr Index few_rows = 3;     // of neighbours, to which the copy's memory gives way

// How many of `total` fit at a minimum size each, and the first of them: the middle one is `chosen`.
struct Span {
  Index begin = 0, count = 0;
};

Span span_of(Index total, double length, double least, Index chosen) {
  const Index count = std::clamp<Index>(static_cast<Index>(length / least), 1, total);
  return {std::clamp<Index>(chosen - count / 2, 0, total - count), count};
}

class MemoryView {
 public:
  MemoryView(const PanelContext& context, MemoryViewState& state, const MemoryScene& scene, RectF area)
      : context_(context), state_(state), scene_(scene), area_(area), paint_(context.painter()) {}

  PanelAction draw(std::optional<CellRef>& under_mouse) {
    PanelAction action;
    const float u = context_.scale;
    auto y = float(area_.y);
    place();
    fit_height();
    Table(context_, scene_, {float(area_.x), y}, float(area_.width), short_table_).draw();
    y = words(y + memory_table_height(context_, short_table_) + 6.0f * u, true) + 4.0f * u;
    const float strips = memory_strips_height(context_, strips_);
    const double bottom = area_.y + area_.height;
    grids_ = {area_.x, y, area_.width, std::max(0.0, bottom - strips - 6.0 * u - y)};
    make_window();
    if (right_.height < 1 || right_.width < 1) return action;

    const auto width = float(grid_width_);
    const MemoryReading right{scene_, state_.window, right_, false, looked_at()};
    draw_reading_cells(context_, right);
    labels(right_);
    draw_reading_words(context_, right, has_wrong() ? width + float(gap_) * 0.5f : width, shows_owners_);
    StagePart part{scene_.matrix, {}, 0, nullptr, nullptr, 0, 0};
    part.col_block = head_block(context_.trace, scene_.matrix.col_axis);
    if (state_.window.rows == scene_.matrix.view.rows && state_.window.cols == scene_.matrix.view.cols)
      draw_axis_light(context_, part, right_);
    const auto corners = [&](const PlaneGeometry& plane, const char* name) { ui_probe(name, plane); };
    corners(right_, "stage/memory/right");
    frame_pointed();
    under_mouse = under("memory", right_);
    std::optional<Index> wrong_float;
    if (has_wrong()) {
      const MemoryReading wrong{scene_, state_.window, wrong_, true, looked_at()};
      draw_reading_cells(context_, wrong);
      draw_reading_words(context_, wrong, width, shows_owners_);
      corners(wrong_, "stage/memory/misread");
      if (const auto cell = under("misread", wrong_)) under_mouse = cell;
      wrong_float = float_of(scene_.order.wrong, scene_.order.wrong.size() - 1, scene_.cell);
    }

    std::optional<Index> under_strip;
    const std::optional<Index> head =
        draw_memory_strips(context_, state_.strips, scene_, strips_, marked(), wrong_float,
                           {area_.x, bottom - strips, area_.width, strips}, under_strip);
    if (under_strip && !keys_decide(context_)) under_mouse = scene_.cell_of_float(*under_strip);
    light({area_.x, bottom - strips, area_.width, strips});
    if (head) action.selection = looking_at_head(context_, *head);
    return action;
  }

 private:
  bool has_wrong() const { return !scene_.order.wrong.empty(); }
  // The axis that joins the heads is always shown in full: its bands say enough.
  bool joined_columns() const { return scene_.matrix.col_axis.find("·") != std::string::npos; }

  const std::vector<std::string>* row_labels() const {
    const auto* tokens = tokens_of(context_.inputs.labels, scene_.matrix.row_axis);
    return tokens && static_cast<Index>(tokens->size()) >= scene_.matrix.view.rows ? tokens : nullptr;
  }

  void place() {
    const double u = context_.scale;
    const MatrixView& view = scene_.matrix.view;
    const auto* labels = row_labels();
    label_width_ =
        (labels ? label_width(context_, *labels, view.rows) : width_of(context_.fonts.mono_small, "000")) +
        10 * u;
    gap_ = 26 * u;
    const double room = area_.width - label_width_;
    grid_width_ = has_wrong() ? (room - gap_) / 2 : room;
    formula_lines_ =
        static_cast<int>(std::max(offset_formulas(scene_.order.states, scene_.cell).size(),
                                  has_wrong() ? offset_formulas(scene_.order.wrong, scene_.cell).size() : 1));
  }

  // In a low stage the text is dropped first, then the enlarged floats, lines of the table, the copy's
  // memory, the memory: the matrix and its formulas are the point of the view.
  void fit_height() {
    const double u = context_.scale, line = context_.fonts.mono_small->FontSize * 1.3;
    const bool tall = area_.height >= 40.0 * context_.fonts.mono_small->FontSize;
    strips_ = {scene_.memories(), true};
    shows_effect_ = tall || scene_.order.refusal.empty();
    const auto rows = [&] {
      const double top = words(0.0f, false) + memory_table_height(context_, short_table_) + 10.0 * u;
      const double below = memory_strips_height(context_, strips_) + 6.0 * u;
      return static_cast<Index>((area_.height - top - below - (title_lines + formula_lines_) * line) /
                                (least_row_units * u));
    };
    if (state_.presentation) {
      shows_effect_ = strips_.floats = false;
      short_table_ = true;
    }
    const Index wanted = std::min(scene_.matrix.view.rows, wanted_rows);
    if (rows() < wanted) shows_effect_ = false;
    if (rows() < wanted) strips_.floats = false;
    if (rows() < wanted) short_table_ = true;
    if (rows() < std::min(wanted, few_rows)) strips_.lanes = 1;
    if (rows() < 1) shows_refusal_ = false;
    if (rows() < 1) strips_.lanes = 0;
  }

  // Which floats are shown changes rarely, and finding all of them takes long.
  void make_window() {
    const double u = context_.scale;
    const MatrixView& view = scene_.matrix.view;
    const ImFont* mono = context_.fonts.mono_small;
    const double line = mono->FontSize * 1.3;
    double height = grids_.height - (title_lines + formula_lines_) * line;
    shows_owners_ =
        height - line >= roomy_row_units * u * static_cast<double>(view.rows) && scene_.order.heads > 0;
    if (shows_owners_) height -= line;
    // What the mouse points at must not move.
    std::optional<std::pair<Index, Index>> pinned;
    if (context_.selection.pinned) {
      if (const auto box = drawn_box(scene_.matrix, box_of(*context_.selection.pinned)))
        pinned = {box->row_begin, box->col_begin};
    }
    const Span rows = span_of(view.rows, height, least_row_units * u, pinned ? pinned->first : 0);
    const Span cols = span_of(view.cols, grid_width_, joined_columns() ? 0.25 : least_col_units * u,
                              pinned ? pinned->second : 0);
    std::string key = fmt::format("{} {} {} {} {} {}", scene_.order.wrong_code, scene_.matrix.transposed,
                                  rows.begin, rows.count, cols.begin, cols.count);
    for (const MemoryState& each : scene_.order.states) key += each.code;
    key += fmt::format(" {} {}", join(scene_.matrix.leading, ","), static_cast<int>(context_.theme));
    MemoryWindow& window = state_.window;
    if (state_.window_of.lock() != view.tensor || state_.window_key != key) {
      window = {rows.begin, rows.count, cols.begin, cols.count, {}, {}, {}, {}};
      for (Index row = rows.begin; row < rows.begin + rows.count; ++row) {
        for (Index col = cols.begin; col < cols.begin + cols.count; ++col) {
          window.right.push_back(scene_.right_float(row, col));
          if (has_wrong()) window.wrong.push_back(scene_.wrong_float(row, col));
        }
      }
      for (const Index each : window.right)
        window.right_colors.push_back(memory_color(context_, scene_, each));
      for (const Index each : window.wrong)
        window.wrong_colors.push_back(memory_color(context_, scene_, each));
      state_.window_of = view.tensor;
      state_.window_key = std::move(key);
    }
    const double cell_height =
        std::floor(std::min(height / static_cast<double>(rows.count), highest_row_units * u));
    double cell_width = std::min(grid_width_ / static_cast<double>(cols.count), widest_col_units * u);
    if (cell_width >= 4.0) cell_width = std::floor(cell_width);
    const RectF rect{area_.x + label_width_, grids_.y + title_lines * line,
                     cell_width * static_cast<double>(cols.count),
                     cell_height * static_cast<double>(rows.count)};
    right_ = plane_geometry(rect, rows.count, cols.count);
    wrong_ =
        plane_geometry({rect.x + grid_width_ + gap_, rect.y, rect.width, rect.height}, rows.count, cols.count);
  }

  // What a learner may try, and PyTorch's answer; then what happens to the floats.
  float words(float y, bool draws) const {
    ImFont* small = context_.fonts.small;
    const auto width = float(area_.width), x = float(area_.x);
    const auto write = [&](const std::string& text, Rgba8 color) {
      if (draws) paint_.wrapped(width, small, {x, y}, color, text);
      y += size_in(small, width, text).y + 3.0f * context_.scale;
    };
    const MemoryOrder& order = scene_.order;
    if (shows_effect_) write(memory_words(scene_, context_.trace), context_.palette.text_dim);
    if (shows_refusal_ && !order.refusal.empty())
      write(fmt::format("{} raises an error: {}", order.refused_code, order.refusal), context_.palette.warning);
    return y;
  }

  void labels(const PlaneGeometry& plane) const {
    const MemoryWindow& window = state_.window;
    std::vector<std::string> shown;
    const auto* tokens = row_labels();
    for (Index row = window.row_begin; row < window.row_begin + window.rows; ++row)
      shown.push_back(tokens ? (*tokens)[static_cast<std::size_t>(row)] : std::to_string(row));
    const auto box = looked_at();
    draw_row_labels(paint_, plane, shown, box ? std::optional(box->row_begin) : std::nullopt);
  }

  // Heads are marked in the memory as a whole; for a joined or transposed matrix one row or column is
  // clearer.
  MarkedFloats marked() const {
    const MemoryWindow& window = state_.window;
    if (!has_wrong()) return {};
    MarkedFloats floats;
    const auto box = looked_at();
    const bool row = joined_columns(), column = scene_.matrix.transposed;
    if ((row || column) && !box) return {};
    floats.what = row      ? fmt::format("row {}", box->row_begin + window.row_begin)
                  : column ? fmt::format("column {}", box->col_begin + window.col_begin)
                           : matrix_name(scene_.matrix);
    for (Index r = 0; r < window.rows; ++r) {
      if (row && r != box->row_begin) continue;
      for (Index c = 0; c < window.cols; ++c) {
        if (column && c != box->col_begin) continue;
        floats.right.push_back(window.right[static_cast<std::size_t>(r * window.cols + c)]);
        floats.wrong.push_back(window.wrong[static_cast<std::size_t>(r * window.cols + c)]);
      }
    }
    return floats;
  }

  std::optional<CellRef> under(std::string_view name, const PlaneGeometry& plane) const {
    const auto cell = pointed_plane_cell(context_, name, plane);
    if (!cell) return std::nullopt;
    return cell_at(scene_.matrix, cell->first + state_.window.row_begin,
                   cell->second + state_.window.col_begin);
  }

  // The cell in the window; none where it lies outside.
  std::optional<CellBox> looked_at() const {
    const auto place = scene_.place();
    if (!place) return std::nullopt;
    const Index row = place->first - state_.window.row_begin, col = place->second - state_.window.col_begin;
    if (row < 0 || col < 0 || row >= state_.window.rows || col >= state_.window.cols) return std::nullopt;
    return CellBox{row, row + 1, col, col + 1};
  }

  // What is pointed at by name: the result appears here as a whole, or some of its rows and columns do.
  void frame_pointed() const {
    if (!context_.pointed) return;
    const MemoryWindow& window = state_.window;
    for (BoxRef box : context_.pointed->boxes) {
      box.tensor = first_name(context_.trace, box.tensor);
      const auto drawn = drawn_box(scene_.matrix, box);
      if (!drawn) continue;
      const auto within = [](Index i, Index begin, Index count) {
        return std::clamp<Index>(i - begin, 0, count);
      };
      const CellBox shown{within(drawn->row_begin, window.row_begin, window.rows),
                          within(drawn->row_end, window.row_begin, window.rows),
                          within(drawn->col_begin, window.col_begin, window.cols),
                          within(drawn->col_end, window.col_begin, window.cols)};
      if (shown.row_begin >= shown.row_end || shown.col_begin >= shown.col_end) continue;
      draw_box_outline(paint_, right_, shown, im_color(context_.palette.focus),
                       std::max(2.0f, std::round(2.0f * context_.palette.stroke * context_.scale)));
    }
  }

  // What a spotlight leaves bright: the cell in both readings, the table, and the memory.
  void light(const RectF& strips) const {
    if (!context_.lit) return;
    const auto box = looked_at();
    if (!box) return;
    const double pad = 3.0 * context_.scale;
    for (const PlaneGeometry* plane : {&right_, &wrong_}) {
      if (plane == &wrong_ && !has_wrong()) continue;
      const RectF cell = plane->rect(*box);
      context_.lit->push_back({cell.x - pad, cell.y - pad, cell.width + 2 * pad, cell.height + 2 * pad});
    }
    context_.lit->push_back({area_.x, area_.y, area_.width, memory_table_height(context_, short_table_)});
    context_.lit->push_back(strips);
  }

  const PanelContext& context_;
  MemoryViewState& state_;
  const MemoryScene& scene_;
  RectF area_;
  Painter paint_;
  RectF grids_;  // what titles, cells and formulas of both share
  double label_width_ = 0.0, grid_width_ = 0.0, gap_ = 0.0;
  int formula_lines_ = 1;
  bool shows_owners_ = false;  // whose number the float is, below its formula
  // What fits next to the matrix.
  bool shows_effect_ = true, shows_refusal_ = true, short_table_ = false;
  MemoryStripParts strips_;
  PlaneGeometry right_, wrong_;
};

}  // namespace

PanelAction draw_memory(const PanelContext& context, MemoryViewState& state, const MemoryScene& scene,
                        RectF area, std::optional<CellRef>& under_mouse) {
  return MemoryView(context, state, scene, area).draw(under_mouse);
}

}  // namespace headwise
