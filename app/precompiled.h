// Parsed once for all files of the window (CMakeLists.txt), as core/precompiled.h is for those of core.
#pragma once

#include <imgui.h>

#include "app/panels/panel.h"
#include "core/precompiled.h"
