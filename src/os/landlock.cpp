#include "os/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace cairn::os {

namespace {

// Rights that are newer than the headers of the oldest distribution that we build on.
constexpr std::uint64_t kRefer = 1u << 13;     // version 2: renaming between directories
constexpr std::uint64_t kTruncate = 1u << 14;  // version 3
constexpr std::uint64_t kAbstractSockets = 1u << 0, kSignals = 1u << 1;  // version 6, of `scoped`

constexpr std::uint64_t kDirectories = LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
constexpr std::uint64_t kFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kTree = kFile | kDirectories | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | kRefer;

struct Attributes {  // as the kernel of version 6 has it; older ones take a prefix
  std::uint64_t files = 0, network = 0, scoped = 0;
};

// A kernel refuses rules with rights that it does not know.
std::uint64_t known_rights(int version) {
  std::uint64_t rights = kTree;
  if (version < 2) rights &= ~kRefer;
  if (version < 3) rights &= ~kTruncate;
  return rights;
}

std::uint64_t rights_of(Writable::What what) {
  switch (what) {
    case Writable::What::tree: return kTree;
    case Writable::What::file: return kFile;
    case Writable::What::directories: return kDirectories;
  }
  return 0;
}

}  // namespace

int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<Fd> write_rules(const std::vector<Writable>& places) {
  const int version = landlock_version();
  if (version == 0) return Fd();
  const Attributes attributes{known_rights(version), 0, kAbstractSockets | kSignals};
  // The members up to that version: a kernel refuses a larger structure whose rest is not zero.
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  Fd rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!rules) return errno_error("landlock", errno);
  for (const Writable& place : places) {
    const Fd at(::open(place.path.c_str(), O_PATH | O_CLOEXEC));
    if (!at && errno == ENOENT) continue;
    if (!at) return errno_error("landlock " + place.path, errno);
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = rights_of(place.what) & attributes.files;
    beneath.parent_fd = at.get();
    if (syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
      return errno_error("landlock " + place.path, errno);
  }
  return rules;
}

bool apply_rules(int rules) {
  return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

}  // namespace cairn::os
