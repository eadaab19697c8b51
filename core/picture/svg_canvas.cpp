#include "core/picture/svg_canvas.h"

#include <fmt/format.h>

#include "core/picture/label_text.h"

namespace headwise {
namespace {

// Hundredths of a pixel are more than any viewer shows.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string color_attributes(const char* name, const char* opacity, Rgba8 color) {
  std::string text = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", name, color.r, color.g, color.b);
  if (color.a != 255) text += fmt::format(" {}=\"{:.3g}\"", opacity, color.a / 255.0);
  return text;
}

std::string fill_attributes(Rgba8 color) {
  return color_attributes("fill", "fill-opacity", color);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? bytes[k] : 0u; };
    const unsigned group = (byte(i) << 16) | (byte(i + 1) << 8) | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[(group >> (18 - 6 * k)) & 63u] : '=';
    }
  }
  return out;
}

std::string path_data(const VectorPath& path) {
  std::string data;
  PointF start, at;
  for (const VectorPath::Element& element : path.elements()) {
    switch (element.verb) {
      case VectorPath::Verb::move:
        data += fmt::format("M{} {}", number(element.to.x), number(element.to.y));
        start = element.to;
        break;
      case VectorPath::Verb::line:
        if (element.to.y == at.y)
          data += "H" + number(element.to.x);
        else if (element.to.x == at.x)
          data += "V" + number(element.to.y);
        else
          data += fmt::format("L{} {}", number(element.to.x), number(element.to.y));
        break;
      case VectorPath::Verb::close:
        data += 'Z';
        break;
    }
    at = element.verb == VectorPath::Verb::close ? start : element.to;
  }
  return data;
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, Rgba8 ground, double dpi)
    : width_(width), height_(height), dpi_(dpi), ground_(ground) {}

void SvgCanvas::fill(const VectorPath& path, Rgba8 color) {
  body_ += fmt::format("<path{}{} d=\"{}\"/>\n", fill_attributes(color), clip_, path_data(path));
}

void SvgCanvas::fill(const VectorPath& path, const VectorGradient& gradient) {
  const std::size_t id = next_paint_++;
  defs_ += fmt::format(
      "<linearGradient id=\"shade{}\" gradientUnits=\"userSpaceOnUse\" x1=\"{}\" y1=\"{}\" x2=\"{}\" "
      "y2=\"{}\">",
      id, number(gradient.from.x), number(gradient.from.y), number(gradient.to.x), number(gradient.to.y));
  const auto last = static_cast<double>(gradient.colors.size() - 1);
  for (std::size_t i = 0; i < gradient.colors.size(); ++i)
    defs_ += fmt::format("<stop offset=\"{:.6g}\"{}/>", static_cast<double>(i) / last,
                         color_attributes("stop-color", "stop-opacity", gradient.colors[i]));
  defs_ += "</linearGradient>\n";
  // Crisp, or a hairline of the background would show between two shades.
  body_ += fmt::format("<path shape-rendering=\"crispEdges\" fill=\"url(#shade{})\"{} d=\"{}\"/>\n", id,
                       clip_, path_data(path));
}

void SvgCanvas::fill(const VectorPath& path, const VectorHatch& hatch) {
  const std::size_t id = next_paint_++;
  const std::string period = number(hatch.period), inside = number(hatch.period - 1),
                    outside = number(hatch.period + 1);
  defs_ += fmt::format(
      "<pattern id=\"hatch{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{3}\" "
      "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1L1 -1M0 {3}L{3} 0M{4} {5}L{5} {4}\"{6} "
      "stroke-width=\"{7}\"/></pattern>\n",
      id, number(hatch.origin.x + hatch.middle), number(hatch.origin.y), period, inside, outside,
      color_attributes("stroke", "stroke-opacity", hatch.color), number(hatch.width));
  body_ += fmt::format("<path fill=\"url(#hatch{})\"{} d=\"{}\"/>\n", id, clip_, path_data(path));
}

void SvgCanvas::stroke(const VectorPath& path, double width, Rgba8 color) {
  body_ +=
      fmt::format("<path fill=\"none\"{} stroke-width=\"{}\"{} d=\"{}\"/>\n",
                  color_attributes("stroke", "stroke-opacity", color), number(width), clip_, path_data(path));
}

void SvgCanvas::image(const RectF& rect, const Image& image) {
  body_ += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "image-rendering=\"pixelated\" style=\"image-rendering:pixelated\"{} "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      number(rect.x), number(rect.y), number(rect.width), number(rect.height), clip_, base64(to_png(image)));
}

void SvgCanvas::text(const TextItem& item, double length) {
  static constexpr const char* faces[] = {"", " font-weight=\"bold\"",
                                          " font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\""};
  static constexpr const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const std::string x = number(item.baseline.x), y = number(item.baseline.y);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}", x, y, number(item.size),
                       fill_attributes(item.color), faces[static_cast<std::size_t>(item.face)],
                       anchors[static_cast<std::size_t>(item.anchor)]);
  // The length keeps the picture intact if a viewer uses another font.
  if (length > 0.0)
    body_ += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", number(length));
  if (item.degrees != 0.0)
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", number(item.degrees), x, y);
  body_ += fmt::format("{}>{}</text>\n", clip_, escaped(printable(item.text)));
}

void SvgCanvas::clip(const std::optional<RectF>& rect) {
  clip_.clear();
  if (!rect) return;
  const auto [entry, added] =
      clips_.emplace(std::array<double, 4>{rect->x, rect->y, rect->width, rect->height}, clips_.size());
  if (added) {
    defs_ += fmt::format(
        "<clipPath id=\"clip{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
        entry->second, number(rect->x), number(rect->y), number(rect->width), number(rect->height));
  }
  clip_ = fmt::format(" clip-path=\"url(#clip{})\"", entry->second);
}

std::string SvgCanvas::finish() const {
  const std::string width = number(width_), height = number(height_);
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{}\" "
      "height=\"{}\" viewBox=\"0 0 {} {}\" font-family=\"'DejaVu Sans',Verdana,sans-serif\" "
      "xml:space=\"preserve\" style=\"white-space:pre\">\n",
      number(width_ * usual_dpi / dpi_), number(height_ * usual_dpi / dpi_), width, height);
  if (!defs_.empty()) svg += "<defs>\n" + defs_ + "</defs>\n";
  svg += fmt::format("<rect width=\"{}\" height=\"{}\"{}/>\n", width, height, fill_attributes(ground_));
  return svg + body_ + "</svg>\n";
}

}  // namespace headwise
