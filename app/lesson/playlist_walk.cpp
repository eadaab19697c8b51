#include "app/lesson/playlist_walk.h"

namespace headwise {
namespace {

// The page has asked, and its answer is in sight.
bool shows_answer(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  return page && walk.answered && !walk.edits_words && !page->ask.empty() && page->answer;
}

}  // namespace

bool asks_now(const PlaylistWalk& walk) {
  return walk.asking() && !walk.edits_words && !walk.arrival;
}

bool is_pinned_by_page(const PlaylistWalk& walk, const Selection& selection) {
  return walk.page && selection.pinned && selection.pinned == walk.shown()->pin;
}

std::optional<Veil> veil_of(const PlaylistWalk& walk) {
  return asks_now(walk) ? veil_of_question(*walk.shown()) : std::nullopt;
}

std::optional<TensorId> tensor_to_point_at(const PlaylistWalk& walk) {
  if (!asks_now(walk) || !walk.shown()->answer) return {};
  return walk.shown()->answer->tensor;
}

bool asks_for_tensor(const PlaylistWalk& walk) {
  return asks_now(walk) && walk.shown()->answer && walk.shown()->answer->is_tensor();
}

bool asks_for_head(const PlaylistWalk& walk) {
  return asks_now(walk) && walk.shown()->asks_for_head();
}

AnswerMask* answer_mask(PlaylistWalk& walk) {
  const std::optional<MaskKey>& key = walk.words.key.mask;
  if (!walk.page || !key || walk.edits_words) return nullptr;
  AnswerMask& mask = walk.given.mask;
  const bool same = mask.is_box_of(*key);
  mask.wrong.clear();
  mask.asks = !walk.answered;
  if (mask.asks) {
    if (!same) {
      mask = AnswerMask{*key};
      mask.blocked.assign(key->blocked.size(), false);
    }
    return &mask;
  }
  if (!walk.given.made || !same) return nullptr;
  for (std::size_t i = 0; i < key->blocked.size(); ++i)
    mask.wrong.push_back(mask.blocked[i] != key->blocked[i]);
  return &mask;
}

std::optional<Index> right_head(const PlaylistWalk& walk) {
  return shows_answer(walk) ? walk.words.key.head : std::nullopt;
}

std::optional<RightCells> right_cells(const PlaylistWalk& walk) {
  if (!shows_answer(walk)) return {};
  const PlaylistPage& page = *walk.shown();
  const AnswerKey& key = walk.words.key;
  if (!page.answer->tensor || (!key.row && !key.column)) return {};
  return RightCells{*page.answer->tensor, page.batch, page.head, key.row, key.column};
}

}  // namespace headwise
