// Inputs that no array gives: embeddings of a text's words, or numbers.
#pragma once

#include <vector>

#include "core/scenario/embeddings.h"
#include "core/scenario/scenario.h"

namespace headwise {

// Query, key or value if no array gives it: generated from the words of a text, or from numbers.
struct InputOrder {
  const char* name;                  // also the name of its random stream
  const std::vector<Token>* tokens;  // null: numbers
  Index length;
  const char *length_axis, *width_axis;
  Index width;                       // E, kdim or vdim; D or Dv with heads
  Index heads;                       // 0: multi_head_attention
  const char* heads_axis = nullptr;  // null: "H" of queries, "G" of keys and values
};

// (N,length,width), or (N,heads,length,width) with heads. Throws Error(memory).
Tensor made_input(const InputOrder& order, const InputsSpec& inputs, Index batch, DType dtype);

}  // namespace headwise
