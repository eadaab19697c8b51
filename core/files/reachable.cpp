#include "core/files/reachable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/files/file_paths.h"

namespace headwise {
namespace {

[[noreturn]] void cannot_be_opened(const std::string& path, const std::string& what, int error,
                                   ExitStatus status = ExitStatus::input) {
  throw Error(status, {.where = path,
                       .what = fmt::format("the {} cannot be opened", what),
                       .got = std::strerror(error),
                       .expected = fmt::format("a {} that can be read", what)});
}

}  // namespace

void require_reachable(const std::string& path, ExitStatus status) {
  struct stat found {};
  if (is_builtin(path)) return;
  if (stat(path.c_str(), &found) != 0) {
    const bool none = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    if (!none) cannot_be_opened(path, "file or folder", errno, status);
  } else if (S_ISDIR(found.st_mode) && faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    cannot_be_opened(path, "folder", errno, status);
  }
}

void require_listed(const std::string& folder) {
  std::error_code error;
  if (is_builtin(folder)) return;
  std::filesystem::directory_iterator(folder, error);
  if (error) cannot_be_opened(folder, "folder", error.value());
}

}  // namespace headwise
