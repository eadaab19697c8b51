#include "core/attention/heads.h"

#include <algorithm>

#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

// (N,G,S,W) → (N,H,S,W), head h copied from source(h).
template <class Source>
Tensor copied_heads(const Tensor& x, Index heads, const Source& source) {
  const Index batch = x.shape().size(0);
  const Index kv_heads = x.shape().size(1);
  const Index slice = x.shape().size(2) * x.shape().size(3);
  Tensor out = Tensor::unwritten(Shape{{"N", batch}, {"H", heads}, x.shape().axes()[2], x.shape().axes()[3]},
                                 x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = out.values<T>().begin();
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h)
        to = std::copy_n(x.values<T>().begin() + (n * kv_heads + source(h)) * slice, slice, to);
    }
  });
  return out;
}

}  // namespace

Tensor split_heads(const Tensor& x, Index heads, const char* head_axis, const char* width_axis) {
  const Index batch = x.shape().size(0);
  const Index length = x.shape().size(1);
  const Index width = x.shape().size(2) / heads;
  Tensor out = Tensor::unwritten(
      Shape{{"N", batch}, {head_axis, heads}, x.shape().axes()[1], {width_axis, width}}, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto to = out.values<T>().begin();
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        for (Index t = 0; t < length; ++t) {
          to = std::copy_n(x.values<T>().begin() + ((n * length + t) * heads + h) * width, width, to);
        }
      }
    }
  });
  return out;
}

Tensor merge_heads(const Tensor& x, const Tensor* gain, const char* joined_axis) {
  const Index batch = x.shape().size(0);
  const Index heads = x.shape().size(1);
  const Index length = x.shape().size(2);
  const Index width = x.shape().size(3);
  Tensor out =
      Tensor::unwritten(Shape{{"N", batch}, x.shape().axes()[2], {joined_axis, heads * width}}, x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    auto from = x.values<T>().begin();
    for (Index n = 0; n < batch; ++n) {
      for (Index h = 0; h < heads; ++h) {
        for (Index t = 0; t < length; ++t, from += width) {
          const auto to = out.values<T>().begin() + ((n * length + t) * heads + h) * width;
          if (gain) {
            const T g = gain->values<T>()[static_cast<std::size_t>(h)];
            std::transform(from, from + width, to, [g](T value) { return g * value; });
          } else {
            std::copy_n(from, width, to);
          }
        }
      }
    }
  });
  return out;
}

Tensor repeat_kv(const Tensor& x, Index heads) {
  const Index kv_heads = x.shape().size(1);
  return copied_heads(x, heads, [&](Index h) { return kv_head_of(h, heads, kv_heads); });
}

Tensor tile_kv(const Tensor& x, Index heads) {
  const Index kv_heads = x.shape().size(1);
  return copied_heads(x, heads, [&](Index h) { return h % kv_heads; });
}

}  // namespace headwise
