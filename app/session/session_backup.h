// Unsaved work, written while it changes, so that a window which ends without being closed (killed, a crash,
// a display that is gone) loses seconds and not hours.
//
//   sessions/NAME/session.json   what is unsaved, and the names of the next three; written last, in one step
//   sessions/NAME/N-….json       a scenario, a playlist, what a page was changed to, as they are saved
//   sessions/NAME/lock           held while the window lives
#pragma once

#include <optional>
#include <string>

#include "core/files/atomic_file.h"
#include "core/lessons/playlist.h"

namespace headwise {

struct UnsavedWork {
  std::optional<Scenario> scenario;  // the user's own, where it was changed
  std::optional<Playlist> playlist;  // with unsaved pages, or walked while a page is changed
  std::string playlist_path;         // of its file; empty: none yet
  bool playlist_changed = false, from_program = false;
  std::optional<std::size_t> page;        // that is shown
  std::optional<Scenario> page_scenario;  // what the page's scenario was changed to
  friend bool operator==(const UnsavedWork&, const UnsavedWork&) = default;

  bool any() const { return scenario || playlist; }
};

// One phrase: "a playlist of 3 pages and a changed scenario".
std::string unsaved_text(const UnsavedWork& work);

// What one window has unsaved. Its files stay when it is destroyed, and are no longer locked.
class SessionBackup {
 public:
  // Memory that work may take to be backed up; what is larger could not be read again.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  // Writes nothing yet. `state_folder` as in kept_work.h.
  explicit SessionBackup(std::string state_folder) : state_folder_(std::move(state_folder)) {}

  // Replaces what was written before in one step; work without anything unsaved is removed. Throws
  // Error(output), or Error(memory) if it is too large: what was written before stays.
  void write(const UnsavedWork& work);
  void remove() noexcept;
  // Throws Error if a file is missing or damaged.
  UnsavedWork read() const;
  // unsaved_text() of what is written, and when it was: "14:03"; empty if it cannot be read.
  std::string text() const;
  const std::string& folder() const { return folder_; }
  // Renames the folder so that it is not found again. Returns its new name.
  std::string set_aside() noexcept;

 private:
  friend std::optional<SessionBackup> abandoned_session(const std::string& state_folder);
  void make_folder();

  std::string state_folder_, folder_;  // the second is empty: nothing was written yet
  std::optional<FileLock> lock_;
  int writes_ = 0;
};

// The newest session whose window ended without being closed, now locked by this process; nothing if there is
// none. Removes empty ones and all but the newest few. Never throws.
std::optional<SessionBackup> abandoned_session(const std::string& state_folder);

}  // namespace headwise
