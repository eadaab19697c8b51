// Texts stored with the arrays of a file, by name: metadata of safetensors; in npz arrays of bytes (1-D uint8, UTF-8)
// whose names begin and end with two underscores.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headwise {

using FileMetadata = std::map<std::string, std::string>;

// Whether a name is reserved for metadata: "__scenario__". Readers leave these out of the arrays.
bool is_reserved_name(std::string_view name);

}  // namespace headwise
