#include "app/session/session_backup.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <vector>

#include "app/session/history.h"
#include "core/files/json_text.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr const char *sessions_name = "/sessions", *lock_name = "/lock", *session_name = "/session.json",
                     *damaged_suffix = ".damaged";
constexpr std::size_t most_sessions = 8;  // that are kept until they are restored or discarded
constexpr std::uintmax_t largest_session_file = 1U << 16U;

std::size_t bytes_of_work(const UnsavedWork& work) {
  std::size_t bytes = 0;
  for (const std::optional<Scenario>* scenario : {&work.scenario, &work.page_scenario})
    if (*scenario) bytes += scenario_bytes(**scenario);
  std::set<const Scenario*> counted;
  if (work.playlist)
    for (const PlaylistPage& page : work.playlist->pages) {
      bytes += page.ask.size() + page.caption.size();
      if (counted.insert(page.scenario.get()).second) bytes += scenario_bytes(*page.scenario);
    }
  return bytes;
}

// Of session.json. Throws if it is not one.
nlohmann::json read_session(const std::string& folder) {
  const std::string path = folder + session_name;
  if (fs::file_size(path) > largest_session_file) throw std::runtime_error("too large");
  std::ifstream file(path, std::ios::binary);
  const nlohmann::json json = json_of(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!json.is_object()) throw std::runtime_error("not an object");
  return json;
}

struct FoundSession {
  std::string folder;
  fs::file_time_type written;
};

}  // namespace

std::string unsaved_text(const UnsavedWork& work) {
  std::string text;
  if (work.playlist) text = "a playlist of " + counted(std::ssize(work.playlist->pages), "page");
  if (work.scenario) text += text.empty() ? "a changed scenario" : " and a changed scenario";
  return text;
}

void SessionBackup::make_folder() {
  if (!folder_.empty()) return;
  std::random_device random;
  constexpr int attempts = 10;
  for (int i = 0; i < attempts; ++i) {
    const std::string folder = fmt::format("{}{}/{:08x}", state_folder_, sessions_name, random());
    std::error_code error;
    if (!fs::create_directories(folder, error) && !error) continue;
    if (error)
      throw Error(ExitStatus::output,
                  {state_folder_ + sessions_name, "the folder could not be created", error.message(), "", ""});
    fs::permissions(folder, fs::perms::owner_all, error);
    // Another window that starts just now may have taken the empty folder for an abandoned one.
    lock_ = FileLock::take(folder + lock_name);
    if (!lock_) continue;
    folder_ = folder;
    return;
  }
  throw Error(ExitStatus::output, {state_folder_ + sessions_name, "no folder could be locked", "", "", ""});
}

void SessionBackup::write(const UnsavedWork& work) {
  if (!work.any()) return remove();
  if (const std::size_t bytes = bytes_of_work(work); bytes > most_bytes)
    throw Error(ExitStatus::memory, {.what = "the unsaved work is too large to be backed up",
                                     .got = fmt::format("{} MiB", bytes >> 20),
                                     .expected = fmt::format("at most {} MiB", most_bytes >> 20),
                                     .remedy = "save it in a file"});
  make_folder();
  const int number = ++writes_;
  const auto name = [&](const char* what) { return fmt::format("{}-{}.json", number, what); };
  nlohmann::ordered_json json{{"headwise_session", 1}, {"what", unsaved_text(work)}, {"number", number}};
  if (work.scenario) {
    json["scenario"] = name("scenario");
    write_scenario_file(*work.scenario, folder_ + "/" + name("scenario"));
  }
  if (work.playlist) {
    json["playlist"] = name("playlist");
    write_playlist_file(*work.playlist, folder_ + "/" + name("playlist"), PlaylistText::draft);
    json["playlist_path"] = work.playlist_path;
    json["playlist_changed"] = work.playlist_changed;
    json["from_program"] = work.from_program;
  }
  if (work.page) json["page"] = *work.page;
  if (work.page_scenario) {
    json["page_scenario"] = name("page");
    write_scenario_file(*work.page_scenario, folder_ + "/" + name("page"));
  }
  write_file_atomically(folder_ + session_name, json_text(json, {.indent = 1, .replaces_bytes = true}) + "\n");
  const std::string kept = fmt::format("{}-", number);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.empty() && file[0] >= '0' && file[0] <= '9' && !file.starts_with(kept))
      fs::remove(entry.path(), ignored);
  }
}

void SessionBackup::remove() noexcept {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove(folder_ + session_name, ignored);  // without it nothing is found there, however far this gets
  fs::remove_all(folder_, ignored);
  lock_.reset();
  folder_.clear();
}

UnsavedWork SessionBackup::read() const {
  const std::string path = folder_ + session_name;
  try {
    const nlohmann::json json = read_session(folder_);
    UnsavedWork work;
    const auto file = [&](const char* key) { return folder_ + "/" + json.at(key).get<std::string>(); };
    if (json.contains("scenario")) work.scenario = read_scenario_file(file("scenario"));
    if (json.contains("page_scenario")) work.page_scenario = read_scenario_file(file("page_scenario"));
    if (json.contains("page")) work.page = json.at("page").get<std::size_t>();
    if (json.contains("playlist")) {
      work.playlist = read_playlist_file(file("playlist"), PlaylistText::draft);
      work.playlist_path = json.at("playlist_path").get<std::string>();
      work.playlist_changed = json.at("playlist_changed").get<bool>();
      work.from_program = json.at("from_program").get<bool>();
    }
    return work;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ExitStatus::input, {path, "the file is damaged", error.what(), "", ""});
  }
}

std::string SessionBackup::text() const {
  try {
    const std::string what = read_session(folder_).at("what").get<std::string>();
    const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(folder_ + session_name));
    const std::time_t time =
        std::chrono::system_clock::to_time_t(std::chrono::time_point_cast<std::chrono::seconds>(written));
    return fmt::format("{} ({:%d %B, %H:%M})", one_line(what), fmt::localtime(time));
  } catch (const std::exception&) {
    return "";
  }
}

std::string SessionBackup::set_aside() noexcept {
  std::string aside = std::exchange(folder_, "") + damaged_suffix;
  std::error_code ignored;
  fs::rename(aside.substr(0, aside.size() - std::string_view(damaged_suffix).size()), aside, ignored);
  lock_.reset();
  return aside;
}

std::optional<SessionBackup> abandoned_session(const std::string& state_folder) {
  if (state_folder.empty()) return std::nullopt;
  std::vector<SessionBackup> dead;
  std::error_code ignored;
  try {
    std::vector<FoundSession> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(state_folder + sessions_name, ignored)) {
      const std::string folder = entry.path().string();
      if (entry.is_directory(ignored) && !folder.ends_with(damaged_suffix))
        found.push_back({folder, fs::last_write_time(folder + session_name, ignored)});
    }
    std::ranges::sort(found, std::greater{}, &FoundSession::written);
    for (const FoundSession& session : found) {
      std::optional<FileLock> lock = FileLock::take(session.folder + lock_name);
      if (!lock) continue;  // its window lives
      SessionBackup backup(state_folder);
      backup.folder_ = session.folder;
      backup.lock_ = std::move(lock);
      if (!fs::exists(session.folder + session_name, ignored) || dead.size() == most_sessions) {
        backup.remove();
      } else if (backup.text().empty()) {
        backup.set_aside();
      } else {
        backup.writes_ = read_session(session.folder).value("number", 0);
        dead.push_back(std::move(backup));
      }
    }
  } catch (const std::exception&) {
    // A folder that cannot be locked or read offers nothing.
  }
  if (dead.empty()) return std::nullopt;
  return std::move(dead.front());
}

}  // namespace headwise
