#include "app/web/html_text.h"

namespace headwise {

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else if (c == '&')
      html += "&amp;";
    else if (c == '"')
      html += "&quot;";
    else if (c == '\'')
      html += "&#39;";
    else
      html += c;
  }
  return html;
}

}  // namespace headwise
