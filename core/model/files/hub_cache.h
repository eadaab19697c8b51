// The cache in which huggingface_hub keeps what it downloads: models--OWNER--NAME with blobs, refs and
// snapshots/REVISION.
#pragma once

#include <string>

namespace headwise {

// The snapshot that refs/main names, or else the only one, if `folder` is a model's folder in the cache, or
// the cache with one model; `folder` for anything else. Throws Error(input) that names what there is to
// choose from.
std::string hub_snapshot_or(const std::string& folder);

}  // namespace headwise
