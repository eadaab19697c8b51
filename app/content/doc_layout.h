// Where each word of a page of docs stands in a column of a given width.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "app/content/doc_pages.h"
#include "core/export/font.h"

namespace headwise {

// Which font a word is drawn in.
enum class DocFont { title, text, strong, code };

struct DocWord {
  std::string_view text;  // of the page, which has to live as long
  DocFont font = DocFont::text;
  int page = -1;                 // of a link
  std::string_view lesson = {};  // the title that a link leads to, of a lesson or of a page of one
  bool dim = false;              // the head of a table
  double x = 0.0, y = 0.0, width = 0.0;
};

struct DocLayout {
  std::vector<DocWord> words;  // from top to bottom
  std::vector<RectF> code;     // behind blocks of code
  std::vector<double> rules;   // under the heads of tables, from left to right
  std::vector<double> tops;    // of the page's blocks
  double height = 0.0;
};

// In the units of `width`.
struct DocMeasure {
  std::function<double(std::string_view, DocFont)> width_of;
  double line = 20.0;  // of text, from one to the next
};

DocLayout doc_layout(const DocPage& page, double width, const DocMeasure& measure);

}  // namespace headwise
