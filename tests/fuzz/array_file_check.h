// What must hold of any bytes that are read as an array file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/files/array_files.h"

namespace headwise::fuzz {

using WriteArrays = std::function<void(const std::string& path, const std::vector<NamedTensor>& arrays)>;

// The bytes are either refused in one line, or read; what `info` lists is what was read. What was read is
// written by `write` and read again: the same names, shapes, types and bits. The memory taken for reading is
// at most 4 MiB and `memory_per_byte` times the file.
void check_array_file(std::span<const std::uint8_t> bytes, std::size_t memory_per_byte,
                      const WriteArrays& write);

}  // namespace headwise::fuzz
