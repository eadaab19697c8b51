// Parsed once for all of the window's files (CMakeLists.txt), as core/precompiled.h is for those of core.
#pragma once

#include <imgui.h>

#include "app/panels/panel.h"
#include "core/precompiled.h"
