// The key "answer" of a page. Private to core/playlist.
#pragma once

#include <string>

#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"

namespace headwise {

// Throws Error(usage), one sentence that begins with `where`: an unknown key or kind, a missing one, a wrong type, a number
// of options other than 2 to 9, an expression or text that cannot be read, or one that reads nothing of the page.
PageAnswer answer_from_json(const Json& json, const std::string& where, PlaylistText text);

}  // namespace headwise
