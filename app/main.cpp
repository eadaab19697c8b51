#include <malloc.h>

#include "app/cli/command_line.h"

namespace {

// A trace made after a trace takes over the memory of the one before. As glibc is set, what is large goes back to the kernel
// at once, and fresh pages, faulted in and zeroed one by one, cost more than the arithmetic that fills them. One arena: in any
// other than the first, large blocks have no place.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return headwise::run_command_line(argc, argv);
}
