#include "app/widgets/draw_data_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/picture/svg_parts.h"

namespace headwise {
namespace {

// DejaVu's height from its highest ascender to its lowest descender, in units of its size: what ImGui calls the font size.
constexpr float line_per_em = 1.1640625f;
constexpr float same_place = 0.1f;  // pixels: within one piece of text the pen advances exactly
constexpr int most_spaces = 8;      // within a run of text

ImVec2 minus(ImVec2 a, ImVec2 b) {
  return {a.x - b.x, a.y - b.y};
}
float dot(ImVec2 a, ImVec2 b) {
  return a.x * b.x + a.y * b.y;
}

struct Glyph {
  const ImFont* font;
  const ImFontGlyph* glyph;
};
using UvKey = std::array<std::uint32_t, 4>;

UvKey uv_key(float u0, float v0, float u1, float v1) {
  return {std::bit_cast<std::uint32_t>(u0), std::bit_cast<std::uint32_t>(v0),
          std::bit_cast<std::uint32_t>(u1), std::bit_cast<std::uint32_t>(v1)};
}

// Every glyph has its own place in the font texture, which identifies it.
std::map<UvKey, Glyph> glyphs_by_place(const ImFontAtlas& atlas) {
  std::map<UvKey, Glyph> glyphs;
  for (const ImFont* font : atlas.Fonts) {
    for (const ImFontGlyph& glyph : font->Glyphs) {
      if (glyph.Visible) glyphs.emplace(uv_key(glyph.U0, glyph.V0, glyph.U1, glyph.V1), Glyph{font, &glyph});
    }
  }
  return glyphs;
}

void append_utf8(std::string& text, unsigned c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// Glyphs that follow each other on one line.
struct Run {
  const ImFont* font = nullptr;
  ImU32 color = 0;
  float scale = 1.0f;
  ImVec2 along{1, 0};  // direction of the line; its length is 1
  ImVec2 begin, pen;   // top of the line at its start, and where the next glyph would be
  ImVec4 clip;
  std::string text;
};

class Writer {
 public:
  Writer(const ImDrawData& data, const Fonts& fonts, const PlaneRecording& planes, Rgba8 ground)
      : data_(data),
        fonts_(fonts),
        planes_(planes),
        ground_(ground),
        glyphs_(glyphs_by_place(*ImGui::GetIO().Fonts)),
        white_(ImGui::GetIO().Fonts->TexUvWhitePixel) {}

  std::string write() {
    const std::string width = svg_number(data_.DisplaySize.x), height = svg_number(data_.DisplaySize.y);
    for (int i = 0; i < data_.CmdListsCount; ++i) add_list(*data_.CmdLists[i]);
    flush();
    std::string svg = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "width=\"{0}\" "
        "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n",
        width, height);
    svg += "<defs>\n" + defs_ + "</defs>\n";
    svg += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", width, height, svg_color(ground_));
    return svg + body_ + "</svg>\n";
  }

 private:
  void add_list(const ImDrawList& list) {
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback == recorded_planes) {
        add_planes(command);
      } else if (!command.UserCallback && command.TextureId == ImGui::GetIO().Fonts->TexID) {
        add_triangles(list, command);
      }
    }
  }

  void add_planes(const ImDrawCmd& command) {
    flush();
    const auto batch = reinterpret_cast<std::uintptr_t>(command.UserCallbackData);
    if (batch >= planes_.batches.size()) return;
    for (const PlaneItem& plane : planes_.batches[batch]) {
      const RectF& r = plane.rect;
      const std::string clip = clip_of(command.ClipRect, {static_cast<float>(r.x), static_cast<float>(r.y)},
                                       {static_cast<float>(r.x + r.width), static_cast<float>(r.y + r.height)});
      if (clip == nowhere) continue;
      body_ += clip.empty() ? svg_plane(plane, ground_, next_plane_)
                            : fmt::format("<g{}>\n{}</g>\n", clip, svg_plane(plane, ground_, next_plane_));
      ++next_plane_;
    }
  }

  void add_triangles(const ImDrawList& list, const ImDrawCmd& command) {
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    const ImDrawIdx* indices = list.IdxBuffer.Data + command.IdxOffset;
    for (unsigned i = 0; i + 2 < command.ElemCount;) {
      const ImDrawIdx* triangle = indices + i;
      if (i + 5 < command.ElemCount && add_glyph(vertices, triangle, command.ClipRect)) {
        i += 6;
        continue;
      }
      // Triangles around one corner are one polygon.
      std::vector<const ImDrawVert*> polygon{vertices + triangle[0], vertices + triangle[1],
                                             vertices + triangle[2]};
      i += 3;
      while (i + 2 < command.ElemCount && indices[i] == triangle[0] && indices[i + 1] == indices[i - 1]) {
        polygon.push_back(vertices + indices[i + 2]);
        i += 3;
      }
      add_polygon(polygon, command.ClipRect);
    }
  }

  bool add_glyph(const ImDrawVert* vertices, const ImDrawIdx* quad, const ImVec4& clip) {
    const ImDrawVert &a = vertices[quad[0]], &b = vertices[quad[1]], &c = vertices[quad[2]];
    if (quad[3] != quad[0] || quad[4] != quad[2]) return false;
    const auto found = glyphs_.find(uv_key(a.uv.x, a.uv.y, c.uv.x, c.uv.y));
    if (found == glyphs_.end()) return false;
    const ImFontGlyph& glyph = *found->second.glyph;
    const ImVec2 side = minus(b.pos, a.pos);
    const float length = std::sqrt(dot(side, side));
    if (!(length > 0.0f) || !(glyph.X1 > glyph.X0)) return true;
    const float scale = length / (glyph.X1 - glyph.X0);
    const ImVec2 along{side.x / length, side.y / length}, down{-along.y, along.x};
    const ImVec2 pen{a.pos.x - (along.x * glyph.X0 + down.x * glyph.Y0) * scale,
                     a.pos.y - (along.y * glyph.X0 + down.y * glyph.Y0) * scale};
    const ImFont* font = found->second.font;
    if (!continues(font, a.col, scale, along, pen, clip)) {
      flush();
      run_ = Run{font, a.col, scale, along, pen, pen, clip, ""};
    }
    append_utf8(run_->text, glyph.Codepoint);
    run_->pen = {pen.x + along.x * glyph.AdvanceX * scale, pen.y + along.y * glyph.AdvanceX * scale};
    return true;
  }

  // Whether a glyph continues the run; any gap between them is spaces.
  bool continues(const ImFont* font, ImU32 color, float scale, ImVec2 along, ImVec2 pen, const ImVec4& clip) {
    if (!run_ || run_->font != font || run_->color != color || std::abs(run_->scale - scale) > 0.02f)
      return false;
    if (dot(run_->along, along) < 0.9999f || !same(run_->clip, clip)) return false;
    const ImVec2 way = minus(pen, run_->pen);
    if (std::abs(dot(way, {-along.y, along.x})) > same_place) return false;
    const ImFontGlyph* space = font->FindGlyph(' ');
    const float distance = dot(way, along), width = space ? space->AdvanceX * scale : 0.0f;
    const int spaces = width > 0.0f ? static_cast<int>(std::lround(distance / width)) : 0;
    if (spaces < 0 || spaces > most_spaces) return false;
    if (std::abs(distance - static_cast<float>(spaces) * width) > same_place) return false;
    run_->text.append(static_cast<std::size_t>(spaces), ' ');
    return true;
  }

  static bool same(const ImVec4& a, const ImVec4& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
  }

  void flush_text() {
    if (!run_) return;
    const Run run = *std::exchange(run_, std::nullopt);
    const ImVec2 span = minus(run.pen, run.begin);
    const ImVec2 down{-run.along.y, run.along.x};
    const float line = run.font->FontSize * run.scale;
    const ImVec2 low{run.begin.x + down.x * line, run.begin.y + down.y * line};
    const ImVec2 min{std::min({run.begin.x, run.pen.x, low.x}), std::min({run.begin.y, run.pen.y, low.y})};
    const ImVec2 max{std::max({run.begin.x, run.pen.x, low.x}), std::max({run.begin.y, run.pen.y, low.y})};
    const std::string clip = clip_of(run.clip, min, max);
    if (clip == nowhere) return;
    const float ascent = std::round(run.font->Ascent) * run.scale;
    const std::string x = svg_number(run.begin.x + down.x * ascent),
                      y = svg_number(run.begin.y + down.y * ascent);
    const bool bold = run.font == fonts_.bold || run.font == fonts_.title;
    const bool mono = run.font == fonts_.mono || run.font == fonts_.mono_small;
    const float degrees = std::atan2(run.along.y, run.along.x) * 57.29578f;
    // The length keeps the picture intact if a viewer uses another font.
    body_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" "
        "xml:space=\"preserve\"{}{}{}{}{}>{}</text>\n",
        x, y, svg_number(line / line_per_em), svg_number(std::sqrt(dot(span, span))), fill_of(run.color),
        bold ? " font-weight=\"bold\"" : "",
        mono ? " font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\"" : "",
        std::abs(degrees) > 0.05f ? fmt::format(" transform=\"rotate({} {} {})\"", svg_number(degrees), x, y)
                                  : "",
        clip, svg_escaped(run.text));
  }

  void add_polygon(const std::vector<const ImDrawVert*>& polygon, const ImVec4& clip) {
    ImVec2 min = polygon[0]->pos, max = min;
    for (const ImDrawVert* v : polygon) {
      if (v->uv.x != white_.x || v->uv.y != white_.y) return;  // not a shape, but part of some texture
      min = {std::min(min.x, v->pos.x), std::min(min.y, v->pos.y)};
      max = {std::max(max.x, v->pos.x), std::max(max.y, v->pos.y)};
    }
    flush_text();
    const std::string attribute = clip_of(clip, min, max);
    if (attribute == nowhere) return;
    std::string fill = fill_of(polygon[0]->col);
    const bool shaded =
        std::ranges::any_of(polygon, [&](const ImDrawVert* v) { return v->col != polygon[0]->col; });
    if (shaded) fill = gradient(*polygon[0], *polygon[1]);
    if (fill.empty() || fill + attribute != shapes_style_ || !is_opaque(polygon[0]->col)) flush_shapes();
    shapes_style_ = fill + attribute;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      shapes_ += fmt::format("{}{} {}", i == 0 ? 'M' : 'L', svg_number(polygon[i]->pos.x),
                             svg_number(polygon[i]->pos.y));
    }
    shapes_ += 'Z';
  }

  static bool is_opaque(ImU32 color) { return color >> IM_COL32_A_SHIFT == 255; }

  static std::string fill_of(ImU32 color) {
    const auto channel = [color](int shift) { return static_cast<std::uint8_t>(color >> shift & 255U); };
    const std::string fill = fmt::format(
        " fill=\"{}\"",
        svg_color({channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT)}));
    if (is_opaque(color)) return fill;
    return fill + fmt::format(" fill-opacity=\"{:.3g}\"", channel(IM_COL32_A_SHIFT) / 255.0);
  }

  // Gradient from the colour of one corner to that of the next.
  std::string gradient(const ImDrawVert& from, const ImDrawVert& to) {
    const auto stop = [](ImU32 color) {
      std::string fill = fill_of(color);
      for (const auto& [word, other] :
           {std::pair{" fill=", " stop-color="}, {" fill-opacity=", " stop-opacity="}}) {
        const std::size_t at = fill.find(word);
        if (at != std::string::npos) fill.replace(at, std::string_view(word).size(), other);
      }
      return fill;
    };
    defs_ += fmt::format(
        "<linearGradient id=\"shade{0}\" gradientUnits=\"userSpaceOnUse\" x1=\"{1}\" y1=\"{2}\" x2=\"{3}\" "
        "y2=\"{4}\"><stop offset=\"0\"{5}/><stop offset=\"1\"{6}/></linearGradient>\n",
        next_shade_, svg_number(from.pos.x), svg_number(from.pos.y), svg_number(to.pos.x),
        svg_number(to.pos.y), stop(from.col), stop(to.col));
    // Crisp, or a hairline of the background would show between two shades.
    return fmt::format(" shape-rendering=\"crispEdges\" fill=\"url(#shade{})\"", next_shade_++);
  }

  // An attribute if something extends beyond its clip; `nowhere` if all of it does.
  std::string clip_of(const ImVec4& clip, ImVec2 min, ImVec2 max) {
    if (max.x <= clip.x || max.y <= clip.y || min.x >= clip.z || min.y >= clip.w) return nowhere;
    if (min.x >= clip.x - 1 && min.y >= clip.y - 1 && max.x <= clip.z + 1 && max.y <= clip.w + 1) return "";
    const std::array<float, 4> key{clip.x, clip.y, clip.z, clip.w};
    const auto [entry, added] = clips_.emplace(key, clips_.size());
    if (added) {
      defs_ += fmt::format(
          "<clipPath id=\"clip{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
          entry->second, svg_number(clip.x), svg_number(clip.y), svg_number(clip.z - clip.x),
          svg_number(clip.w - clip.y));
    }
    return fmt::format(" clip-path=\"url(#clip{})\"", entry->second);
  }

  void flush_shapes() {
    if (shapes_.empty()) return;
    body_ += fmt::format("<path{} d=\"{}\"/>\n", shapes_style_, shapes_);
    shapes_.clear();
    shapes_style_.clear();
  }

  void flush() {
    flush_shapes();
    flush_text();
    flush_shapes();
  }

  static constexpr const char* nowhere = "nowhere";

  const ImDrawData& data_;
  const Fonts& fonts_;
  const PlaneRecording& planes_;
  Rgba8 ground_;
  std::map<UvKey, Glyph> glyphs_;
  ImVec2 white_;
  std::string defs_, body_;
  std::optional<Run> run_;
  std::string shapes_, shapes_style_;
  std::map<std::array<float, 4>, std::size_t> clips_;
  std::size_t next_plane_ = 0, next_shade_ = 0;
};

}  // namespace

std::string draw_data_svg(const ImDrawData& data, const Fonts& fonts, const PlaneRecording& planes,
                          Rgba8 ground) {
  return Writer(data, fonts, planes, ground).write();
}

}  // namespace headwise
