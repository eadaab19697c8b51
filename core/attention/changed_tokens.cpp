#include "core/attention/changed_tokens.h"

#include <cstring>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The cost of comparing a number, in multiply-adds: two are read from memory.
constexpr double cost_of_number = 2.0;

}  // namespace

std::vector<TokenRange> changed_tokens(const Tensor& before, const Tensor& x) {
  std::vector<TokenRange> changed;
  if (&before == &x) return changed;
  const Index tokens = x.shape().size(1), width = x.shape().size(2), all = x.shape().size(0) * tokens;
  std::vector<char> differs(static_cast<std::size_t>(all));
  dispatch_float(x.dtype(), [&]<class T>() {
    const T* const a = before.values<T>().data();
    const T* const b = x.values<T>().data();
    for_ranges(all, cost_of_number * static_cast<double>(width), [&](Index first, Index last) {
      for (Index i = first; i < last; ++i)
        differs[static_cast<std::size_t>(i)] =
            std::memcmp(a + i * width, b + i * width, static_cast<std::size_t>(width) * sizeof(T)) != 0;
    });
  });
  for (Index i = 0; i < all; ++i) {
    if (!differs[static_cast<std::size_t>(i)]) continue;
    const Index n = i / tokens, token = i % tokens;
    const bool continues =
        !changed.empty() && changed.back().n == n && changed.back().first + changed.back().count == token;
    if (continues) {
      ++changed.back().count;
    } else {
      changed.push_back({n, token, 1});
    }
  }
  return changed;
}

}  // namespace headwise
