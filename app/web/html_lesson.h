// A lesson as one HTML file that opens in a browser, without a network and without a library. The operator is
// computed in the page by the scripts in app/web/page, so that steps, heads and masks can be switched there
// and answers are judged by computing.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/lessons/playlist.h"

namespace headwise {

// The stage of a page as SVG, as the window draws it; `asks`: while the page asks.
using PagePicture = std::function<std::string(std::size_t page, bool asks)>;

struct HtmlLesson {
  std::string html;
  // Pages that are a picture here, in words: "page 5: the view compare".
  std::vector<std::string> pictured;
};

// More than a browser on a phone, or a mail, takes with ease; and more than is written.
inline constexpr std::size_t usual_page_bytes = std::size_t{3} << 20, most_page_bytes = std::size_t{64} << 20;

// `picture` is called for pages whose view the scripts do not draw, or whose scenario takes long to compute.
// Throws the Error of a scenario that cannot be computed, with the page's place in `name`, and Error(output)
// for a page of more than most_page_bytes.
HtmlLesson html_lesson(const Playlist& playlist, const std::string& name, const PagePicture& picture);

}  // namespace headwise
