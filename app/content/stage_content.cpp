#include "app/content/stage_content.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "app/content/cell_terms.h"
#include "app/content/stage_views.h"
#include "app/session/tensor_export.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/tensor/join.h"

namespace headwise {

ValueRange ValueRanges::of(const TensorPtr& tensor, Index batch, bool probabilities, const TensorPtr& mask,
                           double blocked_at) {
  const auto key = std::pair(tensor.get(), batch);
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    const Entry& entry = found->second;
    if (entry.tensor.lock() == tensor && entry.mask.lock() == mask && entry.blocked_at == blocked_at)
      return entry.range;
  }

  const Shape& shape = tensor->shape();
  HeatmapSpec spec;
  if (tensor->size() > 0) {
    const bool batched = shape.rank() >= 3 && shape.name(0) == "N" && batch < shape.size(0);
    const Index cols = shape.rank() == 0 ? 1 : shape.size(shape.rank() - 1);
    const Index part = batched ? tensor->size() / shape.size(0) : tensor->size();
    spec.values = {tensor, batched ? batch * part : 0, part / cols, cols, cols, 1};
    if (mask && mask->shape().same_sizes(shape)) {
      spec.mask = spec.values;
      spec.mask->tensor = mask;
      spec.blocked_at = blocked_at;
    }
  }
  const ValueRange range =
      range_of(std::span<const HeatmapSpec>(&spec, tensor->size() > 0 ? 1 : 0), !probabilities, probabilities);
  drop_expired();
  entries_[key] = {tensor, mask, blocked_at, range};
  return range;
}

ValueRange ValueRanges::widest(const TensorPtr& family, int key, Index batch, ValueRange range) {
  if (!family) return range;
  std::erase_if(families_, [](const auto& each) { return each.second.tensor.expired(); });
  const auto [known, first] = families_.try_emplace({family.get(), key, batch}, Family{family, range});
  known->second.range = joined(known->second.range, range);
  return known->second.range;
}

void ValueRanges::drop_expired() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.tensor.expired(); });
}

ValueRange joined(ValueRange a, ValueRange b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

namespace {

using Id = TensorId;

struct Colors {
  ColorMap color_map;
  ValueRange range;
};

// The name that a colour bar uses: q_heads are split from q, one name is enough for both.
std::string short_name(Id id) {
  if (id == Id::q_heads) return "q";
  if (id == Id::k_heads) return "k";
  if (id == Id::v_heads) return "v";
  return std::string(tensor_entry(id).name);
}

// "0", "1" …
const std::vector<std::string>& head_numbers() {
  constexpr Index most = 512;
  static const std::vector<std::string> numbers = [] {
    std::vector<std::string> all;
    for (Index head = 0; head < most; ++head) all.push_back(fmt::format("{}", head));
    return all;
  }();
  return numbers;
}

class ContentBuilder {
 public:
  ContentBuilder(const Trace& trace, const TokenLabels& labels, const Selection& selection, Theme theme,
                 ValueRanges& ranges)
      : trace_(trace), labels_(labels), selection_(selection), theme_(theme), ranges_(ranges) {}

  StageContent build() {
    choose_picture();
    if (!content_.nothing.empty()) return std::move(content_);
    const StepPicture picture = *shown_picture(trace_, selection_);
    turned_ = selection_.queries_as_columns && has_pairs(picture);
    content_.result = part(picture.result, turned_, 0, 0);
    if (turned_ && picture.left && picture.above && is_product(picture)) {
      // (A·B)ᵀ = Bᵀ·Aᵀ: the operand above moves to the left.
      content_.left = part(*picture.above, !picture.above_transposed, 0, 0);
      content_.above = part(*picture.left, true, 0, 0);
    } else {
      if (picture.left) content_.left = part(*picture.left, turned_, 0, 0);
      if (picture.above)
        content_.above = part(*picture.above, picture.above_transposed != turned_, picture.above_row_begin,
                              picture.above_row_end);
    }
    explain_emptiness();
    if (!content_.nothing.empty()) return std::move(content_);
    arrange(picture);
    name_axes();
    color(picture);
    choose_heads(picture);
    return std::move(content_);
  }

 private:
  void choose_picture() {
    content_.pictures = step_pictures(selection_.step, trace_);
    if (selection_.tensor && trace_.tensor(*selection_.tensor)) {
      const auto found = std::ranges::find(content_.pictures, *selection_.tensor, &StepPicture::result);
      content_.picture = static_cast<std::size_t>(found - content_.pictures.begin());
    } else if (content_.pictures.empty()) {
      content_.nothing =
          trace_.options.op == Op::scaled_dot_product_attention
              ? "scaled_dot_product_attention has no such step: its inputs are split into heads already"
              : "there is nothing to show here";
    }
  }

  bool has_pairs(const StepPicture& picture) const {
    for (const std::optional<Id>& id : {std::optional(picture.result), picture.left, picture.above}) {
      const TensorPtr tensor = id ? trace_.tensor(*id) : nullptr;
      if (tensor && is_pair_map(*tensor)) return true;
    }
    return false;
  }

  StagePart part(Id id, bool transposed, Index row_begin, Index row_end) const {
    const StagePlace place{selection_.batch, selection_.head};
    return {
        *stage_matrix(trace_, {id}, place, transposed, row_begin, row_end), {}, 0, nullptr, nullptr, 0, 0};
  }

  // One sentence if a size is 0: the formulas still hold, there is just no cell to show.
  void explain_emptiness() {
    const Shape& shape = content_.result->matrix.view.tensor->shape();
    for (const std::optional<StagePart>* operand : {&content_.result, &content_.left, &content_.above}) {
      if (!*operand) continue;
      const StageMatrix& matrix = (*operand)->matrix;
      if (matrix.view.tensor->size() > 0) continue;
      const Shape& empty = matrix.view.tensor->shape();
      const auto axis = std::ranges::find(empty.axes(), 0, &Axis::size);
      const std::string name = to_string(matrix.name);
      content_.nothing = fmt::format("{} {} has no cells: {} is 0", name, empty.to_string(), axis->name);
      if (shape.element_count() > 0)
        content_.nothing +=
            fmt::format(". {} {} is an empty sum: 0 everywhere, plus the bias if there is one",
                        to_string(content_.result->matrix.name), shape.to_string());
      return;
    }
  }

  void arrange(const StepPicture& picture) {
    const MatrixView& result = content_.result->matrix.view;
    // Nothing is aligned if the rows of an operand are not those of the result (appended rows of static_k …).
    if (content_.left && content_.left->matrix.view.rows != result.rows) {
      const bool appended = picture.result == Id::k || picture.result == Id::v;
      if (!appended) content_.left.reset();
    }
    if (content_.above && content_.above->matrix.view.cols != result.cols) content_.above.reset();
    const bool product = content_.left && content_.above && is_product(picture);
    if (content_.left && !product) {
      content_.cell_for_cell = content_.left->matrix.view.cols == result.cols;
      content_.sign = sign_of(picture.result);
      content_.above_sign = sign_of_above(picture);
      content_.mask_to_come = picture.result == Id::masked_scores && !content_.above && content_.cell_for_cell;
      // Weights that a frozen head keeps were made by no softmax of these scores.
      const bool of_scores = picture.result == Id::attn_weights && !is_frozen(trace_, selection_.head);
      content_.row_figures = of_scores && !turned_;
      content_.col_figures = of_scores && turned_;
      add_sink(of_scores);
    }
    add_bias(picture);
  }

  // Only in the view that shows it do the colours have to cover it.
  void add_sink(bool of_scores) {
    const TensorPtr& shares = trace_.tensors.sink_weights;
    if (!of_scores || !shares || selection_.view != StageView::one_head) return;
    const Index head = content_.result->matrix.leading.back();
    content_.sink = part(Id::sink_weights, !turned_, head, head + 1);
  }

  static bool is_product(const StepPicture& picture) { return sign_of_above(picture) == "·"; }

  std::string sign_of(Id result) const {
    const AttentionOptions& o = trace_.options;
    if (result == Id::scaled_scores) return score_scale(o).brief();
    if (result == Id::k_rot && !has_rotary_embedding(o)) return "cut";
    if (result == Id::masked_scores) return !content_.above ? "no mask" : o.mask_value ? "fill" : "+ mask";
    if (result == Id::attn_output_weights)
      return content_.result->matrix.view.tensor->shape().rank() == 3 ? "mean" : "copy";
    // clang-format off
    constexpr std::pair<Id, const char*> signs[]{
        {Id::residual_output, "+ query"}, {Id::attn_weights, "softmax"}, {Id::full_weights, "softmax"}, {Id::sink_weights, "σ(s − lse)"}, {Id::indexer_q, "project"}, {Id::indexer_k, "norm"}, {Id::dropped_weights, "dropout"},
        {Id::layer_norm_output, "norm"}, {Id::q_heads, "cut"}, {Id::k_heads, "cut"}, {Id::v_heads, "cut"},
        {Id::compressed_q, "norm"}, {Id::compressed_kv, "norm"}, {Id::k_rot, "turn"},
        {Id::q_absorbed, "· W_UK"}, {Id::k_absorbed, "join"}, {Id::head_output, "· W_UV"},
        {Id::q_rotary, "turn"}, {Id::k_rotary, "turn"}, {Id::q_normed, "norm"},
        {Id::present_key, "append"}, {Id::present_value, "append"}, {Id::present_compressed_kv, "append"}, {Id::present_k_rot, "append"}, {Id::k_normed, "norm"}, {Id::concat, "join"}, {Id::gated_concat, "⊙ σ"},   {Id::output, "copy"}};
    // clang-format on
    const auto* const sign = std::ranges::find(signs, result, &std::pair<Id, const char*>::first);
    return sign == std::end(signs) ? "" : sign->second;
  }

  // The bias of a projection, as one row over the result's columns.
  void add_bias(const StepPicture& picture) {
    const AttentionOptions& o = trace_.options;
    const Index width = content_.result->matrix.view.cols;
    const Index q_rows = o.num_heads * o.head_dim, k_rows = o.num_kv_heads * o.head_dim;
    Index begin = 0;
    Id id = Id::in_proj_bias;
    if (!content_.above) return;
    if (picture.result == Id::output) {
      id = Id::out_proj_bias;
    } else if (picture.result == Id::k) {
      begin = q_rows;
    } else if (picture.result == Id::v) {
      begin = q_rows + k_rows;
    } else if (picture.result == Id::q_a) {
      id = Id::q_a_bias;
    } else if (picture.result == Id::kv_a) {
      id = Id::kv_a_bias;
    } else if (picture.result != Id::q) {
      return;
    }
    const TensorPtr bias = trace_.tensor(id);
    if (bias && bias->shape().rank() == 1 && bias->size() >= begin + width)
      content_.bias = part(id, false, begin, begin + width);
  }

  void name_axes() {
    if (content_.above) content_.above->matrix.col_axis = content_.result->matrix.col_axis;
    if (content_.bias) content_.bias->matrix.col_axis = content_.result->matrix.col_axis;
    for (std::optional<StagePart>* each : {&content_.result, &content_.left, &content_.above, &content_.bias}) {
      if (!*each) continue;
      StagePart& shown = **each;
      const auto labels = [&](const std::string& axis, Index size) -> const std::vector<std::string>* {
        const auto* tokens = axis == "H" ? &head_numbers() : tokens_of(labels_, axis);
        return tokens && static_cast<Index>(tokens->size()) >= size ? tokens : nullptr;
      };
      shown.row_labels = labels(shown.matrix.row_axis, shown.matrix.view.rows);
      shown.col_labels = labels(shown.matrix.col_axis, shown.matrix.view.cols);
      shown.row_block = head_block(trace_, shown.matrix.row_axis);
      shown.col_block = head_block(trace_, shown.matrix.col_axis);
    }
  }

  Colors colors_of(Id id) {
    const TensorEntry& entry = tensor_entry(id);
    const TensorPtr tensor = trace_.tensor(id);
    const TensorPtr mask = blocked_cells(trace_, {id});
    const double blocked_at = blocked_value(trace_, {id});
    ValueRange range = ranges_.of(tensor, selection_.batch, entry.probabilities, mask, blocked_at);
    // After the head gains, which change without head_output: ranges seen at other gains still count.
    if (id == Id::concat || id == Id::gated_concat || id == Id::output || id == Id::residual_output)
      range = ranges_.widest(trace_.tensors.head_output, static_cast<int>(id), selection_.batch, range);
    return {entry.probabilities ? ColorMap::viridis : ColorMap::blue_orange, range};
  }

  // One bar for all the parts; its range covers them, its caption names them.
  void share_bar(const std::vector<StagePart*>& parts) {
    StageBar bar;
    bool heads = false;
    std::vector<std::string> names;
    for (StagePart* shown : parts) {
      const Colors colors = colors_of(shown->matrix.name.id);
      bar.range = names.empty() ? colors.range : joined(bar.range, colors.range);
      bar.color_map = colors.color_map;
      heads = heads || head_count(trace_, shown->matrix.name) > 1;
      const std::string name = short_name(shown->matrix.name.id);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    bar.caption = fmt::format("{}{}", join(names, " and "), heads ? ", all heads" : "");
    for (StagePart* shown : parts) {
      shown->bar = content_.bars.size();
      HeatmapSpec& spec = shown->spec;
      spec.values = shown->matrix.view;
      spec.color_map = bar.color_map;
      spec.range = bar.range;
      spec.range_note = bar.caption;
      spec.theme = theme_;
      set_mask(trace_, *shown);
    }
    // Masks that only block have a single number to show, 0; a bar from 0 to 0 would say nothing.
    if (names.size() == 1 && names[0] == "mask_bias" && bar.range == ValueRange{0.0, 0.0}) return;
    content_.bars.push_back(std::move(bar));
  }

  void color(const StepPicture& picture) {
    StagePart* result = &*content_.result;
    StagePart* left = content_.left ? &*content_.left : nullptr;
    StagePart* above = content_.above ? &*content_.above : nullptr;
    const auto same_kind = [](const StagePart* a, const StagePart* b) {
      return tensor_entry(a->matrix.name.id).probabilities == tensor_entry(b->matrix.name.id).probabilities;
    };
    // The same number has the same colour wherever numbers are compared: q with k, before with after a map.
    const bool is_map = left && !content_.sign.empty();
    const bool result_shares = is_map && same_kind(left, result) && picture.result != Id::layer_norm_output;
    std::vector<StagePart*> first;
    if (left) first.push_back(left);
    if (picture.result == Id::scores && above) first.push_back(above);
    if (result_shares) first.push_back(result);
    if (result_shares && picture.result == Id::residual_output && above) first.push_back(above);
    if (!first.empty()) share_bar(first);
    if (above && std::ranges::find(first, above) == first.end()) share_bar({above});
    if (content_.bias) {
      // Its own colours would need a fourth bar for a single row: it is added to the result,
      // so it uses the result's.
      share_bar({result, &*content_.bias});
    } else if (content_.sink) {
      share_bar({result, &*content_.sink});
    } else if (!result_shares) {
      share_bar({result});
    }
  }

  // Thumbnails are the step's own maps; after the softmax, where those are no longer informative, the
  // attention weights, which characterise a head.
  void choose_heads(const StepPicture& picture) {
    const auto per_head = [&](Id id) {
      const TensorPtr tensor = trace_.tensor(id);
      return tensor && tensor->shape().rank() == 4 && tensor->size() > 0;
    };
    const Id weights = trace_.options.dropout > 0 ? Id::dropped_weights : Id::attn_weights;
    const std::vector<Step> shown = shown_steps(trace_.options);
    const bool behind = place_of_step(shown, selection_.step) > place_of_step(shown, Step::softmax);
    if (behind && per_head(weights)) {
      content_.head_map = part(weights, selection_.queries_as_columns, 0, 0);
    } else if (selection_.step == Step::scale && content_.left && per_head(content_.left->matrix.name.id)) {
      // Scaled scores are pale in the colours of the scores: that is the point of the step, but it does not
      // help to tell heads apart.
      content_.head_map = content_.left;
    } else if (per_head(picture.result)) {
      content_.head_map = content_.result;
    } else {
      return;
    }
    content_.head_total = trace_.options.num_heads;
    if (!content_.head_map->spec.values.tensor) color_heads();
  }

  // In the colours of the same tensor, if it is on the stage too.
  void color_heads() {
    const Id id = content_.head_map->matrix.name.id;
    const TensorPtr tensor = trace_.tensor(id);
    for (const StagePart* shown : parts_of(content_)) {
      if (shown->matrix.view.tensor != tensor) continue;
      content_.head_map->spec = shown->spec;
      content_.head_map->bar = shown->bar;
      content_.head_map->spec.values = content_.head_map->matrix.view;
      set_mask(trace_, *content_.head_map);
      return;
    }
    share_bar({&*content_.head_map});
  }

  const Trace& trace_;
  const TokenLabels& labels_;
  const Selection& selection_;
  Theme theme_;
  ValueRanges& ranges_;
  bool turned_ = false;  // queries are columns
  StageContent content_;
};

}  // namespace

std::optional<StepPicture> shown_picture(const Trace& trace, const Selection& selection) {
  const std::vector<StepPicture> pictures = step_pictures(selection.step, trace);
  if (selection.tensor && trace.tensor(*selection.tensor)) {
    const auto found = std::ranges::find(pictures, *selection.tensor, &StepPicture::result);
    if (found == pictures.end()) return StepPicture{*selection.tensor, {}, {}, false, 0, 0};
    return *found;
  }
  if (pictures.empty()) return std::nullopt;
  return pictures.front();
}

bool shows_one_head(const Trace& trace, const Selection& selection) {
  const StageViewEntry& view = stage_view_entry(selection.view);
  const std::optional<StepPicture> picture = view.turns ? shown_picture(trace, selection) : std::nullopt;
  const TensorPtr result = picture ? trace.tensor(picture->result) : nullptr;
  return view.of_head && trace.options.num_heads > 1 &&
         (!view.turns || (result && result->shape().rank() == 4));
}

StageContent stage_content(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                           Theme theme, ValueRanges& ranges) {
  return ContentBuilder(trace, labels, selection, theme, ranges).build();
}

void set_mask(const Trace& trace, StagePart& part) {
  const TensorPtr mask = blocked_cells(trace, part.matrix.name);
  part.spec.mask.reset();
  part.spec.blocked_at = blocked_value(trace, part.matrix.name);
  if (!mask) return;
  part.spec.mask = matrix_view(mask, part.matrix.leading);
  if (part.matrix.transposed) part.spec.mask = part.spec.mask->transposed();
}

StagePart part_at_head(const StagePart& part, const Trace& trace, Index batch, Index head) {
  StagePart other = part;
  const StageMatrix& matrix = part.matrix;
  other.matrix = *stage_matrix(trace, matrix.name, {batch, head}, matrix.transposed);
  other.spec.values = other.matrix.view;
  if (part.spec.mask) {
    other.spec.mask = matrix_view(part.spec.mask->tensor, other.matrix.leading);
    if (matrix.transposed) other.spec.mask = other.spec.mask->transposed();
  }
  return other;
}

std::vector<const StagePart*> parts_of(const StageContent& content) {
  std::vector<const StagePart*> parts;
  for (const auto* part : {&content.left, &content.above, &content.bias, &content.sink, &content.result})
    if (*part) parts.push_back(&**part);
  return parts;
}

}  // namespace headwise
