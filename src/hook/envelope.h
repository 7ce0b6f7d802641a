// The header line of an inbox file: what only the hook knows. docs/reference/inbox.md describes it byte for
// byte.
//
// Fields are separated by one blank, in this order; every number has a fixed width so that the hook can write
// the header first and fill in what it learns while streaming the payload:
//
//   cairn1 HHHHHH BBBBBBBBBBBB XXXXXXXXXXXXXXXX CCCCCCCCCCCC TTTTTTTTTTTT WWWWWWWWWWWWWWWWWWWW
//   SSSSSSSSSSSSSSSSSSSS IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII PPPPPPPPPP UUUUUUUUUUUUUUUUUUUU N:event N:host
//   N:project N:env N:config N:entry KKKKKKKKKKKKKKKK\n
//
// H header bytes with the line feed; B payload bytes that follow; X XXH3-64 of those; C head bytes when cut,
// else 0; T bytes the host sent; W wall ns; S boot ns; I boot id (zeros unknown); P host pid; U its start;
// then length-prefixed texts; K XXH3-64 of everything before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/process.h"

namespace cairn::hook {

// The host of an event whose command line names none.
inline constexpr std::string_view kDefaultHost = "claude-code";

struct Envelope {
  std::string event;  // as given on the command line; empty: take it from the payload
  std::string host{kDefaultHost};
  std::int64_t wall_ns = 0;
  std::int64_t boot_ns = 0;
  std::string boot_id;  // 32 hex digits or empty
  os::ProcessKey host_process;
  std::string project_dir;  // CLAUDE_PROJECT_DIR
  std::string env_file;     // CLAUDE_ENV_FILE
  std::string config_dir;   // CLAUDE_CONFIG_DIR
  std::string entrypoint;   // CLAUDE_CODE_ENTRYPOINT
  // Of the payload:
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
  std::uint64_t head_bytes = 0;   // > 0: the payload was cut; this many bytes of its start, then its end
  std::uint64_t total_bytes = 0;  // what the host sent
  bool cut() const { return head_bytes > 0; }

  // Takes what the host says in variables of the environment.
  void read_variables();

  // The header line. Texts longer than 4096 bytes are cut.
  std::string encode() const;

  struct Decoded;
  // Reads the header of a whole inbox file and checks both checksums and all lengths. Fails with `corrupt`,
  // saying what.
  static Result<Decoded> decode(std::string_view file);

  // Boot id and boot time from the first kPeekBytes of a file, unchecked: enough to put a
  // backlog in order. Nothing when the file is no inbox file or the boot is unknown.
  static constexpr std::size_t kPeekBytes = 144;
  static std::optional<std::pair<std::string, std::int64_t>> peek_order(std::string_view start);
};

struct Envelope::Decoded {
  Envelope envelope;
  std::string_view payload;  // borrowed from the file
};

}  // namespace cairn::hook
