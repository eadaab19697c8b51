#include "core/gpu/gpu_frozen_weights.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

constexpr Index tile = 16;  // queries and columns of a work group

// Queries and keys of one frozen head that one dispatch may do.
struct Piece {
  Index n, slice, head, first_query, queries, first_key, keys;
};

void dispatch(const GpuAttention& a, const GpuFrozenWeights& held, const ComputeProgram& program,
              Index alignment, const Piece& piece, Index first_block, Index blocks) {
  const AttentionSizes& s = a.sizes;
  const Index kv_row = piece.n * s.kv_heads + piece.head / (s.heads / s.kv_heads);
  const Index row = (piece.n * static_cast<Index>(held.heads.size()) + piece.slice) * s.queries;
  program.use();
  // The shader counts keys from 0: correct modulo 2³².
  const std::uint32_t weights = held.weights.bind(0, (row + piece.first_query) * s.all_keys + piece.first_key,
                                                  (piece.queries - 1) * s.all_keys + piece.keys, alignment);
  program.set("held_offset", weights - static_cast<std::uint32_t>(piece.first_key));
  const std::uint32_t v = a.v->bind(2, (kv_row * s.all_keys + piece.first_key) * s.v_head_dim,
                                    piece.keys * s.v_head_dim, alignment);
  program.set("v_offset", v - static_cast<std::uint32_t>(piece.first_key * s.v_head_dim));
  program.set("key_range", std::array{static_cast<std::uint32_t>(piece.first_key),
                                      static_cast<std::uint32_t>(piece.first_key + piece.keys)});
  const Index out_first =
      piece.n * a.out_batch_stride + piece.head * a.out_head_stride + piece.first_query * a.out_stride;
  program.set("o_offset",
              a.out->bind(3, out_first, (piece.queries - 1) * a.out_stride + s.v_head_dim, alignment));
  program.set_size("o_stride", a.out_stride);
  program.set_size("queries", piece.queries);
  program.set_size("keys", s.all_keys);
  program.set_size("v_head_dim", s.v_head_dim);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>((s.v_head_dim + tile - 1) / tile), static_cast<GLuint>(blocks), 1);
}

}  // namespace

void add_frozen_weights(GpuWork& work, GpuPrograms& programs, const GpuAttention& a,
                        const GpuFrozenWeights& held) {
  const GpuLimits& limits = programs.limits();
  const AttentionSizes& s = a.sizes;
  const ComputeProgram& program = programs.frozen_weights();
  const Index room = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  const Index rows = room / std::max(s.all_keys, a.out_stride);
  const Index queries_each =
      std::clamp<Index>(rows < tile ? rows : rows / tile * tile, 1, limits.groups_y * tile);
  const Index keys_each = std::max(room / s.v_head_dim / tile * tile, tile);
  for (Index n = 0; n < s.batch; ++n) {
    for (std::size_t f = 0; f < held.heads.size(); ++f) {
      const Index head = held.heads[f];
      for (Index query = 0; query < s.queries; query += queries_each) {
        for (Index key = 0; key < s.all_keys; key += keys_each) {
          const Piece piece{n,
                            static_cast<Index>(f),
                            head,
                            query,
                            std::min(queries_each, s.queries - query),
                            key,
                            std::min(keys_each, s.all_keys - key)};
          work.add({"frozen_weights", (piece.queries + tile - 1) / tile,
                    static_cast<double>(tile * piece.keys * s.v_head_dim),
                    [a, &held, &program, alignment = limits.offset_alignment, piece](Index first, Index count) {
                      dispatch(a, held, program, alignment, piece, first, count);
                    }});
        }
      }
    }
  }
}

}  // namespace headwise
