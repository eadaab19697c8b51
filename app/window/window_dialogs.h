// The sheets and dialogs on top of the window.
#pragma once

#include "app/sheets/command_palette.h"
#include "app/sheets/comparison_sheet.h"
#include "app/sheets/doc_sheet.h"
#include "app/sheets/export_dialog.h"
#include "app/sheets/file_dialog.h"
#include "app/sheets/full_size_sheet.h"
#include "app/sheets/heads_question.h"
#include "app/sheets/heads_sheet.h"
#include "app/sheets/help_sheet.h"
#include "app/sheets/log_sheet.h"
#include "app/training/training_view.h"

namespace headwise {

struct WindowDialogs {
  HelpSheetState help;
  DocSheetState docs;
  LogSheetState log;
  CommandPaletteState palette;
  ComparisonSheetState comparison;
  FullSizeState full_size;
  TrainingViewState training;
  HeadsSheetState heads;
  HeadsQuestion heads_question;
  FileDialogState files;
  ExportDialogState export_dialog;

  bool any_open() const {
    return help.keys || help.about || docs.open || log.open || comparison.open || full_size.open ||
           training.open || heads.open || heads_question.open || files.open || export_dialog.open ||
           palette.open;
  }
};

}  // namespace headwise
