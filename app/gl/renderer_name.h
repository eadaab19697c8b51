// The renderer: for the status bar, measurements and error reports.
#pragma once

#include <string>

namespace headwise::gl {

// Of the current context: "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5".
std::string renderer_name();

}  // namespace headwise::gl
