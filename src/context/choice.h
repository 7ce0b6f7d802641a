// Chooses which units of a session (sentences, items, rows) are shown within a number of bytes: those with
// the most new content for their size.
//
// A unit has concepts: names, numbers and other words. Its gain is its weight times the sum of its concepts,
// each divided by ten for every time it was said already, divided by the unit's size. The unit with the
// largest gain is taken first, until nothing fits. Deterministic: of equal gains the earlier unit wins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::context {

// Remembers which concepts were said, and which are important.
class Concepts {
 public:
  struct Use {
    int id = 0;
    double value = 0;
    bool figure = false;  // a number that says how many or how much, alone or with a short unit ("25ms")
    std::uint64_t hash = 0;
  };
  // The concepts of a text, each once.
  std::vector<Use> of(std::string_view text);
  // Counts the concepts as said from now on.
  void count(const std::vector<Use>& uses);
  void count(std::string_view text) { count(of(text)); }
  // Adds a text that shows what is important (a prompt, the subject of a commit): its words get a larger
  // weight.
  void emphasise(std::string_view text);
  // The current worth of the concepts.
  double novelty(const std::vector<Use>& uses) const;

 private:
  int id_of(std::string word, bool is_name);
  struct Known {
    std::uint64_t hash = 0;
    double value = 1;
    double left = 1;  // divided by ten each time it is said
    bool emphasised = false;
  };
  std::unordered_map<std::string, int> ids_;
  std::vector<Known> known_;
};

// One unit that can be chosen.
struct Candidate {
  double weight = 1;
  std::size_t bytes = 0;   // what printing it costs
  std::size_t group = 0;   // its heading; the first chosen unit of a group also pays for the heading
  std::size_t turn = 0;    // its turn, whose heading is paid for in the same way
  std::size_t before = 0;  // index + 1 of the candidate before it in the same paragraph; 0: none
  bool continues = false;
  std::vector<Concepts::Use> concepts;
  bool chosen = false;
};

struct GroupCosts {
  std::vector<std::size_t> groups;  // bytes of each heading
  std::vector<std::size_t> turns;
};

// Marks the candidates that are chosen within `room` bytes. Returns the number of bytes used.
std::size_t choose(std::vector<Candidate>& candidates, GroupCosts costs, std::size_t room,
                   Concepts& concepts);

}  // namespace cairn::context
