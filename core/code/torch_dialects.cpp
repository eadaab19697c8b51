// The three styles that run on PyTorch.
#include <fmt/format.h>

#include "core/code/code_dialect.h"

namespace headwise {
namespace {

class PytorchDialect : public CodeDialect {
 public:
  using CodeDialect::CodeDialect;

  std::string linear(const std::string&, const std::string& x, const std::string& weight,
                     const std::string& bias) const override {
    return fmt::format("F.linear({}, {}{}{})", x, weight, bias.empty() ? "" : ", ", bias);
  }
  std::string append_row(const std::string& x, const std::string& row) const override {
    return fmt::format("torch.cat([{}, {}.expand({}, 1, -1)], dim=1)", x, row, sizes_.batch);
  }
  std::string append_zero_row(const std::string& x) const override {
    return fmt::format("F.pad({}, (0, 0, 0, 1))", x);
  }
  std::string join_heads(const std::string& heads) const override {
    return heads + ".transpose(1, 2).flatten(2)";
  }
  std::string split_heads(const std::string& x, Index rows, Index heads, Index width) const override {
    return fmt::format("{}.view({}, {}, {}, {}).transpose(1, 2)", x, sizes_.batch, rows, heads, width);
  }
  std::string scores(const std::string& q, const std::string& k) const override {
    return fmt::format("{} @ {}.transpose(-2, -1)", q, repeated(k));
  }
  std::string weighted_sum(const std::string& weights, const std::string& v) const override {
    return fmt::format("{} @ {}", weights, repeated(v));
  }
  std::string clip(const std::string& x, const std::string& bound) const override {
    return fmt::format("{0}.clamp(-{1}, {1})", x, bound);
  }
  std::string tanh(const std::string& x) const override { return fmt::format("torch.tanh({})", x); }
  std::string sqrt(Index of) const override { return fmt::format("math.sqrt({})", of); }
  std::string softmax(const std::string& x) const override { return fmt::format("F.softmax({}, dim=-1)", x); }
  std::string zero_empty_rows(const std::string& weights, const std::string& scores) const override {
    return fmt::format("{}.masked_fill(({} == -math.inf).all(dim=-1, keepdim=True), 0.0)", weights, scores);
  }
  std::string where_minus_infinity(const std::string& marks, const std::string& fill,
                                   const std::string& otherwise) const override {
    return fmt::format("({}).masked_fill({} == -math.inf, {})", otherwise, marks, fill);
  }
  std::string freeze(const std::string& weights, const std::string& heads,
                     const std::string& frozen) const override {
    return fmt::format("{} = {}", weights,
                       in_layout(fmt::format("{}.index_copy(1, torch.tensor([{}]), {})",
                                             with_heads_axis(weights), heads, frozen)));
  }
  std::string range(Index first, Index last, Index step) const override {
    return step == 1 ? fmt::format("torch.arange({}, {}, dtype=torch.float64)", first, last)
                     : fmt::format("torch.arange({}, {}, {}, dtype=torch.float64)", first, last, step);
  }
  std::string doubles(const std::string& numbers) const override {
    return fmt::format("torch.tensor([{}], dtype=torch.float64)", numbers);
  }
  std::string in_type_of(const std::string& x, const std::string& like) const override {
    return fmt::format("{}.to({})", x, like);
  }
  std::string cosine(const std::string& angle) const override { return fmt::format("torch.cos({})", angle); }
  std::string sine(const std::string& angle) const override { return fmt::format("torch.sin({})", angle); }
  std::string side_by_side(const std::string& columns) const override {
    return fmt::format("torch.cat([{}], dim=-1)", columns);
  }
  std::string gain(const std::string& gains) const override { return gains + "[:, None, None]"; }
  std::string concat(const std::string& heads) const override {
    return fmt::format("{}.transpose(1, 2).reshape({}, {}, {})", heads, sizes_.batch, sizes_.queries,
                       sizes_.heads * sizes_.v_head_dim);
  }
  std::string layer_norm(const std::string& x, Index width) const override {
    return fmt::format("F.layer_norm({}, ({},))", x, width);
  }
  std::string mean_over_heads(const std::string& weights) const override { return weights + ".mean(dim=1)"; }

  std::string arange(Index count) const override { return fmt::format("torch.arange({})", count); }
  std::string falses() const override {
    return fmt::format("torch.zeros({}, {}, {}, {}, dtype=torch.bool)", sizes_.batch, sizes_.heads,
                       sizes_.queries, sizes_.keys);
  }
  std::string added_zero_or_minus_infinity(const std::string& blocked) const override {
    return fmt::format("torch.zeros({0}.shape).masked_fill({0}, -math.inf)", blocked);
  }
  std::string at_least_zero(const std::string& x) const override { return x + ".clamp(min=0)"; }
  std::string absolute(const std::string& x) const override { return x + ".abs()"; }
  std::string vector(const std::string& numbers) const override {
    return fmt::format("torch.tensor([{}])", numbers);
  }
  std::string reshape(const std::string& x, const std::string& sizes) const override {
    return fmt::format("{}.reshape({})", x, sizes);
  }
  std::string pad_columns(const std::string& x, Index columns, const std::string& value) const override {
    return fmt::format("F.pad({}, (0, {}), value={})", x, columns, value);
  }
  std::string infinity() const override { return "math.inf"; }

 protected:
  Index group() const { return sizes_.kv_heads > 0 ? sizes_.heads / sizes_.kv_heads : 1; }

 private:
  std::string repeated(const std::string& x) const {
    return group() == 1 ? x : fmt::format("{}.repeat_interleave({}, dim=1)", x, group());
  }
};

class EinsumDialect : public PytorchDialect {
 public:
  using PytorchDialect::PytorchDialect;

  std::string linear(const std::string&, const std::string& x, const std::string& weight,
                     const std::string& bias) const override {
    return fmt::format("torch.einsum('nte,ce->ntc', {}, {}){}{}", x, weight, bias.empty() ? "" : " + ", bias);
  }
  std::string split_heads(const std::string& x, Index, Index heads, Index width) const override {
    return fmt::format("torch.einsum('nthd->nhtd', {}.unflatten(-1, ({}, {})))", x, heads, width);
  }
  // The query heads of a group have their own axis, r: nothing is repeated.
  std::string scores(const std::string& q, const std::string& k) const override {
    if (group() == 1) return fmt::format("torch.einsum('nhld,nhsd->nhls', {}, {})", q, k);
    return fmt::format("torch.einsum('ngrld,ngsd->ngrls', {}.unflatten(1, ({}, {})), {}).flatten(1, 2)", q,
                       sizes_.kv_heads, group(), k);
  }
  std::string weighted_sum(const std::string& weights, const std::string& v) const override {
    if (group() == 1) return fmt::format("torch.einsum('nhls,nhsd->nhld', {}, {})", weights, v);
    return fmt::format("torch.einsum('ngrls,ngsd->ngrld', {}.unflatten(1, ({}, {})), {}).flatten(1, 2)",
                       weights, sizes_.kv_heads, group(), v);
  }
  std::string concat(const std::string& heads) const override {
    return fmt::format("torch.einsum('nhld->nlhd', {}).flatten(2)", heads);
  }
};

// W_q, W_k, W_v, W_o are nn.Linear layers; the program defines them and the two transpositions.
class D2lDialect : public PytorchDialect {
 public:
  using PytorchDialect::PytorchDialect;

  std::string linear(const std::string& layer, const std::string& x, const std::string&,
                     const std::string&) const override {
    return fmt::format("{}({})", layer, x);
  }
  std::string split_heads(const std::string& x, Index, Index heads, Index) const override {
    return fmt::format("transpose_qkv({}, {})", x, heads);
  }
  std::string in_layout(const std::string& heads) const override { return heads + ".flatten(0, 1)"; }
  std::string scores(const std::string& q, const std::string& k) const override {
    return fmt::format("torch.bmm({}, {}.transpose(1, 2))", q, repeated(k));
  }
  std::string weighted_sum(const std::string& weights, const std::string& v) const override {
    return fmt::format("torch.bmm({}, {})", weights, repeated(v));
  }
  std::string gain(const std::string& gains) const override {
    return fmt::format("{}.repeat({})[:, None, None]", gains, sizes_.batch);
  }
  std::string concat(const std::string& heads) const override {
    return fmt::format("transpose_output({}, {})", heads, sizes_.heads);
  }
  std::string mean_over_heads(const std::string& weights) const override {
    return with_heads_axis(weights) + ".mean(dim=1)";
  }
  std::string with_heads_axis(const std::string& weights) const override {
    return fmt::format("{}.unflatten(0, ({}, {}))", weights, sizes_.batch, sizes_.heads);
  }
  std::string sizes_text(const Tensor& tensor) const override {
    const std::vector<Index> s = tensor.shape().sizes();
    if (s.size() != 4) return tensor.shape().sizes_text();
    return fmt::format("({},{},{})", s[0] * s[1], s[2], s[3]);
  }

 private:
  // (N·G,…) → (N·H,…): adjacent heads stay adjacent.
  std::string repeated(const std::string& x) const {
    return group() == 1 ? x : fmt::format("{}.repeat_interleave({}, dim=0)", x, group());
  }
};

}  // namespace

std::unique_ptr<CodeDialect> make_dialect(CodeStyle style, CodeSizes sizes) {
  switch (style) {
    case CodeStyle::pytorch:
      return std::make_unique<PytorchDialect>(sizes);
    case CodeStyle::einsum:
      return std::make_unique<EinsumDialect>(sizes);
    case CodeStyle::numpy:
      return make_numpy_dialect(sizes);
    case CodeStyle::d2l:
      return std::make_unique<D2lDialect>(sizes);
  }
  return nullptr;
}

}  // namespace headwise
