// What a page's question is answered with. The right answer is never stored: it is an expression over the trace, in the
// language of live text (core/answers/live_expression.h), so that it stays right when the page is changed.
//
//   { "kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.05 }
//   { "kind": "choice", "options": [
//       { "text": "Each row", "is": "sum attn_weights[0,2,5,:] ≈ 1" },
//       { "text": "Each column", "is": "sum attn_weights[0,2,:,5] ≈ 1", "why": "A key may get a lot or nothing.",
//         "see": "Softmax over rows, or over columns?" } ] }
//
// number   is             the key: an arithmetic expression
//          within         how far off counts as right; or within_share, as a share of the key. Default: a share of 0.05
//          unit           written behind the number: "of 1"
// choice   options        two to nine; `is` is the condition under which an option is right, and on the page's own scenario
//                         exactly one of them holds
//          text, why      plain text with live numbers; `why`: shown when the option was chosen and is wrong
//          see            the title of a page of this playlist, or else of a built-in lesson, that goes into it
#pragma once

#include <string>
#include <vector>

namespace headwise {

struct AnswerOption {
  std::string text, is, why, see;
  friend bool operator==(const AnswerOption&, const AnswerOption&) = default;
};

struct PageAnswer {
  static constexpr std::size_t least_options = 2, most_options = 9;  // one for each digit key
  static constexpr double usual_share = 0.05;

  std::string is;                           // of a number
  double within = 0.0, within_share = 0.0;  // at least one of them is positive for a number
  std::string unit;
  std::vector<AnswerOption> options;  // empty: a number is asked for

  bool chooses() const { return !options.empty(); }
  friend bool operator==(const PageAnswer&, const PageAnswer&) = default;
};

}  // namespace headwise
