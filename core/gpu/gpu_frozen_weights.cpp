#include "core/gpu/gpu_frozen_weights.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

constexpr Index tile = 16;  // queries and columns of a work group

constexpr Index keys_of_step = 4 * tile;

// Queries of one frozen head whose rows can be bound together.
struct Piece {
  Index n, slice, head, first_query, queries;
};

void dispatch(const GpuAttention& a, const GpuFrozenWeights& held, const ComputeProgram& program,
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
        job.dispatch = [a, &held, &program, alignment = limits.offset_alignment,
                        piece](const GpuRange& range) { dispatch(a, held, program, alignment, piece, range); };
        work.add(std::move(job));
      }
    }
  }
}

}  // namespace headwise
