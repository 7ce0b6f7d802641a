// The search for secrets, the view it works on, and what is shown of stored text: any bytes, without harm.
//
// Secrets: places in order and within the text; what is left is valid and holds nothing to be found again at
// the same place. Page and terminal: nothing that acts is left.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "context/page.h"
#include "gate/plain_view.h"
#include "gate/secrets.h"

namespace {

using namespace cairn;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_view(std::string_view text) {
  gate::PlainView view(text);
  require(view.text().size() <= text.size());
  std::size_t last = 0;
  for (std::size_t at = 0; at <= view.text().size(); at += 7) {
    const auto [begin, end] = view.raw(at, std::min(at + 3, view.text().size()));
    require(last <= begin && begin <= end && end <= text.size());
    last = begin;
  }
}

void check_secrets(std::string text) {
  static const gate::Secrets kSecrets(
      gate::SecretOptions{{"own=OWN-([0-9]+)"}, {"allowed.*"}, std::string(32, 'k')});
  std::size_t last = 0;
  for (const gate::Finding& finding : kSecrets.find(text)) {
    require(last <= finding.begin && finding.begin < finding.end && finding.end <= text.size());
    require(finding.fingerprint.size() == 8);
    last = finding.end;
  }
  const bool valid = is_utf8(text);
  kSecrets.remove(text, true);
  if (valid) require(is_utf8(text));
  Json json = Json::parse_partial(text).value;
  kSecrets.remove(json);
}

void check_page(std::string_view text) {
  const std::string data = context::as_data(text);
  require(visible(data) == data);
  context::Page page(1'000'000, 10'000'000);
  page.add(data);
  const std::string out = ascii_lower(page.fenced(std::string(32, 'k')));
  require(out.find("<cairn-memory") == 0);
  require(out.find("cairn-memory", 2) == out.rfind("cairn-memory"));
  for (const std::string_view tag :
       {"<system-reminder", "</system-reminder", "<private", "<function_calls", "\n# "})
    require(out.find(tag, 1) == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = valid_utf8(std::string(reinterpret_cast<const char*>(data), size));
  check_view({reinterpret_cast<const char*>(data), size});
  check_secrets({reinterpret_cast<const char*>(data), size});
  check_secrets(text);
  check_page(text);
  return 0;
}
