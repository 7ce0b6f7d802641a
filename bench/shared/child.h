// What benchmarks share: starting a program as a host starts a hook, and telling the time.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::bench {

[[noreturn]] inline void die(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what.c_str());
  std::exit(2);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) die(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// The value below which `part` of them lie; sorts them.
inline double at(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(part * static_cast<double>(values.size())))];
}

// One child with pipes at both ends, as a host starts it.
struct Child {
  pid_t pid = 0;
  int in[2]{-1, -1}, out[2]{-1, -1};

  void open_pipes() {
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) die("pipe failed");
  }

  void start(const std::vector<std::string>& program) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    std::vector<char*> argv;
    for (const std::string& text : program) argv.push_back(const_cast<char*>(text.c_str()));
    argv.push_back(nullptr);
    if (posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ) != 0)
      die("cannot start " + program[0]);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
  }

  // Writes an event of `size` bytes that begins with `start`, a JSON object up to the text of its last
  // member. A child that does not read is not an error.
  void feed(std::string_view start, std::size_t size) {
    static const std::string filler(64u << 10, 'x');
    std::size_t left = size;
    bool open = put(start.substr(0, left));
    for (left -= std::min(left, start.size()); open && left > 2;) {
      const std::size_t step = std::min(left - 2, filler.size());
      open = put(std::string_view(filler).substr(0, step));
      left -= step;
    }
    if (open) put("\"}");
    close(in[1]);
  }

  bool put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done = write(in[1], bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
  }

  std::string output() {
    char text[4096];
    const ssize_t got = read(out[0], text, sizeof text);
    close(out[0]);
    return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
};

inline void remove_tree(const std::string& directory) {
  const std::string command = "rm -rf '" + directory + "'";
  if (std::system(command.c_str()) != 0) std::fprintf(stderr, "%s remains\n", directory.c_str());
}

}  // namespace cairn::bench
