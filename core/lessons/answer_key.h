// The key of a page's question, from the trace on the screen.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lessons/live_expression.h"
#include "core/lessons/playlist.h"

namespace headwise {

// Which pairs of a map are blocked: of a box of its last two axes, row-major.
struct MaskPairs {
  Index row = 0, column = 0;  // where the box begins
  Index rows = 0, columns = 0;
  std::vector<bool> blocked = {};

  bool has(Index at_row, Index at_column) const {
    return at_row >= row && at_row < row + rows && at_column >= column && at_column < column + columns;
  }
  bool is_box_of(const MaskPairs& other) const {
    return row == other.row && column == other.column && rows == other.rows && columns == other.columns;
  }
  // Of a cell of the box.
  std::size_t place(Index at_row, Index at_column) const {
    return static_cast<std::size_t>((at_row - row) * columns + at_column - column);
  }
  friend bool operator==(const MaskPairs&, const MaskPairs&) = default;
};
struct MaskKey : MaskPairs {
  TensorId tensor{};

  friend bool operator==(const MaskKey&, const MaskKey&) = default;
};

// A row of weights, and where its numbers are: along an axis, from an index on.
struct WeightsKey {
  std::vector<double> weights;  // at least two; they sum to 1
  std::string axis;             // "S′"
  Index from = 0;

  friend bool operator==(const WeightsKey&, const WeightsKey&) = default;
};

struct AnswerKey {
  std::optional<double> number;            // finite; of a number
  std::optional<Index> head, row, column;  // of a head, and of a cell
  std::vector<Index> sizes;                // of a shape
  std::string shown;                       // as printed, except of an option
  std::optional<std::size_t> option;       // of a choice or a tensor: the one that holds
  std::optional<WeightsKey> weights;
  std::optional<MaskKey> mask;
  std::string problem;  // if there is neither: why, without a full stop
  // there is neither because the numbers it needs take long to compute (LiveAnswers::quick)
  bool waits = false;

  friend bool operator==(const AnswerKey&, const AnswerKey&) = default;
};

// The key on this trace; the answer must be one without a written_problem. A key that is missing, infinite or
// NaN, and a choice of which not exactly one option is known to hold, is a problem.
AnswerKey answer_key(const PageAnswer& answer, const LiveSubject& subject,
                     LiveAnswers answers = LiveAnswers::all);

// What is wrong with an answer as it is written, whatever the trace: an expression that cannot be read, a
// constant, an option without a text. Empty if nothing is.
std::string written_problem(const PageAnswer& answer);

// How a report tells the key: "asks for a number; key: attn_weights[0,0,8,7] = 0.947, ± 5 %". `key` is null
// where it was not computed; `options`: those of the answer, with their numbers.
std::string key_words(const PageAnswer& answer, const AnswerKey* key, const std::vector<std::string>& options);
nlohmann::ordered_json key_json(const PageAnswer& answer, const AnswerKey* key,
                                const std::vector<std::string>& options);

// How much of a row of weights lies where it does not belong: half of Σ |drawn − right|, from 0 to 1.
// The sizes must agree.
double misplaced_weight(const std::vector<double>& drawn, const std::vector<double>& right);

// What somebody typed as a number: "0.5", "0,5", "1/8", "√16", "50 %". nullopt if it is none, or not finite.
std::optional<double> typed_number(std::string_view typed);

// The sizes that somebody typed, with or without brackets: "(1, 8, 12, 16)", "1 H L D". Letters are read from
// the page, but not the shape itself. Empty if one of them cannot be read.
std::vector<Index> typed_sizes(std::string_view typed, const LiveSubject& subject);

// The whole text as one expression.
LiveExpression whole_expression(std::string_view written);

}  // namespace headwise
