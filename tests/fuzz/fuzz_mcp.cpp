// Any bytes on the input of `cairn mcp`: every message that comes back is one line of JSON-RPC, a request
// gets exactly one reply, and nothing ends the server.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fuzz/require.h"
#include "mcp/protocol.h"
#include "mcp/transport.h"

namespace {

using namespace cairn;
using fuzz::require;

// Answers with the request itself: its text is the client's, so it must come back harmless.
class Echo final : public mcp::Memory {
 public:
  Result<Json> call(std::string_view operation, const Json& args, const std::function<bool()>&) override {
    require(args["agent"].as_bool());
    require(args["all"].as_bool() || args["cwd"].as_string() == "/home/dev/code/proj");
    if (operation == "remember") require(args["by"].as_string() == "agent");
    Json record = args;
    record.set("id", "O1").set("text", args["query"]).set("title", args["text"]);
    return Json::object({{"results", Json::array({record})},
                         {"records", Json::array({record})},
                         {"text", args.dump()},
                         {"id", "O1"},
                         {"title", args["title"]}});
  }
};

void check(const Json& message) {
  const std::string line = message.dump();
  require(is_utf8(line));
  require(line.find('\n') == std::string::npos);
  require(message["jsonrpc"].as_string() == "2.0");
  require(message.has("result") || message.has("error") || message.has("method"));
  for (const Json& content : message["result"]["content"].items())
    require(content["text"].as_string().find("<system-reminder>") == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Echo memory;
  static const mcp::Tools tools(memory, {"/home/dev/code/proj", "session"});
  std::size_t replies = 0, lines = 0;
  mcp::Protocol protocol(tools, [&](const Json& message) {
    check(message);
    ++replies;
  });
  mcp::LineReader reader(
      [&](std::string_view line) {
        ++lines;
        protocol.receive(line);
        protocol.work_now();
      },
      [&] { protocol.receive_too_long(); });
  reader.add({reinterpret_cast<const char*>(data), size});
  reader.finish();
  require(replies <= lines * mcp::Protocol::kMostInBatch);
  protocol.receive(R"({"jsonrpc":"2.0","id":"last","method":"ping"})");
  require(replies > 0);
  return 0;
}
