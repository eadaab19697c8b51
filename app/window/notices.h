// What the window reports: a file was written, an edit cannot be shown. In the lower right corner, out of the
// way; nothing waits for an answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/kept_work.h"
#include "app/widgets/painter.h"
#include "core/export/picture.h"
#include "core/tensor/error.h"

namespace headwise {

struct Notice {
  std::string text;
  bool error = false;
  double seconds_left = 0.0;
  bool shown = false;  // in an earlier frame: the time before the first does not count
};

// Something to decide, which stays until it is.
struct NoticeOffer {
  std::string text, accept, decline;  // the last two are labels of buttons; without a text there is no offer
};

struct NoticesState {
  std::vector<Notice> notices;  // the newest last; at most two are kept
  NoticeOffer offer;
  ErrorLog log;  // errors are also written here

  void say(std::string text);
  void complain(std::string text);  // in the error colour, and shown longer
  // Does what may fail, and complains of the Failure that it throws.
  template <class Failure = Error, class Work>
  void attempt(Work work) {
    try {
      work();
    } catch (const Failure& failure) {
      complain(failure.what());
    }
  }
  // False where there was none.
  bool dismiss_all();
};

// Returns which button of the offer was pressed: true accepts it. `lasting`: an error shown as long as it
// persists; empty: none. `area` is in pixels. `seconds` since the last frame. `offers`: false where the offer
// has to wait, which would stand before a class.
std::optional<bool> draw_notices(const WidgetContext& context, NoticesState& state,
                                 const std::string& lasting, const RectF& area, double seconds, bool offers);

}  // namespace headwise
