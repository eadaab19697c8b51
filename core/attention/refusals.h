// The vocabulary of check_attention_inputs: a refusal with both shapes and the likely cause, and several of
// them reported in one line.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Thrown while inputs are checked; Refusals turns it into an Error(input).
struct Refusal {
  ErrorParts parts;
};

[[noreturn]] void refuse(const ErrorParts& parts);
void require(bool holds, const ErrorParts& parts);

// "(N,S) = (2,6)"
std::string letters_and_sizes(const Shape& shape);

// Why a shape is wrong, if the sizes suggest it: "transposed?"; else empty.
std::string likely_cause(const std::vector<Index>& got, const std::vector<Index>& expected);

// Refuses any other shape, with its likely cause or otherwise `remedy`.
void expect_shape(const char* name, const Tensor& tensor, const Shape& expected,
                  const std::string& remedy = "");

// Checks that do not depend on each other: all of them run, so that users can fix everything at once.
class Refusals {
 public:
  template <class Check>
  void run(Check&& check) {
    try {
      check();
    } catch (const Refusal& refusal) {
      all_.push_back(refusal.parts);
    }
  }

  // Throws Error(input): the first refusal in full, the others by the names of their tensors.
  void throw_if_any() const;

 private:
  std::vector<ErrorParts> all_;
};

}  // namespace headwise
