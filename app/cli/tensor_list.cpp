#include "app/cli/tensor_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "app/cli/report.h"
#include "core/model/layers/numbered_name.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// "3", "{0…11}", "{0…4,6,8…11}".
std::string set_text(const std::set<Index>& numbers) {
  if (numbers.size() == 1) return fmt::format("{}", *numbers.begin());
  std::vector<std::string> runs;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (std::next(first) == last) {  // two
      runs.push_back(fmt::format("{}", *first));
      first = last;
    }
    runs.push_back(first == last ? fmt::format("{}", *first) : fmt::format("{}…{}", *first, *last));
    first = next;
  }
  return fmt::format("{{{}}}", join(runs, ","));
}

struct Member {
  std::size_t place;  // in the file
  std::vector<Index> numbers;
};

// The sets of which every combination exists; else none.
std::vector<std::set<Index>> all_combinations(const std::vector<Member>& members) {
  std::vector<std::set<Index>> sets(members[0].numbers.size());
  for (const Member& member : members)
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i].insert(member.numbers[i]);
  std::size_t combinations = 1;
  for (const std::set<Index>& set : sets) {
    combinations *= set.size();
    if (combinations > members.size()) return {};
  }
  return sets;
}

struct PlacedGroup {
  std::size_t place;
  TensorGroup group;
};

void add_group(const std::vector<ArrayInfo>& arrays, const std::vector<Member>& members,
               std::vector<PlacedGroup>& groups) {
  const std::vector<std::set<Index>> sets = all_combinations(members);
  if (sets.empty() && members.size() > 1) {
    // Numbers after the first kept as they are: one name for each.
    std::map<std::vector<Index>, std::vector<Member>> parts;
    for (const Member& member : members)
      parts[{member.numbers.begin() + 1, member.numbers.end()}].push_back(member);
    for (const auto& [behind, part] : parts) add_group(arrays, part, groups);
    return;
  }
  const ArrayInfo& first = arrays[members[0].place];
  const NumberedName name = numbered_name(first.name);
  TensorGroup group{one_line(name.between[0]), first.stored_dtype, first.sizes,
                    static_cast<Index>(members.size()), 0};
  for (std::size_t i = 0; i < sets.size(); ++i)
    group.name += set_text(sets[i]) + one_line(name.between[i + 1]);
  for (const Member& member : members) group.bytes += arrays[member.place].bytes;
  groups.push_back({members[0].place, std::move(group)});
}

}  // namespace

std::vector<TensorGroup> gathered_tensors(const std::vector<ArrayInfo>& arrays) {
  std::map<std::tuple<std::vector<std::string>, std::string, std::vector<Index>>, std::vector<Member>> alike;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const NumberedName name = numbered_name(arrays[i].name);
    alike[{name.between, arrays[i].stored_dtype, arrays[i].sizes}].push_back({i, name.numbers});
  }
  std::vector<PlacedGroup> placed;
  for (const auto& [key, members] : alike) add_group(arrays, members, placed);
  std::ranges::sort(placed, {}, &PlacedGroup::place);
  std::vector<TensorGroup> groups;
  for (PlacedGroup& one : placed) groups.push_back(std::move(one.group));
  return groups;
}

std::string tensor_list_text(const std::vector<ArrayInfo>& arrays, bool gather) {
  std::vector<TensorGroup> groups;
  if (gather) {
    groups = gathered_tensors(arrays);
  } else {
    for (const ArrayInfo& array : arrays)
      groups.push_back({one_line(array.name), array.stored_dtype, array.sizes, 1, array.bytes});
  }
  const bool counted = std::ranges::any_of(groups, [](const TensorGroup& group) { return group.count > 1; });
  std::vector<TextRow> rows;
  for (const TensorGroup& group : groups) {
    rows.push_back({group.name, group.dtype});
    if (counted) rows.back().push_back(group.count > 1 ? fmt::format("{} ×", group.count) : "");
    rows.back().push_back(fmt::format("({})", join(group.sizes, ",")));
    rows.back().push_back(bytes_text(group.bytes));
  }
  return text_table(rows);
}

}  // namespace headwise
