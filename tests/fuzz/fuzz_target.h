// What the fuzz targets share: saying what must hold, and counting what came of the inputs. Each target is
// one file that defines LLVMFuzzerTestOneInput; with -DHEADWISE_FUZZ=ON (clang) libFuzzer drives it, else
// corpus_driver.cpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/tensor/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace headwise::fuzz {

// How many inputs of this process were accepted and refused.
struct Outcomes {
  std::size_t accepted = 0, refused = 0;
};
Outcomes& outcomes();

// Where it does not hold: `what` on stderr and the end of the process, which the drivers report as a finding.
void require(bool holds, const std::string& what);

// A refusal is one short line that begins with `where`,
// with one of the exit statuses that a bad file may have.
void require_refusal(const Error& error, const std::string& where, ExitStatus status);

// While it lives, memory taken with `new` beyond `bytes` ends the process as a failed `require` does.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

}  // namespace headwise::fuzz
