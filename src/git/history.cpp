#include "git/history.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"

namespace cairn::git {

namespace {

constexpr std::size_t kMostCommits = 500'000;
constexpr std::size_t kMaxConfig = 256u << 10;
constexpr std::size_t kMaxChain = 64u << 10;
constexpr std::size_t kMostGraphs = 100;
constexpr std::uint32_t kNoParent = 0x70000000;  // as the file has it; positions are below it

std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::optional<std::string> bytes_at(os::File& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  const auto read = file.read_at(offset, bytes.data(), size);
  if (!read || *read != size) return std::nullopt;
  return bytes;
}

}  // namespace

// See git's commit-graph-format document: a table of chunks, of which we use three.
struct CommitGraph::File {
  std::unique_ptr<os::File> file;
  std::uint64_t fan_out = 0, ids = 0, commits = 0;  // offsets of the chunks
  std::uint32_t first = 0, count = 0;               // positions

  static std::unique_ptr<File> open(os::Disk& disk, const std::string& path, std::uint32_t first) {
    auto opened = disk.open(path, os::Open::read);
    if (!opened) return nullptr;
    auto graph = std::make_unique<File>();
    graph->file = *std::move(opened);
    graph->first = first;
    const auto head = bytes_at(*graph->file, 0, 8);
    if (!head || !head->starts_with(std::string_view("CGPH\x01\x01", 6))) return nullptr;  // SHA-1
    const auto chunks = static_cast<unsigned char>((*head)[6]);
    const auto table = bytes_at(*graph->file, 8, chunks * std::size_t{12});
    if (!table) return nullptr;
    for (std::size_t i = 0; i < chunks; ++i) {
      const std::string_view row = std::string_view(*table).substr(i * 12, 12);
      const std::uint64_t offset = number_of(row.substr(4));
      if (row.starts_with("OIDF")) graph->fan_out = offset;
      if (row.starts_with("OIDL")) graph->ids = offset;
      if (row.starts_with("CDAT")) graph->commits = offset;
    }
    if (!graph->fan_out || !graph->ids || !graph->commits) return nullptr;
    const auto count = bytes_at(*graph->file, graph->fan_out + 255 * 4, 4);
    if (!count || number_of(*count) >= kNoParent - first) return nullptr;
    graph->count = static_cast<std::uint32_t>(number_of(*count));
    return graph;
  }

  std::optional<std::string> id_at(std::uint32_t row) {
    return bytes_at(*file, ids + std::uint64_t{row} * kObjectIdSize, kObjectIdSize);
  }

  // Binary search in the sorted ids. The fan-out table has for each first byte how many ids begin with it or
  // with a lower one.
  std::optional<std::uint32_t> find(const ObjectId& commit) {
    const auto begin = static_cast<unsigned char>(commit[0]);
    const auto up_to = [&](unsigned byte) {
      const auto bytes = bytes_at(*file, fan_out + byte * 4u, 4);
      return bytes ? static_cast<std::uint32_t>(std::min<std::uint64_t>(number_of(*bytes), count)) : 0;
    };
    std::uint32_t low = begin ? up_to(begin - 1u) : 0, high = up_to(begin);
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const auto there = id_at(middle);
      if (!there) return std::nullopt;
      if (*there == commit) return first + middle;
      *there < commit ? low = middle + 1 : high = middle;
    }
    return std::nullopt;
  }
};

// Git writes one file, or a chain of files, of which each continues the positions of those before.
CommitGraph::CommitGraph(os::Disk& disk, const std::string& common) {
  const std::string info = common + "/objects/info/";
  add(disk, info + "commit-graph");
  if (!files_.empty()) return;
  const std::string chain =
      os::read_file(disk, info + "commit-graphs/commit-graph-chain", kMaxChain).value_or("");
  for (const std::string_view line : split(chain, '\n')) {
    if (line.empty()) continue;
    const std::size_t before = files_.size();
    const bool is_hash = line.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (is_hash && before < kMostGraphs)
      add(disk, info + "commit-graphs/graph-" + std::string(line) + ".graph");
    if (files_.size() == before) {  // later positions would be wrong
      files_.clear();
      return;
    }
  }
}

CommitGraph::~CommitGraph() = default;

void CommitGraph::add(os::Disk& disk, const std::string& path) {
  const std::uint32_t first = files_.empty() ? 0 : files_.back()->first + files_.back()->count;
  if (auto file = File::open(disk, path, first)) files_.push_back(std::move(file));
}

const CommitGraph::File* CommitGraph::file_of(std::uint32_t position) const {
  for (const auto& file : files_)
    if (position >= file->first && position - file->first < file->count) return file.get();
  return nullptr;
}

std::optional<std::uint32_t> CommitGraph::find(const ObjectId& commit) {
  for (const auto& file : files_)
    if (const auto position = file->find(commit)) return position;
  return std::nullopt;
}

Result<std::optional<std::uint32_t>> CommitGraph::parent(std::uint32_t position) {
  const File* graph = file_of(position);
  constexpr std::uint64_t kRow = kObjectIdSize + 16;  // tree, two parents, generation and time
  const auto bytes =
      graph ? bytes_at(*graph->file, graph->commits + (position - graph->first) * kRow + kObjectIdSize, 4)
            : std::nullopt;
  if (!bytes) return Error{Code::corrupt, "commit-graph: it ends too early"};
  const auto parent = static_cast<std::uint32_t>(number_of(*bytes));
  return parent == kNoParent ? std::nullopt : std::optional(parent);
}

Result<ObjectId> CommitGraph::id(std::uint32_t position) {
  const File* graph = file_of(position);
  auto bytes =
      graph ? bytes_at(*graph->file, graph->ids + std::uint64_t{position - graph->first} * kObjectIdSize,
                       kObjectIdSize)
            : std::nullopt;
  if (!bytes) return Error{Code::corrupt, "commit-graph: it ends too early"};
  return *std::move(bytes);
}

RootSearch::RootSearch(os::Disk& disk, const std::string& common, const std::string& git_dir,
                       std::optional<std::string> known_head, std::optional<std::string> known_root)
    : objects_(disk, common),
      graph_(disk, common),
      known_head_(std::move(known_head)),
      known_root_(std::move(known_root)) {
  const auto head = objects_.head(git_dir);
  is_done_ = !head || !*head;
  if (is_done_) return;
  at_ = **head;
  head_ = to_hex(at_);
  // A shallow clone: parents of its oldest commits are missing.
  is_done_ = disk.stat(common + "/shallow").ok();
}

RootSearch::~RootSearch() = default;

bool RootSearch::step(std::size_t commits, os::Clock& clock, std::int64_t deadline) {
  for (std::size_t i = 0; !is_done_ && i < commits; ++i) {
    if (i % 64 == 63 && clock.boot_ns() > deadline) break;
    is_done_ = one() || ++read_ >= kMostCommits;
  }
  return is_done_;
}

// Moves from a commit to its parent. True: the search is over. New commits are read as objects until one is
// in the commit-graph. From there the graph alone is followed, which is much faster: it has all ancestors of
// each of its commits.
bool RootSearch::one() {
  if (position_) {
    const auto parent = graph_.parent(*position_);
    if (!parent) return true;
    if (*parent) {
      position_ = *parent;
      return false;
    }
    if (const auto id = graph_.id(*position_)) root_ = to_hex(*id);
    return true;
  }
  if (known_head_ == to_hex(at_)) {
    root_ = known_root_;
    return true;
  }
  if ((position_ = graph_.find(at_))) return false;
  const auto commit = objects_.read(at_);
  if (!commit || commit->kind != ObjectKind::commit) return true;
  const auto parent = first_parent(*commit);
  if (!parent) {
    root_ = to_hex(at_);
    return true;
  }
  at_ = *parent;
  return false;
}

namespace {

bool is_host(std::string_view text) {
  return !text.empty() && text.find_first_of("/ \t") == std::string_view::npos;
}

// `text` without "user:password@" before `end`.
std::string_view without_user(std::string_view text, std::size_t end) {
  const std::size_t at = text.substr(0, end).find_last_of('@');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

}  // namespace

std::string plain_remote(std::string_view url) {
  url = trim(url);
  std::string out;
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    const std::string kind = ascii_lower(url.substr(0, scheme));
    std::string_view rest = url.substr(scheme + 3);
    // A token may be in the query. In the path of a file, `?` and `#` are usual characters.
    if (kind != "file") rest = rest.substr(0, rest.find_first_of("?#"));
    // Text before the last @ of the host part is a user name and password.
    rest = without_user(rest, rest.find('/'));
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (kind != "file" && !is_host(rest.substr(0, slash))) return "";
    out = ascii_lower(rest.substr(0, slash)) + std::string(rest.substr(slash));
  } else if (const std::string_view rest = without_user(url, url.find('/'));
             is_host(rest.substr(0, rest.find(':'))) && rest.find(':') < rest.find('/')) {  // git@host:path
    const std::size_t end = rest.find(':');
    std::string_view path = rest.substr(end + 1);
    while (path.starts_with('/')) path.remove_prefix(1);
    out = ascii_lower(rest.substr(0, end)) + "/" + std::string(path);
  } else {
    out = url;
  }
  // Different spellings of one address become equal: shop, shop/, shop.git, shop/.git/.
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  if (out.size() > 4 && out.ends_with(".git")) out.resize(out.size() - 4);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

namespace {

// The value of a line "name = value" without comments and quotes.
std::string value_of(std::string_view text) {
  std::string out;
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && (text[i] == '#' || text[i] == ';')) {
      break;
    } else {
      out += text[i] == '\\' && i + 1 < text.size() ? text[++i] : text[i];
    }
  }
  return std::string(trim(out));
}

}  // namespace

// Reads the lines of [remote "NAME"] sections only. Includes and rewriting of addresses are not followed.
std::optional<std::string> remote_of(os::Disk& disk, const std::string& common) {
  const auto config = os::read_file(disk, common + "/config", kMaxConfig);
  if (!config) return std::nullopt;
  std::string section, found;
  for (const std::string_view raw : split(*config, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[')) {
      section = line;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || !ascii_lower(section).starts_with("[remote ")) continue;
    if (ascii_lower(trim(line.substr(0, equals))) != "url") continue;
    const std::string address = plain_remote(value_of(line.substr(equals + 1)));
    if (section.find("\"origin\"") != std::string::npos && !address.empty()) return address;
    if (found.empty()) found = address;
  }
  return found.empty() ? std::nullopt : std::optional(found);
}

}  // namespace cairn::git
