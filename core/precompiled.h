// Parsed once for all files of core (CMakeLists.txt): headers that most of them include anyway and that
// rarely change. Every file still includes what it uses.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/attention/trace.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"
