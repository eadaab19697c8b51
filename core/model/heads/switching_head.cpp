#include "core/model/heads/switching_head.h"

#include <algorithm>
#include <vector>

namespace headwise {
namespace {

// The position of the largest weight of a row; a NaN is never the largest.
Index strongest_key(std::span<const float> row) {
  Index strongest = 0;
  for (std::size_t j = 1; j < row.size(); ++j) {
    if (row[j] > row[static_cast<std::size_t>(strongest)]) strongest = static_cast<Index>(j);
  }
  return strongest;
}

}  // namespace

std::optional<SwitchingHead> find_switching_head(const Transformer& transformer, std::span<const TokenId> first,
                                                 std::span<const TokenId> second) {
  if (first.size() != second.size()) return std::nullopt;
  const Transformer::RunOptions with_weights{.keep_weights = true};
  const std::array passes{transformer.run(first, with_weights), transformer.run(second, with_weights)};
  const auto same = [&](Index position) {
    return first[static_cast<std::size_t>(position)] == second[static_cast<std::size_t>(position)];
  };
  const auto length = static_cast<Index>(first.size());
  std::optional<SwitchingHead> best;
  for (Index layer = 0; layer < transformer.config().num_layers; ++layer) {
    for (Index head = 0; head < transformer.config().num_heads; ++head) {
      for (Index query = 0; query < length; ++query) {
        if (!same(query)) continue;
        SwitchingHead found{layer, head, query};
        for (std::size_t version = 0; version < 2; ++version) {
          const Tensor& weights = *passes[version].attn_weights[static_cast<std::size_t>(layer)];
          const auto row = weights.values<float>().subspan(
              static_cast<std::size_t>((head * length + query) * length), first.size());
          found.keys[version] = strongest_key(row);
          found.weights[version] = static_cast<double>(row[static_cast<std::size_t>(found.keys[version])]);
        }
        const auto clearness = [](const SwitchingHead& of) { return std::min(of.weights[0], of.weights[1]); };
        const bool switches = found.keys[0] != found.keys[1] && same(found.keys[0]) && same(found.keys[1]);
        if (switches && (!best || clearness(found) > clearness(*best))) best = found;
      }
    }
  }
  return best;
}

}  // namespace headwise
