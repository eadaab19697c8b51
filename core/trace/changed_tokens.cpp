#include "core/trace/changed_tokens.h"

#include <cstring>

#include "core/tensor/float_dispatch.h"

namespace headwise {

std::vector<TokenRange> changed_tokens(const Tensor& before, const Tensor& x) {
  std::vector<TokenRange> changed;
  if (&before == &x) return changed;
  const Index tokens = x.shape().size(1), width = x.shape().size(2);
  dispatch_float(x.dtype(), [&]<class T>() {
    const T* const a = before.values<T>().data();
    const T* const b = x.values<T>().data();
    for (Index i = 0; i < x.shape().size(0) * tokens; ++i) {
      if (std::memcmp(a + i * width, b + i * width, static_cast<std::size_t>(width) * sizeof(T)) == 0)
        continue;
      const Index n = i / tokens, token = i % tokens;
      const bool goes_on =
          !changed.empty() && changed.back().n == n && changed.back().first + changed.back().count == token;
      if (goes_on) {
        ++changed.back().count;
      } else {
        changed.push_back({n, token, 1});
      }
    }
  });
  return changed;
}

}  // namespace headwise
