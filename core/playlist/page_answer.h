// What a page's question is answered with. The right answer is never stored: it is an expression over the
// trace, in the language of live text (core/answers/live_expression.h),
// so that it stays right when the page is changed.
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
//   { "kind": "tensor", "options": [
//       { "tensor": "query", "is": "difference q_heads[0,1,8,:] query[0,8,16:32] = 0", "why": "The projection comes first." },
//       { "tensor": "q", "is": "difference q_heads[0,1,8,:] q[0,8,16:32] = 0" } ] }
//   { "kind": "weights", "is": "attn_weights[0,0,8,:]", "within": 0.1 }
//   { "kind": "mask", "is": "mask_bias[0,0,:,:] = -inf" }
//
// number   is             the key: an arithmetic expression
//          within         how far off counts as right; or within_share, as a share of the key. Default:
//                         a share of 0.05
//          unit           written behind the number: "of 1"
//          why            plain text with live numbers, said with the verdict. A key that reads nothing of
//                         the page, as "3" or "0 * E + 5", needs it: it stays the same whatever is changed,
//                         so it must be said why it is right
// choice   options        two to nine; `is` is the condition under which an option is right, and on the
//                         page's own scenario exactly one of them holds
//          text, why      plain text with live numbers; `why`: shown when the option was chosen and is wrong
//          see            the title of a page of this playlist, or else of a built-in lesson,
//                         that goes into it
// shape    is             "shape NAME"; sizes are typed, or letters of the page: "1, H, 12, D"
// head     is             the number of a query head; it is clicked, or its digit pressed
// cell     tensor         the map in which a cell is clicked: the result of the page's step,
//                         also under its veil
//          row, column    its last two indices, of which one may be left out: any row, or any column, is then
//                         right; at least one reads the page
// tensor   options        as of a choice, with the name of a tensor instead of a text. A tensor is answered
//                         by a click on one of its maps or on its name. Live text computes numbers and
//                         truths, no names, so each tensor that may be right has the condition under which it
//                         is: the right one changes with the page, and why a wrong one is wrong can be said
//                         of each. A click on any other tensor is no answer
// weights  is             a row of at least two numbers from 0 to 1 that sum to 1: an expression with a box
//                         of several cells, which stands for each of its cells in turn
//                         (core/answers/live_expression.h). It is drawn as bars,
//                         and what is drawn is scaled to sum to 1
//          within         how much of the weight may lie where it does not belong:
//                         half of Σ |drawn − right|. Default: 0.1
// mask     is             a condition with a box over the last two axes of a tensor: true where a pair is
//                         blocked. The pairs are painted on the veiled map that the page's step makes, so the
//                         page needs a veil, which hides the mask too
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/tensor_names.h"

namespace headwise {

struct AnswerOption {
  std::string text, is, why, see;  // text: of a tensor, its name
  friend bool operator==(const AnswerOption&, const AnswerOption&) = default;
};

enum class AnswerKind { number, choice, shape, head, cell, tensor, weights, mask };
std::vector<std::string_view> answer_kind_names();  // in their order

struct PageAnswer {
  static constexpr std::size_t least_options = 2, most_options = 9;  // one for each digit key
  static constexpr double usual_share = 0.05;
  static constexpr double usual_misplaced = 0.1;  // of a row of weights
  static constexpr Index most_weights = 64, most_pairs = 4096;

  AnswerKind kind = AnswerKind::number;
  std::string is;  // of all but a choice, a cell and a tensor
  double within = 0.0,
         within_share = 0.0;          // at least one of them is positive for a number; weights have the first
  std::string unit, why;              // of a number
  std::vector<AnswerOption> options;  // of a choice or a tensor
  std::optional<TensorId> tensor;     // of a cell
  std::string row, column;

  bool chooses() const { return kind == AnswerKind::choice || is_tensor(); }  // an option
  bool is_head() const { return kind == AnswerKind::head; }
  bool is_tensor() const { return kind == AnswerKind::tensor; }
  bool is_weights() const { return kind == AnswerKind::weights; }
  bool is_mask() const { return kind == AnswerKind::mask; }
  friend bool operator==(const PageAnswer&, const PageAnswer&) = default;
};

// An answer of this kind without a key, and with the tolerance that is usual.
PageAnswer blank_answer(AnswerKind kind);

}  // namespace headwise
