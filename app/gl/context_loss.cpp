#include "app/gl/context_loss.h"

#include <epoxy/gl.h>

namespace headwise::gl {

bool context_lost() {
  if (epoxy_gl_version() >= 45) return glGetGraphicsResetStatus() != GL_NO_ERROR;
  if (epoxy_has_gl_extension("GL_KHR_robustness")) return glGetGraphicsResetStatusKHR() != GL_NO_ERROR;
  if (epoxy_has_gl_extension("GL_ARB_robustness")) return glGetGraphicsResetStatusARB() != GL_NO_ERROR;
  return false;
}

}  // namespace headwise::gl
