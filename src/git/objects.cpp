#include "git/objects.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"

namespace cairn::git {

namespace {

// How an object is read: find() searches the indexes of the packs for the position of its entry. The entry is
// the object itself, or a delta (copy this, insert that) against another entry, and so on. read() collects
// the deltas down to an entry that is whole, and applies them in reverse. What is in no pack is a loose
// object: a file of its own. Git's document gitformat-pack describes packs and their indexes.
//
// The limits below are for damaged and hostile files: no content makes it read or allocate without end.
constexpr std::size_t kMaxObject = 8u << 20;
constexpr std::size_t kMaxRefs = 16u << 20;
constexpr std::size_t kMaxPacks = 200;
constexpr int kMaxBorrowed = 5;           // depth of repositories that use objects of each other
constexpr std::size_t kMaxDeltas = 4096;  // more than git makes
constexpr int kDeltaNearby = 6, kDeltaOfId = 7;

Error damaged(const char* what) {
  return Error{Code::corrupt, std::string("git object: ") + what};
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

Result<std::string> read_at(os::File& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  bytes.resize(TRY(file.read_at(offset, bytes.data(), size)));
  return bytes;
}

Result<std::string> read_exactly(os::File& file, std::uint64_t offset, std::size_t size) {
  std::string bytes = TRY(read_at(file, offset, size));
  if (bytes.size() != size) return damaged("it ends too early");
  return bytes;
}

// Inflates a file from `offset` on, to at most `max` bytes. A pack does not say how many bytes the deflated
// data has, so the file is read in small pieces until the data ends.
Result<std::string> inflate_from(os::File& file, std::uint64_t offset, std::size_t max) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return Error{Code::internal, "inflate: no memory"};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
  std::string out, in;
  int state = Z_OK;
  while (state == Z_OK && out.size() < max) {
    if (stream.avail_in == 0) {
      in = TRY(read_at(file, offset, 4096));
      if (in.empty()) return damaged("it ends too early");
      offset += in.size();
      stream.next_in = reinterpret_cast<unsigned char*>(in.data());
      stream.avail_in = static_cast<unsigned>(in.size());
    }
    const std::size_t have = out.size();
    out.resize(std::min(max, have + 4096));
    stream.next_out = reinterpret_cast<unsigned char*>(out.data() + have);
    stream.avail_out = static_cast<unsigned>(out.size() - have);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  if (state != Z_OK && state != Z_STREAM_END) return damaged("it cannot be inflated");
  return out;
}

// Takes a number from the beginning of `bytes`: seven bits a byte, low bits first.
std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

// A delta instruction that copies from the base. Bytes of offset and size that are 0 are left out.
bool copy_part(unsigned char code, std::string_view& delta, const std::string& base, std::string& out) {
  std::size_t offset = 0, size = 0;
  for (int bit = 0; bit < 7; ++bit) {
    if (!(code & 1 << bit)) continue;
    if (delta.empty()) return false;
    const std::size_t byte = static_cast<unsigned char>(delta[0]);
    delta.remove_prefix(1);
    (bit < 4 ? offset : size) |= byte << 8 * (bit < 4 ? bit : bit - 4);
  }
  if (size == 0) size = 0x10000;  // as the format says: a copy of nothing is never written
  if (offset > base.size() || size > base.size() - offset) return false;
  out.append(base, offset, size);
  return true;
}

// A delta: the size of its base, the size of the result, then instructions. An instruction with the highest
// bit set copies from the base; any other is the number of bytes that follow it and are inserted.
Result<std::string> apply_delta(const std::string& base, std::string_view delta) {
  const auto from = take_number(delta), to = take_number(delta);
  if (!from || !to || *from != base.size() || *to > kMaxObject) return damaged("a delta for another base");
  std::string out;
  out.reserve(static_cast<std::size_t>(*to));
  while (!delta.empty() && out.size() <= *to) {
    const auto code = static_cast<unsigned char>(delta[0]);
    delta.remove_prefix(1);
    if (code & 0x80) {
      if (!copy_part(code, delta, base, out)) return damaged("a delta that reads beyond its base");
    } else {
      if (code == 0 || code > delta.size()) return damaged("an invalid delta");
      out.append(delta.substr(0, code));
      delta.remove_prefix(code);
    }
  }
  if (out.size() != *to) return damaged("a delta with a wrong size");
  return out;
}

// Takes the distance back to a delta's base: seven bits a byte, high bits first; each further byte adds one
// (git's "offset encoding").
std::optional<std::uint64_t> take_distance(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9 && !bytes.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value = (i == 0 ? 0 : value + 1) << 7 | (byte & 0x7f);
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

// The id that 40 hex digits write; nothing for any other text.
std::optional<ObjectId> id_of(std::string_view hex) {
  if (hex.size() != 2 * kObjectIdSize) return std::nullopt;
  ObjectId id;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [end, failed] = std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (failed != std::errc() || end != hex.data() + i + 2) return std::nullopt;
    id += static_cast<char>(value);
  }
  return id;
}

}  // namespace

struct Objects::Pack {
  std::string path;  // without its ending
  std::unique_ptr<os::File> index, objects;
};

Objects::Objects(os::Disk& disk, std::string common) : disk_(disk), common_(std::move(common)) {
  add_store(common_ + "/objects", 0);
}

Objects::~Objects() = default;

// Packs are only listed here; find() opens them when it gets to them. `info/alternates` names other
// repositories whose objects this one uses, as after `git clone --shared`.
void Objects::add_store(const std::string& objects, int depth) {
  stores_.push_back(objects);
  for (const std::string& name : disk_.list(objects + "/pack").value_or({}))
    if (name.ends_with(".idx") && packs_.size() < kMaxPacks) {
      packs_.push_back(std::make_unique<Pack>());
      packs_.back()->path = objects + "/pack/" + name.substr(0, name.size() - 4);
    }
  const std::string borrowed = os::read_file(disk_, objects + "/info/alternates", 64u << 10).value_or("");
  for (const std::string_view line : split(borrowed, '\n'))
    if (!line.empty() && line[0] != '#' && depth < kMaxBorrowed && stores_.size() < 10)
      add_store(line[0] == '/' ? std::string(line) : objects + "/" + std::string(line), depth + 1);
}

// A pack index of version 2 has a fan-out table (how many ids begin with at most this byte), the sorted ids,
// their checksums, their offsets.
std::optional<Objects::Found> Objects::find(const ObjectId& id) {
  for (const auto& pack : packs_) {
    if (!pack->index) {
      auto opened = disk_.open(pack->path + ".idx", os::Open::read);
      if (!opened) continue;
      pack->index = std::move(*opened);
    }
    os::File& index = *pack->index;
    const auto number = [&](std::uint64_t at, std::size_t size) {
      const auto bytes = read_exactly(index, at, size);
      return bytes ? big_endian(*bytes) : 0;
    };
    constexpr std::uint64_t kFanOut = 8, kIds = kFanOut + 256 * 4;
    if (number(0, 8) != 0xff744f6300000002) continue;  // "\377tOc" and version 2
    const auto first = static_cast<unsigned char>(id[0]);
    const std::uint64_t count = number(kFanOut + 255 * 4, 4);
    std::uint64_t low = first ? number(kFanOut + (first - 1u) * 4, 4) : 0;
    std::uint64_t high = number(kFanOut + first * 4u, 4);
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      const auto there = read_exactly(index, kIds + middle * kObjectIdSize, kObjectIdSize);
      if (!there) break;
      if (*there == id) {
        // Offsets have 31 bits. With the highest bit set they are a row of a second table, of 64 bits each.
        const std::uint64_t offsets = kIds + count * (kObjectIdSize + 4);
        const std::uint64_t offset = number(offsets + middle * 4, 4);
        if (!(offset & 0x80000000)) return Found{pack.get(), offset};
        return Found{pack.get(), number(offsets + count * 4 + (offset & 0x7fffffff) * 8, 8)};
      }
      *there < id ? low = middle + 1 : high = middle;
    }
  }
  return std::nullopt;
}

Result<Object> Objects::read_loose(const ObjectId& id) {
  const std::string hex = to_hex(id);
  for (const std::string& store : stores_) {
    const auto file = disk_.open(store + "/" + hex.substr(0, 2) + "/" + hex.substr(2), os::Open::read);
    if (!file) continue;
    const std::string bytes = TRY(inflate_from(**file, 0, kMaxObject));
    const std::size_t head = bytes.find('\0');
    if (head == std::string::npos) return damaged("it has no header");
    const std::string size = std::to_string(bytes.size() - head - 1);
    for (const auto& [name, kind] :
         {std::pair("commit ", ObjectKind::commit), std::pair("tree ", ObjectKind::tree)})
      if (bytes.substr(0, head) == name + size) return Object{kind, bytes.substr(head + 1)};
    return damaged("unexpected kind or size");
  }
  return Error{Code::not_found, "git object " + hex};
}

// An entry's header: kind and size (four bits, then seven a byte), and a delta's base. The deflated bytes
// follow.
Result<Objects::PackedHead> Objects::read_head(const Found& at) {
  if (!at.pack->objects) at.pack->objects = TRY(disk_.open(at.pack->path + ".pack", os::Open::read));
  const std::string bytes = TRY(read_at(*at.pack->objects, at.offset, 64));
  if (bytes.empty()) return damaged("it ends too early");
  std::string_view rest = bytes;
  const auto first = static_cast<unsigned char>(rest[0]);
  rest.remove_prefix(1);
  PackedHead head;
  head.kind = first >> 4 & 7;
  const auto more = first & 0x80 ? take_number(rest) : 0;
  if (!more || *more > kMaxObject) return damaged("it is too large");
  head.size = static_cast<std::size_t>(*more << 4 | (first & 0x0f));
  if (head.size > kMaxObject) return damaged("it is too large");
  if (head.kind == kDeltaOfId) {
    head.base = rest.substr(0, kObjectIdSize);
    if (head.base.size() != kObjectIdSize) return damaged("it ends too early");
    rest.remove_prefix(kObjectIdSize);
  }
  if (head.kind == kDeltaNearby) {
    const auto back = take_distance(rest);
    if (!back || *back == 0 || *back > at.offset) return damaged("a delta without a base");
    head.base_offset = at.offset - *back;
  }
  head.data = at.offset + static_cast<std::uint64_t>(rest.data() - bytes.data());
  return head;
}

Result<Object> Objects::read(const ObjectId& id) {
  std::vector<std::string> deltas;
  std::size_t total = 0;
  auto at = find(id);
  if (!at) return read_loose(id);
  Object object{ObjectKind::commit, ""};
  for (;;) {
    const PackedHead head = TRY(read_head(*at));
    std::string bytes = TRY(inflate_from(*at->pack->objects, head.data, head.size));
    total += bytes.size();
    if (bytes.size() != head.size || total > 2 * kMaxObject || deltas.size() > kMaxDeltas)
      return damaged("its size is wrong");
    if (head.kind != kDeltaNearby && head.kind != kDeltaOfId) {
      // May be a kind that ObjectKind does not name (a file's content, a tag): callers compare the kind.
      object = {static_cast<ObjectKind>(head.kind), std::move(bytes)};
      break;
    }
    deltas.push_back(std::move(bytes));
    if (head.kind == kDeltaNearby) {
      at->offset = head.base_offset;
    } else if (!(at = find(head.base))) {
      object = TRY(read_loose(head.base));
      break;
    }
  }
  for (auto delta = deltas.rbegin(); delta != deltas.rend(); ++delta)
    object.bytes = TRY(apply_delta(object.bytes, *delta));
  return object;
}

// Each entry is "MODE NAME", a NUL and the id as 20 bytes; the mode is octal.
Result<std::vector<TreeEntry>> Objects::tree(const ObjectId& id) {
  const Object object = TRY(read(id));
  if (object.kind != ObjectKind::tree) return damaged("not a tree");
  std::vector<TreeEntry> entries;
  for (std::string_view rest = object.bytes; !rest.empty();) {
    TreeEntry entry;
    const auto [name, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), entry.mode, 8);
    const std::size_t end = rest.find('\0');
    const auto begin = static_cast<std::size_t>(name - rest.data()) + 1;
    if (failed != std::errc() || end == rest.npos || begin > end || rest.size() - end <= kObjectIdSize)
      return damaged("an invalid tree");
    entry.name = rest.substr(begin, end - begin);
    entry.id = rest.substr(end + 1, kObjectIdSize);
    rest.remove_prefix(end + 1 + kObjectIdSize);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// The commit of HEAD, which has an id or the name of a reference ("ref: refs/heads/main"). A reference is a
// file of the worktree or of the shared part, or a line of packed-refs. Nothing when the branch has no commit
// yet: then there is no such reference.
Result<std::optional<ObjectId>> Objects::resolve(const std::string& git_dir) {
  std::string name = "HEAD";
  for (int links = 0; links < 5; ++links) {
    auto text = os::read_file(disk_, git_dir + "/" + name, 4096);
    if (!text) text = os::read_file(disk_, common_ + "/" + name, 4096);
    if (!text) return packed_ref(name);
    const std::string_view line = trim(*text);
    if (!line.starts_with("ref: refs/")) {
      const auto id = id_of(line);
      if (!id) return damaged("an invalid reference");
      return id;
    }
    name = line.substr(5);
    // HEAD says "refs/heads/.invalid" when the repository keeps references in another form (reftable).
    if (name.find("..") != name.npos || name.ends_with("/.invalid"))
      return Error{Code::unsupported, "git reference " + name};
  }
  return damaged("references that form a loop");
}

// Lines are "ID NAME".
Result<std::optional<ObjectId>> Objects::packed_ref(const std::string& name) {
  auto text = os::read_file(disk_, common_ + "/packed-refs", kMaxRefs);
  if (!text && text.error().code != Code::not_found) return text.error();
  const std::string all = std::move(text).value_or("");
  const std::size_t at = all.find(" " + name + "\n");
  if (at == all.npos) return std::optional<ObjectId>();
  const auto id =
      at < 2 * kObjectIdSize ? std::nullopt : id_of(all.substr(at - 2 * kObjectIdSize, 2 * kObjectIdSize));
  if (!id) return damaged("an invalid reference");
  return id;
}

// A commit begins with a line for its tree, then one for each parent.
std::optional<ObjectId> first_parent(const Object& commit) {
  constexpr std::string_view kParent = "parent ";
  const std::string_view bytes = commit.bytes;
  const std::size_t line = bytes.find('\n');
  if (line == bytes.npos || !bytes.substr(line + 1).starts_with(kParent)) return std::nullopt;
  return id_of(bytes.substr(line + 1 + kParent.size(), 2 * kObjectIdSize));
}

Result<std::optional<ObjectId>> Objects::head_tree(const std::string& git_dir) {
  const auto commit = TRY(resolve(git_dir));
  if (!commit) return commit;
  const Object object = TRY(read(*commit));
  const std::string_view bytes = object.bytes;
  const auto tree = bytes.starts_with("tree ") ? id_of(bytes.substr(5, 2 * kObjectIdSize)) : std::nullopt;
  if (object.kind != ObjectKind::commit || !tree) return damaged("not a commit");
  return tree;
}

}  // namespace cairn::git
