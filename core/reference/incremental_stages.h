// Updates for StageCache::stage that avoid recomputing a whole product: only rows and columns whose sources have changed are
// computed (core/attention/incremental_product.h). Private to core/reference.
#pragma once

#include <functional>

#include "core/attention/linear.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/reference/stage_cache.h"

namespace headwise {

// x·Wᵀ + b of `shape`, for a stage whose first source is x. `earlier_rows` finds W and b among the sources of the earlier stage;
// nullopt if that was a different product. `x` and `rows` must outlive the call of the update.
using EarlierRows = std::function<std::optional<LinearRows>(const StageKey& earlier)>;
StageCache::Update update_linear(const TensorPtr& x, const LinearRows& rows, Shape shape,
                                 EarlierRows earlier_rows);

// A product per head, attention_scores or weighted_sum, for a stage whose sources are its two factors.
using IncrementalHeads = ProductChange (*)(const Tensor& left, const Tensor& right,
                                           const EarlierHeads& earlier, Tensor& out);
StageCache::Update update_heads(const TensorPtr& left, const TensorPtr& right, Shape shape,
                                IncrementalHeads product);

}  // namespace headwise
