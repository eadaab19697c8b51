// A graphics driver that was reset takes its contexts with it: nothing that is drawn is seen any more.
#pragma once

namespace headwise::gl {

// Whether the current context is lost. False where the driver cannot tell (neither OpenGL 4.5 nor KHR_robustness or
// ARB_robustness).
bool context_lost();

}  // namespace headwise::gl
