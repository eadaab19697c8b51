// Who draws: for the status bar, for measurements, for reports of what went wrong.
#pragma once

#include <string>

namespace headwise::gl {

// Of the current context: "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5".
std::string renderer_name();

}  // namespace headwise::gl
