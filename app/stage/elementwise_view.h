// The view of one query against every key, number by number: q ∘ k before it is summed, the sum, its scale, the
// mask and the softmax, all in one line a key.
#pragma once

#include <memory>
#include <optional>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

struct ElementwiseState {
  Index query = 0;

  // q ∘ k of the query and head that are shown, kept until another is.
  TensorPtr products;  // (S′,D)
  std::weak_ptr<const Tensor> products_of_q, products_of_k;
  Index products_q_offset = -1, products_k_offset = -1;
};

// Whether this trace has queries and keys to hold against each other.
bool has_elementwise_view(const Trace& trace);

// q ∘ k: row j is the product of the query's row with row j of `k`, (S′,D).
TensorPtr elementwise_products(const MatrixView& q, Index query, const MatrixView& k);

// `scores`: the content of the scores step. `under_mouse` is set to the cell that the mouse is over, if any.
PanelAction draw_elementwise(const PanelContext& context, ElementwiseState& state, const StageContent& scores,
                             RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
