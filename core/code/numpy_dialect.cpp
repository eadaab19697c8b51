// Plain NumPy: what the framework's names stand for.
#include <fmt/format.h>

#include "core/code/code_dialect.h"

namespace headwise {
namespace {

class NumpyDialect : public CodeDialect {
 public:
  using CodeDialect::CodeDialect;

  std::string linear(const std::string&, const std::string& x, const std::string& weight,
                     const std::string& bias) const override {
    return fmt::format("{} @ {}.T{}{}", x, weight, bias.empty() ? "" : " + ", bias);
  }
  std::string append_row(const std::string& x, const std::string& row) const override {
    return fmt::format("np.concatenate([{0}, np.broadcast_to({1}, ({2}, 1, {1}.size))], axis=1)", x, row,
                       sizes_.batch);
  }
  std::string append_zero_row(const std::string& x) const override {
    return fmt::format("np.pad({}, ((0, 0), (0, 1), (0, 0)))", x);
  }
  std::string join_heads(const std::string& heads) const override {
    return fmt::format("np.concatenate(list({}.swapaxes(0, 1)), axis=-1)", heads);
  }
  std::string split_heads(const std::string& x, Index rows, Index heads, Index width) const override {
    return fmt::format("{}.reshape({}, {}, {}, {}).transpose(0, 2, 1, 3)", x, sizes_.batch, rows, heads, width);
  }
  std::string scores(const std::string& q, const std::string& k) const override {
    return fmt::format("{} @ {}.swapaxes(-2, -1)", q, repeated(k));
  }
  std::string weighted_sum(const std::string& weights, const std::string& v) const override {
    return fmt::format("{} @ {}", weights, repeated(v));
  }
  std::string clip(const std::string& x, const std::string& bound) const override {
    return fmt::format("np.clip({0}, -{1}, {1})", x, bound);
  }
  std::string tanh(const std::string& x) const override { return fmt::format("np.tanh({})", x); }
  std::string sqrt(Index of) const override { return fmt::format("math.sqrt({})", of); }
  // The program defines `softmax` in three lines: NumPy has none.
  std::string softmax(const std::string& x) const override { return fmt::format("softmax({})", x); }
  std::string zero_empty_rows(const std::string& weights, const std::string& scores) const override {
    return fmt::format("np.where(({} == -np.inf).all(axis=-1, keepdims=True), 0, {})", scores, weights);
  }
  std::string where_minus_infinity(const std::string& marks, const std::string& fill,
                                   const std::string& otherwise) const override {
    return fmt::format("np.where({} == -np.inf, {}, {})", marks, fill, otherwise);
  }
  std::string freeze(const std::string& weights, const std::string& heads,
                     const std::string& frozen) const override {
    return fmt::format("{}[:, [{}]] = {}", weights, heads, frozen);
  }
  std::string range(Index first, Index last, Index step) const override {
    return step == 1 ? fmt::format("np.arange({}, {}, dtype=np.float64)", first, last)
                     : fmt::format("np.arange({}, {}, {}, dtype=np.float64)", first, last, step);
  }
  std::string doubles(const std::string& numbers) const override { return vector(numbers); }
  std::string in_type_of(const std::string& x, const std::string& like) const override {
    return fmt::format("{}.astype({}.dtype)", x, like);
  }
  std::string cosine(const std::string& angle) const override { return fmt::format("np.cos({})", angle); }
  std::string sine(const std::string& angle) const override { return fmt::format("np.sin({})", angle); }
  std::string side_by_side(const std::string& columns) const override {
    return fmt::format("np.concatenate([{}], axis=-1)", columns);
  }
  std::string gain(const std::string& gains) const override { return gains + "[:, None, None]"; }
  std::string concat(const std::string& heads) const override {
    return fmt::format("{}.transpose(0, 2, 1, 3).reshape({}, {}, {})", heads, sizes_.batch, sizes_.queries,
                       sizes_.heads * sizes_.v_head_dim);
  }
  std::string layer_norm(const std::string& x, Index) const override {
    return fmt::format(
        "({0} - {0}.mean(axis=-1, keepdims=True)) / np.sqrt({0}.var(axis=-1, keepdims=True) + 1e-5)", x);
  }
  std::string mean_over_heads(const std::string& weights) const override { return weights + ".mean(axis=1)"; }

  std::string arange(Index count) const override { return fmt::format("np.arange({})", count); }
  std::string falses() const override {
    return fmt::format("np.zeros(({}, {}, {}, {}), dtype=bool)", sizes_.batch, sizes_.heads, sizes_.queries,
                       sizes_.keys);
  }
  std::string added_zero_or_minus_infinity(const std::string& blocked) const override {
    return as_scores(fmt::format("np.where({}, -np.inf, 0.0)", blocked));
  }
  // Infinities and integers promote what they are combined with to f64.
  std::string as_scores(const std::string& x) const override {
    return fmt::format("{}.astype(scaled_scores.dtype)", x);
  }
  std::string at_least_zero(const std::string& x) const override {
    return fmt::format("np.maximum({}, 0)", x);
  }
  std::string absolute(const std::string& x) const override { return fmt::format("np.abs({})", x); }
  std::string vector(const std::string& numbers) const override {
    return fmt::format("np.array([{}])", numbers);
  }
  std::string reshape(const std::string& x, const std::string& sizes) const override {
    return fmt::format("{}.reshape({})", x, sizes);
  }
  std::string pad_columns(const std::string& x, Index columns, const std::string& value) const override {
    return fmt::format("np.pad({}, [(0, 0)] * ({}.ndim - 1) + [(0, {})], constant_values={})", x, x, columns,
                       value);
  }
  std::string infinity() const override { return "np.inf"; }

 private:
  std::string repeated(const std::string& x) const {
    const Index group = sizes_.kv_heads > 0 ? sizes_.heads / sizes_.kv_heads : 1;
    return group == 1 ? x : fmt::format("np.repeat({}, {}, axis=1)", x, group);
  }
};

}  // namespace

std::unique_ptr<CodeDialect> make_numpy_dialect(CodeSizes sizes) {
  return std::make_unique<NumpyDialect>(sizes);
}

}  // namespace headwise
