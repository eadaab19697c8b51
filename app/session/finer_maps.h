// Blocks of a large map that are smaller than those kept for all heads, recomputed where the user looks: in the background,
// a piece at a time, the middle of the view first.
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

// What is viewed: blocks of `block` × `block` cells of a head (of the first sequence), and the visible cells.
struct FinerView {
  Index head = 0, block = 1;
  CellRange rows, cols;
  friend bool operator==(const FinerView&, const FinerView&) = default;
};

// A part of the map that starts at a multiple of the block.
struct FinerPiece {
  CellRange rows, cols;  // cells
  // Of the view's block size once they have arrived; until then of the next larger size that is kept, or null.
  std::shared_ptr<const PyramidLevel> blocks;
  Index first_row = 0, first_col = 0;  // cell where `blocks` begins
};

class FinerMaps {
 public:
  // For all pieces kept; the least recently viewed are dropped first.
  static constexpr Index most_bytes = Index{64} << 20;
  // A piece has at most this many blocks per side, and at most this many cells per side unless a single block has more:
  // some 10 to 20 ms of work, which is how long an unwanted piece may still run.
  static constexpr Index piece_blocks = 128, piece_cells = 1024;

  // `wake` is called from another thread when pieces have arrived; it may be empty.
  explicit FinerMaps(std::function<void()> wake = {});
  ~FinerMaps();
  FinerMaps(const FinerMaps&) = delete;
  FinerMaps& operator=(const FinerMaps&) = delete;

  // Uses these weights from now on; drops all pieces of others.
  void begin(std::shared_ptr<const WeightTiles> tiles);
  // Cancels the work under way, waits until it has ended, and drops weights and pieces.
  void end();

  // Whether all pieces of a view can be kept at once.
  static bool fits(const FinerView& view);
  // The pieces that cover the view, row by row. From now on exactly the missing ones are computed. A view that does not fit
  // has none.
  std::vector<FinerPiece> look(const FinerView& view);
  // Stops computing. Pieces that have arrived are kept.
  void look_away();

  // Changes when pieces have arrived.
  std::uint64_t arrived() const { return arrived_; }
  // Whether a wanted piece is still missing.
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
  // The kept piece that covers `place`; null: none.
  std::shared_ptr<const PyramidLevel> touch(const Place& place);
  void keep(const Place& place, PyramidLevel blocks);

  std::function<void()> wake_;
  std::atomic<std::uint64_t> arrived_ = 0;
  mutable std::mutex mutex_;  // guards everything below
  std::shared_ptr<const WeightTiles> tiles_;
  std::map<Place, Kept> kept_;
  Index bytes_ = 0;
  std::uint64_t looks_ = 0;
  std::vector<Place> wanted_;  // the last is computed first
  std::vector<Place> under_way_;
  bool busy_ = false;
  Worker worker_;
};

}  // namespace headwise
