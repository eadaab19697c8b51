#include "core/export/pdf_document.h"

#include <cairo/cairo-ft.h>
#include <cairo/cairo-pdf.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <new>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "core/export/label_text.h"

namespace headwise {
namespace {

constexpr double points_per_inch = 72.0, longest_side = 14400.0;  // points: what PDF allows

void check_cairo(cairo_status_t status) {
  if (status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_WRITE_ERROR) throw std::bad_alloc();
  if (status != CAIRO_STATUS_SUCCESS) throw std::logic_error(cairo_status_to_string(status));
}

// An exception must not pass through C.
cairo_status_t append_to(void* closure, const unsigned char* data, unsigned length) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_WRITE_ERROR;
  }
  return CAIRO_STATUS_SUCCESS;
}

// cairo keeps the face as long as anything that it has cached needs it, whatever the thread: it has a library
// of its own.
cairo_font_face_t* opened_font(const FontFile& font) {
  static const cairo_user_data_key_t key{};
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  if (FT_Init_FreeType(&library) != 0 ||
      FT_New_Memory_Face(library, font.bytes.data(), static_cast<FT_Long>(font.bytes.size()), font.index,
                         &face) != 0)
    throw std::logic_error("a font that was read before cannot be read");
  cairo_font_face_t* made = cairo_ft_font_face_create_for_ft_face(face, FT_LOAD_NO_HINTING);
  check_cairo(cairo_font_face_set_user_data(
      made, &key, library, [](void* data) { FT_Done_FreeType(static_cast<FT_Library>(data)); }));
  return made;
}

}  // namespace

class PdfDocument::Page : public VectorCanvas {
  struct Deleter {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
    void operator()(cairo_pattern_t* pattern) const { cairo_pattern_destroy(pattern); }
  };
  template <class T>
  using Owner = std::unique_ptr<T, Deleter>;

 public:
  Page() : surface_(cairo_pdf_surface_create_for_stream(append_to, &file_, 1.0, 1.0)) {
    check_cairo(cairo_surface_status(surface_.get()));
    cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATOR, "Headwise");
    cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATE_DATE, nullptr);
  }

  void begin(double width, double height, Rgba8 ground, double dpi) {
    end();
    const double scale = std::min(points_per_inch / dpi, longest_side / std::max({width, height, 1.0}));
    cairo_pdf_surface_set_size(surface_.get(), width * scale, height * scale);
    context_.reset(cairo_create(surface_.get()));
    cairo_scale(context_.get(), scale, scale);
    clip_.reset();
    VectorPath whole;
    whole.box(0, 0, width, height);
    fill(whole, ground);
  }

  std::string finish() {
    end();
    cairo_surface_finish(surface_.get());
    check_cairo(cairo_surface_status(surface_.get()));
    return std::move(file_);
  }

  void fill(const VectorPath& path, Rgba8 color) override {
    const Saved saved(*this);
    set_color(color);
    add(path);
    cairo_fill(context_.get());
  }

  void fill(const VectorPath& path, const VectorGradient& gradient) override {
    const Saved saved(*this);
    const Owner<cairo_pattern_t> pattern(
        cairo_pattern_create_linear(gradient.from.x, gradient.from.y, gradient.to.x, gradient.to.y));
    const auto last = static_cast<double>(gradient.colors.size() - 1);
    for (std::size_t i = 0; i < gradient.colors.size(); ++i) {
      const Rgba8 c = gradient.colors[i];
      cairo_pattern_add_color_stop_rgba(pattern.get(), static_cast<double>(i) / last, c.r / 255.0,
                                        c.g / 255.0, c.b / 255.0, c.a / 255.0);
    }
    cairo_set_source(context_.get(), pattern.get());
    add(path);
    cairo_fill(context_.get());
  }

  void fill(const VectorPath& path, const VectorHatch& hatch) override {
    const Saved saved(*this);
    add(path);
    double left = 0, top = 0, right = 0, bottom = 0;
    cairo_fill_extents(context_.get(), &left, &top, &right, &bottom);
    cairo_clip(context_.get());
    set_color(hatch.color);
    cairo_set_line_width(context_.get(), hatch.width);
    // A line is x + y = first + a multiple of the period.
    const double first = hatch.origin.x + hatch.middle + hatch.origin.y;
    const double height = bottom - top + 2 * hatch.width;
    for (double at = first + std::floor((left + top - first) / hatch.period) * hatch.period;
         at < right + bottom + hatch.period; at += hatch.period) {
      const double x = at - top + hatch.width;
      cairo_move_to(context_.get(), x, top - hatch.width);
      cairo_line_to(context_.get(), x - height, top - hatch.width + height);
    }
    cairo_stroke(context_.get());
  }

  void stroke(const VectorPath& path, double width, Rgba8 color) override {
    const Saved saved(*this);
    set_color(color);
    cairo_set_line_width(context_.get(), width);
    add(path);
    cairo_stroke(context_.get());
  }

  void image(const RectF& rect, const Image& image) override {
    if (image.width == 0 || image.height == 0) return;
    const Owner<cairo_surface_t> pixels(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.width, image.height));
    check_cairo(cairo_surface_status(pixels.get()));
    cairo_surface_flush(pixels.get());
    unsigned char* row = cairo_image_surface_get_data(pixels.get());
    const std::uint8_t* from = image.rgba.data();
    for (int y = 0; y < image.height; ++y, row += cairo_image_surface_get_stride(pixels.get())) {
      for (int x = 0; x < image.width; ++x, from += 4) {
        const std::uint32_t alpha = from[3];  // cairo's colours are multiplied by it
        const auto channel = [&](int c) { return (from[c] * alpha + 127U) / 255U; };
        const std::uint32_t pixel = alpha << 24U | channel(0) << 16U | channel(1) << 8U | channel(2);
        std::memcpy(row + 4 * static_cast<std::ptrdiff_t>(x), &pixel, sizeof pixel);
      }
    }
    cairo_surface_mark_dirty(pixels.get());
    const Saved saved(*this);
    cairo_translate(context_.get(), rect.x, rect.y);
    cairo_scale(context_.get(), rect.width / image.width, rect.height / image.height);
    cairo_set_source_surface(context_.get(), pixels.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context_.get()), CAIRO_FILTER_NEAREST);
    cairo_rectangle(context_.get(), 0, 0, image.width, image.height);
    cairo_fill(context_.get());
  }

  void text(const TextItem& item, double length) override {
    const std::vector<LaidGlyph> glyphs = laid_out(item.text, item.face);
    double ems = 0.0;
    for (const LaidGlyph& glyph : glyphs) ems += glyph.advance_em;
    const double width = ems * item.size, stretch = length > 0.0 && width > 0.0 ? length / width : 1.0;
    const Saved saved(*this);
    set_color(item.color);
    cairo_translate(context_.get(), item.baseline.x, item.baseline.y);
    cairo_rotate(context_.get(), item.degrees * std::numbers::pi / 180.0);
    cairo_scale(context_.get(), stretch, 1.0);
    cairo_set_font_size(context_.get(), item.size);
    double x = -anchor_share(item.anchor) * width;
    for (std::size_t begin = 0; begin < glyphs.size();) {  // for each font
      std::size_t end = begin;
      std::string utf8;
      std::vector<cairo_glyph_t> shown;
      std::vector<cairo_text_cluster_t> clusters;
      for (; end < glyphs.size() && same_font(glyphs[end], glyphs[begin]); ++end) {
        const std::string character = utf8_text({&glyphs[end].character, 1});
        utf8 += character;
        shown.push_back({glyphs[end].index, x, 0.0});
        clusters.push_back({static_cast<int>(character.size()), 1});
        x += glyphs[end].advance_em * item.size;
      }
      cairo_set_font_face(context_.get(), font_face(glyphs[begin].font));
      cairo_show_text_glyphs(context_.get(), utf8.data(), static_cast<int>(utf8.size()), shown.data(),
                             static_cast<int>(shown.size()), clusters.data(),
                             static_cast<int>(clusters.size()), static_cast<cairo_text_cluster_flags_t>(0));
      begin = end;
    }
  }

  void clip(const std::optional<RectF>& rect) override { clip_ = rect; }

 private:
  // The state of the context, and the clip within.
  class Saved {
   public:
    explicit Saved(Page& page) : context_(page.context_.get()) {
      cairo_save(context_);
      if (!page.clip_) return;
      cairo_rectangle(context_, page.clip_->x, page.clip_->y, page.clip_->width, page.clip_->height);
      cairo_clip(context_);
    }
    ~Saved() { cairo_restore(context_); }
    Saved(const Saved&) = delete;
    Saved& operator=(const Saved&) = delete;

   private:
    cairo_t* context_;
  };

  void end() {
    if (!context_) return;
    cairo_show_page(context_.get());
    check_cairo(cairo_status(context_.get()));
    context_.reset();
  }

  void set_color(Rgba8 color) {
    cairo_set_source_rgba(context_.get(), color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
  }

  void add(const VectorPath& path) {
    for (const VectorPath::Element& element : path.elements()) {
      switch (element.verb) {
        case VectorPath::Verb::move:
          cairo_move_to(context_.get(), element.to.x, element.to.y);
          break;
        case VectorPath::Verb::line:
          cairo_line_to(context_.get(), element.to.x, element.to.y);
          break;
        case VectorPath::Verb::close:
          cairo_close_path(context_.get());
          break;
      }
    }
  }

  static bool same_font(const LaidGlyph& a, const LaidGlyph& b) {
    return a.font.bytes.data() == b.font.bytes.data() && a.font.index == b.font.index;
  }

  cairo_font_face_t* font_face(const FontFile& font) {
    auto& face = faces_[{font.bytes.data(), font.index}];
    if (!face) face.reset(opened_font(font));
    return face.get();
  }

  std::string file_;
  Owner<cairo_surface_t> surface_;
  Owner<cairo_t> context_;
  std::optional<RectF> clip_;
  std::map<std::pair<const unsigned char*, int>, Owner<cairo_font_face_t>> faces_;
};

PdfDocument::PdfDocument() : page_(std::make_unique<Page>()) {}
PdfDocument::~PdfDocument() = default;

VectorCanvas& PdfDocument::begin_page(double width, double height, Rgba8 ground, double dpi) {
  page_->begin(width, height, ground, dpi);
  return *page_;
}

std::string PdfDocument::finish() {
  return page_->finish();
}

}  // namespace headwise
