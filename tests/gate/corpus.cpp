#include "gate/corpus.h"

#include <fstream>

namespace cairn::test {

namespace {

std::string_view alphabet(char letter) {
  switch (letter) {
    case 'd': return kDigits;
    case 'x': return kHex;
    case 'l': return kLower;
    case 'U': return kUpperDigits;
    case '2': return kBase32;
    case 'i': return kBase36;
    case 'u': return kUrlSafe;
    case 'b': return kBase64;
    case 't': return kTyped;
    default: return kAlnum;
  }
}

std::string mixed(Random& random, std::size_t length) {
  for (;;) {
    const std::string text = random.of(kAlnum, length);
    const bool digit = text.find_first_of(kDigits) != std::string::npos;
    if (digit && text.find_first_not_of(kDigits) != std::string::npos) return text;
  }
}

// What a person thinks of: Copper!4711x
std::string chosen(Random& random) {
  static const std::vector<std::string> kWords = {"Copper", "Lantern", "Meadow",  "Kestrel", "Anchor",
                                                  "Velvet", "Orchid",  "Thistle", "granite", "pepper"};
  std::string out = random.one(kWords);
  out += random.of("!#$*?_", 1);
  out += random.of(kDigits, 4);
  return out += random.of("xQz7", 1);
}

std::string drawn(Random& random, std::string_view what) {
  if (what.empty()) return "{";
  if (what == "@") return random.uuid();
  if (what == "w1") return chosen(random);
  const std::size_t length = std::stoul(std::string(what.substr(1)));
  return what[0] == 'm' ? mixed(random, length) : random.of(alphabet(what[0]), length);
}

// \n, \t, \r, \\ and \xHH
std::string unescaped(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      out += line[at];
      continue;
    }
    switch (line[++at]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(line.substr(at + 1, 2)), nullptr, 16));
        at += 2;
        break;
      default: out += line[at];
    }
  }
  return out;
}

}  // namespace

CorpusText draw(Random& random, std::string_view text) {
  CorpusText out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t open = rest.find('{');
    out.text += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const bool secret = rest.substr(open).starts_with("{{");
    const std::size_t begin = open + (secret ? 2 : 1), close = rest.find('}', begin);
    const std::string value = drawn(random, rest.substr(begin, close - begin));
    out.text += value;
    if (secret) out.secrets.push_back(value);
    rest.remove_prefix(close + (secret ? 2 : 1));
  }
  return out;
}

std::vector<CorpusText> corpus(std::uint64_t seed) {
  Random random(seed);
  std::ifstream file(std::string(CAIRN_TESTS_DIR) + "/gate/corpus.txt");
  std::vector<CorpusText> out;
  std::string carrier;
  int list = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      carrier = line.substr(3, line.size() - 5);
      list = line.back() - '0';
    } else if (!line.empty() && list > 0) {
      out.push_back(draw(random, unescaped(line)));
      out.back().carrier = carrier;
      out.back().list = list;
    }
  }
  return out;
}

}  // namespace cairn::test
