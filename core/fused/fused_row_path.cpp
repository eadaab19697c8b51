#include "core/fused/fused_row_path.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/attention/rotary_embedding.h"

namespace headwise {
namespace {

constexpr Index tokens_at_once = 64;

using FloatRow = Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>;

}  // namespace

FusedRotary::FusedRotary(const Rotation& rotation, Index first_position, Index tokens)
    : pairs_(rotation.count()), step_(rotation.step()), apart_(rotation.apart()) {
  cosines_.reserve(static_cast<std::size_t>(tokens * pairs_));
  sines_.reserve(static_cast<std::size_t>(tokens * pairs_));
  for (Index token = 0; token < tokens; ++token) {
    for (Index pair = 0; pair < pairs_; ++pair) {
      cosines_.push_back(static_cast<float>(rotation.cosine(first_position + token, pair)));
      sines_.push_back(static_cast<float>(rotation.sine(first_position + token, pair)));
    }
  }
}

void FusedRotary::rotate(const TokenRows& rows) const {
  const float* const cosines = cosines_.data() + rows.token * pairs_;
  const float* const sines = sines_.data() + rows.token * pairs_;
  // Vectors only if the step is known to the compiler.
  const auto with_step = [&](auto step) {
    for (Index h = 0; h < rows.heads; ++h) {
      float *const firsts = rows.first + h * rows.width, *const seconds = firsts + apart_;
      for (Index j = 0; j < pairs_; ++j) {
        const float a = firsts[j * step], b = seconds[j * step];
        firsts[j * step] = a * cosines[j] - b * sines[j];
        seconds[j * step] = b * cosines[j] + a * sines[j];
      }
    }
  };
  if (step_ == 1)
    with_step(std::integral_constant<Index, 1>());
  else
    with_step(std::integral_constant<Index, 2>());
}

FusedNorm::FusedNorm(const Norm& norm, bool whole, const Tensor* weight) : norm_(norm), whole_(whole) {
  for (Index i = 0; weight && i < weight->size(); ++i)
    gains_.push_back(static_cast<float>(norm.offset + weight->flat(i)));
}

// The sums in double: a row has up to some thousand numbers, and this costs little beside its products.
void FusedNorm::normalise(const TokenRows& rows) const {
  const Index width = whole_ ? rows.heads * rows.width : rows.width, count = rows.heads * rows.width / width;
  for (Index h = 0; h < count; ++h) {
    FloatRow row(rows.first + h * width, width);
    const auto [mean, deviation] = row_norm(row.cast<double>(), norm_);
    row = (row - static_cast<float>(mean)) * static_cast<float>(1.0 / deviation);
    if (gains_.empty()) continue;
    const bool shared = static_cast<Index>(gains_.size()) == width;
    row *= Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>(gains_.data() + (shared ? 0 : h * width),
                                                                    width);
  }
}

FusedRowPath::FusedRowPath(const AttentionOptions& options, const AttentionSizes& sizes,
                           const TraceTensors& tensors)
    : head_dim_(sizes.head_dim),
      q_(side(options, rotary_first_query(options, sizes.queries, sizes.keys), sizes.queries,
              tensors.q_norm_weight)),
      k_(side(options, rotary_first_key(options), sizes.new_keys(), tensors.k_norm_weight)) {}

FusedRowPath::Side FusedRowPath::side(const AttentionOptions& options, Index first_position, Index tokens,
                                      const TensorPtr& weight) const {
  Side side;
  side.tokens = tokens;
  const Rotation rotation = rotation_of(options);
  if (rotation) side.rotary.emplace_back(rotation, first_position, tokens);
  if (options.qk_norm) {
    const bool last = options.qk_norm == QkNorm::per_head_after_rotary;
    (last ? side.after : side.before)
        .emplace_back(qk_norm_of(options), options.qk_norm == QkNorm::whole, weight.get());
  }
  side.changes = rotation || options.qk_norm;
  return side;
}

TaskPhase FusedRowPath::follow(Side& side, const Rows& rows) const {
  const auto made = std::make_shared<Tensor>(Tensor::unwritten(rows.rows->shape(), DType::f32));
  side.made = made;
  const float* const from = rows.rows->values<float>().data();
  float* const to = made->values<float>().data();
  const Index parts = (side.tokens + tokens_at_once - 1) / tokens_at_once, width = rows.heads * head_dim_;
  return {rows.groups * parts,
          [&side, from, to, parts, width, heads = rows.heads, D = head_dim_](Index task, int) {
            const Index first = task % parts * tokens_at_once, group = task / parts * side.tokens;
            const Index last = std::min(first + tokens_at_once, side.tokens);
            for (Index token = first; token < last; ++token) {
              const TokenRows own{to + (group + token) * width, token, heads, D};
              std::copy_n(from + (group + token) * width, width, own.first);
              for (const FusedNorm& norm : side.before) norm.normalise(own);
              for (const FusedRotary& rotary : side.rotary) rotary.rotate(own);
              for (const FusedNorm& norm : side.after) norm.normalise(own);
            }
          }};
}

std::vector<TaskPhase> FusedRowPath::follow(const Rows& q, const Rows& k) {
  return {follow(q_, q), follow(k_, k)};
}

PastRows append_to_past(const Tensor& past, const Tensor& now, const AttentionSizes& sizes) {
  const bool heads = now.shape().rank() == 4;
  std::vector<Axis> axes = now.shape().axes();
  axes[heads ? 2 : 1] = {sizes.key_axis(), sizes.all_keys};
  const auto present = std::make_shared<Tensor>(Tensor::unwritten(Shape(std::move(axes)), DType::f32));
  const Index width = past.shape().size(3), G = sizes.kv_heads, P = sizes.past, T = sizes.all_keys;
  return {present,
          {sizes.batch, [=, from = past.values<float>().data(), own = now.values<float>().data(),
                         to = present->values<float>().data()](Index n, int) {
             const Index length = T - P;
             for (Index g = n * G; heads && g < (n + 1) * G; ++g) {
               std::copy_n(from + g * P * width, P * width, to + g * T * width);
               std::copy_n(own + g * length * width, length * width, to + (g * T + P) * width);
             }
             if (heads) return;
             for (Index g = 0; g < G; ++g)
               for (Index key = 0; key < P; ++key)
                 std::copy_n(from + ((n * G + g) * P + key) * width, width,
                             to + ((n * T + key) * G + g) * width);
             std::copy_n(own + n * length * G * width, length * G * width, to + (n * T + P) * G * width);
           }}};
}

}  // namespace headwise
