// Archives for tests, with any entries.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/files/zip_file.h"

namespace headwise {

// A .npy of this dtype and shape: "<f4", "(3,)".
inline std::string npy_content(const std::string& dtype, const std::string& shape, const std::string& data) {
  const std::string dict = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dict.size()) + '\0' + dict + data;
}

// 1, 2, 3 in f32.
inline std::string three_numbers() {
  const float numbers[] = {1.0F, 2.0F, 3.0F};
  return npy_content("<f4", "(3,)", std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
}

inline std::string npz_with_entries(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string archive;
  const ByteSink sink = [&](std::span<const std::byte> bytes) {
    archive.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  ZipWriter writer(sink);
  for (const auto& [name, content] : entries) writer.add(name, std::as_bytes(std::span(content)), {});
  writer.finish();
  return archive;
}

}  // namespace headwise
