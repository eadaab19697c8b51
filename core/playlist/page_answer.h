// What a page's question is answered with. The right answer is never stored: it is an expression over the trace, in the
// language of live text (core/answers/live_expression.h), so that it stays right when the page is changed.
//
//   { "kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.05 }
//   { "kind": "choice", "options": [
//       { "text": "Each row", "is": "sum attn_weights[0,2,5,:] ≈ 1" },
//       { "text": "Each column", "is": "sum attn_weights[0,2,:,5] ≈ 1", "why": "A key may get a lot or nothing.",
//         "see": "Softmax over rows, or over columns?" } ] }
//
//   { "kind": "shape", "is": "shape k_heads" }
//   { "kind": "head", "is": "argmax attn_weights[0,:,8,7]" }
//   { "kind": "cell", "tensor": "attn_weights", "row": "8", "column": "argmax attn_weights[0,0,8,:]" }
//
// number   is             the key: an arithmetic expression
//          within         how far off counts as right; or within_share, as a share of the key. Default: a share of 0.05
//          unit           written behind the number: "of 1"
// choice   options        two to nine; `is` is the condition under which an option is right, and on the page's own scenario
//                         exactly one of them holds
//          text, why      plain text with live numbers; `why`: shown when the option was chosen and is wrong
//          see            the title of a page of this playlist, or else of a built-in lesson, that goes into it
// shape    is             "shape NAME"; sizes are typed, or letters of the page: "1, H, 12, D"
// head     is             the number of a query head; it is clicked, or its digit pressed
// cell     tensor         the map in which a cell is clicked: the result of the page's step, also under its veil
//          row, column    its last two indices, of which one may be left out: any row, or any column, is then right; at
//                         least one reads the page
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/tensor_names.h"

namespace headwise {

struct AnswerOption {
  std::string text, is, why, see;
  friend bool operator==(const AnswerOption&, const AnswerOption&) = default;
};

enum class AnswerKind { number, choice, shape, head, cell };

struct PageAnswer {
  static constexpr std::size_t least_options = 2, most_options = 9;  // one for each digit key
  static constexpr double usual_share = 0.05;

  AnswerKind kind = AnswerKind::number;
  std::string is;                           // of a number
  double within = 0.0, within_share = 0.0;  // at least one of them is positive for a number
  std::string unit;
  std::vector<AnswerOption> options;  // of a choice
  std::optional<TensorId> tensor;     // of a cell
  std::string row, column;

  bool chooses() const { return kind == AnswerKind::choice; }
  friend bool operator==(const PageAnswer&, const PageAnswer&) = default;
};

}  // namespace headwise
