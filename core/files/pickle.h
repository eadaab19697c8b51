// Python pickles, which .pt, .pth, .bin, .ckpt and .pkl files are: programs that create objects when loaded.
// They are recognised and rejected, never read.
#pragma once

#include <string>
#include <string_view>

#include "core/tensor/error.h"

namespace headwise {

// Whether the first bytes of a file are those of a pickle (protocols 2 to 5).
bool looks_like_pickle(std::string_view beginning);

// The exception to throw: Error(input) with the two lines of Python that convert the file. `torch`: it was
// saved by PyTorch.
Error refused_pickle(const std::string& path, bool torch);
// For a folder with pytorch_model-00001-of-00002.bin and so on.
Error refused_shards(const std::string& folder);

}  // namespace headwise
