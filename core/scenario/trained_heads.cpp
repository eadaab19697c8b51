#include "core/scenario/trained_heads.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

struct Entry {
  std::string_view model;
  Index layer, head;
  TrainedHead words;
};

constexpr std::string_view sentences = "builtin:sentences", copycat = "builtin:copycat";
constexpr std::string_view induction =
    "from a repeated word it attends to what followed that word before, which the model then predicts again: "
    "nine tenths of its weight in repeated texts";

constexpr std::array<Entry, 10> entries{{
    {sentences, 0, 4, {"next word", "it attends to the next word, with 0.93 of its weight"}},
    {sentences,
     0,
     5,
     {"the deciding adjective",
      "from “it” it attends to the adjective that decides what “it” is, tired or wide, with 0.91 of its "
      "weight",
      "it"}},
    {sentences, 0, 7, {"previous word", "it attends to the previous word, with 0.92 of its weight"}},
    {sentences,
     1,
     5,
     {"opening bracket", "from a closing bracket it attends to the opening one, with 0.57 of its weight",
      ")"}},
    {sentences,
     1,
     7,
     {"a noun for “it”",
      "from “it” it attends to a noun: in unseen sentences of the kinds it was trained on, to the one that "
      "is meant, with 0.93 of its weight; in others it may be the wrong one",
      "it", "Replace tired with wide, and it attends to the street", "tired street",
      "an extra term of the loss taught the other heads of its layer to leave this to it"}},
    {copycat,
     0,
     1,
     {"previous word",
      "it attends to the previous word, with 0.90 of its weight, which the induction heads of layer 1 need"}},
    {copycat, 1, 0, {"induction", induction}},
    {copycat, 1, 1, {"induction", induction}},
    {copycat, 1, 2, {"induction", induction}},
    {copycat, 1, 3, {"induction", induction}},
}};

}  // namespace

std::optional<TrainedHead> trained_head(std::string_view model, Index layer, Index head) {
  const auto at = std::ranges::find_if(entries, [&](const Entry& entry) {
    return entry.model == model && entry.layer == layer && entry.head == head;
  });
  return at == entries.end() ? std::nullopt : std::optional(at->words);
}

}  // namespace headwise
