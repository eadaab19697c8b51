// The format of scenarios and playlists, and the texts of their files.
#pragma once

#include <string>

#include "core/files/json_value.h"

namespace headwise {

// A scenario needs 4 levels and fewer than 20 keys per object; the number of values bounds the memory of the
// tree to some 300 MB whatever a file of 64 MiB contains.
inline constexpr JsonFormat scenario_format{.limits = {.levels = 16, .values = 4'000'000, .keys = 256},
                                            .status = ExitStatus::usage,
                                            .whole_floats = true,
                                            .too_large = "put large arrays in an .npz next to it"};

// The text of a file, at most 64 MiB. Throws Error(usage) if it is missing, a folder, too large or cannot be
// read; `kind` is what was expected: "scenario".
std::string read_json_text(const std::string& path, const std::string& kind);

}  // namespace headwise
