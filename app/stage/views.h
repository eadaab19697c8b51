// The views of the stage: what each keeps from one frame to the next, and how it is drawn.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/content/map_figures.h"
#include "app/content/memory_scene.h"
#include "app/content/paired_layout.h"
#include "app/content/stage_content.h"
#include "app/content/stage_matrix.h"
#include "app/panels/panel.h"
#include "app/session/comparison_target.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_cells.h"
#include "app/widgets/heatmap_view.h"
#include "core/attention/query_key_plane.h"
#include "core/export/plane_rule.h"
#include "core/lessons/head_statistics.h"
#include "core/lessons/query_row.h"
#include "core/lessons/tensor_change.h"
#include "core/model/transformer/predictions.h"
#include "core/model/transformer/transformer_config.h"

namespace headwise {

struct ModelPicture;  // core/model/transformer/text_model.h
class TextColumn;     // app/widgets/text_column.h

// The view of one head: the product (or map) of the step with its operands around it.

// The map that the step makes, where it was drawn in the last frame.
struct ShownMap {
  TensorName name;
  bool transposed = false;
  PlaneGeometry plane;
  ColorMap color_map = ColorMap::viridis;
  ValueRange range;
};

// Row maximum and Σ exp of the current head, cached until it changes.
struct OneHeadState {
  SoftmaxFigures figures;
  std::weak_ptr<const Tensor> figures_of;
  Index figures_offset = -1;
  double figures_sink = 0.0;

  CellLegend legend;  // of the result

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them

  std::optional<ShownMap> shown;  // none while another view is shown
  double foot_right = 0.0;        // where the colour bars and the legend of the last frame end, in pixels
};

// `before`: the content of the previous step while context.motion is on its way from there; else null.
// `under_mouse` is set to the cell under the mouse, if any.
PanelAction draw_one_head(const PanelContext& context, OneHeadState& state, const StageContent& content,
                          const StageContent* before, RectF area, std::optional<CellRef>& under_mouse);

// The view of all heads: the step's result at every head as a grid, in shared colours or each in its own,
// each with its number.

// A few words on what each head does, from its attention weights: how sharply it attends, how far away,
// and where most.

// The statistics of all heads in one batch, cached as long as the weights live.
class HeadFigures {
 public:
  // Empty if the trace has no attn_weights.
  const std::vector<HeadStatistics>& of(const Trace& trace, Index batch);

 private:
  std::weak_ptr<const Tensor> weights_;
  Index batch_ = -1;
  std::vector<HeadStatistics> heads_;
};

// "entropy 0.32 of 2.48", "looks 1.1 back", "it → animal .93", the last only if a row has a choice. For a
// head without a row of numbers: one line that says so.
std::vector<std::string> head_words(const PanelContext& context, const HeadStatistics& head);

struct AllHeadsState {
  HeadFigures figures;
  HeadRanges ranges;  // used where each head has its own colours
  CellLegend legend;
};

// `under_mouse` is set to the cell under the mouse, if any. Maps of queries and keys carry a few words on
// what the head does, where they fit.
PanelAction draw_all_heads(const PanelContext& context, AllHeadsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

// One query's row of attention weights in every head, one below the other, each in the head's hue and with a
// switch; beside them what the model predicts at that token, and the choice between the heads and one wide
// head of the same parameters.

struct HeadRowsState {
  std::optional<Index> query;  // chosen here; none: the position that the prediction tells most about
  Index salient = 0;           // that position, of the last frame
  Index first_row = 0;         // of the heads, where not all fit
  Index looked_at = -1;        // the head of the last frame: another one is scrolled into view
  HeadNames head_names;        // of heads whose function has no name: what they are measured to do
  // What was read as one wide head, and what that edit made of it: the way back.
  struct Wide {
    Scenario many, one;
  };
  std::optional<Wide> wide;
};

// Whether this trace has attention weights to show.
bool has_head_rows_view(const Trace& trace);

// `under_mouse` is set to the weight under the mouse, if any. context.predictions may be null.
PanelAction draw_head_rows(const PanelContext& context, HeadRowsState& state, RectF area,
                           std::optional<CellRef>& under_mouse);

// The tokens view: queries left, keys right, joined by lines whose strength is the attention of one head.

struct TokensState {
  // What was drawn last, cached until something it depends on changes.
  AttentionLines lines;
  std::weak_ptr<const Tensor> lines_of;
  Index lines_offset = -1;
  TokenLines lines_chosen;  // with its share

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them
};

// Which share is drawn of a map of this many queries or keys, whichever are more.
int shown_share(const TokenLines& chosen, Index tokens);

// Whether this trace has attention to draw.
bool has_tokens_view(const Trace& trace);

// The picture that the tokens are patches of; null if they are not.
std::shared_ptr<const ModelPicture> picture_of(const ScenarioInputs& inputs);
// Instead of draw_tokens, for a picture: its patches as queries, and beside them as keys, as bright as the
// weights of the query under the mouse, else of the focused one, else of [CLS].
PanelAction draw_picture_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                                RectF area, std::optional<CellRef>& under_mouse);
// The same, small, in the inspector; the picture alone at the Inputs step. Draws nothing without a picture,
// and where the stage shows it.
void draw_inspected_picture(const PanelContext& context, TextColumn& column, bool compact);

// `weights`: the content of the softmax step. `under_mouse` is set to the pair under the mouse, if any.
PanelAction draw_tokens(const PanelContext& context, TokensState& state, const StageContent& weights,
                        RectF area, std::optional<CellRef>& under_mouse);

// The view of one query against every key, number by number: q ∘ k before summing, the sum, its scale, the
// mask and the softmax, one line per key.

struct ElementwiseState {
  Index query = 0;

  // q ∘ k of the current query and head, cached until either changes.
  TensorPtr products;  // (S′,D)
  std::weak_ptr<const Tensor> products_of_q, products_of_k;
  Index products_q_offset = -1, products_k_offset = -1;
};

// Whether this trace has queries and keys to compare.
bool has_elementwise_view(const Trace& trace);

// q ∘ k: row j is the product of the query's row with row j of `k`, (S′,D).
TensorPtr elementwise_products(const MatrixView& q, Index query, const MatrixView& k);

// `scores`: the content of the scores step. `under_mouse` is set to the cell under the mouse, if any.
PanelAction draw_elementwise(const PanelContext& context, ElementwiseState& state, const StageContent& scores,
                             RectF area, std::optional<CellRef>& under_mouse);

// The view of one head's queries and keys in a plane: an arrow for each query, a point for each key, and the
// shown query's scores as projections onto its arrow; beside it that query's scores and weights, computed
// with all D numbers. Dragging an arrow recomputes both as if that query were another vector;
// the scenario is unchanged.

// Whose arrow was moved: batch, head, query.
using QueryPlace = std::tuple<Index, Index, Index>;

struct QueryKeyState {
  Index query = 0;  // shown where no pinned cell has one
  // How far arrows were moved in the plane. Dropped when q or k changes: the plane is then another one.
  std::map<QueryPlace, PlanePoint> moves;
  bool dragging = false;
  PlanePoint grip;  // from the mouse to the tip of the arrow that is dragged, in pixels

  // The plane of one head, and the row of the moved query: cached until what they depend on changes.
  std::weak_ptr<const Tensor> plane_of_q, plane_of_k;
  Index plane_batch = -1, plane_head = -1;
  QueryKeyPlane plane;
  std::string no_plane;  // why there is none: a sentence
  std::weak_ptr<const Tensor> row_of;
  QueryPlace row_place;
  PlanePoint row_move;
  QueryRow row;

  HeadRanges head_ranges;  // of the thumbnails
  HeadNames head_names;    // under them
};

// Whether this trace has queries and keys to place.
bool has_query_key_view(const Trace& trace);

// `scores`: the content of the scores step. `under_mouse` is set to the score or weight under the mouse,
// if any.
PanelAction draw_query_key(const PanelContext& context, QueryKeyState& state, const StageContent& scores,
                           RectF area, std::optional<CellRef>& under_mouse);

// The view of the backward pass: the tensors of a step, each next to its gradient, which has its own colours.

// The ranges of the maps drawn last, cached until others are drawn.
class GradientRanges {
 public:
  // From −m to m, with m taken over the cells of this map alone.
  ValueRange of(const MatrixView& view);

 private:
  struct Entry {
    std::weak_ptr<const Tensor> tensor;
    MatrixView place;  // without its tensor
    ValueRange range;
  };
  std::vector<Entry> entries_;
};

struct GradientsState {
  GradientRanges ranges;
  CellLegend legend;
};

// A matrix of the trace as stored, and the same cells of its gradient.
struct GradientPair {
  std::string place;  // "result", "left", "above"
  StagePart value;
  std::optional<StagePart> gradient;
  std::string absent;  // why there is none
};

// For the content of a step in a trace that has gradients: the result first, then its operands, each tensor
// once. Operands that are transposed in the product appear here as stored: rows are tokens in all of them.
std::vector<GradientPair> gradient_pairs(const Trace& trace, const StageContent& content,
                                         GradientRanges& ranges);

// `content` has cells. `under_mouse` is set to the cell under the mouse, if any.
PanelAction draw_gradients(const PanelContext& context, GradientsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

// The comparison view: the step's result in another scenario, in this one, and their difference,
// with one shared cursor.

// What changed from the other side of a comparison to the present one: the difference of the current map, how
// far apart all heads and the outputs are, and the sentence that says so.

// How one map differs from another.
struct MapDifference {
  MatrixView before, after;  // the two maps compared
  TensorPtr values;          // after − before, (rows,cols)
  TensorPtr mask;            // −∞ where both sides block; null unless both have a mask
  TensorChange change;
};

// The same for a whole tensor.
struct WholeChange {
  TensorPtr before, after;
  TensorChange change;
};

// Each is cached until either of its sides changes.
struct CompareChanges {
  std::optional<MapDifference> map;  // none where the two maps differ in rows or columns
  WholeChange all_heads, output;
};

// What it can compare with, in the order of CompareWith, as its buttons name them.
struct CompareChoices {
  std::array<std::string_view, compare_with_count> names, short_names;
};
CompareChoices compare_choices(const Trace& trace);

struct CompareState {
  CompareChanges changes;
  CellLegend legend;
  std::optional<std::pair<Index, Index>> cell;  // row and column under the mouse, in whichever of the maps
};

// `content` comes from the present trace and has cells. `under_mouse` is set to the present trace's cell
// under the mouse, on any of the maps.
PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse);

// Returns the area with `height` pixels removed at its top.
RectF without_top(const RectF& area, double height);

// The memory of a tensor as what it is, one row of floats: all of it, coloured by head, and enlarged around
// the focused float.

// One of the two readings of the memory as a matrix, the one produced by the operations or the one that takes
// the wrong floats: cells that show their offset, a title above them,
// and below them how the offset is computed.

// The rows and columns of the matrix that fit, and the floats in their cells.
struct MemoryWindow {
  Index row_begin = 0, rows = 0, col_begin = 0, cols = 0;
  std::vector<Index> right, wrong;  // in the first memory, row by row; `wrong` is empty where there is none
  std::vector<Rgba8> right_colors, wrong_colors;
};

struct MemoryReading {
  const MemoryScene& scene;
  const MemoryWindow& window;
  PlaneGeometry plane;               // of the cells, as many rows and columns as the window has
  bool wrong = false;                // which of the two
  std::optional<CellBox> looked_at;  // within the window; none if it lies outside

  const std::vector<Index>& floats() const { return wrong ? window.wrong : window.right; }
  const std::vector<Rgba8>& colors() const { return wrong ? window.wrong_colors : window.right_colors; }
};

void draw_reading_cells(const PanelContext& context, const MemoryReading& reading);

// "q_heads[0,1] L×D 12×16" above the cells, and below them how the offset is computed, all at most `width`
// pixels wide. `says_owner`: adds a line saying whose number the float is.
void draw_reading_words(const PanelContext& context, const MemoryReading& reading, float width,
                        bool says_owner);

// The colour of a float: that of its head or, where k is transposed, of its key; a neutral one for floats
// that belong to no head or key shown.
Rgba8 memory_color(const PanelContext& context, const MemoryScene& scene, Index first_float);

struct MemoryStripState {
  bool hovered = false;  // in the last frame: the strips then keep showing the same floats
  Index middle = 0;      // of the enlarged floats
  Index lane_begin = 0;  // the first float of the lanes, where not all of them fit
};

// Floats to be marked in the memory.
struct MarkedFloats {
  std::string what;                 // "q_heads[0,1]", "row 3"
  std::vector<Index> right, wrong;  // in the first memory
};

// The parts that fit: one lane per memory, the first memory's first; the enlarged floats.
struct MemoryStripParts {
  std::size_t lanes = 0;
  bool floats = true;
};

// A caption, then a lane for every memory.
float memory_strips_height(const PanelContext& context, const MemoryStripParts& parts);
// Sets `under` to the float under the mouse, counted in the first memory.
// Returns the head whose colour was clicked.
std::optional<Index> draw_memory_strips(const PanelContext& context, MemoryStripState& state,
                                        const MemoryScene& scene, const MemoryStripParts& parts,
                                        const MarkedFloats& marked, std::optional<Index> wrong_float,
                                        RectF area, std::optional<Index>& under);

// The memory order view: which float lies where after view and transpose. The operations as a table, the
// resulting matrix with cells that show their offset, next to it the reading that would take the wrong
// floats, and below both the memory itself as one row of floats.

struct MemoryViewState {
  bool presentation = false;  // for the back row: the matrices above all, few words around them
  MemoryWindow window;
  // The tensor that `window` was made from; kept until another is shown.
  std::weak_ptr<const Tensor> window_of;
  std::string window_key;
  MemoryStripState strips;
};

// `under_mouse` is set to the cell whose float is under the mouse, if any.
PanelAction draw_memory(const PanelContext& context, MemoryViewState& state, const MemoryScene& scene,
                        RectF area, std::optional<CellRef>& under_mouse);

// The view of what the model predicts: at each position its most probable token with the layer untouched, and
// with the layer as it is here; next to them all likely tokens of the selected position, and the heads,
// which can be muted.

struct PredictionState {
  Index salient = 0;            // the position shown when none is selected, of the last frame
  Index first_row = 0;          // of the list, where not all positions fit
  std::optional<Index> wanted;  // the position selected in the last frame: the list scrolls to it once
  HeadRanges head_ranges;       // of the thumbnails
  HeadNames head_names;         // under them
};

// The position whose predictions are shown when none is selected: where most has changed, else where the
// model predicts a token other than the one in its place, else the last.
Index salient_position(const TokenPredictions& predictions, PredictedToken kind);

// The same for what the window shows; 0 without predictions.
Index salient_position(const PanelContext& context);

// The position whose predictions are shown: that of the selected query, else salient_position.
// context.predictions must have positions.
Index predicted_position(const PanelContext& context);

// Differences below the displayed precision, 0.0005 bits, are no change; NaN is one.
bool has_changed(const PredictionChange& change);

// The likely tokens of one position, currently most probable first, with a bar for each side: original, and
// with your changes. context.predictions must have that position.
void draw_predicted_words(const PanelContext& context, Index position, RectF area);

// `weights`: the content of the softmax step. `under_mouse` is set to the strongest weight of the position
// under the mouse, if any. context.predictions may be null.
PanelAction draw_prediction(const PanelContext& context, PredictionState& state, const StageContent& weights,
                            RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
