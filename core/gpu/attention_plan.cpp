#include "core/gpu/attention_plan.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

namespace headwise {
namespace {

constexpr Index word_bits = 32;

// 32 bits from this one on; 0 beyond the last word.
std::uint32_t bits_from(const std::vector<std::uint32_t>& words, Index bit) {
  const auto word = static_cast<std::size_t>(bit / word_bits);
  const std::uint64_t low = words[word], high = word + 1 < words.size() ? words[word + 1] : 0;
  return static_cast<std::uint32_t>((high << word_bits | low) >> (bit % word_bits));
}

}  // namespace

Index BlockedBlocks::count(Index n, Index h, Index row, Index rows, Index first, Index end) const {
  if (bits.empty()) return 0;
  const Index begin = n * batch_step + h * head_step + row * row_step;
  Index all = 0;
  for (Index block = first; block < end; block += word_bits) {
    std::uint32_t blocked = ~std::uint32_t{0};
    for (Index r = 0; r < rows; ++r) blocked &= bits_from(bits, begin + r * row_step + block);
    const Index left = std::min(end - block, word_bits);
    if (left < word_bits) blocked &= (std::uint32_t{1} << left) - 1;
    all += std::popcount(blocked);
  }
  return all;
}

namespace {

constexpr Index vec4_bytes = 16;

// From how many queries on a large tile is worthwhile. Software takes a second longer to compile it.
constexpr Index queries_of_large_tile = 128, queries_of_large_tile_on_software = 512;

// As declared in the shader.
Index shared_bytes(Index rows, Index columns) {
  const Index query_stride = 16 * rows, key_stride = attention_key_block / 4;
  const Index strip = std::max({attention_strip_depth * (query_stride + key_stride),
                                attention_value_rows(columns) * 16 * columns, 256 * rows});
  return (strip + attention_key_block / rows * 16 * rows) * vec4_bytes;
}

Index at_once(const GpuLimits& limits, Index numbers) {
  return std::max<Index>(1, (limits.storage_block_bytes - limits.offset_alignment) / (4 * numbers));
}

Index blocks_of(Index length, Index block) {
  return (length + block - 1) / block;
}

}  // namespace

Index attention_value_rows(Index columns) {
  return 32 / columns;
}

bool attention_tile_fits(Index rows, Index columns, const GpuLimits& limits) {
  // Wide values take the registers of a second vec4 of rows.
  return rows == 1 || (columns <= 2 && shared_bytes(rows, columns) <= limits.shared_bytes);
}

std::vector<std::string> shader_macros(const AttentionTile& tile) {
  const ScoreNeeds& needs = tile.needs;
  std::vector<std::string> macros;
  for (const auto& [is_on, macro] :
       {std::pair{tile.ragged, "RAGGED"}, std::pair{needs.masks || needs.cap, "MASKED"},
        std::pair{needs.cap, "SOFTCAP"}, std::pair{needs.dropout, "DROPOUT"},
        std::pair{tile.loads_ahead, "LOADS_AHEAD"}})
    if (is_on) macros.emplace_back(macro);
  return macros;
}

std::string variant_of(const AttentionTile& tile) {
  std::string text = fmt::format("{}x{}", tile.rows, tile.columns);
  for (const std::string& macro : shader_macros(tile)) text += " " + macro;
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

AttentionTile attention_tile(const AttentionSizes& s, const ScoreNeeds& needs, const GpuLimits& limits,
                             double processors) {
  AttentionTile tile;
  tile.columns = s.v_head_dim <= 64 ? 1 : s.v_head_dim <= 128 ? 2 : 4;
  tile.ragged = s.head_dim % 4 != 0 || s.v_head_dim % 4 != 0;
  tile.needs = needs;
  const auto groups = static_cast<double>(s.batch * s.heads * blocks_of(s.queries, largest_attention_height));
  const TileChoice& choice = limits.tiles.attention[tile.columns == 1 ? 0 : tile.columns == 2 ? 1 : 2];
  tile.loads_ahead = choice.loads_ahead;
  const Index least_queries = limits.software ? queries_of_large_tile_on_software : queries_of_large_tile;
  const bool enough = s.queries >= least_queries && groups >= 2.0 * processors;
  if (choice.large && attention_tile_fits(2, tile.columns, limits) && (enough || limits.tiles.exact))
    tile.rows = 2;
  return tile;
}

Index attention_keys_at_once(const AttentionSizes& s, const GpuLimits& limits) {
  const Index most =
      at_once(limits, std::max(s.head_dim, s.v_head_dim)) / attention_key_block * attention_key_block;
  return std::clamp(most, attention_key_block, std::max(s.all_keys, attention_key_block));
}

AttentionPlan plan_attention(const AttentionSizes& s, const std::vector<HeadRange>& heads,
                             const HeadOutputStrides& strides, std::optional<Index> mask_rows,
                             const GpuLimits& limits, const AttentionTile& tile) {
  const Index height = 64 * tile.rows;
  // A binding holds whole heads of q, k and v, or else some queries and keys of one, and the same number of
  // queries of the output. Both in whole blocks.
  const Index slab = std::max({s.queries * s.head_dim, s.all_keys * s.head_dim, s.all_keys * s.v_head_dim});
  AttentionPlan plan;
  Index heads_each = std::min(at_once(limits, slab), s.heads);
  if (strides.head > s.v_head_dim) heads_each = std::min(heads_each, at_once(limits, strides.head));
  Index queries_each = std::max(at_once(limits, strides.query) / height * height, height);
  if (slab > at_once(limits, 1)) {
    queries_each = std::min(queries_each, std::max(at_once(limits, s.head_dim) / height * height, height));
    plan.most_key_blocks = attention_keys_at_once(s, limits) / attention_key_block;
  }
  // And the same number of rows of an attn_mask.
  if (mask_rows) {
    queries_each = std::min(queries_each, std::max(*mask_rows / height * height, height));
    heads_each = 1;
  }
  for (Index n = 0; n < s.batch; ++n)
    for (const HeadRange& range : heads)
      for (Index head = range.begin; head < range.end; head += heads_each)
        for (Index query = 0; query < s.queries; query += queries_each)
          plan.pieces.push_back({n, head, std::min(heads_each, range.end - head), query,
                                 std::min(queries_each, s.queries - query)});
  return plan;
}

GpuJob attention_job(const AttentionSizes& s, const AttentionTile& tile, const AttentionPlan& plan,
                     const AttentionPiece& piece, const SkippedScores& skipped) {
  const Index height = 64 * tile.rows, blocks = blocks_of(piece.queries, height);
  GpuJob job{.kind = "scaled_dot_product_attention",
             .variant = fmt::format("{} {}", variant_of(tile), s.head_dim),
             .units = blocks * piece.heads,
             .steps = blocks_of(s.all_keys, attention_key_block),
             .most_steps = plan.most_key_blocks,
             .work = static_cast<double>(height * attention_key_block * (s.head_dim + s.v_head_dim))};
  const PositionReach reach = skipped.reach.value_or(PositionReach{});
  const BlockedBlocks* const blocked =
      skipped.blocked && !skipped.blocked->bits.empty() ? skipped.blocked : nullptr;
  if (!reach.seen.bounds() && !blocked) return job;
  job.steps_done = [=, queries = s.queries, keys = s.all_keys, rows = tile.rows](Index unit, Index first,
                                                                                 Index end) {
    const Index first_query = piece.first_query + (blocks - 1 - unit % blocks) * height;
    const Index last_query = std::min(first_query + height, queries) - 1;
    // As seen_keys of the shader.
    const Index from = std::clamp<Index>(first_query + reach.offset - reach.seen.behind, 0, keys);
    const Index to = std::clamp<Index>(last_query + reach.offset + reach.seen.ahead + 1, 0, keys);
    const Index begin = std::max(first, from / attention_key_block);
    const Index ends = std::max(begin, std::min(end, blocks_of(to, attention_key_block)));
    if (!blocked) return ends - begin;
    const Index row = first_query / mask_block;  // as is_blocked of the shader
    const Index all_rows = std::min(rows, blocks_of(queries, mask_block) - row);
    return ends - begin - blocked->count(piece.n, piece.first_head + unit / blocks, row, all_rows, begin, ends);
  };
  return job;
}

}  // namespace headwise
