#include "core/gpu/gpu_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/memory.h"

namespace headwise {
namespace {

// The most multiply-adds that one block of queries of a dispatch should mean: a slice cannot be shorter.
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

// Heads and queries that one dispatch may do.
struct Piece {
  Index n, first_head, heads, first_query, queries;
};

void dispatch(const GpuAttention& a, const ComputeProgram& program, const GpuLimits& limits, Index height,
              const Piece& piece, Index first_block, Index blocks) {
  const AttentionSizes& s = a.sizes;
  const Index alignment = limits.offset_alignment, group = s.heads / s.kv_heads;
  const Index first_kv = piece.first_head / group, end_kv = (piece.first_head + piece.heads - 1) / group + 1;
  const Index kv_row = piece.n * s.kv_heads + first_kv, row = piece.n * s.heads + piece.first_head;
  program.use();
  a.masks->set(program, alignment,
               {piece.n, piece.first_head, piece.heads, piece.first_query, piece.queries});
  const Index q_slab = s.queries * s.head_dim, k_slab = s.all_keys * s.head_dim,
              v_slab = s.all_keys * s.v_head_dim;
  program.set("q_offset", a.q->bind(0, row * q_slab, piece.heads * q_slab, alignment));
  program.set("k_offset", a.k->bind(1, kv_row * k_slab, (end_kv - first_kv) * k_slab, alignment));
  program.set("v_offset", a.v->bind(2, kv_row * v_slab, (end_kv - first_kv) * v_slab, alignment));
  const Index out_first =
      piece.n * a.out_batch_stride + piece.first_head * a.out_head_stride + piece.first_query * a.out_stride;
  const Index out_count =
      (piece.heads - 1) * a.out_head_stride + (piece.queries - 1) * a.out_stride + s.v_head_dim;
  const std::uint32_t out = a.out->bind(3, out_first, out_count, alignment);
  // The shader counts heads from 0 and adds their strides: modulo 2³² that comes out right.
  program.set("o_offset", out - static_cast<std::uint32_t>(piece.first_head * a.out_head_stride));
  program.set_size("o_stride", a.out_stride);
  program.set_size("o_head_stride", a.out_head_stride);
  program.set_size("first_row", piece.first_query);
  program.set("statistics_offset",
              a.statistics->bind(4, 2 * row * s.queries, 2 * piece.heads * s.queries, alignment) / 2);
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

}  // namespace

std::string gpu_attention_refusal(const AttentionSizes& sizes, const GpuLimits& limits) {
  if (sizes.v_head_dim > 256 || sizes.head_dim > 256)
    return fmt::format("the gl backend does heads of up to 256 columns, these have {}",
                       std::max(sizes.head_dim, sizes.v_head_dim));
  const Index longest = std::max(sizes.queries, sizes.all_keys) * std::max(sizes.head_dim, sizes.v_head_dim);
  if (4 * longest + limits.offset_alignment > limits.storage_block_bytes)
    return fmt::format("one head is {}, and this GPU's shaders see {} at once", bytes_text(4 * longest),
                       bytes_text(limits.storage_block_bytes));
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
  // A binding holds whole heads of q, k and v, and of the output so many queries, of whole blocks.
  const Index slab = std::max({s.queries * s.head_dim, s.all_keys * s.head_dim, s.all_keys * s.v_head_dim});
  Index heads_each = std::min({at_once(limits, slab), limits.groups_y, s.heads,
                               std::max<Index>(1, static_cast<Index>(largest_unit / head_work))});
  if (a.out_head_stride > s.v_head_dim) heads_each = std::min(heads_each, at_once(limits, a.out_head_stride));
  Index queries_each = std::max(at_once(limits, a.out_stride) / height * height, height);
  queries_each = std::min(queries_each, limits.groups_x * height);
  // And of an attn_mask so many rows.
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
        const Piece piece{n, head, end - head, query, std::min(queries_each, s.queries - query)};
        work.add({"scaled_dot_product_attention", (piece.queries + height - 1) / height,
                  head_work * static_cast<double>(piece.heads),
                  [a, &program, &limits, height, piece](Index first, Index count) {
                    dispatch(a, program, limits, height, piece, first, count);
                  }});
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
  program.set("q_offset", a.q->bind(0, row * s.queries * s.head_dim, s.queries * s.head_dim, alignment));
  program.set("k_offset", a.k->bind(1, kv_row * s.all_keys * s.head_dim, s.all_keys * s.head_dim, alignment));
  program.set("statistics_offset", a.statistics->bind(4, 2 * row * s.queries, 2 * s.queries, alignment) / 2);
  program.set("tile_offset", tile.bind(3, 0, rows * s.all_keys, alignment));
  program.set_size("head_dim", s.head_dim);
  program.set_size("batch", n);
  program.set_size("head", h);
  program.set("first", std::array{static_cast<std::uint32_t>(first), 0u});
  program.set("size", std::array{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(s.all_keys)});
  program.set_size("tile_stride", s.all_keys);
  glDispatchCompute(static_cast<GLuint>((s.all_keys + 15) / 16), static_cast<GLuint>((rows + 15) / 16), 1);
}

}  // namespace headwise
