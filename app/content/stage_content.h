// What the stage shows at a place: which matrices of which tensors, in which colours, with which labels. A
// function of trace and selection, so it is tested without a window;
// stage_layout decides where everything lies.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/export/heatmap.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// The value ranges that the stage's colours stand for, computed once per tensor and batch and cached as long
// as the tensor lives.

class ValueRanges {
 public:
  // Over every map that the tensor has in this batch (all heads). Cells blocked by `mask`, which has the same
  // shape, do not count where nothing but that is shown (core/export/heatmap.h).
  ValueRange of(const TensorPtr& tensor, Index batch, bool probabilities, const TensorPtr& mask = nullptr,
                double blocked_at = -std::numeric_limits<double>::infinity());

  // The widest range given so far for `family` with this key: while a gain is dragged or a head soloed, the
  // colours keep their meaning, so the change is visible.
  ValueRange widest(const TensorPtr& family, int key, Index batch, ValueRange range);

  // Drops the ranges of tensors that no longer exist.
  void drop_expired();

 private:
  struct Entry {
    std::weak_ptr<const Tensor> tensor, mask;
    double blocked_at;
    ValueRange range;
  };
  std::map<std::pair<const Tensor*, Index>, Entry> entries_;
  struct Family {
    std::weak_ptr<const Tensor> tensor;
    ValueRange range;
  };
  std::map<std::tuple<const Tensor*, int, Index>, Family> families_;
};

// The smallest range that covers both.
ValueRange joined(ValueRange a, ValueRange b);

// A colour bar and a caption naming every map it applies to.
struct StageBar {
  ColorMap color_map{};
  ValueRange range;
  std::string caption;  // "q and k, all heads"
};

struct StagePart {
  StageMatrix matrix;
  HeatmapSpec spec;  // values, mask, colours; names and labels are drawn by the stage
  std::size_t bar = 0;
  const std::vector<std::string>* row_labels = nullptr;  // of TokenLabels; null: plain indices
  const std::vector<std::string>* col_labels = nullptr;
  Index row_block = 0, col_block = 0;  // width of a head's block along an axis that joins heads; 0: none
};

struct StageContent {
  std::vector<StepPicture> pictures;  // the pictures the step offers
  std::size_t picture = 0;            // which of them this is; pictures.size() for a tensor by itself
  std::string nothing;  // if not empty: why there is no cell to show; everything below is then empty
  std::optional<StagePart> result, left, above, bias;
  // No mask yet. While one is about to be painted its place above the result stays free, so that nothing
  // moves under the mouse with the first stroke.
  bool mask_to_come = false;
  bool cell_for_cell = false;  // an elementwise map, not a product: operands have the result's shape
  bool row_figures = false;    // the softmax: row maximum and Σ exp lie left of the result,
  bool col_figures = false;    // or above it, where queries are columns
  // With a sink, what it takes of each row: a column between these numbers and the result, or a row.
  std::optional<StagePart> sink;
  std::string sign;        // between left operand and result where it is not a product: "× 0.25"
  std::string above_sign;  // before the operand above, likewise: "+"
  std::vector<StageBar> bars;
  std::optional<StagePart> head_map;  // the thumbnails are this part at each of the query heads
  Index head_total = 0;               // how many thumbnails: every query head
  bool veiled = false;                // a page asks for the result: its place stays covered
};

// The picture that the stage shows: the one whose result is the chosen tensor, or the tensor by itself if the
// step has no such picture, or the step's main one. Null where there is nothing.
std::optional<StepPicture> shown_picture(const Trace& trace, const Selection& selection);
// Whether that is another picture at another head.
bool shows_one_head(const Trace& trace, const Selection& selection);

StageContent stage_content(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                           Theme theme, ValueRanges& ranges);

// Marks the cells of the part that the masks block, if they act on its tensor.
void set_mask(const Trace& trace, StagePart& part);

// The map of `part` at another head, in the same colours.
StagePart part_at_head(const StagePart& part, const Trace& trace, Index batch, Index head);

// Every matrix that is drawn in the view of one head.
std::vector<const StagePart*> parts_of(const StageContent& content);

}  // namespace headwise
