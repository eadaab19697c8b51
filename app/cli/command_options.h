// CLI11, for the files that add options or parse them. It costs each of them seconds of compiling; the others get by without it.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
