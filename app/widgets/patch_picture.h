// A picture as a model reads it, cut into patches: the picture with its grid, and weights laid over it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/widgets/painter.h"
#include "core/model/transformer/text_model.h"

namespace headwise {

class HeatmapRenderer;

// Where the patches stand on the screen, and the boxes of the tokens before them, "[CLS]".
struct PatchPlane {
  RectF place;  // of the picture, in whole pixels
  Index rows = 0, columns = 0;
  std::vector<Box> first;

  Index tokens() const { return static_cast<Index>(first.size()) + rows * columns; }
  Box box(Index token) const;
  std::optional<Index> token_at(ImVec2 point) const;
};

// The largest plane of whole pixels for a patch that fits into the area, with the first tokens above it in a
// line of height `line`; at its left and top.
PatchPlane patch_plane(const PatchGrid& grid, const RectF& area, float line);

// The picture, its grid, and the first tokens by their names. `weights`, one for each token: a patch is as
// bright as its weight, by the largest of all patches; empty: all are as they are.
void draw_patches(const Painter& paint, HeatmapRenderer& renderer,
                  const std::shared_ptr<const ModelPicture>& picture, const PatchPlane& plane,
                  std::span<const std::string> labels, std::span<const double> weights = {});

// One patch of it, by the number of its token; nothing for the tokens before the patches.
void draw_patch(const Painter& paint, HeatmapRenderer& renderer,
                const std::shared_ptr<const ModelPicture>& picture, Index token, const Box& place);

}  // namespace headwise
