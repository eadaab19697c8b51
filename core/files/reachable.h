// What the system keeps from us, told apart from what is not there.
#pragma once

#include <string>

namespace headwise {

// Throws Error(input) where something stands in the way to a file or a folder, or into it: no permission to enter, links that go in
// circles … That nothing is there is no error, nor is a file that may not be read: who opens it says so.
void require_reachable(const std::string& path);

// Throws Error(input) where a folder's names may not be read. Files whose names are known may be opened all the same.
void require_listed(const std::string& folder);

}  // namespace headwise
