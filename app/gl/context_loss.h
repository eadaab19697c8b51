// A reset of the graphics driver destroys its contexts: nothing drawn is visible any more.
#pragma once

namespace headwise::gl {

// Whether the current context is lost. False if the driver cannot tell (neither OpenGL 4.5 nor KHR_robustness
// or ARB_robustness).
bool context_lost();

}  // namespace headwise::gl
