// The head that tells two versions of a sentence apart: "the animal did not cross the street because it was
// too tired" and the same with "wide". Its query for "it" attends to another noun in each.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "core/model/transformer/transformer.h"

namespace headwise {

struct SwitchingHead {
  Index layer = 0, head = 0;
  Index query = 0;  // position in the text, the same token in both versions
  // the key that the query attends to most, in the first and in the second version
  std::array<Index, 2> keys{};
  std::array<double, 2> weights{};  // of those keys
};

// Of all heads and queries, the one that attends most clearly to one key in the first version and to another
// in the second: the smaller of the two weights is the largest. Query and keys are positions whose token is
// the same in both versions. Nullopt if the versions do not have the same number of tokens, or every query
// attends most to the same key in both. Runs the model twice; throws like Transformer::run.
std::optional<SwitchingHead> find_switching_head(const Transformer& transformer, std::span<const TokenId> first,
                                                 std::span<const TokenId> second);

}  // namespace headwise
