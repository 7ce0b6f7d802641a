// The real git for tests, without the user's configuration.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/temp_dir.h"

namespace cairn::test {

// Runs shell commands in `dir`; a failure fails the test.
inline void run_git(const TempDir& dir, const std::string& commands) {
  const std::string all =
      "cd '" + dir.path() +
      "' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "
      "GIT_AUTHOR_NAME=d GIT_AUTHOR_EMAIL=d@d GIT_COMMITTER_NAME=d GIT_COMMITTER_EMAIL=d@d "
      "GIT_ALLOW_PROTOCOL=file && { " +
      commands + "; } >>'" + dir.path() + "/git.log' 2>&1";
  ASSERT_EQ(std::system(all.c_str()), 0) << commands << read_text(dir / "git.log");
}

}  // namespace cairn::test
