// Whether there is memory for an OpenGL context.
#pragma once

namespace headwise::gl {

// Throws Error(memory) if there is so little that a driver in software (Mesa's llvmpipe) might crash: where
// it runs out of memory while it starts, it ends the process. To be called before a context is made.
void require_context_memory();

}  // namespace headwise::gl
