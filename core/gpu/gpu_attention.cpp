#include "core/gpu/gpu_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/tensor/memory.h"

namespace headwise {
namespace {

// The maximum number of multiply-adds for one block of queries of a dispatch: a slice cannot be shorter.
constexpr double largest_unit = 5e8;

void add_finite_check(GpuWork& work, GpuPrograms& programs, const GpuAttention& a,
                      const StorageBuffer& numbers) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.all_finite();
  const Index most = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  for (Index first = 0; first < numbers.count(); first += most) {
    const Index count = std::min(most, numbers.count() - first);
    work.add({"all_finite", 1, static_cast<double>(count), [&, first, count, masks = a.masks](Index, Index) {
                program.use();
                program.set("offset", numbers.bind(0, first, count, limits.offset_alignment));
                program.set_size("count", count);
                masks->skips().bind(7, 0, masks->skips().count(), limits.offset_alignment);
                glDispatchCompute(static_cast<GLuint>(std::clamp<Index>(count / 4096, 1, 1024)), 1, 1);
              }});
  }
}

constexpr Index key_block = 64;        // BLOCK_S of the shader
constexpr Index largest_height = 128;  // maximum number of queries of a work group

// What one dispatch may do: whole heads, or some queries and keys of one, if a binding cannot hold a whole head.
struct Piece {
  Index n, first_head, heads, first_query, queries, first_key, keys;
};

// Rows [first, first + count) of `width` numbers for a shader that counts rows from `base`: correct modulo 2³².
std::uint32_t bind_rows(const StorageBuffer& numbers, unsigned binding, Index base, Index first, Index count,
                        Index width, Index alignment) {
  return numbers.bind(binding, (base + first) * width, count * width, alignment) -
         static_cast<std::uint32_t>(first * width);
}

// The same for the two numbers stored per row.
std::uint32_t bind_statistics(const StorageBuffer& statistics, Index base, Index first, Index count,
                              Index alignment) {
  return statistics.bind(4, 2 * (base + first), 2 * count, alignment) / 2 - static_cast<std::uint32_t>(first);
}

void dispatch(const GpuAttention& a, const ComputeProgram& program, const GpuLimits& limits, Index height,
              const Piece& piece, Index first_block, Index blocks) {
  const AttentionSizes& s = a.sizes;
  const Index alignment = limits.offset_alignment, group = s.heads / s.kv_heads;
  const Index first_kv = piece.first_head / group, end_kv = (piece.first_head + piece.heads - 1) / group + 1;
  const Index kv_row = piece.n * s.kv_heads + first_kv, row = piece.n * s.heads + piece.first_head;
  program.use();
  a.masks->set(program, alignment, {piece.n, piece.first_head, piece.heads, piece.first_query, piece.queries});
  // For several heads all rows; for one head only the requested rows.
  const Index kv_heads = end_kv - first_kv;
  const Index first_query = piece.heads == 1 ? piece.first_query : 0;
  const Index query_rows = piece.heads == 1 ? piece.queries : piece.heads * s.queries;
  const Index key_rows = kv_heads == 1 ? piece.keys : kv_heads * s.all_keys;
  program.set("q_offset", bind_rows(*a.q, 0, row * s.queries, first_query, query_rows, s.head_dim, alignment));
  program.set("k_offset",
              bind_rows(*a.k, 1, kv_row * s.all_keys, piece.first_key, key_rows, s.head_dim, alignment));
  program.set("v_offset",
              bind_rows(*a.v, 2, kv_row * s.all_keys, piece.first_key, key_rows, s.v_head_dim, alignment));
  program.set(
      "key_blocks",
      std::array{static_cast<std::uint32_t>(piece.first_key / key_block),
                 static_cast<std::uint32_t>((piece.first_key + piece.keys + key_block - 1) / key_block)});
  program.set("continues", piece.first_key > 0);
  const Index out_first =
      piece.n * a.out_batch_stride + piece.first_head * a.out_head_stride + piece.first_query * a.out_stride;
  const Index out_count =
      (piece.heads - 1) * a.out_head_stride + (piece.queries - 1) * a.out_stride + s.v_head_dim;
  const std::uint32_t out = a.out->bind(3, out_first, out_count, alignment);
  // The shader counts heads from 0 and adds their strides: correct modulo 2³².
  program.set("o_offset", out - static_cast<std::uint32_t>(piece.first_head * a.out_head_stride));
  program.set_size("o_stride", a.out_stride);
  program.set_size("o_head_stride", a.out_head_stride);
  program.set_size("first_row", piece.first_query);
  program.set("statistics_offset",
              bind_statistics(*a.statistics, row * s.queries, first_query, query_rows, alignment));
  program.set_size("queries", s.queries);
  program.set_size("keys", s.all_keys);
  program.set_size("head_dim", s.head_dim);
  program.set_size("v_head_dim", s.v_head_dim);
  program.set_size("heads", s.heads);
  program.set_size("group_size", group);
  program.set_size("batch", piece.n);
  program.set_size("first_head", piece.first_head);
  program.set_size("first_block", piece.first_query / height + first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), static_cast<GLuint>(piece.heads), 1);
}

Index at_once(const GpuLimits& limits, Index numbers) {
  return std::max<Index>(1, (limits.storage_block_bytes - limits.offset_alignment) / (4 * numbers));
}

// Of one key/value head, in whole blocks.
Index keys_at_once(const AttentionSizes& s, const GpuLimits& limits) {
  const Index most = at_once(limits, std::max(s.head_dim, s.v_head_dim)) / key_block * key_block;
  return std::clamp(most, key_block, std::max(s.all_keys, key_block));
}

}  // namespace

std::string gpu_attention_refusal(const AttentionSizes& sizes, const GpuLimits& limits) {
  if (sizes.v_head_dim > 256 || sizes.head_dim > 256)
    return fmt::format("the gl backend does heads of up to 256 columns, these have {}",
                       std::max(sizes.head_dim, sizes.v_head_dim));
  const Index rows = std::min(largest_height, std::max(sizes.queries, sizes.all_keys));
  const Index block = 4 * rows * std::max(sizes.head_dim, sizes.v_head_dim);
  if (block + limits.offset_alignment > limits.storage_block_bytes)
    return fmt::format("{} rows of a head are {}, and this GPU's shaders see {} at once", rows,
                       bytes_text(block), bytes_text(limits.storage_block_bytes));
  const Index queries = std::min(largest_height, sizes.queries);
  const Index all_heads = 4 * queries * sizes.heads * sizes.v_head_dim;
  if (all_heads + limits.offset_alignment > limits.storage_block_bytes)
    return fmt::format("{} rows of all heads are {}, and this GPU's shaders see {} at once", queries,
                       bytes_text(all_heads), bytes_text(limits.storage_block_bytes));
  return "";
}

void add_attention(GpuWork& work, GpuPrograms& programs, const GpuAttention& a) {
  const GpuLimits& limits = programs.limits();
  const AttentionSizes& s = a.sizes;
  if (a.computed.empty()) return;
  if (a.masks->any()) {
    add_finite_check(work, programs, a, *a.k);
    add_finite_check(work, programs, a, *a.v);
  }
  const AttentionTile tile = programs.attention_tile(s.queries, s.head_dim, s.v_head_dim, a.masks->any());
  const ComputeProgram& program = programs.scaled_dot_product_attention(tile);
  const Index height = 64 * tile.rows;
  const double head_work = static_cast<double>(height) * static_cast<double>(s.all_keys) *
                           static_cast<double>(s.head_dim + s.v_head_dim);
  // A binding holds whole heads of q, k and v, or else some queries and keys of one, and the same number of queries of the
  // output. Both in whole blocks.
  const Index slab = std::max({s.queries * s.head_dim, s.all_keys * s.head_dim, s.all_keys * s.v_head_dim});
  Index heads_each = std::min({at_once(limits, slab), limits.groups_y, s.heads,
                               std::max<Index>(1, static_cast<Index>(largest_unit / head_work))});
  if (a.out_head_stride > s.v_head_dim) heads_each = std::min(heads_each, at_once(limits, a.out_head_stride));
  Index queries_each = std::max(at_once(limits, a.out_stride) / height * height, height);
  queries_each = std::min(queries_each, limits.groups_x * height);
  Index keys_each = s.all_keys;
  if (slab > at_once(limits, 1)) {
    queries_each = std::min(queries_each, std::max(at_once(limits, s.head_dim) / height * height, height));
    keys_each = keys_at_once(s, limits);
  }
  // And the same number of rows of an attn_mask.
  if (const std::optional<Index> rows = a.masks->rows_at_once(limits)) {
    queries_each = std::min(queries_each, std::max(*rows / height * height, height));
    heads_each = 1;
  }
  std::vector<HeadRange> heads;
  for (const HeadRange& range : a.computed)
    for (Index head = range.begin; head < range.end; head += heads_each)
      heads.push_back({head, std::min(head + heads_each, range.end)});
  for (Index n = 0; n < s.batch; ++n) {
    for (const auto& [head, end] : heads) {
      for (Index query = 0; query < s.queries; query += queries_each) {
        for (Index key = 0; key < s.all_keys; key += keys_each) {
          const Piece piece{n,
                            head,
                            end - head,
                            query,
                            std::min(queries_each, s.queries - query),
                            key,
                            std::min(keys_each, s.all_keys - key)};
          const double share = static_cast<double>(piece.keys) / static_cast<double>(s.all_keys);
          work.add({"scaled_dot_product_attention", (piece.queries + height - 1) / height,
                    head_work * share * static_cast<double>(piece.heads),
                    [a, &program, &limits, height, piece](Index first, Index count) {
                      dispatch(a, program, limits, height, piece, first, count);
                    }});
        }
      }
    }
  }
}

void attention_weights_rows(GpuPrograms& programs, const GpuAttention& a, Index n, Index h, Index first,
                            Index rows, const StorageBuffer& tile) {
  const AttentionSizes& s = a.sizes;
  const Index alignment = programs.limits().offset_alignment;
  const Index row = n * s.heads + h, kv_row = n * s.kv_heads + h / (s.heads / s.kv_heads);
  const ComputeProgram& program = programs.attention_weights();
  program.use();
  a.masks->set(program, alignment, {n, h, 1, first, rows});
  program.set("q_offset", bind_rows(*a.q, 0, row * s.queries, first, rows, s.head_dim, alignment));
  program.set("statistics_offset", bind_statistics(*a.statistics, row * s.queries, first, rows, alignment));
  const std::uint32_t tile_offset = tile.bind(3, 0, rows * s.all_keys, alignment);
  program.set_size("head_dim", s.head_dim);
  program.set_size("batch", n);
  program.set_size("head", h);
  program.set_size("tile_stride", s.all_keys);
  const Index keys_each = keys_at_once(s, programs.limits());
  for (Index key = 0; key < s.all_keys; key += keys_each) {
    const Index keys = std::min(keys_each, s.all_keys - key);
    program.set("k_offset", bind_rows(*a.k, 1, kv_row * s.all_keys, key, keys, s.head_dim, alignment));
    program.set("tile_offset", tile_offset + static_cast<std::uint32_t>(key));
    program.set("first", std::array{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(key)});
    program.set("size", std::array{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(keys)});
    glDispatchCompute(static_cast<GLuint>((keys + 15) / 16), static_cast<GLuint>((rows + 15) / 16), 1);
  }
}

}  // namespace headwise
