#include "core/scenario/made_inputs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// (N,length,heads·width) → (N,heads,length,width)
template <class T>
void copy_heads(const Tensor& from, Tensor& to) {
  const Index batch = to.shape().size(0), heads = to.shape().size(1), length = to.shape().size(2),
              width = to.shape().size(3);
  const auto source = from.values<T>();
  auto target = to.values<T>().begin();
  for (Index n = 0; n < batch; ++n)
    for (Index h = 0; h < heads; ++h)
      for (Index l = 0; l < length; ++l)
        target = std::copy_n(source.begin() + ((n * length + l) * heads + h) * width, width, target);
}

template <class T>
void fill_numbers(Tensor& tensor, InputSource source, const CounterRandom& random) {
  const std::span<T> values = tensor.values<T>();
  for_ranges(tensor.size(), cost_of_random, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      values[static_cast<std::size_t>(i)] = source == InputSource::ones ? T{1}
                                            : source == InputSource::uniform01
                                                ? static_cast<T>(random.uniform(number))
                                                : static_cast<T>(random.normal(number));
    }
  });
}

}  // namespace

Tensor made_input(const InputOrder& order, const InputsSpec& inputs, Index batch, DType dtype) {
  const bool sdpa = order.heads > 0;
  std::vector<Axis> axes{{"N", batch}, {order.length_axis, order.length}, {order.width_axis, order.width}};
  const char* const heads_axis = order.heads_axis ? order.heads_axis : *order.length_axis == 'L' ? "H" : "G";
  if (sdpa) axes.insert(axes.begin() + 1, {heads_axis, order.heads});
  if (order.tokens != nullptr) {
    const Index width = sdpa ? checked_multiply(order.heads, order.width, order.name) : order.width;
    Tensor text = text_embeddings(*order.tokens, batch, embedding_layout(width), inputs.seed,
                                  inputs.positions, dtype, order.length_axis, order.width_axis);
    if (!sdpa) return text;
    Tensor heads(Shape(std::move(axes)), dtype);
    dispatch_float(dtype, [&]<class T>() { copy_heads<T>(text, heads); });
    return heads;
  }
  Tensor tensor(Shape(std::move(axes)), dtype);
  const CounterRandom random(inputs.seed, order.name);
  dispatch_float(dtype, [&]<class T>() { fill_numbers<T>(tensor, inputs.source, random); });
  return tensor;
}

}  // namespace headwise
