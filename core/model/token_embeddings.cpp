#include "core/model/token_embeddings.h"

#include <cmath>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Adds PE(position, 2i) = sin(position/10000^(2i/E)), PE(position, 2i+1) = cos of the same.
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

TokenEmbeddings::TokenEmbeddings(const EncoderConfig& config, std::shared_ptr<const ModelFiles> files,
                                 const std::shared_ptr<WeightShare>& share)
    : config_(config) {
  const EncoderNames& names = *config.names;
  const auto named = [&](std::string_view name) { return config.root + std::string(name); };
  words_ = std::make_shared<const WeightRows>(files, share, named(names.word_embeddings), config.vocabulary,
                                              config.embed_dim);
  if (config.positions == PositionKind::learned) {
    positions_ =
        std::make_shared<const WeightRows>(files, share, named(names.position_embeddings),
                                           config.first_position + config.max_positions, config.embed_dim);
  }
  if (!names.token_type_embeddings.empty()) {
    const std::string name = named(names.token_type_embeddings);
    if (const ArrayInfo* const info = files->find(name); info && !info->sizes.empty() && info->sizes[0] > 0) {
      expect_array(*files, name, {info->sizes[0], config.embed_dim});
      const WeightRows types(files, share, name, info->sizes[0], config.embed_dim);
      Tensor first(Shape{{"token_type", 1}, {"E", config.embed_dim}}, DType::f32);
      types.copy_row(0, first.values<float>());
      token_type_ = std::make_shared<const Tensor>(std::move(first));
    }
  }
  if (!names.embedding_norm.empty()) norm_ = read_norm(config, *files, named(names.embedding_norm));
}

Rows TokenEmbeddings::rows(std::span<const TokenId> ids) const {
  const auto L = static_cast<Index>(ids.size()), E = config_.embed_dim;
  Rows x(L, E), positions(positions_ ? L : 0, E);
  const auto row_of = [E](Rows& rows, Index row) {
    return std::span<float>(rows.data() + row * E, static_cast<std::size_t>(E));
  };
  for (Index i = 0; i < L; ++i) {
    words_->copy_row(ids[static_cast<std::size_t>(i)], row_of(x, i));
    if (positions_) positions_->copy_row(config_.first_position + i, row_of(positions, i));
  }
  if (positions_) x += positions;
  if (config_.positions == PositionKind::sinusoidal) add_sinusoids(x);
  if (token_type_) x.rowwise() += matrix<float>(*token_type_).row(0);
  return norm_ ? normalised(*norm_, x) : x;
}

}  // namespace headwise
