// A timer query, which begins when it is made: glEndQuery(GL_TIME_ELAPSED) ends it.
#pragma once

#include "core/gpu/object.h"

namespace headwise {

struct TimerQueryKind {
  static GLuint create() {
    GLuint name = 0;
    glGenQueries(1, &name);
    glBeginQuery(GL_TIME_ELAPSED, name);  // only binding creates an object that can be labelled
    return name;
  }
  static void destroy(GLuint name) { glDeleteQueries(1, &name); }
  static constexpr GLenum identifier = GL_QUERY;
};
using TimerQuery = gl::Object<TimerQueryKind>;

}  // namespace headwise
