// Backs up what is unsaved in the window while it changes, and offers what another window left that ended
// without being closed.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "app/session/session_backup.h"
#include "app/session/worker.h"

namespace headwise {

struct WindowDocument;
struct WindowState;

class WindowBackup {
 public:
  // How long a change waits at most until it is written.
  std::chrono::milliseconds interval{2000};

  // Looks for the newest session that ended without being closed. Without a call nothing is backed up.
  void begin(const std::string& state_folder);
  // What was found, in a phrase; empty: nothing, or it was restored or discarded.
  std::string offered() const { return offered_ ? offered_->text() : ""; }

  // Once a frame: in the background, writes what has changed. Returns the seconds until it wants to look
  // again; infinite: not before something happens. `error` becomes the reason if nothing could be written,
  // once.
  double observe(const WindowDocument& document, std::string& error);
  // Writes what is unsaved before the process ends without being closed. Never throws.
  void write_now(const WindowDocument& document) noexcept;
  // The window was closed, and its work is kept elsewhere: removes the backup. What is still offered stays.
  void close();

 private:
  friend void restore_offered(WindowState& window);
  friend void discard_offered(WindowState& window);

  std::unique_ptr<SessionBackup> own_, offered_;  // own_ is null: nothing is backed up
  std::shared_ptr<const UnsavedWork> written_ = std::make_shared<UnsavedWork>();
  std::chrono::steady_clock::time_point last_check_;
  std::string write_error_, reported_error_;  // the first is the worker's while it is busy
  Worker worker_;
};

// What would be lost if the process ended now.
UnsavedWork unsaved_work(const WindowDocument& document);

// Shows the offer, if begin() has found something.
void offer_unsaved_work(WindowState& window);
// Answers the offer: brings the work back, with its pages, as unsaved as it was; or removes it.
void restore_offered(WindowState& window);
void discard_offered(WindowState& window);

}  // namespace headwise
