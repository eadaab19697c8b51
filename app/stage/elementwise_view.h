// The view of one query against every key, number by number: q ∘ k before summing, the sum, its scale, the
// mask and the softmax, one line per key.
#pragma once

#include <memory>
#include <optional>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

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

}  // namespace headwise
