// Arrays as the command line names them: files, folders of files, pipes.
#pragma once

#include <string>
#include <vector>

namespace headwise {

// The files that the words of `option` name: a file itself; a folder's .npy, .npz and .safetensors files,
// sorted by name; of a pipe, as "-" or <(program), a copy in memory, which lives as long as the process.
// Throws Error(input): a folder without such files, a pipe of more than 4 GiB or of an .npy, whose array has
// no name there; Error(memory).
std::vector<std::string> array_paths(const std::string& option, const std::vector<std::string>& words);

}  // namespace headwise
