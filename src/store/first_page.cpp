#include "store/first_page.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn::store {

namespace {

// The layout is SQLite's (its document "Database File Format").
constexpr std::size_t kDbHeader = 100, kFirstPage = 4096;
constexpr std::string_view kDbMagic("SQLite format 3\0", 16);
constexpr std::size_t kMostDamage = 1024;  // two sectors; a page that differs more is another file's

struct Field {
  std::size_t begin, end;
};
// Fields that change with the content: change counter, size, free pages, and the counter they are valid for.
constexpr std::array kVarying = {Field{24, 40}, Field{92, 100}};

bool varies(std::size_t at) {
  return std::any_of(kVarying.begin(), kVarying.end(),
                     [&](const Field& f) { return at >= f.begin && at < f.end; });
}

// How many bytes differ, without the fields that change with the content.
std::size_t difference(std::string_view a, std::string_view b) {
  std::size_t count = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i] && !varies(i) ? 1 : 0;
  return count;
}

std::uint32_t number(std::string_view page, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(page[i]);
  return value;
}

// The header fields that are equal in every database of ours.
void put_constants(std::string& page) {
  page.replace(0, kDbMagic.size(), kDbMagic);
  constexpr std::string_view kFixed("\x10\x00\x02\x02\x00\x40\x20\x20",
                                    8);  // page size, WAL, nothing reserved
  page.replace(16, kFixed.size(), kFixed);
  page.replace(44, 4, std::string_view("\0\0\0\4", 4));          // the format of the schema
  page.replace(52, 8, std::string_view("\0\0\0\0\0\0\0\1", 8));  // no auto-vacuum, UTF-8
}

// Good enough for reading: with a counter that does not match, SQLite takes the size from the file, and
// readers do not use the free pages.
void clear_varying_fields(std::string& page) {
  std::fill(page.begin() + 24, page.begin() + 40, '\0');
  page.replace(92, 4, std::string_view("\0\0\0\1", 4));
}

std::string kept_path(const std::string& path) {
  return path + ".first";
}

Status copy_file(os::Disk& disk, const std::string& from, const std::string& to) {
  const auto source = TRY(disk.open(from, os::Open::read));
  const auto target = TRY(disk.open(to, os::Open::read_write));
  TRY(target->truncate(0));
  std::string block(256u << 10, '\0');
  std::uint64_t at = 0;
  while (const std::size_t size = TRY(source->read_at(at, block.data(), block.size()))) {
    TRY(target->write_at(at, std::string_view(block).substr(0, size)));
    at += size;
  }
  return {};
}

}  // namespace

Result<std::string> read_first_page(os::Disk& disk, const std::string& path) {
  const auto file = TRY(disk.open(path, os::Open::read));
  std::string page(kFirstPage, '\0');
  page.resize(TRY(file->read_at(0, page.data(), page.size())));
  return page;
}

Status check_first_page(std::string_view page) {
  if (page.size() < kDbHeader || !page.starts_with(kDbMagic))
    return Error{Code::corrupt, "it is not a database"};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(page[at]); };
  const std::uint32_t size = byte(16) * 256u + byte(17);  // 1: 65536
  // 18, 19: 1 is a rollback journal, 2 a WAL. 21 to 23 are fixed values. 44: the format of the schema, at
  // most 4. 56: the text encoding, 1 to 3, or 0 in a database without tables.
  const bool undamaged = (size == 1 || (size >= 512 && (size & (size - 1)) == 0)) && byte(18) >= 1 &&
                         byte(18) <= 2 && byte(19) >= 1 && byte(19) <= 2 && byte(21) == 64 &&
                         byte(22) == 32 && byte(23) == 32 && number(page, 44) <= 4 && number(page, 56) <= 3;
  return undamaged ? Status() : Error{Code::corrupt, "its header is damaged"};
}

Status keep_first_page(os::Disk& disk, const std::string& path, std::string_view page) {
  const auto kept = os::read_file(disk, kept_path(path), kFirstPage);
  if (kept && difference(*kept, page) == 0) return {};
  return os::replace_file(disk, kept_path(path), page);
}

Result<bool> copy_with_first_page(os::Disk& disk, const std::string& path, const std::string& damaged,
                                  const std::string& copy) {
  std::string page = TRY(read_first_page(disk, damaged));
  if (page.size() < kFirstPage) return false;
  const auto kept = os::read_file(disk, kept_path(path), kFirstPage);
  std::string repaired = page;
  if (kept && kept->size() == kFirstPage)
    repaired = *kept;
  else
    put_constants(repaired);
  // No difference: the damage is elsewhere. Too much of it: it is another program's file, and with our page
  // its content would be read as rows of ours.
  const std::size_t differs = difference(repaired, page);
  if (differs == 0 || differs > kMostDamage) return false;
  clear_varying_fields(repaired);
  TRY(copy_file(disk, damaged, copy));
  if (disk.stat(damaged + "-wal").ok()) TRY(copy_file(disk, damaged + "-wal", copy + "-wal"));
  TRY(TRY(disk.open(copy, os::Open::read_write))->write_at(0, repaired));
  return true;
}

}  // namespace cairn::store
