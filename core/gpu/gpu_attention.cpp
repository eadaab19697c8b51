#include "core/gpu/gpu_attention.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index numbers_of_check = 4096;  // for a work group of all_finite
constexpr double work_of_check = 16.0;    // of all_finite, in multiply-adds: reading it is what takes time

void add_finite_check(GpuWork& work, GpuPrograms& programs, const GpuAttention& a,
                      const StorageBuffer& numbers) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.all_finite();
  const Index most = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  for (Index first = 0; first < numbers.count(); first += most) {
    const Index count = std::min(most, numbers.count() - first);
    GpuJob job{.kind = "all_finite",
               .units = (count + numbers_of_check - 1) / numbers_of_check,
               .work = work_of_check * static_cast<double>(numbers_of_check)};
    job.dispatch = [&, first, count, masks = a.masks](const GpuRange& range) {
      const Index begin = range.first_unit * numbers_of_check;
      const Index seen = std::min(range.units * numbers_of_check, count - begin);
      program.use();
      program.set("offset", numbers.bind(0, first + begin, seen, limits.offset_alignment));
      program.set_size("count", seen);
      masks->skips().bind(7, 0, masks->skips().count(), limits.offset_alignment);
      glDispatchCompute(static_cast<GLuint>(std::min<Index>(range.units, 1024)), 1, 1);
    };
    work.add(std::move(job));
  }
}

// Rows [first, first + count) of `width` numbers for a shader that counts rows from `base`:
// correct modulo 2³².
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

void dispatch_attention(const GpuAttention& a, const ComputeProgram& program, const GpuLimits& limits,
                        Index height, const AttentionPiece& piece, const GpuRange& range) {
  const AttentionSizes& s = a.sizes;
  const Index alignment = limits.offset_alignment, group = s.heads / s.kv_heads;
  const Index first_kv = piece.first_head / group, end_kv = (piece.first_head + piece.heads - 1) / group + 1;
  const Index kv_row = piece.n * s.kv_heads + first_kv, row = piece.n * s.heads + piece.first_head;
  const Index end_step = range.first_step + range.steps, first_key = range.first_step * attention_key_block;
  const Index keys = std::min(end_step * attention_key_block, s.all_keys) - first_key;
  program.use();
  a.masks->set(program, alignment, {piece.n, piece.first_head, piece.heads, piece.first_query, piece.queries});
  // For several heads all rows and keys; for one only those requested.
  const Index kv_heads = end_kv - first_kv;
  const Index first_query = piece.heads == 1 ? piece.first_query : 0;
  const Index first_bound_key = kv_heads == 1 ? first_key : 0;
  const Index query_rows = piece.heads == 1 ? piece.queries : piece.heads * s.queries;
  const Index key_rows = kv_heads == 1 ? keys : kv_heads * s.all_keys;
  program.set("q_offset", bind_rows(*a.q, 0, row * s.queries, first_query, query_rows, s.head_dim, alignment));
  program.set("k_offset",
              bind_rows(*a.k, 1, kv_row * s.all_keys, first_bound_key, key_rows, s.head_dim, alignment));
  program.set("v_offset",
              bind_rows(*a.v, 2, kv_row * s.all_keys, first_bound_key, key_rows, s.v_head_dim, alignment));
  program.set("key_blocks",
              std::array{static_cast<std::uint32_t>(range.first_step), static_cast<std::uint32_t>(end_step)});
  program.set("continues", first_key > 0);
  program.set("ends", first_key + keys == s.all_keys);
  const Index out_first = piece.n * a.out_strides.batch + piece.first_head * a.out_strides.head +
                          piece.first_query * a.out_strides.query;
  const Index out_count =
      (piece.heads - 1) * a.out_strides.head + (piece.queries - 1) * a.out_strides.query + s.v_head_dim;
  const std::uint32_t out = a.out->bind(3, out_first, out_count, alignment);
  // The shader counts heads from 0 and adds their strides: correct modulo 2³².
  program.set("o_offset", out - static_cast<std::uint32_t>(piece.first_head * a.out_strides.head));
  program.set_size("o_stride", a.out_strides.query);
  program.set_size("o_head_stride", a.out_strides.head);
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
  program.set_size("first_block", piece.first_query / height);
  program.set_size("blocks", (piece.queries + height - 1) / height);
  for (Index done = 0; done < range.units; done += limits.groups_x) {
    program.set_size("first_group", range.first_unit + done);
    glDispatchCompute(static_cast<GLuint>(std::min(limits.groups_x, range.units - done)), 1, 1);
  }
}

}  // namespace

std::string gpu_attention_refusal(const AttentionSizes& sizes, const GpuLimits& limits) {
  if (sizes.v_head_dim > 256 || sizes.head_dim > 256)
    return fmt::format("the gl backend does heads of up to 256 columns, these have {}",
                       std::max(sizes.head_dim, sizes.v_head_dim));
  const Index rows = std::min(largest_attention_height, std::max(sizes.queries, sizes.all_keys));
  const Index block = 4 * rows * std::max(sizes.head_dim, sizes.v_head_dim);
  if (block + limits.offset_alignment > limits.storage_block_bytes)
    return fmt::format("{} rows of a head are {}, and this GPU's shaders see {} at once", rows,
                       bytes_text(block), bytes_text(limits.storage_block_bytes));
  const Index queries = std::min(largest_attention_height, sizes.queries);
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
  if (a.masks->needs().masks) {
    add_finite_check(work, programs, a, *a.k);
    add_finite_check(work, programs, a, *a.v);
  }
  work.barrier();
  const AttentionTile tile =
      attention_tile(s, a.masks->needs(), limits, work.processors("scaled_dot_product_attention"));
  const ComputeProgram& program = programs.scaled_dot_product_attention(tile);
  const AttentionPlan plan =
      plan_attention(s, a.computed, a.out_strides, a.masks->rows_at_once(limits), limits, tile);
  for (const AttentionPiece& piece : plan.pieces) {
    GpuJob job = attention_job(s, tile, plan, piece, {a.reach, &a.masks->blocked()});
    job.dispatch = [a, &program, &limits, height = 64 * tile.rows, piece](const GpuRange& range) {
      dispatch_attention(a, program, limits, height, piece, range);
    };
    work.add(std::move(job));
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
  const Index keys_each = attention_keys_at_once(s, programs.limits());
  for (Index key = 0; key < s.all_keys; key += keys_each) {
    const Index keys = std::min(keys_each, s.all_keys - key);
    program.set("k_offset", bind_rows(*a.k, 1, kv_row * s.all_keys, key, keys, s.head_dim, alignment));
    program.set("tile_offset", tile_offset + static_cast<std::uint32_t>(key));
    program.set("first", std::array{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(key)});
    program.set("size", std::array{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(keys)});
    glDispatchCompute(static_cast<GLuint>((keys + 15) / 16), static_cast<GLuint>((rows + 15) / 16), 1);
  }
}

namespace {

constexpr Index tile = 16;  // queries and columns of a work group
constexpr Index keys_of_step = 4 * tile;

// Queries of one frozen head whose rows can be bound together.
struct Piece {
  Index n, slice, head, first_query, queries;
};

void dispatch_attention(const GpuAttention& a, const GpuFrozenWeights& held, const ComputeProgram& program,
                        Index alignment, const Piece& piece, const GpuRange& range) {
  const AttentionSizes& s = a.sizes;
  const Index kv_row = piece.n * s.kv_heads + piece.head / (s.heads / s.kv_heads);
  const Index row = (piece.n * static_cast<Index>(held.heads.size()) + piece.slice) * s.queries;
  const Index first_key = range.first_step * keys_of_step;
  const Index keys = std::min(range.steps * keys_of_step, s.all_keys - first_key);
  program.use();
  // The shader counts keys from 0: correct modulo 2³².
  const std::uint32_t weights = held.weights.bind(0, (row + piece.first_query) * s.all_keys + first_key,
                                                  (piece.queries - 1) * s.all_keys + keys, alignment);
  program.set("held_offset", weights - static_cast<std::uint32_t>(first_key));
  const std::uint32_t v =
      a.v->bind(2, (kv_row * s.all_keys + first_key) * s.v_head_dim, keys * s.v_head_dim, alignment);
  program.set("v_offset", v - static_cast<std::uint32_t>(first_key * s.v_head_dim));
  program.set("key_range",
              std::array{static_cast<std::uint32_t>(first_key), static_cast<std::uint32_t>(first_key + keys)});
  const Index out_first = piece.n * a.out_strides.batch + piece.head * a.out_strides.head +
                          piece.first_query * a.out_strides.query;
  program.set("o_offset",
              a.out->bind(3, out_first, (piece.queries - 1) * a.out_strides.query + s.v_head_dim, alignment));
  program.set_size("o_stride", a.out_strides.query);
  program.set_size("queries", piece.queries);
  program.set_size("keys", s.all_keys);
  program.set_size("v_head_dim", s.v_head_dim);
  program.set_size("first_block", range.first_unit);
  glDispatchCompute(static_cast<GLuint>((s.v_head_dim + tile - 1) / tile), static_cast<GLuint>(range.units), 1);
}

}  // namespace

void add_frozen_weights(GpuWork& work, GpuPrograms& programs, const GpuAttention& a,
                        const GpuFrozenWeights& held) {
  const GpuLimits& limits = programs.limits();
  const AttentionSizes& s = a.sizes;
  const ComputeProgram& program = programs.frozen_weights();
  const Index room = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  const Index rows = room / std::max(s.all_keys, a.out_strides.query);
  const Index queries_each =
      std::clamp<Index>(rows < tile ? rows : rows / tile * tile, 1, limits.groups_y * tile);
  for (Index n = 0; n < s.batch; ++n) {
    for (std::size_t f = 0; f < held.heads.size(); ++f) {
      for (Index query = 0; query < s.queries; query += queries_each) {
        const Piece piece{n, static_cast<Index>(f), held.heads[f], query,
                          std::min(queries_each, s.queries - query)};
        GpuJob job{.kind = "frozen_weights",
                   .units = (piece.queries + tile - 1) / tile,
                   .groups = (s.v_head_dim + tile - 1) / tile,
                   .steps = (s.all_keys + keys_of_step - 1) / keys_of_step,
                   .most_steps = std::max<Index>(1, room / s.v_head_dim / keys_of_step),
                   .work = static_cast<double>(tile * keys_of_step * s.v_head_dim)};
        job.dispatch = [a, &held, &program, alignment = limits.offset_alignment, piece](const GpuRange& range) {
          dispatch_attention(a, held, program, alignment, piece, range);
        };
        work.add(std::move(job));
      }
    }
  }
}

}  // namespace headwise
