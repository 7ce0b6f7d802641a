// What the fault tests share: a story of two sessions, and how many of the places to fail at are tried.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/engine_fixture.h"

namespace cairn::test {

using Lines = std::vector<std::string>;

// Every call is a place to fail at. Every third is tried; with a sanitizer, which takes some ten times as
// long, every 23rd. (Odd numbers: an even one would choose the same one of each pair of calls.) With
// CAIRN_FULL all are tried, with a sanitizer every second.
#ifdef CAIRN_CHECKS_ADDRESSES
inline const std::uint64_t kStride = std::getenv("CAIRN_FULL") ? 2 : 23;
#else
inline const std::uint64_t kStride = std::getenv("CAIRN_FULL") ? 1 : 3;
#endif

// How often something random is tried: `few`, under a sanitizer a part of it, with CAIRN_FULL `many`.
inline std::uint64_t tries(std::uint64_t few, std::uint64_t many) {
  return std::getenv("CAIRN_FULL") ? many : (few + kStride - 1) / kStride;
}

// Two sessions of one project, with tools, a failure and an end. `name` sets them apart from others'.
inline void deliver_story(Machine& m, const std::string& name = "") {
  Chat one, two;
  one.session = name + "one";
  two.session = name + "two";
  m.deliver(one.start());
  m.deliver(one.prompt("first request" + name, name + "p1"));
  m.deliver(two.start());
  m.deliver(two.prompt("second request" + name, name + "p2"));
  m.deliver(one.before_tool("Bash", name + "t1", Json::object({{"command", "make"}})));
  m.deliver(one.ran("make", name + "t1"));
  m.deliver(two.wrote("b.txt", name + "t2"));
  m.deliver(one.wrote("a.txt", name + "t3"));
  m.deliver(one.stop("First answer."));
  m.deliver(two.stop_failure());
  m.deliver(two.end());
  m.deliver(one.end());
}

}  // namespace cairn::test
