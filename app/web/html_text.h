// Text of others in HTML.
#pragma once

#include <string>
#include <string_view>

namespace headwise {

// With <, >, & and quotes written so that they are only ever characters, in an element and in a quoted
// attribute.
std::string html_text(std::string_view text);

}  // namespace headwise
