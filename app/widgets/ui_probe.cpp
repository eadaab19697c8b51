#include "app/widgets/ui_probe.h"

#include <fmt/format.h>

namespace headwise {
namespace {

UiProbes* listener = nullptr;
WorkProbes* counter = nullptr;

}  // namespace

void set_ui_probes(UiProbes* probes) {
  listener = probes;
}

UiProbes* ui_probes() {
  return listener;
}

bool ui_probes_wanted() {
  return listener != nullptr;
}

void ui_probe(std::string_view name, const Box& box) {
  if (listener != nullptr) listener->insert_or_assign(std::string(name), box);
}

void ui_probe(std::string_view name, int index, const Box& box) {
  if (listener != nullptr) ui_probe(fmt::format("{}/{}", name, index), box);
}

void ui_probe_item(std::string_view name) {
  if (listener != nullptr) ui_probe(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

void ui_probe_item(std::string_view name, int index) {
  if (listener != nullptr) ui_probe(name, index, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

void ui_text_probe(std::string_view words, ImVec2 at) {
  if (listener != nullptr) ui_probe(fmt::format("says/{}", words), at, at);
}

void set_work_probes(WorkProbes* probes) {
  counter = probes;
}

void work_probe(std::string_view work) {
  if (counter != nullptr) ++(*counter)[std::string(work)];
}

}  // namespace headwise
