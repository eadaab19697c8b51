// Everything the window remembers between two frames, whoever draws it.
#pragma once

#include "app/window/window_dialogs.h"
#include "app/window/window_document.h"
#include "app/window/window_view.h"

namespace headwise {

struct WindowState {
  // As WindowDocument.
  explicit WindowState(const Scenario& first, const std::function<void()>& wake = {})
      : document(first, wake) {}

  WindowDocument document;
  WindowView view;
  WindowDialogs dialogs;

  bool quit = false;
  std::string clipboard;  // to be copied in this frame; empty: nothing
};

}  // namespace headwise
