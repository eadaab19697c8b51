// Into how many heads a layer's rows can be split, if no config.json says so: the arrays alone do not tell,
// but they rule out most numbers.
#pragma once

#include <optional>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

struct HeadChoice {
  Index num_heads = 1, num_kv_heads = 1, head_dim = 1, v_head_dim = 1;
  friend bool operator==(const HeadChoice&, const HeadChoice&) = default;
};

// Every number of heads that the rows of q, k and v can be split into, fewest first: the width of keys
// determines the key/value heads of each, and rotary positions need an even width. At most 4096 heads; empty
// if the arrays themselves are invalid.
std::vector<HeadChoice> head_choices(const AttentionLayer& layer);

// The first choices offered to the user, at most five: heads of width 32, 64, 80, 96 and 128, as in nearly
// all published models; if the layer is too narrow for three of these, those closest to 64. Wider heads last.
std::vector<HeadChoice> usual_head_choices(const AttentionLayer& layer);

// The default choice; nullopt if there is no choice at all.
std::optional<HeadChoice> likeliest_heads(const AttentionLayer& layer);

// The choice with this many heads; nullopt if they do not fit.
std::optional<HeadChoice> choice_of_heads(const AttentionLayer& layer, Index num_heads);

}  // namespace headwise
