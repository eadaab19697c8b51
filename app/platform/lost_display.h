// The X server disappeared (a remote session ended, the server crashed): by default Xlib ends the process with its own
// message.
#pragma once

namespace headwise {

// From now on a lost X display ends the process with exit status 7 and one line. Call after GLFW has opened it; does
// nothing if Xlib is not in use.
void report_lost_display();

}  // namespace headwise
