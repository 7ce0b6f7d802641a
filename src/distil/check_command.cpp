#include "distil/check_command.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace cairn::distil {

namespace {

// Programs that are always checks.
bool always_checks(std::string_view name) {
  return any_of(
      name, {"make",       "ninja",    "ctest",     "pytest",        "tox",        "nox",        "jest",
             "vitest",     "mocha",    "tsc",       "mypy",          "pyright",    "ruff",       "flake8",
             "pylint",     "eslint",   "clippy",    "rspec",         "rubocop",    "phpunit",    "phpstan",
             "gradle",     "gradlew",  "mvn",       "mvnw",          "bazel",      "buck",       "meson",
             "shellcheck", "prettier", "stylelint", "golangci-lint", "gcc",        "g++",        "clang",
             "clang++",    "javac",    "swiftc",    "rustc",         "msbuild",    "xcodebuild", "playwright",
             "cypress",    "ava",      "tap",       "busted",        "pre-commit", "clang-tidy"});
}

// Programs that are checks with some arguments.
bool checks_by_argument(std::string_view name) {
  return any_of(name, {"npm",     "yarn",
                       "pnpm",    "bun",
                       "deno",    "npx",
                       "cargo",   "go",
                       "dotnet",  "mix",
                       "bundle",  "rake",
                       "rails",   "uv",
                       "poetry",  "pipenv",
                       "pdm",     "hatch",
                       "python",  "python3",
                       "node",    "cmake",
                       "swift",   "stack",
                       "cabal",   "composer",
                       "just",    "task",
                       "nx",      "turbo",
                       "flutter", "dart",
                       "zig",     "sbt",
                       "lein",    "php",
                       "docker",  "docker-compose",
                       "sh",      "bash"});
}

// "test", "test:unit", "run_tests.sh", "lint-fix"; not "latest" nor "contest".
bool says_check(std::string_view word) {
  const std::string lower = ascii_lower(word.substr(word.rfind('/') + 1));
  for (std::size_t from = 0; from < lower.size();) {
    const std::size_t end =
        std::min(lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz", from), lower.size());
    if (any_of(std::string_view(lower).substr(from, end - from),
               {"test", "tests",  "check",  "checks",   "lint",   "build",  "typecheck",
                "vet",  "clippy", "pytest", "unittest", "jest",   "vitest", "tsc",
                "mypy", "ruff",   "eslint", "compile",  "verify", "spec"}))
      return true;
    from = end + 1;
  }
  return false;
}

}  // namespace

bool is_check(std::string_view name, std::span<const ShellWord> words) {
  if (any_of(name, {"make", "ninja"}))
    return words.empty() || !any_of(words[0].text, {"clean", "install", "help", "run"});
  if (always_checks(name)) return true;
  // A script of the project: ./check, ./run_tests.sh.
  if ((name.find('.') != std::string_view::npos || name == "check" || name == "build") && says_check(name))
    return true;
  if (!checks_by_argument(name)) return false;
  constexpr std::size_t kWords = 6;  // npm --prefix web run test; docker compose run web pytest
  for (const ShellWord& each : words.first(std::min(words.size(), kWords))) {
    const std::string_view word = each.text;
    // `python -c "..."`: a script that mentions tests is no test.
    if (word.find('\n') != std::string_view::npos) return false;
    // `python -m pytest`, `node --test`, `cmake --build`: these options lead to the word that decides.
    if (word.starts_with('-') && word != "-m" && word != "--test" && word != "--check" && word != "--build")
      continue;
    // `npm install jest` installs a test runner and runs none.
    if (any_of(word, {"install", "add", "init", "start", "logs", "push", "pull"})) return false;
    if (says_check(word)) return true;
  }
  return false;
}

}  // namespace cairn::distil
