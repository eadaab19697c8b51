#include "app/panels/full_size_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/panels/panel_frame.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

const std::vector<float>& numbers_of(const PyramidLevel& level, BlockStatistic statistic) {
  switch (statistic) {
    case BlockStatistic::largest:
      return level.max;
    case BlockStatistic::mean:
      return level.mean;
    case BlockStatistic::least:
      break;
  }
  return level.min;
}

std::string range_text(const CellRange& range) {
  return range.size() == 1 ? fmt::format("{}", range.first)
                           : fmt::format("{} … {}", range.first, range.last - 1);
}

bool holds(const CellRange& range, Index i) {
  return range.first <= i && i < range.last;
}

CellRange block_around(Index i, Index block, Index count) {
  return {i / block * block, std::min((i / block + 1) * block, count)};
}

// The block size to request; the finest stored, if that is small enough.
Index finer_block(Index stored, Index head, CellRange rows, CellRange cols, double cells_per_pixel) {
  if (static_cast<double>(stored) <= most_pixels_of_block * cells_per_pixel) return stored;
  Index block = 1;
  while (2.0 * static_cast<double>(block) <= cells_per_pixel) block *= 2;
  while (block < stored && !FinerMaps::fits({head, block, rows, cols})) block *= 2;
  return block;
}

// The part widened to whole blocks, each with the number of the best available block: its own,
// or a larger one.
void fill_blocks(MapPart& part, const FullSizeResult& result, Index block, BlockStatistic statistic,
                 const std::vector<FinerPiece>& pieces) {
  const AttentionSizes& s = result.tiles->sizes();
  const CellRange down{part.rows.first / block, whole_parts(part.rows.last, block)};
  const CellRange right{part.cols.first / block, whole_parts(part.cols.last, block)};
  part.block = block;
  part.rows = {down.first * block, std::min(down.last * block, s.queries)};
  part.cols = {right.first * block, std::min(right.last * block, s.all_keys)};
  Tensor blocks({{"L", down.size()}, {"S", right.size()}}, DType::f32);
  const auto out = blocks.values<float>().begin();
  for (const FinerPiece& piece : pieces) {
    const PyramidLevel& level = piece.blocks ? *piece.blocks : result.pyramid->levels(0, part.head).front();
    if (level.block > block) part.coarse.push_back({piece.rows, piece.cols, level.block});
    const std::vector<float>& numbers = numbers_of(level, statistic);
    const Index last_row = std::min(whole_parts(piece.rows.last, block), down.last);
    const Index last_col = std::min(whole_parts(piece.cols.last, block), right.last);
    for (Index r = std::max(piece.rows.first / block, down.first); r < last_row; ++r) {
      const auto from = numbers.begin() + (r * block - piece.first_row) / level.block * level.cols;
      const auto to = out + (r - down.first) * right.size() - right.first;
      for (Index c = std::max(piece.cols.first / block, right.first); c < last_col; ++c)
        to[c] = from[(c * block - piece.first_col) / level.block];
    }
  }
  part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(blocks)));
}

constexpr float full_size_sheet_width = 1480.0f, around_full_size = 88.0f,
                choices_width = 300.0f;  // design units
constexpr float length_slider_left = 96.0f, length_slider_width = 150.0f;
constexpr std::array<std::int64_t, 8> lengths{64, 128, 256, 512, 1024, 2048, 4096, 8192};
constexpr std::int64_t longest = 32768;
constexpr std::array<std::string_view, 2> masks{"off", "on"}, inputs{"random", "a sentence"};
constexpr std::array<BackendId, 3> offered_backends{BackendId::fused, BackendId::gl, BackendId::reference};

void draw_models(const PanelContext& context, FullSizeRequest& request) {
  section_caption(context, "MODEL");
  for (std::size_t i = 0; i < model_sizes().size(); ++i) {
    const ModelSizes& model = model_sizes()[i];
    ImGui::PushID(static_cast<int>(i));
    const bool chosen = request.model == i;
    if (text_button(context, "model", std::string(model.name), chosen ? ButtonLook::filled : ButtonLook::plain)) {
      request.model = i;
      request.length = model.length;
      request.is_causal = model.is_causal;
    }
    ui_probe_item("full_size/model", static_cast<int>(i));
    tooltip(context, fmt::format("embed_dim {}, {} heads of {}{}{}; {} tokens. {}", model.embed_dim,
                                 model.num_heads, model.head_dim,
                                 model.num_kv_heads < model.num_heads
                                     ? fmt::format(", {} for keys and values", model.num_kv_heads)
                                     : "",
                                 model.is_causal ? ", causal" : "", model.length, model.source));
    ImGui::PopID();
    if (i % 2 == 0 && i + 1 < model_sizes().size()) ImGui::SameLine(context.px(choices_width * 0.5f));
  }
}

// Position of `length` among the stops, by their number: between the second and the third it runs from 1 to
// 2, logarithmically.
double place_of(std::int64_t length) {
  const auto after = std::ranges::upper_bound(lengths, length);
  if (after == lengths.begin()) return 0.0;
  if (after == lengths.end()) return static_cast<double>(lengths.size() - 1);
  const double least = static_cast<double>(*(after - 1)), most = static_cast<double>(*after);
  return static_cast<double>(after - 1 - lengths.begin()) +
         std::log(static_cast<double>(length) / least) / std::log(most / least);
}

// A field for any number, preceded by a slider that goes from stop to stop.
void draw_length(const WidgetContext& widgets, FullSizeRequest& request) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  std::optional<std::int64_t> length = request.length;
  const FieldResult field = integer_row(
      widgets, {"full_size/length", "length", "L = S", "The number of tokens. Drag sideways, or type."},
      length, {.required = true, .least = 1, .drag_stops = lengths});
  if (field.changed && length) request.length = std::min<std::int64_t>(*length, longest);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({at.x + widgets.px(length_slider_left), at.y});
  const Index own_length = model_sizes()[request.model].length;
  const double normal = place_of(own_length);
  double place = place_of(request.length);
  const bool moved = slider(widgets, "length slider", place,
                            {.least = 0.0,
                             .most = static_cast<double>(lengths.size() - 1),
                             .step = 1.0,
                             .stops = static_cast<int>(lengths.size()),
                             .normal = normal,
                             .width = widgets.px(length_slider_width)})
                         .changed;
  if (moved)
    request.length = place == normal ? own_length : lengths[static_cast<std::size_t>(std::lround(place))];
  named_item(widgets, "full_size/length_slider",
             "Moves in steps. Double-click: the length the model was built for.");
  ImGui::SetCursorScreenPos(below);
  if (!field.error.empty()) error_line(widgets, field.error);
}

void draw_choices(const PanelContext& context, FullSizeRequest& request) {
  draw_models(context, request);
  section_caption(context, "RUN");
  draw_length(context, request);
  choice_row(context,
             {"full_size/causal", "causal", "",
              "Query i sees only keys 0 … i, which nearly halves the work between the projections."},
             masks, request.is_causal);
  choice_row(context,
             {"full_size/inputs", "tokens", "",
              "Random inputs and parameters, or a repeated sentence with the hand-made heads, whose patterns "
              "are visible. Both take equally long."},
             inputs, request.hand_made);
  std::array<std::string_view, offered_backends.size()> backend_names;
  std::ranges::transform(offered_backends, backend_names.begin(),
                         [](BackendId id) { return backend_of(id).name; });
  auto backend =
      static_cast<int>(std::ranges::find(offered_backends, request.backend) - offered_backends.begin());
  if (choice_row(context,
                 {"full_size/backend", "backend", "",
                  "fused: one pass over the keys; stores no weights. gl: the same in compute shaders on the "
                  "GPU, in slices of a few milliseconds. reference: every tensor in memory, as on the stage; "
                  "slower, and needs memory for L × S weights per head."},
                 backend_names, backend))
    request.backend = offered_backends[static_cast<std::size_t>(backend)];
}

void draw_run_progress(const WidgetContext& widgets, const Waiting& waiting) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = widgets.px(choices_width), height = std::max(2.0f, widgets.px(3));
  const Painter paint = widgets.painter();
  paint.fill(at, {at.x + width, at.y + height}, widgets.palette.border);
  paint.fill(at, {at.x + width * float(std::min(waiting.fraction, 1.0)), at.y + height}, widgets.palette.bar);
  ui_probe("full_size/progress", at, {at.x + width, at.y + height});
  ImGui::Dummy({width, height + widgets.px(2)});
  dim_text(widgets, fmt::format("{} · {:.0f} %", waiting.doing, 100.0 * waiting.fraction));
  if (widgets.wake_after) *widgets.wake_after = std::min(*widgets.wake_after, seconds_between_words);
}

// What belongs to the previous choice, until the present one is run.
void dim_as_previous(std::string_view what, ImVec2 min, ImVec2 max) {
  ImGui::GetWindowDrawList()->AddRectFilled(min, max, ImGui::GetColorU32(ImGuiCol_PopupBg, 0.55f));
  ui_probe(fmt::format("full_size/previous/{}", what), min, max);
}

void draw_run(const PanelContext& context, FullSizeRuns& runs, const FullSizeState& state) {
  ImGui::Dummy({1, context.px(6)});
  if (runs.running()) {
    if (text_button(context, "cancel", "Cancel")) runs.cancel();
    named_item(context, "full_size/cancel", "Stops the computation.");
    ImGui::Dummy({1, context.px(4)});
    draw_run_progress(context, runs.waiting());
    return;
  }
  if (text_button(context, "run", "Run")) runs.start(state.request);
  named_item(context, "full_size/run", "Runs it in the background.");
  const FullSizeResultPtr result = runs.result();
  if (!result) return;
  const bool is_of_choice = result->request == state.request;
  if (!result->error.empty()) return error_line(context, result->error);
  if (result->forward.notice.empty()) {
    section_caption(context, is_of_choice ? "MEASURED" : "MEASURED FOR THE PREVIOUS CHOICE");
  } else {
    ImGui::Dummy({1, context.px(4)});
    warning_line(context, result->forward.notice);
    ui_probe_item("full_size/notice");
    ImGui::Dummy({1, context.px(4)});
  }
  const ImVec2 top = ImGui::GetCursorScreenPos();
  const ModelSizes& model = model_sizes()[result->request.model];
  dim_text(context, fmt::format("{}, {} tokens{}", model.name, result->request.length,
                                result->request.is_causal ? ", causal" : ""));
  dim_text(context, made_up_weights(result->request));
  if (!result->forward.gpu.empty())
    dim_text(context, fitted_text("on " + result->forward.gpu, ImGui::GetFont(), context.px(choices_width)));
  for (const auto& [name, figure] : full_size_figures(*result)) {
    const float y = ImGui::GetCursorScreenPos().y;
    dim_text(context, name);
    const float width = ImGui::CalcTextSize(figure.c_str()).x;
    const float left = ImGui::GetWindowPos().x - ImGui::GetScrollX();
    context.painter().text({ImGui::GetFont(), ImGui::GetFontSize()},
                           {left + context.px(choices_width) - width, y}, context.palette.text, figure);
  }
  ui_probe_item("full_size/figures");
  if (!is_of_choice)
    dim_as_previous("figures", top, {top.x + context.px(choices_width), ImGui::GetItemRectMax().y});
}

std::string seconds_text(double seconds) {
  return seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

}  // namespace

const std::string& label_of(const std::vector<std::string>& labels, Index i) {
  static const std::string none;
  return i < static_cast<Index>(labels.size()) ? labels[static_cast<std::size_t>(i)] : none;
}

MapPart map_part(const FullSizeResult& result, Index head, CellRange rows, CellRange cols,
                 BlockStatistic statistic, double pixels, Theme theme, FinerMaps* finer) {
  MapPart part{head, rows, cols, 1, {}, {}};
  part.spec.theme = theme;
  part.spec.color_map = ColorMap::viridis;
  const Index side = std::max(rows.size(), cols.size());
  const double cells_per_pixel = static_cast<double>(side) / std::max(pixels, 1.0);
  if (side <= most_exact_cells) {
    Tensor cells({{"L", rows.size()}, {"S", cols.size()}}, DType::f32);
    result.tiles->tile(0, head, rows, cols, cells.values<float>().data());
    part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(cells)));
    return part;
  }
  const std::vector<PyramidLevel>& levels = result.pyramid->levels(0, head);
  if (finer) {
    const Index block = finer_block(levels.front().block, head, rows, cols, cells_per_pixel);
    if (block < levels.front().block) {
      const std::vector<FinerPiece> pieces = finer->look({head, block, rows, cols});
      if (!pieces.empty()) {
        fill_blocks(part, result, block, statistic, pieces);
        return part;
      }
    }
    finer->suspend();
  }
  std::size_t i = 0;  // the coarsest that still has a block for every pixel
  while (i + 1 < levels.size() && static_cast<double>(levels[i + 1].block) <= cells_per_pixel) ++i;
  const std::shared_ptr<const PyramidLevel> kept(std::shared_ptr<void>(), &levels[i]);  // the result's
  fill_blocks(part, result, levels[i].block, statistic, {{rows, cols, kept}});
  return part;
}

std::string map_cell_text(const FullSizeResult& result, const MapPart& part, Index row, Index col) {
  const double value = part.spec.values.value(row, col);
  CellRange rows{part.rows.first + row * part.block,
                 std::min(part.rows.first + (row + 1) * part.block, part.rows.last)};
  CellRange cols{part.cols.first + col * part.block,
                 std::min(part.cols.first + (col + 1) * part.block, part.cols.last)};
  bool is_block = part.block > 1;
  const AttentionSizes& s = result.tiles->sizes();
  for (const CoarseCells& coarse : part.coarse) {
    if (!holds(coarse.rows, rows.first) || !holds(coarse.cols, cols.first)) continue;
    rows = block_around(rows.first, coarse.block, s.queries);
    cols = block_around(cols.first, coarse.block, s.all_keys);
    is_block = true;
  }
  if (is_block)
    return fmt::format("head {}: queries {} → keys {}: {:.3g}", part.head, range_text(rows), range_text(cols),
                       value);
  return fmt::format("head {}: {} (query {}) → {} (key {}): {:.4g}", part.head,
                     label_of(result.inputs.labels.query, rows.first), rows.first,
                     label_of(result.inputs.labels.key, cols.first), cols.first, value);
}

std::vector<std::pair<std::string, std::string>> full_size_figures(const FullSizeResult& result) {
  const AttentionSizes& s = result.tiles->sizes();
  const FullSizePasses& forward = result.forward;
  const bool gl = forward.backend == BackendId::gl;
  const double gflops = 2e-9 * result.multiply_adds / forward.seconds;
  const Index stored = s.batch * s.heads * s.queries * s.all_keys * static_cast<Index>(sizeof(float));
  const std::string pass = forward.kept_projections ? "pass (q, k, v cached)" : "forward pass";
  std::vector<std::pair<std::string, std::string>> figures{
      {forward.runs > 1 ? fmt::format("{}, median of {}", pass, forward.runs) : pass,
       seconds_text(forward.seconds)},
      {"multiply-adds", fmt::format("{:.3g} · 10⁹", 1e-9 * result.multiply_adds)},
      {"speed", fmt::format("{:.0f} GFLOP/s", gflops)}};
  const auto mib = [](double size) { return bytes_text(static_cast<Index>(size * 1024.0 * 1024.0)); };
  figures.emplace_back(
      gl ? "of this GPU's peak" : "of this machine's peak",
      fmt::format("{:.0f} % of {:.0f}", 100.0 * gflops / forward.peak_gflops, forward.peak_gflops));
  if (gl) {
    figures.emplace_back("longest slice · read back in", seconds_text(1e-3 * forward.longest_slice) + " · " +
                                                             seconds_text(forward.read_seconds));
    figures.emplace_back("GPU memory used", mib(forward.gpu_mib));
  } else {
    figures.emplace_back("memory used", mib(forward.extra_mib));
  }
  figures.emplace_back(backend_of(forward.backend).keeps_every_tensor ? "of it attn_weights"
                                                                      : "storing attn_weights would add",
                       bytes_text(stored));
  figures.emplace_back("map memory · time",
                       bytes_text(result.pyramid->bytes()) + " · " + seconds_text(result.map_seconds));
  figures.emplace_back(fmt::format("max |Δ| to float64, {} rows", result.agreement.rows),
                       fmt::format("{:.2g}", result.agreement.max_abs_diff));
  return figures;
}

std::string full_size_introduction(const Backend& backend) {
  return fmt::format(
      "With a few tokens every weight can be drawn. Models attend over thousands: choose one, and run its "
      "attention at full size. The {} backend stores {} weights. What you see is recomputed from q and k, "
      "from the maps of all heads down to a single number.",
      backend.name, backend.keeps_every_tensor ? "all" : "no");
}

void draw_full_size_sheet(const PanelContext& context, FullSizeRuns& runs, FullSizeState& state) {
  if (!state.open) {
    runs.cancel();
    runs.forget();
    state.maps = {};
    state.came = false;
    return;
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  // There is something to see on opening: a size that takes a fraction of a second.
  if (!std::exchange(state.came, true)) runs.start(state.request);
  if (!begin_overlay(context, "overlay/full_size", "Full size", state.open,
                     {.width = std::min(full_size_sheet_width, (display.x - context.px(40)) / context.scale),
                      .closes_outside = false}))
    return;
  work_probe("full_size");
  ImGui::PushFont(context.fonts.small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  // The part below the title, with as much space above and below the sheet as the menus are high.
  const float above = at.y - ImGui::GetWindowPos().y;
  const float height = std::floor(std::max(context.px(200), display.y - above - context.px(around_full_size)));
  ImGui::BeginChild("choices", {context.px(choices_width + 14), height});
  draw_choices(context, state.request);
  draw_run(context, runs, state);
  ImGui::EndChild();

  const float left = context.px(choices_width + 34);
  ImGui::SetCursorScreenPos({at.x + left, at.y});
  ImGui::BeginChild("maps", {width - left, height}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  const FullSizeResultPtr result = runs.running() ? nullptr : runs.result();
  if (result && result->error.empty()) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    draw_full_size_maps(context, *result, runs.finer(), state.maps, {corner.x, corner.y, width - left, height});
    if (!(result->request == state.request))
      dim_as_previous("maps", corner, {corner.x + width - left, corner.y + height});
  } else if (!runs.running()) {
    dim_sentence(context, full_size_introduction(backend_of(state.request.backend)));
  }
  ImGui::EndChild();
  ImGui::PopFont();
  end_overlay();
}

}  // namespace headwise
