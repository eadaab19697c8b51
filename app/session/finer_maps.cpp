#include "app/session/finer_maps.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// A frame for every piece would take processor time away from the next pieces.
constexpr auto between_pictures = std::chrono::milliseconds(50);

// Cells per side of a piece.
Index piece_side(Index block) {
  return std::max(block, std::min(FinerMaps::piece_blocks * block, FinerMaps::piece_cells));
}

CellRange piece_range(Index piece, Index side, Index count) {
  return {piece * side, std::min((piece + 1) * side, count)};
}

// Of pieces.
CellRange pieces_of(const CellRange& cells, Index side) {
  return {cells.first / side, whole_parts(cells.last, side)};
}

Index bytes_of(const PyramidLevel& level) {
  return static_cast<Index>((level.min.size() + level.max.size() + level.mean.size()) * sizeof(float));
}

}  // namespace

FinerMaps::FinerMaps(std::function<void()> wake) : wake_(std::move(wake)) {}

FinerMaps::~FinerMaps() {
  end();
}

void FinerMaps::begin(std::shared_ptr<const WeightTiles> tiles) {
  end();
  const std::lock_guard lock(mutex_);
  tiles_ = std::move(tiles);
}

void FinerMaps::end() {
  look_away();
  worker_.stop();
  const std::lock_guard lock(mutex_);
  tiles_.reset();
  kept_.clear();
  bytes_ = 0;
}

bool FinerMaps::fits(const FinerView& view) {
  const Index side = piece_side(view.block);
  const Index pieces = pieces_of(view.rows, side).size() * pieces_of(view.cols, side).size();
  return pieces * level_bytes(view.block, side, side) <= most_bytes;
}

std::vector<FinerPiece> FinerMaps::look(const FinerView& view) {
  std::unique_lock lock(mutex_);
  wanted_.clear();
  std::vector<FinerPiece> pieces;
  if (!tiles_ || !fits(view)) return pieces;
  ++looks_;
  const AttentionSizes& s = tiles_->sizes();
  const Index side = piece_side(view.block);
  const Index longest = 2 * std::max(s.queries, s.all_keys);
  const CellRange down = pieces_of(view.rows, side), right = pieces_of(view.cols, side);
  for (Index r = down.first; r < down.last; ++r)
    for (Index c = right.first; c < right.last; ++c) {
      FinerPiece& piece = pieces.emplace_back(
          FinerPiece{piece_range(r, side, s.queries), piece_range(c, side, s.all_keys), nullptr});
      const Place place{view.head, view.block, piece.rows.first, piece.cols.first};
      if (!kept_.contains(place) && std::ranges::find(under_way_, place) == under_way_.end())
        wanted_.push_back(place);
      for (Index block = view.block; !piece.blocks && piece_side(block) <= longest; block *= 2) {
        // Sides are powers of two: a larger piece covers all of a smaller one.
        piece.first_row = piece.rows.first / piece_side(block) * piece_side(block);
        piece.first_col = piece.cols.first / piece_side(block) * piece_side(block);
        piece.blocks = touch({view.head, block, piece.first_row, piece.first_col});
      }
    }
  // Farthest from the middle first: the last is computed first.
  const auto distance = [&](const Place& place) {
    const Index row = 2 * std::get<2>(place) + side - view.rows.first - view.rows.last;
    const Index col = 2 * std::get<3>(place) + side - view.cols.first - view.cols.last;
    return row * row + col * col;
  };
  std::ranges::stable_sort(wanted_, std::ranges::greater{}, distance);
  const bool begins = !wanted_.empty() && !busy_;
  busy_ = busy_ || begins;
  lock.unlock();
  if (begins) worker_.start([this] { run(); });
  return pieces;
}

void FinerMaps::look_away() {
  const std::lock_guard lock(mutex_);
  wanted_.clear();
}

bool FinerMaps::working() const {
  const std::lock_guard lock(mutex_);
  return busy_ || !wanted_.empty();
}

Index FinerMaps::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void FinerMaps::run() {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const WeightTiles> tiles = tiles_;
  bool failed = false;
  while (!wanted_.empty()) {
    lock.unlock();
    // Cancelled, or no memory: the coarse blocks stay.
    failed = !error_of([&] { make_pieces(*tiles); }).empty();
    lock.lock();
    under_way_.clear();
    if (failed) wanted_.clear();
  }
  busy_ = false;
  lock.unlock();
  if (!failed && wake_) wake_();
}

void FinerMaps::make_pieces(const WeightTiles& tiles) {
  const AttentionSizes& s = tiles.sizes();
  const int threads = available_threads();
  auto shown = std::chrono::steady_clock::now();  // of worker 0
  run_tasks(threads, threads, [&](Index, int worker) {
    while (true) {
      Place place;
      {
        const std::lock_guard lock(mutex_);
        if (wanted_.empty()) return;
        place = wanted_.back();
        wanted_.pop_back();
        under_way_.push_back(place);
      }
      const auto [head, block, row, col] = place;
      const Index side = piece_side(block);
      keep(place, weight_blocks(tiles, 0, head, block, piece_range(row / side, side, s.queries),
                                piece_range(col / side, side, s.all_keys)));
      const auto now = std::chrono::steady_clock::now();
      if (worker != 0 || now - shown < between_pictures || !wake_) continue;
      shown = now;
      wake_();
    }
  });
}

std::shared_ptr<const PyramidLevel> FinerMaps::touch(const Place& place) {
  const auto found = kept_.find(place);
  if (found == kept_.end()) return nullptr;
  found->second.looked_at = looks_;
  return found->second.blocks;
}

void FinerMaps::keep(const Place& place, PyramidLevel blocks) {
  const Index bytes = bytes_of(blocks);
  auto level = std::make_shared<const PyramidLevel>(std::move(blocks));
  const std::lock_guard lock(mutex_);
  std::erase(under_way_, place);
  while (!kept_.empty() && bytes_ + bytes > most_bytes) {
    const auto oldest =
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.looked_at; });
    bytes_ -= bytes_of(*oldest->second.blocks);
    kept_.erase(oldest);
  }
  kept_.emplace(place, Kept{std::move(level), looks_});
  bytes_ += bytes;
  ++arrived_;
}

}  // namespace headwise
