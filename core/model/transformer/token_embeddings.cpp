#include "core/model/transformer/token_embeddings.h"

#include <cmath>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Adds PE(position, 2i) = sin(position/10000^(2i/E)), PE(position, 2i+1) = cos of the same angle.
void add_sinusoids(Rows& x) {
  const auto width = static_cast<double>(x.cols());
  for (Index position = 0; position < x.rows(); ++position) {
    for (Index e = 0; e < x.cols(); ++e) {
      const auto pair = static_cast<double>(e / 2 * 2);
      const double angle = static_cast<double>(position) * std::pow(10000.0, -pair / width);
      x(position, e) += static_cast<float>(e % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

}  // namespace

TokenEmbeddings::TokenEmbeddings(const TransformerConfig& config, std::shared_ptr<const ModelFiles> files,
                                 const std::shared_ptr<WeightShare>& share)
    : config_(config) {
  const TransformerNames& names = *config.names;
  const Index width = config.word_width;
  const auto named = [&](std::string_view name) { return config.root + std::string(name); };
  words_ =
      std::make_shared<const WeightRows>(files, share, named(names.word_embeddings), config.vocabulary, width);
  if (config.positions == PositionKind::learned) {
    positions_ = std::make_shared<const WeightRows>(files, share, named(names.position_embeddings),
                                                    config.first_position + config.max_positions,
                                                    names.first_projection.empty() ? width : config.embed_dim);
  }
  if (!names.token_type_embeddings.empty()) {
    const std::string name = named(names.token_type_embeddings);
    if (const ArrayInfo* const info = files->find(name); info && !info->sizes.empty() && info->sizes[0] > 0) {
      expect_array(*files, name, {info->sizes[0], width});
      const WeightRows types(files, share, name, info->sizes[0], width);
      Tensor first(Shape{{"token_type", 1}, {"W", width}}, DType::f32);
      types.copy_row(0, first.values<float>());
      token_type_ = std::make_shared<const Tensor>(std::move(first));
    }
  }
  if (!names.embedding_norm.empty()) norm_ = read_norm(config, *files, named(names.embedding_norm), width);
  if (width == config.embed_dim) return;
  if (!names.first_projection.empty()) {
    first_projection_ =
        read_linear(*files, named(names.first_projection), config.embed_dim, width, false, Biases::none);
  } else {
    projection_ =
        read_linear(*files, named(names.embedding_projection), config.embed_dim, width, false, Biases::all);
  }
}

Rows TokenEmbeddings::rows(std::span<const TokenId> ids) const {
  const auto L = static_cast<Index>(ids.size());
  Rows x(L, config_.word_width), positions(positions_ ? L : 0, positions_ ? positions_->width() : 0);
  const auto row_of = [](Rows& rows, Index row) {
    return std::span<float>(rows.data() + row * rows.cols(), static_cast<std::size_t>(rows.cols()));
  };
  Index position = config_.first_position;
  for (Index i = 0; i < L; ++i) {
    const TokenId id = ids[static_cast<std::size_t>(i)];
    words_->copy_row(id, row_of(x, i));
    if (!positions_) continue;
    const bool is_padding = config_.padding_id && id == *config_.padding_id;
    positions_->copy_row(is_padding ? *config_.padding_id : position++, row_of(positions, i));
  }
  if (first_projection_) x = apply_linear(*first_projection_, x);
  if (positions_) x += positions;
  if (config_.positions == PositionKind::sinusoidal) add_sinusoids(x);
  if (token_type_) x.rowwise() += matrix<float>(*token_type_).row(0);
  if (norm_) x = normalised(*norm_, x);
  return projection_ ? apply_linear(*projection_, x) : x;
}

}  // namespace headwise
