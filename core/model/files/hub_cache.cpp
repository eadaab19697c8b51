#include "core/model/files/hub_cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/files/file_paths.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 8;

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> folders = paths_in(folder);
  std::erase_if(folders, [](const std::string& path) { return !is_folder(path); });
  return folders;
}

bool is_cached_model(const std::string& folder) {
  return is_folder(folder + "/snapshots") && (is_folder(folder + "/blobs") || is_folder(folder + "/refs"));
}

[[noreturn]] void refuse(const std::string& folder, const std::string& what,
                         const std::vector<std::string>& choices) {
  std::vector<std::string> named(
      choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(std::min(choices.size(), most_named)));
  if (named.size() < choices.size()) named.push_back(fmt::format("{} more", choices.size() - named.size()));
  throw Error(ExitStatus::input,
              {folder, what, fmt::format("{}", choices.size()), "the folder of one",
               choices.empty() ? "download the model again" : "name one of: " + join(named, ", ")});
}

std::string snapshot_of(const std::string& model) {
  std::string revision;
  std::ifstream(model + "/refs/main") >> revision;
  const std::string main = model + "/snapshots/" + revision;
  if (!revision.empty() && revision.find('/') == std::string::npos && !revision.starts_with('.') &&
      is_folder(main))
    return main;
  const std::vector<std::string> snapshots = folders_in(model + "/snapshots");
  if (snapshots.size() == 1) return snapshots[0];
  refuse(model,
         revision.empty() ? "refs/main of this model in the hub's cache names no snapshot"
                          : fmt::format("refs/main names a snapshot that is not in the hub's cache, {}",
                                        one_line(revision, 60)),
         snapshots);
}

}  // namespace

std::string hub_snapshot_or(const std::string& given) {
  if (is_builtin(given)) return given;
  const std::string folder =
      given.size() > 1 && given.ends_with('/') ? given.substr(0, given.size() - 1) : given;
  if (is_cached_model(folder)) return snapshot_of(folder);
  for (const std::string& cache : {folder, folder + "/hub"}) {
    std::vector<std::string> models = folders_in(cache);
    std::erase_if(models, [](const std::string& path) {
      return !fs::path(path).filename().string().starts_with("models--") || !is_cached_model(path);
    });
    if (models.size() == 1) return snapshot_of(models[0]);
    if (models.size() > 1) refuse(cache, "this is the hub's cache of several models", models);
  }
  return given;
}

}  // namespace headwise
