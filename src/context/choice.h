// Which units of a session are shown within a number of bytes: those that say most that was not said yet, for
// their size.
//
// A unit brings concepts: names and numbers, and other words. Its gain is its weight times the sum of its
// concepts, each worth a tenth for every time it was said already, divided by its size. The best comes first,
// until nothing fits. Deterministic: of equal gains the earlier unit wins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::context {

// What was said, and what is talked about.
class Concepts {
 public:
  struct Use {
    int id = 0;
    double value = 0;
    bool figure = false;  // a number that tells how many or how much, with a short unit at most
    std::uint64_t hash = 0;
  };
  // The concepts of a text, each once.
  std::vector<Use> of(std::string_view text);
  // They count as said from now on.
  void count(const std::vector<Use>& uses);
  void count(std::string_view text) { count(of(text)); }
  // Texts that say what matters (prompts, subjects of commits): their words are worth more.
  void stress(std::string_view text);
  // What the concepts bring now.
  double news(const std::vector<Use>& uses) const;

 private:
  int id_of(std::string word, bool is_name);
  struct Known {
    std::uint64_t hash = 0;
    double value = 1;
    double left = 1;  // a tenth after each time it was said
    bool stressed = false;
  };
  std::unordered_map<std::string, int> ids_;
  std::vector<Known> known_;
};

// One thing to choose.
struct Candidate {
  double weight = 1;
  std::size_t bytes = 0;  // what printing it costs
  std::size_t group = 0;  // its heading: the first of a group pays for it
  std::size_t turn = 0;   // and its turn, likewise
  std::size_t before =
      0;  // candidates of one paragraph that follow each other: the place of the one before + 1
  bool continues = false;
  std::vector<Concepts::Use> concepts;
  bool chosen = false;
};

struct GroupCosts {
  std::vector<std::size_t> groups;  // bytes of each heading
  std::vector<std::size_t> turns;
};

// Marks what is chosen within `room` bytes; returns how many of them are used.
std::size_t choose(std::vector<Candidate>& candidates, GroupCosts costs, std::size_t room,
                   Concepts& concepts);

}  // namespace cairn::context
