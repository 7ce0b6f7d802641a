// Reads an export record by record, and checks that it is whole.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "os/disk.h"

namespace cairn::exchange {

// The header of an export.
struct ExportHead {
  std::string home;  // exchange::home_name of the home that wrote it
  std::string made_at;
};

// Gives each record of the file to `take`, in order. A file as `cairn export` wrote it is read in pieces. One
// that another program has reformatted is read as a whole, up to 64 MB. Fails with `invalid` when it is no
// export, was cut, or has a record that is too large; with `unsupported` when a newer version wrote it. Some
// records may have been given before that.
Status read_export(os::Disk& disk, const std::string& path,
                   const std::function<Status(const ExportHead& head, const Json& record)>& take);

}  // namespace cairn::exchange
