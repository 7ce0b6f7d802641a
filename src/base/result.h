// Errors as values.
//
// A function that can fail returns Result<T>: a T, or an Error with a code that the caller can decide on and
// a message that grows on the way up ("restore: open backup 12: no such file"). TRY(expr) yields the value or
// returns the error from the enclosing function.
#pragma once

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cairn {

// Each code is a decision: retry (busy, timeout), warn the user (full, denied, invalid), quarantine
// (corrupt).
enum class Code { busy, not_found, corrupt, full, denied, timeout, canceled, invalid, unsupported, internal };

std::string_view code_name(Code code);

struct [[nodiscard]] Error {
  Code code = Code::internal;
  std::string message;

  // The same error with `context: ` before its message.
  Error in(std::string_view context) && {
    message.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }
};

// The error of a failed system call, from errno: ENOSPC, EFBIG and EDQUOT are `full`, EACCES, EPERM and EROFS
// `denied`, ENOENT and ENOTDIR `not_found`, EAGAIN and EBUSY `busy`, ETIMEDOUT `timeout`, all others
// `internal`.
Error errno_error(std::string_view what, int error_number);

// Ends the process with a message. For states that no input can reach; stays on in release.
[[noreturn]] void panic(const char* file, int line, const char* what);
#define CAIRN_ASSERT(condition)                                       \
  do {                                                                \
    if (!(condition)) ::cairn::panic(__FILE__, __LINE__, #condition); \
  } while (false)

// The error of a result, or none. A pointer, because a result is returned at every step of the way up: with
// the Error itself in it, most of the machine code of this program would move and destroy errors that never
// happen.
class MaybeError {
 public:
  MaybeError() = default;
  explicit MaybeError(Error error);
  MaybeError(const MaybeError& other);
  MaybeError(MaybeError&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  MaybeError& operator=(MaybeError other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~MaybeError() {
    if (error_) [[unlikely]]
      free();
  }

  bool is_none() const { return !error_; }
  // There must be one.
  Error& error() const {
    CAIRN_ASSERT(error_);
    return *error_;
  }

 private:
  void free() noexcept;

  Error* error_ = nullptr;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}
  Result(MaybeError error) : error_(std::move(error)) {}

  bool ok() const { return error_.is_none(); }
  explicit operator bool() const { return ok(); }

  // The value. The result must be ok.
  T& value() & {
    CAIRN_ASSERT(value_);
    return *value_;
  }
  const T& value() const& {
    CAIRN_ASSERT(value_);
    return *value_;
  }
  T&& value() && {
    CAIRN_ASSERT(value_);
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The error. The result must not be ok.
  const Error& error() const& { return error_.error(); }
  Error&& error() && { return std::move(error_.error()); }
  // The same for passing it on unchanged.
  MaybeError maybe_error() && { return std::move(error_); }

  Result in(std::string_view context) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().in(context);
  }
  T value_or(T fallback) && { return ok() ? std::move(*this).value() : std::move(fallback); }

 private:
  MaybeError error_;
  std::optional<T> value_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  Result(MaybeError error) : error_(std::move(error)) {}

  bool ok() const { return error_.is_none(); }
  explicit operator bool() const { return ok(); }
  void value() const { CAIRN_ASSERT(ok()); }
  const Error& error() const& { return error_.error(); }
  Error&& error() && { return std::move(error_.error()); }
  MaybeError maybe_error() && { return std::move(error_); }
  Result in(std::string_view context) && {
    if (ok()) return {};
    return std::move(*this).error().in(context);
  }

 private:
  MaybeError error_;
};

using Status = Result<void>;

// Marks a result whose failure the caller ignores on purpose.
template <class T>
void ignore(Result<T>&&) {}

}  // namespace cairn

// The counter makes the names unique, so that one TRY may contain another.
#define TRY(expression) CAIRN_TRY_NAMED(CAIRN_JOIN(try_result_, __COUNTER__), expression)
#define CAIRN_JOIN(a, b) CAIRN_JOIN_NOW(a, b)
#define CAIRN_JOIN_NOW(a, b) a##b
#define CAIRN_TRY_NAMED(name, expression)   \
  __extension__({                           \
    auto name = (expression);               \
    if (!name.ok()) [[unlikely]]            \
      return std::move(name).maybe_error(); \
    std::move(name).value();                \
  })
