// Help, Documentation: the pages of docs, and the way to them in the browser.
#pragma once

#include <optional>
#include <string>

#include "app/content/doc_layout.h"
#include "app/content/doc_pages.h"
#include "app/widgets/painter.h"

namespace headwise {

struct DocSheetState {
  bool open = false;
  int page = 0;                    // of doc_pages()
  bool browser = false;            // there is one; set when the sheet is opened
  std::optional<DocPlace> wanted;  // shown and scrolled to in the next frame
  std::string lesson;  // the title that was pressed, of a lesson or a page of one: the window goes there

  // Laid out for this page, column and font
  int of_page = -1;
  float of_width = 0.0f, of_font = 0.0f;
  DocLayout layout;
};

// True in the frame in which the browser was asked for.
bool draw_doc_sheet(const WidgetContext& context, DocSheetState& state);

}  // namespace headwise
