// Inputs that check_attention_inputs refuses.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "core/attention/check_attention_inputs.h"
#include "core/tensor/error.h"

namespace headwise::test {

// The error line of inputs that are refused, which is an input's; "accepted" of others.
inline std::string refusal_of(const AttentionInputs& inputs) {
  try {
    check_attention_inputs(inputs);
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::input);
    return error.what();
  }
  return "accepted";
}

}  // namespace headwise::test
