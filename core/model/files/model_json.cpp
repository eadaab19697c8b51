#include "core/model/files/model_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/files/input_file.h"
#include "core/files/strict_json.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
// An index has a key for each of its arrays; this many values are some 300 MB of memory.
constexpr JsonLimits limits{.levels = 32, .values = 4'000'000, .keys = 4'000'000};

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw Error(ExitStatus::input,
              {path, what, got, expected, "download the file again from where the model was published"});
}

}  // namespace

Json read_model_json(const std::string& path) {
  const InputFile file(path);
  if (file.size() > most_bytes) {
    fail(path, "the file is too large", bytes_text(static_cast<Index>(file.size())),
         "at most " + bytes_text(static_cast<Index>(most_bytes)));
  }
  Json json;
  try {
    json = parse_strict_json(file.read_text(0, file.size()), limits, JsonDialect::python);
  } catch (const JsonRefusal& refusal) {
    fail(refusal.place.empty() ? path : path + ": " + refusal.place, refusal.what, refusal.got,
         refusal.expected);
  }
  if (json_kind(json) != "object") fail(path, "this is not a JSON object", json_kind(json), "an object");
  return json;
}

}  // namespace headwise
