// A tensor's picture, table or array as bytes: app/session/tensor_export.h for standard output too.
#pragma once

#include <functional>

#include "app/session/tensor_export.h"
#include "core/files/atomic_file.h"

namespace headwise {

// Throws what export_writer throws for a trace of these inputs where it follows from the sizes and the labels: a head
// or batch entry that is not there, a picture that is too large. Called before anything is computed.
void check_export(const ScenarioInputs& inputs, const TensorExport& what, ExportFormat format);

// The function that writes the bytes; everything wrong with the request is reported beforehand, as by export_tensor.
std::function<void(const ByteSink&)> export_writer(const Trace& trace, const TokenLabels& labels,
                                                   const TensorExport& what, ExportFormat format);

}  // namespace headwise
