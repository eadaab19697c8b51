// What somebody gave as the answer to a page's question, and whether it is right.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/lessons/page_words.h"

namespace headwise {

// The member of its kind holds the answer.
struct GivenAnswer {
  double number = 0.0;               // of a number
  std::size_t option = 0;            // of a choice or a tensor
  Index head = 0;                    // of a head
  std::vector<Index> sizes = {};     // of a shape
  Index row = 0, column = 0;         // of a cell: its last two indices
  std::vector<double> weights = {};  // of a row of weights; they sum to 1
  MaskPairs pairs = {};              // of a mask
};

// Whether it counts as right. nullopt: there is no key, or none of this length or box, to compare it with.
std::optional<bool> is_right(const PageAnswer& answer, const AnswerKey& key, const GivenAnswer& given);

// A drawn row of which less than this is misplaced is right to two digits, whatever the page's tolerance.
inline constexpr double to_two_digits = 0.005;

// The answer in a few words: "0.4", "2, “at ‘animal’”", "head 3", "“it” (row 8), “because” (column 7)". Those
// that look alike are the same mistake: of a drawn row, where its largest weight is; of a mask, how many
// pairs are blocked. The words are those of the page that was answered.
std::string given_words(const PageAnswer& answer, const PageWords& words, const GivenAnswer& given);
// "−3", "0.125"
std::string number_words(double number);
// "1, “at ‘animal’”": what the option quotes itself stands in single marks.
std::string named_option(const std::vector<std::string>& options, std::size_t option);

}  // namespace headwise
