// The ways in which implementations of rotary position embedding are known to stray from one another.
#pragma once

#include "core/trace/input_variants.h"

namespace headwise {

// None of it, another base, neighbouring columns as pairs: those that these inputs allow and that change them.
std::vector<InputVariant> rotary_variants(const AttentionInputs& inputs);

}  // namespace headwise
