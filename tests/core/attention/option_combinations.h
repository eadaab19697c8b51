// Small traces over all options of the forward pass, for tests that must hold whatever the options are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace headwise::test {

struct NamedInputs {
  std::string name;
  AttentionInputs inputs;
};

// Each option by itself, once for multi_head_attention and, where it has it, for
// scaled_dot_product_attention; f64.
std::vector<NamedInputs> single_option_inputs();

// Options drawn together; the same seed draws the same.
NamedInputs random_combination(std::uint64_t seed);

}  // namespace headwise::test
