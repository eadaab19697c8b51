// A whole scenario as one Python program: it contains (or loads) its arrays, head gains and the dropout's
// kept weights, computes every tensor of the trace under its name, and prints the result.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"
#include "core/export/code_style.h"
#include "core/files/array_files.h"

namespace headwise {

// What the program starts from: inputs, parameters and masks of the trace, and `dropout_keep` (N,H,L,S′),
// true where dropout keeps a weight. In the layout of the trace.
// An array shared by several names is included once.
std::vector<NamedTensor> program_arrays(const Trace& trace);

// Above this many bytes of arrays a program that contains them is too long to paste: write them to a file.
inline constexpr Index largest_carried_bytes = Index{1} << 20;
Index program_array_bytes(const Trace& trace);

// The text of the program. `arrays_file`: the name of the .npz next to it that holds program_arrays(); empty:
// the program contains them. The program needs NumPy and, in all styles but numpy, PyTorch 1.13 or newer
// (flex: 2.5, with sinks 2.9). Its only argument, which is optional, names an .npz that it writes every
// computed tensor to. In the pytorch style it ends with a call of PyTorch's own function, if that function
// has all options of the trace.
std::string program_text(const Trace& trace, CodeStyle style, const std::string& arrays_file = {});

// Writes that program to `path`, which ends in .py, with its arrays in an .npz next to it if they exceed
// largest_carried_bytes. Throws Error(output).
void write_program(const std::string& path, const Trace& trace, CodeStyle style);

}  // namespace headwise
