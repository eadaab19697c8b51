#include "core/model/transformer/patch_embeddings.h"

#include <fmt/format.h>

#include "core/files/input_file.h"
#include "core/tensor/join.h"

namespace headwise {

PatchEmbeddings::PatchEmbeddings(const TransformerConfig& config, const ModelFiles& files)
    : grid_(*config.patches), where_(files.path()) {
  const TransformerNames& names = *config.names;
  const Index E = config.embed_dim;
  const auto named = [&](std::string_view name) { return config.root + std::string(name); };
  const std::string projection = named(names.patch_projection);
  const Index depth = grid_.channels * grid_.patch_height * grid_.patch_width;
  const TensorPtr kernel =
      read_f32(files, projection + "weight", {E, grid_.channels, grid_.patch_height, grid_.patch_width});
  projection_ = {
      .weight = std::make_shared<const Tensor>(kernel->reshaped(Shape{{"E", E}, {"C·ph·pw", depth}})),
      .bias = read_f32(files, projection + "bias", {E}),
      .out = E,
      .in = depth};
  for (const std::string_view token : {names.class_token, names.distillation_token})
    if (!token.empty()) first_.push_back(read_f32(files, named(token), {1, 1, E}));
  positions_ = read_f32(files, named(names.position_embeddings), {1, grid_.tokens(), E});
}

Rows PatchEmbeddings::rows(const Tensor& pixel_values) const {
  const PatchGrid& g = grid_;
  const std::vector<Index> expected{g.channels, g.height, g.width};
  if (pixel_values.shape().sizes() != expected)
    refuse_input(where_, "the model reads pictures of another size", pixel_values.shape().sizes_text(),
                 fmt::format("({})", join(expected, ",")));
  Rows patches(g.rows() * g.columns(), g.channels * g.patch_height * g.patch_width);
  const std::span<const float> pixels = pixel_values.values<float>();
  for (Index p = 0; p < patches.rows(); ++p) {
    const Index top = p / g.columns() * g.patch_height, left = p % g.columns() * g.patch_width;
    float* to = patches.data() + p * patches.cols();
    for (Index c = 0; c < g.channels; ++c)
      for (Index y = top; y < top + g.patch_height; ++y)
        to = std::copy_n(pixels.data() + (c * g.height + y) * g.width + left, g.patch_width, to);
  }
  const auto firsts = static_cast<Index>(first_.size());
  Rows x(firsts + patches.rows(), projection_.out);
  for (Index i = 0; i < firsts; ++i) x.row(i) = matrix<float>(*first_[static_cast<std::size_t>(i)]).row(0);
  x.bottomRows(patches.rows()) = apply_linear(projection_, patches);
  return x + matrix<float>(*positions_);
}

}  // namespace headwise
