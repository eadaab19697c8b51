#include "app/content/doc_layout.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace headwise {
namespace {

DocFont font_of(DocStyle style) {
  switch (style) {
    case DocStyle::strong:
    case DocStyle::lesson:
      return DocFont::strong;
    case DocStyle::code:
      return DocFont::code;
    default:
      return DocFont::text;
  }
}

class Typesetter {
 public:
  Typesetter(double width, const DocMeasure& measure)
      : width_(width), measure_(measure), line_(measure.line) {}

  void add(std::span<const DocBlock> blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const DocBlock& block = blocks[i];
      out_.tops.push_back(y_);
      switch (block.kind) {
        case DocBlockKind::heading:
          heading(block, i == 0);
          break;
        case DocBlockKind::paragraph:
          paragraph(block, indent(block.level));
          break;
        case DocBlockKind::item:
          item(block);
          break;
        case DocBlockKind::code:
          code(block);
          break;
        default: {
          std::size_t end = i;
          while (end < blocks.size() && is_row(blocks[end])) ++end;
          out_.tops.resize(end, y_);  // a table is one
          table(blocks.subspan(i, end - i));
          i = end - 1;
        }
      }
    }
  }

  DocLayout done() {
    out_.height = y_;
    return std::move(out_);
  }

 private:
  static bool is_row(const DocBlock& block) {
    return block.kind == DocBlockKind::table_header || block.kind == DocBlockKind::table_row;
  }

  double indent(int level) const { return level * line_; }

  void heading(const DocBlock& block, bool first) {
    const bool title = block.level == 1;
    if (!first) y_ += 0.7 * line_;
    const double taken = text(block.cells.front(), 0.0, width_, y_, title ? DocFont::title : DocFont::strong);
    y_ += (title ? 1.4 : 1.0) * taken + 0.3 * line_;
  }

  void paragraph(const DocBlock& block, double left) {
    y_ += text(block.cells.front(), left, width_, y_) + 0.5 * line_;
  }

  void item(const DocBlock& block) {
    const double left = indent(block.level);
    place("•", DocFont::text, left - 0.7 * line_, y_, -1);
    y_ += text(block.cells.front(), left, width_, y_) + 0.25 * line_;
  }

  void code(const DocBlock& block) {
    const double margin = 0.5 * line_, top = y_;
    y_ += 0.6 * margin;
    for (const DocText& line : block.cells.front()) {
      // As it stands: spaces are columns. What is too long goes on in the next line, further to the right.
      std::string_view rest = line.text;
      double left = margin;
      do {
        const std::size_t fits = fitting(rest, width_ - margin - left);
        place(rest.substr(0, fits), DocFont::code, left, y_, -1);
        rest.remove_prefix(fits);
        left = 3 * margin;
        y_ += line_;
      } while (!rest.empty());
    }
    y_ += 0.6 * margin;
    out_.code.push_back({0.0, top, width_, y_ - top});
    y_ += 0.6 * line_;
  }

  // How many bytes of code fit, up to a blank where there is one.
  std::size_t fitting(std::string_view text, double room) const {
    if (measure_.width_of(text, DocFont::code) <= room) return text.size();
    std::size_t best = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i - 1] == ' ' && text[i] != ' ') {
        if (measure_.width_of(text.substr(0, i), DocFont::code) > room) break;
        best = i;
      }
    }
    return best == 0 ? text.size() : best;
  }

  void table(std::span<const DocBlock> rows) {
    const std::vector<double> widths = column_widths(rows);
    for (const DocBlock& row : rows) {
      double left = 0.0, tallest = line_;
      const std::size_t first = out_.words.size();
      for (std::size_t c = 0; c < row.cells.size() && c < widths.size(); ++c) {
        tallest = std::max(tallest, text(row.cells[c], left, left + widths[c], y_));
        left += widths[c] + line_;
      }
      y_ += tallest;
      if (row.kind == DocBlockKind::table_header) {
        for (std::size_t i = first; i < out_.words.size(); ++i) out_.words[i].dim = true;
        out_.rules.push_back(y_ + 0.1 * line_);
        y_ += 0.1 * line_;
      }
      y_ += 0.2 * line_;
    }
    y_ += 0.5 * line_;
  }

  // As wide as their texts where all fit; otherwise the wide ones share what the narrow ones leave.
  std::vector<double> column_widths(std::span<const DocBlock> rows) const {
    std::vector<double> widths(rows.front().cells.size(), 0.0);
    for (const DocBlock& row : rows) {
      for (std::size_t c = 0; c < std::min(widths.size(), row.cells.size()); ++c) {
        double sum = 1.0;
        for (const DocText& run : row.cells[c]) sum += measure_.width_of(run.text, font_of(run.style));
        widths[c] = std::max(widths[c], sum);
      }
    }
    const double room = width_ - line_ * static_cast<double>(widths.size() - 1);
    const double share = room / static_cast<double>(widths.size());
    if (std::accumulate(widths.begin(), widths.end(), 0.0) <= room) return widths;
    double narrow = 0.0, wide = 0.0;
    for (const double width : widths) (width <= share ? narrow : wide) += width;
    for (double& width : widths)
      if (width > share) width *= (room - narrow) / wide;
    return widths;
  }

  // A part of a word in one style.
  struct Part {
    std::string_view text;
    DocFont font;
    int page;
    std::string_view lesson;
    double width;
  };

  // Words between `left` and `right`, from `top` on; how high they are together.
  double text(const std::vector<DocText>& runs, double left, double right, double top,
              DocFont heading = DocFont::text) {
    const double blank = measure_.width_of(" ", DocFont::text);
    double x = left, y = top;
    std::vector<Part> word;  // code and the comma behind it are one
    const auto end_word = [&] {
      double width = 0.0;
      for (const Part& part : word) width += part.width;
      if (!word.empty() && x > left) {
        x += blank;
        if (x + width > right) x = left, y += line_;
      }
      for (const Part& part : word) {
        place(part.text, part.font, x, y, part.page, part.width);
        out_.words.back().lesson = part.lesson;
        x += part.width;
      }
      word.clear();
    };
    for (const DocText& run : runs) {
      const DocFont font = heading == DocFont::text ? font_of(run.style) : heading;
      std::string_view rest = run.text;
      while (!rest.empty()) {
        if (rest.front() == ' ') {
          end_word();
          rest.remove_prefix(1);
          continue;
        }
        const std::string_view part = rest.substr(0, rest.find(' '));
        const std::string_view lesson = run.style == DocStyle::lesson ? run.text : std::string_view();
        word.push_back({part, font, run.page, lesson, measure_.width_of(part, font)});
        rest.remove_prefix(part.size());
      }
    }
    end_word();
    return y + line_ - top;
  }

  void place(std::string_view word, DocFont font, double x, double y, int page, double width = 0.0) {
    out_.words.push_back({.text = word, .font = font, .page = page, .x = x, .y = y, .width = width});
  }

  double width_;
  const DocMeasure& measure_;
  double line_, y_ = 0.0;
  DocLayout out_;
};

}  // namespace

DocLayout doc_layout(const DocPage& page, double width, const DocMeasure& measure) {
  Typesetter typesetter(width, measure);
  typesetter.add(page.blocks);
  return typesetter.done();
}

}  // namespace headwise
