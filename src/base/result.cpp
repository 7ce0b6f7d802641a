#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace cairn {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::busy: return "busy";
    case Code::not_found: return "not_found";
    case Code::corrupt: return "corrupt";
    case Code::full: return "full";
    case Code::denied: return "denied";
    case Code::timeout: return "timeout";
    case Code::canceled: return "canceled";
    case Code::invalid: return "invalid";
    case Code::unsupported: return "unsupported";
    case Code::internal: return "internal";
  }
  return "internal";
}

static Code code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return Code::full;
    case EACCES:
    case EPERM:
    case EROFS: return Code::denied;
    case ENOENT:
    case ENOTDIR: return Code::not_found;
    case EAGAIN:
    case EBUSY: return Code::busy;
    case ETIMEDOUT: return Code::timeout;
    default: return Code::internal;
  }
}

Error errno_error(std::string_view what, int error_number) {
  std::string message(what);
  message += ": ";
  // Unlike strerror(), this is safe with threads and never translated.
  message += strerrordesc_np(error_number) ? strerrordesc_np(error_number) : "unknown error";
  return {code_of(error_number), std::move(message)};
}

// Not in the header: these are rare, and would be compiled into every function that returns a result.
MaybeError::MaybeError(Error error) : error_(new Error(std::move(error))) {}

MaybeError::MaybeError(const MaybeError& other) : error_(other.error_ ? new Error(*other.error_) : nullptr) {}

void MaybeError::free() noexcept {
  delete error_;
}

void panic(const char* file, int line, const char* what) {
  std::fprintf(stderr, "cairn: %s:%d: assertion failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace cairn
