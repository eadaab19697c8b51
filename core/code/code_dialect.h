// What the code styles write differently: one expression per operation. The steps themselves are written once, in terms of these
// (core/code/code_lines.cpp).
#pragma once

#include <memory>
#include <string>

#include "core/code/code_style.h"
#include "core/tensor/tensor.h"

namespace headwise {

// The sizes that expressions spell out.
struct CodeSizes {
  Index batch = 1;                     // N
  Index queries = 1, keys = 1;         // L, S′
  Index heads = 1, kv_heads = 1;       // H, G
  Index head_dim = 1, v_head_dim = 1;  // D, Dv
};

// Every argument and result is the text of a Python expression.
class CodeDialect {
 public:
  explicit CodeDialect(CodeSizes sizes) : sizes_(sizes) {}
  virtual ~CodeDialect() = default;

  // x·Wᵀ + b; without bias: an empty text. `layer` is the name of the linear layer, "W_q".
  virtual std::string linear(const std::string& layer, const std::string& x, const std::string& weight,
                             const std::string& bias) const = 0;
  // (N,T,W) and a row (W) → (N,T+1,W)
  virtual std::string append_row(const std::string& x, const std::string& row) const = 0;
  virtual std::string append_zero_row(const std::string& x) const = 0;
  // (N,G,S,D) → (N,S,G·D)
  virtual std::string join_heads(const std::string& heads) const = 0;
  // (N,T,H·D) → heads in the layout of this style
  virtual std::string split_heads(const std::string& x, Index rows, Index heads, Index width) const = 0;
  // A (N,H,…) array in the layout of this style: itself, or with N and H folded together.
  virtual std::string in_layout(const std::string& heads) const { return heads; }
  // q·kᵀ and w·v, each key/value head serving its group of query heads
  virtual std::string scores(const std::string& q, const std::string& k) const = 0;
  virtual std::string weighted_sum(const std::string& weights, const std::string& v) const = 0;
  virtual std::string tanh(const std::string& x) const = 0;
  virtual std::string clip(const std::string& x, const std::string& bound) const = 0;
  virtual std::string sqrt(Index of) const = 0;
  virtual std::string softmax(const std::string& x) const = 0;
  // Rows that are −∞ throughout become 0.
  virtual std::string zero_empty_rows(const std::string& weights, const std::string& scores) const = 0;
  virtual std::string where_minus_infinity(const std::string& marks, const std::string& fill,
                                           const std::string& otherwise) const = 0;
  // A statement that, in `weights` in this style's layout, replaces the slices of these heads with those of `frozen` (N,F,L,S′).
  virtual std::string freeze(const std::string& weights, const std::string& heads,
                             const std::string& frozen) const = 0;
  // Rotary position embedding: integers from `first` up to but excluding `last` in f64, numbers in f64; cos and sin of `angle`
  // in the type of `like`; columns side by side.
  virtual std::string range(Index first, Index last, Index step) const = 0;
  virtual std::string doubles(const std::string& numbers) const = 0;
  virtual std::string in_type_of(const std::string& x, const std::string& like) const = 0;
  virtual std::string cosine(const std::string& angle) const = 0;
  virtual std::string sine(const std::string& angle) const = 0;
  virtual std::string side_by_side(const std::string& columns) const = 0;
  // One gain per head, ready to be multiplied with head_output.
  virtual std::string gain(const std::string& gains) const = 0;
  // heads → (N,L,H·Dv)
  virtual std::string concat(const std::string& heads) const = 0;
  virtual std::string layer_norm(const std::string& x, Index width) const = 0;
  // (N,H,L,S′) in the layout of this style → the mean over heads (N,L,S′), or (N,H,L,S′)
  virtual std::string mean_over_heads(const std::string& weights) const = 0;
  virtual std::string with_heads_axis(const std::string& weights) const { return weights; }

  // Masks, always (N,H,L,S) and broadcast.
  virtual std::string arange(Index count) const = 0;
  virtual std::string falses() const = 0;  // (N,H,L,S)
  // In the type of the scores, like other numbers from as_scores.
  virtual std::string added_zero_or_minus_infinity(const std::string& blocked) const = 0;
  virtual std::string as_scores(const std::string& x) const { return x; }
  virtual std::string at_least_zero(const std::string& x) const = 0;
  virtual std::string absolute(const std::string& x) const = 0;
  virtual std::string vector(const std::string& numbers) const = 0;
  virtual std::string reshape(const std::string& x, const std::string& sizes) const = 0;
  // (…,S) → (…,S+columns), filled with `value` ("0.0", "False", "-math.inf")
  virtual std::string pad_columns(const std::string& x, Index columns, const std::string& value) const = 0;
  virtual std::string infinity() const = 0;

  // The sizes of a tensor in this style: "(1,8,12,16)".
  virtual std::string sizes_text(const Tensor& tensor) const { return tensor.shape().sizes_text(); }

 protected:
  CodeSizes sizes_;
};

std::unique_ptr<CodeDialect> make_dialect(CodeStyle style, CodeSizes sizes);
std::unique_ptr<CodeDialect> make_numpy_dialect(CodeSizes sizes);

}  // namespace headwise
