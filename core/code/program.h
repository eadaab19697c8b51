// A whole scenario as one Python program: it carries (or loads) its arrays, head gains and kept weights of the
// dropout, computes every tensor of the trace under its name, and prints the result.
#pragma once

#include <string>
#include <vector>

#include "core/code/code_style.h"
#include "core/files/array_files.h"
#include "core/trace/trace.h"

namespace headwise {

// What the program starts from: inputs, parameters and masks of the trace, and `dropout_keep` (N,H,L,S′), true
// where dropout keeps a weight. In the layout of the trace. An array that several names share stands here once.
std::vector<NamedTensor> program_arrays(const Trace& trace);

// Above this many bytes of arrays a program that carries them is too long to be pasted: write them to a file.
inline constexpr Index largest_carried_bytes = Index{1} << 20;
Index program_array_bytes(const Trace& trace);

// The text of the program. `arrays_file`: the name of the .npz beside it that holds program_arrays(); empty:
// the program carries them. The program needs NumPy and, in all styles but numpy, PyTorch 1.13 or newer. Its
// only argument, which may be left out, names an .npz that it writes every computed tensor to. In the pytorch
// style it ends with a call of PyTorch's own function, where that function has all options of the trace.
std::string program_text(const Trace& trace, CodeStyle style, const std::string& arrays_file = {});

// Writes that program to `path`, which ends in .py, with its arrays in an .npz beside it where they are above
// largest_carried_bytes. Throws Error(output).
void write_program(const std::string& path, const Trace& trace, CodeStyle style);

}  // namespace headwise
