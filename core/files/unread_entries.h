// Entries of an .npz beside its arrays of numbers: text, Python objects, dates, records, complex numbers, a
// folder, a README.
#pragma once

#include <string>
#include <vector>

#include "core/files/array_files.h"

namespace headwise {

struct UnreadEntry {
  std::string name;  // of the array; of the entry, if it is none
  std::string why;   // the line of an Error
};

// As read_array_file, but such entries are left out and added to `unread`, unless there is nothing else.
std::vector<NamedTensor> read_array_file(const std::string& path, std::vector<UnreadEntry>& unread);

// Those of a file; read_array_file_info leaves them out. Throws like it.
std::vector<UnreadEntry> unread_entries(const std::string& path);

// The warning about one.
inline std::string left_out(const UnreadEntry& entry) {
  return "left out: " + entry.why;
}

}  // namespace headwise
