// Into how many heads a layer's rows can be cut, where no config.json says it: the arrays alone do not tell, but most numbers
// do not fit them.
#pragma once

#include <optional>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

struct HeadChoice {
  Index num_heads = 1, num_kv_heads = 1, head_dim = 1, v_head_dim = 1;
  friend bool operator==(const HeadChoice&, const HeadChoice&) = default;
};

// Every number of heads that the rows of q, k and v can be cut into, the fewest first: the width of keys gives the key/value
// heads of each, and rotary positions want an even width. At most 4096 heads; empty where the arrays themselves are wrong.
std::vector<HeadChoice> head_choices(const AttentionLayer& layer);

// What a person is asked first, at most five: heads of 32, 64, 80, 96 and 128, as nearly all published models have them,
// and where the layer is too narrow for three of these, what comes nearest to 64. Wider heads last.
std::vector<HeadChoice> usual_head_choices(const AttentionLayer& layer);

// The one to be taken where nobody answers; none where there is no choice at all.
std::optional<HeadChoice> likeliest_heads(const AttentionLayer& layer);

// Of so many heads; none where they do not fit.
std::optional<HeadChoice> choice_of_heads(const AttentionLayer& layer, Index num_heads);

}  // namespace headwise
