#include "core/model/model_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr int most_levels = 32;
constexpr std::size_t most_values = 4'000'000;  // some 300 MB of them

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw Error(ExitStatus::input,
              {path, what, got, expected, "fetch the file again, as it was published with the model"});
}

}  // namespace

Json read_model_json(const std::string& path) {
  const InputFile file(path);
  if (file.size() > most_bytes) {
    fail(path, "the file is too large", bytes_text(static_cast<Index>(file.size())),
         "at most " + bytes_text(static_cast<Index>(most_bytes)));
  }
  const std::string text = file.read_text(0, file.size());
  // The parser takes a zero byte for the end and would not look behind it.
  if (text.find('\0') != std::string::npos) fail(path, "this is no JSON", "a zero byte", "a JSON object");
  std::size_t values = 0;
  std::vector<std::unordered_set<std::string>> keys;  // of the objects that are open
  const Json::parser_callback_t watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (++values > most_values)
      fail(path, "the JSON is too large", "", fmt::format("at most {} values", most_values));
    if (depth > most_levels)
      fail(path, "the JSON is nested too deeply", "", fmt::format("at most {} levels", most_levels));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) fail(path, "a key is there twice", key, "each key once");
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const Json::exception& error) {
    fail(path, "this is no JSON", error.what(), "a JSON object");
  }
  if (!json.is_object()) fail(path, "this is no JSON object", json.type_name(), "an object");
  return json;
}

}  // namespace headwise
