// Blocks of a large map that are smaller than those that are kept of all heads, made again where somebody looks: beside the
// frames, a piece at a time, the middle of what is seen first.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "app/session/worker.h"
#include "core/full_size/weight_blocks.h"

namespace headwise {

// What is looked at: blocks of `block` × `block` cells of a head (of the first sequence), and the cells that are seen.
struct FinerView {
  Index head = 0, block = 1;
  CellRange rows, cols;
  friend bool operator==(const FinerView&, const FinerView&) = default;
};

// A part of the map, from a multiple of the block on.
struct FinerPiece {
  CellRange rows, cols;  // cells
  // Of the view's block where they have come; until then of the next larger one that is kept, or null.
  std::shared_ptr<const PyramidLevel> blocks;
  Index first_row = 0, first_col = 0;  // cell where `blocks` begin
};

class FinerMaps {
 public:
  // Of all pieces that are kept; those that were not looked at for longest are let go of.
  static constexpr Index most_bytes = Index{64} << 20;
  // A piece has at most so many blocks on each side, and at most so many cells where a block has no more: some 10 to 20 ms
  // of work, and so long one that is not wanted any more may go on.
  static constexpr Index piece_blocks = 128, piece_cells = 1024;

  // `wake` is called from another thread when pieces have come, it may be empty.
  explicit FinerMaps(std::function<void()> wake = {});
  ~FinerMaps();
  FinerMaps(const FinerMaps&) = delete;
  FinerMaps& operator=(const FinerMaps&) = delete;

  // Of these weights from now on; all pieces of others are let go of.
  void begin(std::shared_ptr<const WeightTiles> tiles);
  // Gives up what is under way, waits until it has noticed, and lets go of weights and pieces.
  void end();

  // Whether all pieces of a view can be kept at once.
  static bool fits(const FinerView& view);
  // The pieces that cover the view, row by row. Those that are missing are wanted from now on, and nothing else is. A view
  // that does not fit has none.
  std::vector<FinerPiece> look(const FinerView& view);
  // Nothing is wanted any more. What has come stays.
  void look_away();

  // Another number when pieces have come.
  std::uint64_t arrived() const { return arrived_; }
  // Whether a piece that is wanted is still missing.
  bool working() const;
  Index bytes() const;

 private:
  using Place = std::tuple<Index, Index, Index, Index>;  // head, block, first row, first column
  struct Kept {
    std::shared_ptr<const PyramidLevel> blocks;
    std::uint64_t looked_at = 0;
  };

  void run();
  void make_pieces(const WeightTiles& tiles);
  // What is kept and covers `place`; null: nothing is.
  std::shared_ptr<const PyramidLevel> touch(const Place& place);
  void keep(const Place& place, PyramidLevel blocks);

  std::function<void()> wake_;
  std::atomic<std::uint64_t> arrived_ = 0;
  mutable std::mutex mutex_;  // of all that follows
  std::shared_ptr<const WeightTiles> tiles_;
  std::map<Place, Kept> kept_;
  Index bytes_ = 0;
  std::uint64_t looks_ = 0;
  std::vector<Place> wanted_;  // the last is made first
  std::vector<Place> under_way_;
  bool busy_ = false;
  Worker worker_;
};

}  // namespace headwise
