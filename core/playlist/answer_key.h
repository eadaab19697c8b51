// The key of a page's question, from the trace on the screen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/answers/live_expression.h"
#include "core/playlist/page_answer.h"

namespace headwise {

// Which pairs of a map are blocked: of a box of its last two axes, row-major.
struct MaskKey {
  TensorId tensor{};
  Index row = 0, column = 0;  // where the box begins
  Index rows = 0, columns = 0;
  std::vector<bool> blocked;

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
  std::string shown;                       // the number or the shape as printed
  std::optional<std::size_t> option;       // of a choice or a tensor: the one that holds
  std::optional<WeightsKey> weights;
  std::optional<MaskKey> mask;
  std::string problem;  // if there is neither: why, without a full stop
  bool waits = false;  // there is neither because the numbers it needs take long to compute (LiveAnswers::quick)

  friend bool operator==(const AnswerKey&, const AnswerKey&) = default;
};

// The key on this trace; the answer must be one without a written_problem. A key that is missing, infinite or NaN, and a choice of which not exactly one option is known to
// hold, is a problem.
AnswerKey answer_key(const PageAnswer& answer, const LiveSubject& subject,
                     LiveAnswers answers = LiveAnswers::all);

// What is wrong with an answer as it is written, whatever the trace: an expression that cannot be read, a constant, an
// option without a text. Empty if nothing is.
std::string written_problem(const PageAnswer& answer);

// Whether a number given counts as right: within `within` of the key, or within `within_share` of its size.
bool is_right(const PageAnswer& answer, double key, double given);

// How much of a row of weights lies where it does not belong: half of Σ |drawn − right|, from 0 to 1. The sizes must agree.
double misplaced_weight(const std::vector<double>& drawn, const std::vector<double>& right);

// The option of an answer that names this tensor; null if there is none.
const AnswerOption* names_option(const PageAnswer& answer, std::string_view tensor);

// What somebody typed as a number: "0.5", "0,5", "1/8", "√16", "50 %". nullopt if it is none, or not finite.
std::optional<double> typed_number(std::string_view typed);

// The sizes that somebody typed, with or without brackets: "(1, 8, 12, 16)", "1 H L D". Letters are read from the page, but
// not the shape itself. Empty if one of them cannot be read.
std::vector<Index> typed_sizes(std::string_view typed, const LiveSubject& subject);

// Throw Error(usage) if the expression cannot be read or reads nothing of the page. "0 * E + 5" is a constant too: a
// number's value must change with what it reads, unless the author says why a fixed number is right.
void check_number_key(std::string_view expression, std::optional<std::string_view> why = {});
void check_condition_key(std::string_view condition);
void check_shape_key(std::string_view expression);
// These two need a box of several cells; the first is arithmetic, the second a condition.
void check_weights_key(std::string_view expression);
void check_mask_key(std::string_view condition);
// Of a head, or a row or column that may be a constant.
void check_index_key(std::string_view expression);
// Whether an expression reads anything of the page.
bool reads_page(std::string_view expression);

}  // namespace headwise
