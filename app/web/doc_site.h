// The documentation as a folder of web pages: every page of docs, the lessons, each to be walked through in
// the browser, and a gallery with a picture of each view and the command that makes it. No page loads
// anything from elsewhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/lessons/playlist.h"

namespace headwise {

struct SiteFile {
  std::string path;  // in the folder: "lessons/first_walk.html"
  std::string content;
};

// A page of a playlist as SVG, as the window draws it; `asks`: while it asks.
using SitePicture = std::function<std::string(const Playlist& playlist, std::size_t page, bool asks)>;

std::vector<SiteFile> doc_site(const SitePicture& picture);

}  // namespace headwise
