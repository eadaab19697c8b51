// The renderer: for the status bar, measurements and error reports.
#pragma once

#include <string>
#include <string_view>

namespace headwise::gl {

// Of the current context: "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5".
std::string renderer_name();

// Measurements and tests that are meant for a GPU must not land on software unnoticed: whether the
// environment variable HEADWISE_EXPECT_GPU says so (set, and neither empty nor 0).
bool expects_gpu();
// A sentence for work that was meant for a GPU but got a renderer of this name;
// empty if that is not software.
std::string missing_gpu(std::string_view renderer);

}  // namespace headwise::gl
