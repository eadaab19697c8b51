#include "app/content/doc_pages.h"

#include <algorithm>
#include <utility>

#include <md4c-html.h>
#include <md4c.h>

#include "app/session/answer_check.h"
#include "core/tensor/version.h"

namespace headwise {

std::string_view embedded_doc_window(), embedded_doc_lessons(), embedded_doc_command_line(),
    embedded_doc_scenarios(), embedded_doc_models(), embedded_doc_trust(), embedded_doc_performance(),
    embedded_doc_glossary();

namespace {

constexpr struct {
  const char* name;
  const char* label;
  std::string_view (*text)();
} sources[] = {
    {"window", "Window", embedded_doc_window},
    {"lessons", "Lessons", embedded_doc_lessons},
    {"command-line", "Command line", embedded_doc_command_line},
    {"scenarios", "Scenarios", embedded_doc_scenarios},
    {"models", "Models", embedded_doc_models},
    {"trust", "Numbers", embedded_doc_trust},
    {"performance", "Performance", embedded_doc_performance},
    {"glossary", "Glossary", embedded_doc_glossary},
};

constexpr unsigned dialect = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH;

std::string_view text_of(const MD_ATTRIBUTE& attribute) {
  return {attribute.text, attribute.size};
}

// What md4c reports, in its order.
class Reader {
 public:
  explicit Reader(std::span<const std::string> names) : names_(names) {}

  void enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        ++lists_;
        break;
      case MD_BLOCK_LI:
        begin(DocBlockKind::item, lists_);
        break;
      case MD_BLOCK_H:
        begin(DocBlockKind::heading, static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level));
        break;
      case MD_BLOCK_CODE:
        begin(DocBlockKind::code, 0);
        break;
      case MD_BLOCK_P:
        // The first paragraph of an item is the item.
        if (blocks_.empty() || blocks_.back().kind != DocBlockKind::item ||
            !blocks_.back().cells.back().empty())
          begin(DocBlockKind::paragraph, lists_);
        break;
      case MD_BLOCK_THEAD:
        in_head_ = true;
        break;
      case MD_BLOCK_TR:
        begin(in_head_ ? DocBlockKind::table_header : DocBlockKind::table_row, 0);
        blocks_.back().cells.clear();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        blocks_.back().cells.emplace_back();
        break;
      default:
        break;
    }
  }

  void leave(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) --lists_;
    if (type == MD_BLOCK_THEAD) in_head_ = false;
  }

  void enter(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_EM || type == MD_SPAN_STRONG) style_ = DocStyle::strong;
    if (type == MD_SPAN_CODE) style_ = DocStyle::code;
    if (type == MD_SPAN_IMG) in_picture_ = true;
    if (type != MD_SPAN_A) return;
    const std::string_view target = text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
    const auto found = std::ranges::find(names_, target.substr(0, target.find('#')));
    if (found == names_.end()) return;
    style_ = DocStyle::link;
    page_ = static_cast<int>(found - names_.begin());
  }

  void leave(MD_SPANTYPE type) {
    if (type == MD_SPAN_IMG)
      in_picture_ = false;
    else if (page_ < 0 || type == MD_SPAN_A)
      style_ = DocStyle::plain, page_ = -1;
    else
      style_ = DocStyle::link;  // of code inside a link
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    if (in_picture_ || blocks_.empty()) return;
    DocBlock& block = blocks_.back();
    if (block.kind == DocBlockKind::code) return add_code(block, text);
    if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) text = " ";
    std::vector<DocText>& runs = block.cells.back();
    if (!runs.empty() && runs.back().style == style_ && runs.back().page == page_)
      runs.back().text += text;
    else
      runs.push_back({std::string(text), style_, page_});
  }

  // Without the blocks that held nothing but a picture.
  std::vector<DocBlock> blocks() {
    std::erase_if(blocks_, [](const DocBlock& block) {
      return std::ranges::all_of(block.cells, [](const auto& cell) { return cell.empty(); });
    });
    return std::move(blocks_);
  }

 private:
  void begin(DocBlockKind kind, int level) { blocks_.push_back({kind, level, {{}}}); }

  static void add_code(DocBlock& block, std::string_view text) {
    std::vector<DocText>& lines = block.cells.back();
    if (lines.empty()) lines.push_back({"", DocStyle::code, -1});
    for (const char c : text) {
      if (c == '\n')
        lines.push_back({"", DocStyle::code, -1});
      else
        lines.back().text += c;
    }
  }

  std::span<const std::string> names_;
  std::vector<DocBlock> blocks_;
  DocStyle style_ = DocStyle::plain;
  int page_ = -1, lists_ = 0;
  bool in_head_ = false, in_picture_ = false;
};

void html_without_pictures(std::string& html) {
  constexpr std::string_view begin = "<p><img ", end = "</p>\n";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at)) {
    const std::size_t behind = html.find(end, at);
    html.erase(at, behind == std::string::npos ? behind : behind + end.size() - at);
  }
}

// Links to pages lead to `before` + name + `after`; what they name of the sources is not there, so it is
// text.
void link_pages(std::string& html, std::string_view before, std::string_view after) {
  constexpr std::string_view begin = "<a href=\"", end = "</a>", extension = ".md";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size(), quote = html.find('"', from);
    const std::string target = html.substr(from, quote - from);
    const std::size_t dot = target.find(extension);
    const bool is_page =
        std::ranges::any_of(sources, [&](const auto& page) { return target.substr(0, dot) == page.name; });
    if (is_page) {
      std::string link(before);
      link.append(target, 0, dot).append(after);
      if (after.empty() || dot + extension.size() >= target.size())
        html.replace(from, quote - from, link);
      else
        html.replace(from, quote - from, link + target.substr(dot + extension.size()));  // a section of it
    } else if (target.find(':') == std::string::npos && !target.starts_with('#')) {
      html.erase(html.find(end, quote), end.size());
      html.erase(at, quote + 2 - at);
    }
  }
}

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (const auto& source : sources) names.push_back(std::string(source.name) + ".md");
  return names;
}

// "See the lesson page *Too hot*": the title leads there.
void link_lessons(std::vector<DocBlock>& blocks) {
  for (DocBlock& block : blocks)
    for (std::vector<DocText>& runs : block.cells) {
      std::string sentence;  // what was read of it
      for (DocText& run : runs) {
        const bool speaks_of_one =
            sentence.find("lesson") != std::string::npos || sentence.find("question") != std::string::npos;
        if (run.style == DocStyle::strong && speaks_of_one && page_titled({}, run.text))
          run.style = DocStyle::lesson;
        sentence += run.text;
        if (const std::size_t stop = sentence.rfind(". "); stop != std::string::npos)
          sentence.erase(0, stop + 1);
      }
    }
}

std::vector<DocPage> read_pages() {
  const std::vector<std::string> names = file_names();
  std::vector<DocPage> pages;
  for (const auto& source : sources) {
    DocPage page{source.name, source.label, "", doc_blocks(source.text(), names)};
    for (const DocText& run : page.blocks.front().cells.front()) page.title += run.text;
    link_lessons(page.blocks);
    pages.push_back(std::move(page));
  }
  return pages;
}

std::string text_of(const DocBlock& block) {
  std::string text;
  for (const std::vector<DocText>& cell : block.cells) {
    if (!text.empty()) text += "  ";
    for (const DocText& run : cell) {
      text += run.text;
      if (block.kind == DocBlockKind::code) text += "\n";  // one text a line
    }
  }
  return text;
}

// "Masks" of "**Masks.** As in PyTorch" and of "**Masks**: switch the causal mask";
// empty if the block does not begin so.
std::string bold_lead(const DocBlock& block) {
  const std::vector<DocText>& runs = block.cells.front();
  const bool prose = block.kind == DocBlockKind::paragraph || block.kind == DocBlockKind::item;
  if (!prose || runs.front().style != DocStyle::strong) return "";
  std::string lead = runs.front().text;
  if (!lead.ends_with('.') && (runs.size() == 1 || !runs[1].text.starts_with(':'))) return "";
  if (lead.ends_with('.')) lead.pop_back();
  return lead;
}

}  // namespace

std::vector<DocBlock> doc_blocks(std::string_view markdown, std::span<const std::string> names) {
  Reader reader(names);
  MD_PARSER parser{};
  parser.flags = dialect;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* to) {
    return static_cast<Reader*>(to)->enter(type, detail), 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* to) {
    return static_cast<Reader*>(to)->leave(type), 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* to) {
    return static_cast<Reader*>(to)->enter(type, detail), 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* to) {
    return static_cast<Reader*>(to)->leave(type), 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* to) {
    return static_cast<Reader*>(to)->text(type, {text, size}), 0;
  };
  md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &reader);
  std::vector<DocBlock> blocks = reader.blocks();
  for (DocBlock& block : blocks)  // the line break at the end of code begins no line
    if (block.kind == DocBlockKind::code && block.cells.front().back().text.empty())
      block.cells.front().pop_back();
  return blocks;
}

std::span<const DocPage> doc_pages() {
  static const std::vector<DocPage> pages = read_pages();
  return pages;
}

std::string doc_html(const DocPage& page, std::string_view before, std::string_view after) {
  const auto* const source = std::ranges::find(sources, page.name, [](const auto& each) { return each.name; });
  const std::string_view markdown = source->text();
  std::string body;
  md_html(
      markdown.data(), static_cast<MD_SIZE>(markdown.size()),
      [](const MD_CHAR* text, MD_SIZE size, void* to) { static_cast<std::string*>(to)->append(text, size); },
      &body, dialect, 0);
  html_without_pictures(body);
  link_pages(body, before, after);
  return body;
}

std::string docs_html() {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Headwise " +
      std::string(version()) +
      "</title>\n<style>"
      "body{font:16px/1.5 sans-serif;max-width:52em;margin:2em auto;padding:0 1em}"
      "pre{background:#f2f3f5;padding:.8em;overflow-x:auto}"
      "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}"
      "@media(prefers-color-scheme:dark){body{background:#16181c;color:#dde}pre{background:#22252b}"
      "a{color:#8ab4f8}}"
      "</style></head><body>\n<nav>";
  for (const DocPage& page : doc_pages())
    html += "<a href=\"#" + page.name + "\">" + page.title + "</a><br>\n";
  html += "</nav>\n";
  for (const DocPage& page : doc_pages())
    html += "<article id=\"" + page.name + "\">\n" + doc_html(page, "#", "") + "</article>\n<hr>\n";
  return html + "</body></html>\n";
}

std::vector<DocSection> sections_of(const DocPage& page, int index) {
  std::vector<DocSection> sections;
  std::string heading;
  std::size_t begun = 0;  // the section of the heading
  bool gathers = false;   // nothing precedes its first part in bold: it has the text of all of them
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    const DocBlock& block = page.blocks[i];
    if (block.kind == DocBlockKind::heading) {
      heading = text_of(block);
      begun = sections.size();
      gathers = false;
      sections.push_back({{index, i}, heading, "", ""});
      continue;
    }
    if (sections.empty()) continue;
    const std::string text = text_of(block) + "\n";
    if (std::string lead = bold_lead(block); !lead.empty()) {
      gathers = gathers || sections[begun].text.empty();
      sections.push_back({{index, i}, std::move(lead), heading, ""});
    }
    sections.back().text += text;
    if (gathers) sections[begun].text += text;
  }
  std::erase_if(sections, [](const DocSection& section) { return section.text.empty(); });
  return sections;
}

std::span<const DocSection> doc_sections() {
  static const std::vector<DocSection> all = [] {
    std::vector<DocSection> sections;
    for (std::size_t i = 0; i < doc_pages().size(); ++i)
      for (DocSection& section : sections_of(doc_pages()[i], static_cast<int>(i)))
        sections.push_back(std::move(section));
    return sections;
  }();
  return all;
}

}  // namespace headwise
