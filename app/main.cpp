#include <malloc.h>

#include "app/cli/command_line.h"

namespace {

// Each new trace reuses the memory of the previous one. With glibc's defaults large blocks go back to the
// kernel at once, and fresh pages, faulted in and zeroed one by one, cost more than the arithmetic that fills
// them. One arena: arenas other than the first have no room for large blocks.
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
