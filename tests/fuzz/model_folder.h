// A small model in a folder, one file of which a fuzz target writes anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headwise::fuzz {

// A folder of this process, in memory where there is such a place; removed at its end.
const std::string& model_folder();
// Arrays of a Llama-like model of one layer: in one file,
// or in two parts (part-1.safetensors, part-2.safetensors).
enum class Parts { one, two };
void write_model_arrays(Parts parts);
void write_bytes(const std::string& name, const std::uint8_t* data, std::size_t size);

}  // namespace headwise::fuzz
