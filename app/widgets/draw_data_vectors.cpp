#include "app/widgets/draw_data_vectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/export/label_text.h"

namespace headwise {
namespace {

// DejaVu's height from its highest ascender to its lowest descender, in units of its size:
// what ImGui calls the font size.
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

Rgba8 rgba_of(ImU32 color) {
  const auto channel = [color](int shift) { return static_cast<std::uint8_t>(color >> shift & 255U); };
  return {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT),
          channel(IM_COL32_A_SHIFT)};
}

PointF point_of(ImVec2 at) {
  return {at.x, at.y};
}

// Whether two clips cut the same.
bool same_cut(const std::optional<RectF>& a, const std::optional<RectF>& b) {
  if (!a || !b) return !a && !b;
  return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
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
  Writer(VectorCanvas& canvas, const ImDrawData& data, const Fonts& fonts, const PlaneRecording& planes,
         Rgba8 ground)
      : canvas_(canvas),
        data_(data),
        fonts_(fonts),
        planes_(planes),
        ground_(ground),
        glyphs_(glyphs_by_place(*ImGui::GetIO().Fonts)),
        white_(ImGui::GetIO().Fonts->TexUvWhitePixel) {
    Index cells = 0;
    for (const std::vector<PlaneItem>& batch : planes.batches)
      for (const PlaneItem& plane : batch) cells += plane.spec.values.rows * plane.spec.values.cols;
    cells_as_shapes_ = cells <= most_cell_shapes;
  }

  void write() {
    for (int i = 0; i < data_.CmdListsCount; ++i) add_list(*data_.CmdLists[i]);
    flush();
    canvas_.clip(std::nullopt);
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
      if (!clip_to(command.ClipRect, {float(r.x), float(r.y)}, {float(r.x + r.width), float(r.y + r.height)}))
        continue;
      draw_plane(canvas_, plane, ground_, cells_as_shapes_);
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
    const auto character = static_cast<char32_t>(glyph.Codepoint);
    run_->text += utf8_text({&character, 1});
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
    if (std::abs(distance - float(spaces) * width) > same_place) return false;
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
    if (!clip_to(run.clip, min, max)) return;
    const float ascent = std::round(run.font->Ascent) * run.scale;
    const bool bold = run.font == fonts_.bold || run.font == fonts_.title;
    const bool mono = run.font == fonts_.mono || run.font == fonts_.mono_small;
    const float degrees = std::atan2(run.along.y, run.along.x) * 57.29578f;
    canvas_.text({.baseline = {run.begin.x + down.x * ascent, run.begin.y + down.y * ascent},
                  .text = run.text,
                  .face = bold   ? FontFace::bold
                          : mono ? FontFace::mono
                                 : FontFace::sans,
                  .size = line / line_per_em,
                  .color = rgba_of(run.color),
                  .degrees = std::abs(degrees) > 0.05f ? degrees : 0.0},
                 std::sqrt(dot(span, span)));
  }

  void add_polygon(const std::vector<const ImDrawVert*>& polygon, const ImVec4& clip) {
    ImVec2 min = polygon[0]->pos, max = min;
    for (const ImDrawVert* v : polygon) {
      if (v->uv.x != white_.x || v->uv.y != white_.y) return;  // not a shape, but part of some texture
      min = {std::min(min.x, v->pos.x), std::min(min.y, v->pos.y)};
      max = {std::max(max.x, v->pos.x), std::max(max.y, v->pos.y)};
    }
    flush_text();
    const std::optional<RectF> cut = cut_by(clip, min, max);
    if (is_outside(clip, min, max)) return;
    const Rgba8 color = rgba_of(polygon[0]->col);
    const bool shaded =
        std::ranges::any_of(polygon, [&](const ImDrawVert* v) { return v->col != polygon[0]->col; });
    if (shaded || color != shapes_color_ || color.a != 255 || !same_cut(cut, shapes_clip_)) flush_shapes();
    shapes_color_ = color;
    shapes_clip_ = cut;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      if (i == 0)
        shapes_.move(point_of(polygon[i]->pos));
      else
        shapes_.line(point_of(polygon[i]->pos));
    }
    shapes_.close();
    if (!shaded) return;
    // From the colour of one corner to that of the next.
    canvas_.clip(cut);
    canvas_.fill(shapes_, VectorGradient{.from = point_of(polygon[0]->pos),
                                         .to = point_of(polygon[1]->pos),
                                         .colors = {color, rgba_of(polygon[1]->col)}});
    shapes_.clear();
  }

  static bool is_outside(const ImVec4& clip, ImVec2 min, ImVec2 max) {
    return max.x <= clip.x || max.y <= clip.y || min.x >= clip.z || min.y >= clip.w;
  }

  // The clip of something that extends beyond it; none if nothing is cut off.
  static std::optional<RectF> cut_by(const ImVec4& clip, ImVec2 min, ImVec2 max) {
    if (min.x >= clip.x - 1 && min.y >= clip.y - 1 && max.x <= clip.z + 1 && max.y <= clip.w + 1)
      return std::nullopt;
    return RectF{clip.x, clip.y, clip.z - clip.x, clip.w - clip.y};
  }

  // False if all of it is cut off.
  bool clip_to(const ImVec4& clip, ImVec2 min, ImVec2 max) {
    if (is_outside(clip, min, max)) return false;
    canvas_.clip(cut_by(clip, min, max));
    return true;
  }

  void flush_shapes() {
    if (shapes_.empty()) return;
    canvas_.clip(shapes_clip_);
    canvas_.fill(shapes_, shapes_color_);
    shapes_.clear();
  }

  void flush() {
    flush_shapes();
    flush_text();
    flush_shapes();
  }

  VectorCanvas& canvas_;
  const ImDrawData& data_;
  const Fonts& fonts_;
  const PlaneRecording& planes_;
  Rgba8 ground_;
  std::map<UvKey, Glyph> glyphs_;
  ImVec2 white_;
  bool cells_as_shapes_ = false;
  std::optional<Run> run_;
  VectorPath shapes_;
  Rgba8 shapes_color_;
  std::optional<RectF> shapes_clip_;
};

}  // namespace

void draw_data_vectors(VectorCanvas& canvas, const ImDrawData& data, const Fonts& fonts,
                       const PlaneRecording& planes, Rgba8 ground) {
  Writer(canvas, data, fonts, planes, ground).write();
}

}  // namespace headwise
