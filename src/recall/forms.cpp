#include "recall/forms.h"

#include <unordered_map>

#include "base/text.h"

namespace cairn::recall {

namespace {

// The first is the one that takes endings. Left out: forms that are mostly another word ("left", "rose",
// "bound", "ground"), and stop words.
constexpr std::string_view kForms =
    "become became/begin began begun/bend bent/blow blew blown/break broke broken/bring brought/"
    "build built/burn burnt/buy bought/catch caught/choose chose chosen/come came/deal dealt/dig dug/"
    "draw drew drawn/dream dreamt/drink drank drunk/drive drove driven/eat ate eaten/fall fell fallen/"
    "feed fed/feel felt/fight fought/find found/flee fled/fly flew flown/forbid forbade forbidden/"
    "forget forgot forgotten/freeze froze frozen/get got gotten/give gave given/go went gone/"
    "grow grew grown/hang hung/hear heard/hide hid hidden/hold held/keep kept/know knew known/lead led/"
    "learn learnt/lend lent/lose lost/make made/mean meant/meet met/misspell misspelt/overcome overcame/"
    "override overrode overridden/overwrite overwrote overwritten/pay paid/rebuild rebuilt/resend resent/"
    "rewrite rewrote rewritten/ride rode ridden/ring rang rung/run ran/say said/see saw seen/seek sought/"
    "sell sold/send sent/shake shook shaken/shoot shot/show shown/shrink shrank shrunk/sing sang sung/"
    "sink sank sunk/sit sat/sleep slept/slide slid/speak spoke spoken/spend spent/spin spun/stand stood/"
    "steal stole stolen/stick stuck/strike struck/swim swam swum/swing swung/take took taken/"
    "teach taught/tear tore torn/tell told/think thought/throw threw thrown/understand understood/"
    "undo undid undone/wake woke woken/wear wore worn/win won/withdraw withdrew withdrawn/"
    "write wrote written/child children/foot feet/index indices/man men/matrix matrices/mouse mice/"
    "person people/tooth teeth/vertex vertices/woman women";

using FormGroups = std::unordered_map<std::string, std::vector<std::string>>;

// Every form with the other forms of its group. Also words that have the same stem as the first form; some of
// them do not exist, which does no harm.
FormGroups read_groups() {
  FormGroups groups;
  for (const std::string_view group : split(kForms, '/')) {
    const auto words = split(group, ' ');
    const std::vector<std::string> forms(words.begin(), words.end());
    for (const std::string& form : forms)
      for (const std::string& other : forms)
        if (other != form) groups[form].push_back(other);
    const std::string &first = forms.front(), short_one = first.substr(0, first.size() - 1);
    for (const std::string& same :
         {first + "s", first + "es", first + "ing", short_one + "ing", first + first.back() + "ing"})
      groups.try_emplace(same, forms.begin() + 1, forms.end());
  }
  return groups;
}

}  // namespace

std::vector<std::string> other_forms(std::string_view word) {
  static const FormGroups kGroups = read_groups();
  const auto found = kGroups.find(std::string(word));
  return found == kGroups.end() ? std::vector<std::string>() : found->second;
}

}  // namespace cairn::recall
