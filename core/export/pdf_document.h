// A PDF of one page or of several: shapes as vectors, text that can be selected and searched, in embedded
// subsets of its fonts.
#pragma once

#include <memory>
#include <string>

#include "core/export/vector_canvas.h"

namespace headwise {

class PdfDocument {
 public:
  PdfDocument();
  ~PdfDocument();
  PdfDocument(const PdfDocument&) = delete;
  PdfDocument& operator=(const PdfDocument&) = delete;

  // Begins the next page and returns its canvas, which is used up by the next page. Pixels; on paper, `dpi`
  // of them are an inch, or more where a side would be longer than the 200 inches that a page may have.
  VectorCanvas& begin_page(double width, double height, Rgba8 ground, double dpi = usual_dpi);

  // The whole file, without a date: the same pages give the same bytes (for one version of cairo). Nothing
  // can be added afterwards. Throws std::bad_alloc if the memory does not suffice.
  std::string finish();

 private:
  class Page;
  std::unique_ptr<Page> page_;
};

}  // namespace headwise
