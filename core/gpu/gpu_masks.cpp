#include "core/gpu/gpu_masks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/attention/relative_bias.h"
#include "core/attention/score_scale.h"
#include "core/tensor/memory.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

constexpr Index counted_cells = Index{1} << 32;

}  // namespace

Index most_mask_cells(Index cells_per_number, const GpuLimits& limits) {
  // A piece begins and ends within a number, and less than an alignment after the beginning of what is bound.
  const Index bound = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  const Index ends = cells_per_number > 1 ? 2 : 0;
  return std::min(cells_per_number * (bound - ends),
                  counted_cells - cells_per_number * (limits.offset_alignment / 4 + ends));
}

std::optional<Index> mask_rows_at_once(const StoredAttnMask& mask, Index queries, const GpuLimits& limits) {
  const Index most = most_mask_cells(mask.cells_per_number, limits);
  if (mask.numbers * mask.cells_per_number <= most) return std::nullopt;
  if (mask.view.step_l == 0) return queries;
  return std::clamp<Index>(most / mask.view.step_l, 1, queries);
}

MaskPiece mask_piece(const StoredAttnMask& mask, const MaskRows& rows) {
  const AttnMaskView& view = mask.view;
  const Index first = rows.n * view.step_n + rows.first_head * view.step_h + rows.first_query * view.step_l;
  const Index last = first + (rows.heads - 1) * view.step_h + (rows.queries - 1) * view.step_l +
                     (view.keys - 1) * view.step_s;
  const Index begin = first / mask.cells_per_number;
  return {begin, last / mask.cells_per_number + 1 - begin};
}

std::uint32_t mask_base(const StoredAttnMask& mask, const MaskPiece& piece, Index before) {
  return static_cast<std::uint32_t>((piece.first - before) * mask.cells_per_number);
}

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// The maximum number of queries of a work group of shaders/scaled_dot_product_attention.comp.
constexpr Index rows_of_pass = 128;
constexpr Index bits_of_number = 32;

Index blocks(Index length) {
  return (length + mask_block - 1) / mask_block;
}

// What a cell of a mask adds, if True blocks.
float added(const Tensor& mask, Index cell) {
  const double value = mask.flat(cell);
  return mask.dtype() != DType::boolean ? static_cast<float>(value) : value != 0.0 ? minus_infinity : 0.0f;
}

std::array<std::uint32_t, 2> words(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
}

}  // namespace

std::string GpuMasks::refusal(const GivenMasks& given, const GpuLimits& limits) {
  if (!given.attn_mask) return "";
  const Shape& shape = given.attn_mask->shape();
  const Index keys = shape.rank() > 0 ? shape.size(shape.rank() - 1) : 1;
  const Index cells = std::min(keys * rows_of_pass, given.attn_mask->size());
  if (cells <= most_mask_cells(given.attn_mask->dtype() == DType::boolean ? bits_of_number : 1, limits))
    return "";
  return fmt::format("{} rows of attn_mask are more than this GPU's shaders see at once ({})", rows_of_pass,
                     bytes_text(limits.storage_block_bytes));
}

StoredAttnMask GpuMasks::stored() const {
  return {view_, attn_mask_.count(), attn_mask_kind_ == 1 ? bits_of_number : 1};
}

std::optional<Index> GpuMasks::rows_at_once(const GpuLimits& limits) const {
  if (!attn_mask_) return std::nullopt;
  return mask_rows_at_once(stored(), sizes_.queries, limits);
}

GpuMasks::GpuMasks(const AttentionOptions& options, const GivenMasks& given, const std::vector<double>& sinks,
                   const AttentionSizes& sizes)
    : options_(options), sizes_(sizes) {
  for (Index n = 0; n < sizes.batch; ++n)
    offsets_.push_back(causal_offset(options, given, n, sizes.queries, sizes.keys));
  needs_ = {.masks = has_any_mask(options, given),
            .cap = score_scale(options).cap() > 0.0,
            .dropout = options.dropout > 0.0};
  std::vector<float> data;
  const auto place = [&] { return static_cast<int>(data.size()); };
  if (given.key_padding_mask) {
    padding_at_ = place();
    for (Index i = 0; i < given.key_padding_mask->size(); ++i)
      data.push_back(added(*given.key_padding_mask, i));
  }
  if (given.valid_lens || given.nonpad_kv_seqlen) {
    valid_lens_at_ = place();
    valid_lens_per_query_ = given.valid_lens && given.valid_lens->shape().rank() == 2;
    for (Index n = 0; n < sizes.batch; ++n)
      for (Index query = 0; query < (valid_lens_per_query_ ? sizes.queries : 1); ++query)
        data.push_back(std::bit_cast<float>(
            static_cast<std::int32_t>(valid_keys(given, n, query, sizes.queries, sizes.keys))));
  }
  if (options.alibi) {
    slopes_at_ = place();
    for (const double slope : alibi_slopes(sizes.heads, options.alibi_scale))
      data.push_back(static_cast<float>(slope));
  }
  if (options.relative_bias) {
    relative_at_ = place();
    const RelativeBiasTable table(*options.relative_bias, *given.relative_bias_weight,
                                  sizes.keys + sizes.queries);
    relative_reach_ = table.reach();
    for (const double bias : table.values()) data.push_back(static_cast<float>(bias));
  }
  if (!sinks.empty()) {
    sinks_at_ = place();
    for (const double sink : sinks) data.push_back(static_cast<float>(sink));
  }
  data_ = StorageBuffer("mask data", std::max<Index>(1, static_cast<Index>(data.size())));
  data_.write(0, std::span<const float>(data));

  if (given.attn_mask) {
    view_ = view_attn_mask(options.op, given.attn_mask->shape(), sizes.batch, sizes.heads, sizes.queries,
                           sizes.keys)
                .value();
    put_attn_mask(*given.attn_mask);
    const bool skippable = attn_mask_kind_ == 1 && !options.mask_value && sizes.all_keys == sizes.keys &&
                           view_.keys == sizes.keys;
    if (skippable) {
      const Index per_head = blocks(sizes.queries) * blocks(sizes.keys);
      const Index heads = view_.step_h != 0 ? sizes.heads : 1, batch = view_.step_n != 0 ? sizes.batch : 1;
      blocked_.batch_step = batch > 1 ? heads * per_head : 0;
      blocked_.head_step = heads > 1 ? per_head : 0;
      blocked_.row_step = blocks(sizes.keys);
      find_blocked(batch, heads);
    }
  }
  skips_ = StorageBuffer("blocks to skip", 1 + static_cast<Index>(blocked_.bits.size()));
  skips_.write(1, std::span<const std::uint32_t>(blocked_.bits));
  bits_ = {};
}

std::vector<const StorageBuffer*> GpuMasks::buffers() const {
  std::vector<const StorageBuffer*> all{&data_, &skips_};
  if (attn_mask_) all.push_back(&attn_mask_);
  return all;
}

void GpuMasks::put_attn_mask(const Tensor& mask) {
  if (mask.dtype() != DType::boolean) {
    attn_mask_kind_ = 2;
    std::vector<float> cells(static_cast<std::size_t>(mask.size()));
    for (Index i = 0; i < mask.size(); ++i)
      cells[static_cast<std::size_t>(i)] = static_cast<float>(mask.flat(i));
    attn_mask_ = StorageBuffer("attn_mask", mask.size());
    attn_mask_.write(0, std::span<const float>(cells));
    return;
  }
  attn_mask_kind_ = 1;
  const bool true_blocks = projects(options_.op);
  const auto cells = mask.values<std::uint8_t>();
  bits_.assign((cells.size() + 31) / 32, 0);
  for (std::size_t i = 0; i < cells.size(); ++i)
    if ((cells[i] != 0) == true_blocks) bits_[i / 32] |= 1u << (i % 32);
  attn_mask_ = StorageBuffer("attn_mask", static_cast<Index>(bits_.size()));
  attn_mask_.write(0, std::span<const std::uint32_t>(bits_));
}

void GpuMasks::find_blocked(Index batch, Index heads) {
  const Index rows = blocks(sizes_.queries), columns = blocks(sizes_.keys), block = mask_block;
  blocked_.bits.assign(static_cast<std::size_t>((batch * heads * rows * columns + 31) / 32), 0);
  const auto is_blocked = [&](Index cell) {
    return (bits_[static_cast<std::size_t>(cell / 32)] >> (cell % 32) & 1u) != 0;
  };
  Index at = 0;
  for (Index n = 0; n < batch; ++n)
    for (Index h = 0; h < heads; ++h)
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c, ++at) {
          bool all = true;
          for (Index l = r * block; all && l < std::min((r + 1) * block, sizes_.queries); ++l)
            for (Index s = c * block; all && s < std::min((c + 1) * block, sizes_.keys); ++s)
              all = is_blocked(n * view_.step_n + h * view_.step_h + l * view_.step_l + s * view_.step_s);
          if (all) blocked_.bits[static_cast<std::size_t>(at / 32)] |= 1u << (at % 32);
        }
}

void GpuMasks::bind_attn_mask(const ComputeProgram& program, Index alignment, const Rows& rows) const {
  const StoredAttnMask mask = stored();
  const MaskPiece piece = mask_piece(mask, rows);
  const Index before = attn_mask_.bind(5, piece.first, piece.count, alignment);
  program.set("attn_mask_base", mask_base(mask, piece, before));
}

void GpuMasks::set(const ComputeProgram& program, Index alignment, const Rows& rows) const {
  const ScoreScale scale = score_scale(options_);
  program.set("score_scale", static_cast<float>(scale.factor()));
  program.set("softcap", static_cast<float>(scale.cap()));
  program.set_size("given_keys", sizes_.keys);
  program.set("position_offset", static_cast<int>(offsets_[static_cast<std::size_t>(rows.n)]));
  program.set("causal", options_.is_causal);
  const PositionWindow seen = seen_by_position(options_);
  program.set("behind", static_cast<int>(std::min(seen.behind, sizes_.keys + sizes_.queries)));
  program.set("ahead", static_cast<int>(std::min(seen.ahead, sizes_.keys + sizes_.queries)));
  program.set("fills", options_.mask_value.has_value());
  program.set("fill_value", static_cast<float>(options_.mask_value.value_or(0.0)));
  program.set("attn_mask_kind", attn_mask_kind_);
  const auto step = [](Index cells) { return static_cast<std::uint32_t>(cells); };
  program.set("attn_mask_step",
              std::array{step(view_.step_n), step(view_.step_h), step(view_.step_l), step(view_.step_s)});
  program.set_size("attn_mask_keys", view_.keys);
  program.set("padding_at", padding_at_);
  program.set("valid_lens_at", valid_lens_at_);
  program.set("valid_lens_step", valid_lens_per_query_ ? std::array{step(sizes_.queries), step(1)}
                                                       : std::array{step(1), step(0)});
  program.set("slopes_at", slopes_at_);
  program.set("relative_at", relative_at_);
  program.set("relative_reach", static_cast<int>(relative_reach_));
  program.set("sinks_at", sinks_at_);
  program.set("empty_is_zero", options_.fully_masked_rows == FullyMaskedRows::zero);
  program.set("positions_only", attn_mask_kind_ == 0 && padding_at_ < 0 && valid_lens_at_ < 0 &&
                                    slopes_at_ < 0 && relative_at_ < 0 && scale.cap() == 0.0);
  program.set("may_skip", !options_.mask_value.has_value());
  program.set("block_step", std::array{step(blocked_.batch_step), step(blocked_.head_step),
                                       step(blocked_.row_step), step(blocked_.bits.empty() ? 0 : 1)});

  program.set("dropout_seed", words(options_.dropout_seed));
  program.set("dropout_stream", words(CounterRandom::stream_number("dropout")));
  program.set("dropout_below", words(static_cast<std::uint64_t>(std::ceil(options_.dropout * 0x1.0p53))));
  program.set("dropout_survivor", static_cast<float>(1.0 / (1.0 - options_.dropout)));

  // Thanks to the guard words around a buffer, bindings never exceed its bounds.
  if (attn_mask_) bind_attn_mask(program, alignment, rows);
  data_.bind(6, 0, data_.count(), alignment);
  skips_.bind(7, 0, skips_.count(), alignment);
}

}  // namespace headwise
