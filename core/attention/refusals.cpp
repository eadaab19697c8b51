#include "core/attention/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/join.h"

namespace headwise {

void refuse(const ErrorParts& parts) {
  throw Refusal{parts};
}

void require(bool holds, const ErrorParts& parts) {
  if (!holds) refuse(parts);
}

std::string letters_and_sizes(const Shape& shape) {
  return shape.letters() + " = " + shape.sizes_text();
}

std::string likely_cause(const std::vector<Index>& got, const std::vector<Index>& expected) {
  const std::vector<Index> reversed(expected.rbegin(), expected.rend());
  if (got.size() == expected.size() && got.size() == 2 && got == reversed) return "transposed?";
  if (got.size() == 3 && expected.size() == 3 && got[0] == expected[1] && got[1] == expected[0] &&
      got[2] == expected[2]) {
    return "is the batch axis the second one? the trace wants it first";
  }
  if (got.size() + 1 == expected.size() && std::equal(got.begin(), got.end(), expected.begin() + 1)) {
    return "is the first axis missing?";
  }
  return "";
}

void expect_shape(const char* name, const Tensor& tensor, const Shape& expected, const std::string& remedy) {
  if (tensor.shape().same_sizes(expected)) return;
  const std::string cause = likely_cause(tensor.shape().sizes(), expected.sizes());
  refuse({name, "the shape disagrees", tensor.shape().sizes_text(), letters_and_sizes(expected),
          cause.empty() ? remedy : cause});
}

void Refusals::throw_if_any() const {
  if (all_.empty()) return;
  ErrorParts first = all_.front();
  std::vector<std::string> others;
  for (std::size_t i = 1; i < all_.size(); ++i) {
    if (all_[i].where != first.where) others.push_back(all_[i].where);
  }
  if (!others.empty()) {
    first.remedy += fmt::format("{}{} {} wrong too", first.remedy.empty() ? "" : "; ", join(others, ", "),
                                others.size() == 1 ? "is" : "are");
  }
  throw Error(ExitStatus::input, first);
}

}  // namespace headwise
