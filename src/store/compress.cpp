#include "store/compress.h"

#include <zstd.h>

#include <memory>

namespace cairn::store {

// Level 3 packs a tool's output to about a fifth at hundreds of MB a second; higher levels gain little on
// small payloads.
static constexpr int kLevel = 3;

static ZSTD_CCtx* compressor() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  // Setting one up costs more than compressing a small payload.
  static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context = [] {
    std::unique_ptr<ZSTD_CCtx, Free> made(ZSTD_createCCtx());
    CAIRN_ASSERT(made != nullptr);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 1);
    return made;
  }();
  return context.get();
}

static ZSTD_DCtx* decompressor() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  static thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  CAIRN_ASSERT(context != nullptr);
  return context.get();
}

std::string compress(std::string_view bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(compressor(), frame.data(), frame.size(), bytes.data(), bytes.size());
  CAIRN_ASSERT(!ZSTD_isError(size));
  frame.resize(size);
  return frame;
}

Result<std::string> decompress(std::string_view frame, std::size_t max) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Error{Code::corrupt, "decompress: not a frame of ours"};
  }
  if (size > max) return Error{Code::invalid, "decompress: content too large"};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const std::size_t got =
      ZSTD_decompressDCtx(decompressor(), bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got)) return Error{Code::corrupt, std::string("decompress: ") + ZSTD_getErrorName(got)};
  if (got != bytes.size()) return Error{Code::corrupt, "decompress: the frame is too short"};
  return bytes;
}

}  // namespace cairn::store
