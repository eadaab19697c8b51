#include "app/gl/context_memory.h"

#include <algorithm>
#include <thread>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise::gl {

void require_context_memory() {
  // Mesa 22.3 on two threads crashed with up to 243 MiB of address space, at sizes of 640×360 to 3840×2160.
  // Each further thread has a stack of 8 MiB.
  constexpr Index mib = Index{1} << 20, driver = 280 * mib, thread = 9 * mib;
  constexpr unsigned most_threads = 32;
  const Index needed =
      driver + thread * std::min(std::max(1U, std::thread::hardware_concurrency()), most_threads);
  const Index there = available_memory();
  if (there < needed)
    throw Error(ExitStatus::memory,
                {"OpenGL", "there is not enough memory for its driver", bytes_text(there),
                 "at least " + bytes_text(needed), "raise the limit (ulimit -v), or free some memory"});
}

}  // namespace headwise::gl
