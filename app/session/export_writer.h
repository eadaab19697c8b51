// A tensor's picture, table or array as bytes: app/session/tensor_export.h for standard output too.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "app/session/tensor_export.h"
#include "core/files/atomic_file.h"
#include "core/picture/picture.h"

namespace headwise {

// "png", "svg", "pdf", "csv" or "npy"; none for any other word.
std::optional<ExportFormat> find_export_format(std::string_view word);

// What a picture has around its cells, and how large it is on paper.
struct ExportedPicture {
  std::optional<std::string> title;  // none: the tensor, its index and its shape; "": no title
  PictureOptions options;
  double dpi = usual_dpi;  // pixels per inch
};

// Throws what export_writer throws for a trace of these inputs where it follows from the sizes and the labels: a head
// or batch entry that is not there, a picture that is too large. Called before anything is computed.
void check_export(const ScenarioInputs& inputs, const TensorExport& what, ExportFormat format,
                  const ExportedPicture& as = {});

// The function that writes the bytes; everything wrong with the request is reported beforehand, as by export_tensor.
std::function<void(const ByteSink&)> export_writer(const Trace& trace, const TokenLabels& labels,
                                                   const TensorExport& what, ExportFormat format,
                                                   const ExportedPicture& as = {});

}  // namespace headwise
