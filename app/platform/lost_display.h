// The X server went away (a remote session ended, the server crashed): Xlib then ends the process in its own
// words.
#pragma once

namespace headwise {

// From now on a lost X display ends the process with exit status 7 and one line. Call after GLFW has opened
// it; does nothing where Xlib is not in use.
void report_lost_display();

}  // namespace headwise
