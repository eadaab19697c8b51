// Which release this is.
#pragma once

namespace headwise {

// "0.2.0": the version in CMakeLists.txt, which this file's source alone is compiled with.
const char* version();

}  // namespace headwise
