#include "app/content/doc_sections.h"

#include <utility>

namespace headwise {
namespace {

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

// "Masks" of "**Masks.** As in PyTorch" and of "**Masks**: switch the causal mask"; empty if the block does not begin so.
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
