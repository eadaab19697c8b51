// What every damaged file gets: Error(input), one line that begins with the file's name.
#pragma once

#include <string>

#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

namespace headwise {

// The line of the refusal; fails the test where the file is read after all or refused in another way.
inline std::string refusal_of(const std::string& path) {
  const std::string line = test::refused_with([&] { read_array_file(path); }, {});
  CHECK(line.starts_with(path));
  CHECK(line.size() < 1500);
  return line;
}

inline std::string corpus(const std::string& name) {
  return HEADWISE_SOURCE_DIR "/tests/core/files/corpus/" + name;
}

// Reads the file, or is refused: nothing else may happen. Returns whether it was read.
inline bool read_or_refused(const std::string& path) {
  bool read = true;
  for (const bool data : {false, true}) {
    try {
      if (data)
        read_array_file(path);
      else
        read_array_file_info(path);
    } catch (const Error& error) {
      read = false;
      if (error.status() != ExitStatus::input && error.status() != ExitStatus::memory)
        FAIL_CHECK(error.what());
    }
  }
  return read;
}

// Every beginning of `content`, and every byte of it changed in four ways. All beginnings must be refused.
inline void check_truncations_and_flips(const TemporaryFolder& folder, const std::string& name,
                                        const std::string& content) {
  for (std::size_t length = 0; length < content.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(read_or_refused(folder.with_file(name, content.substr(0, length))));
  }
  for (std::size_t at = 0; at < content.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xFF}) {
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      read_or_refused(folder.with_file(name, changed));
    }
  }
}

}  // namespace headwise
