// A tensor's picture, table or array as bytes: app/session/tensor_export.h for standard output too.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "app/session/tensor_export.h"
#include "core/files/atomic_file.h"

namespace headwise {

// "png", "svg", "csv" or "npy"; none for any other word.
std::optional<ExportFormat> find_export_format(std::string_view word);

// The function that writes the bytes; everything wrong with the request is reported beforehand, as by export_tensor.
std::function<void(const ByteSink&)> export_writer(const Trace& trace, const TokenLabels& labels,
                                                   const TensorExport& what, ExportFormat format);

}  // namespace headwise
