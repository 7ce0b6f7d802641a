#include "documents/template.h"

#include <algorithm>

#include "base/text.h"
#include "documents/text.h"

namespace cairn::documents {

static constexpr std::string_view kDefault =
    R"md(The sections of a document. A heading that ends in "(optional)" is left out when there is nothing for it;
words in double braces are filled in by `cairn save`.

## Session Summary

{{summary}}

## Accomplishments

{{accomplishments}}

## Key Decisions & Patterns (optional)

{{decisions}}

## User Preferences & Decisions (optional)

{{preferences}}

## Failed Approaches

{{failed}}

## Git Context (optional)

{{git}}

## Current State

{{state}}

## Remaining Todos

{{open}}

## Next Steps

{{next}}

## Key Files

{{files}}

## Environment Notes (optional)

## Test Status (optional)

## Technical Debt (optional)

## Code Understanding (optional)

{{findings}}

## Warnings & Gotchas (optional)

{{gotchas}}

## References Used (optional)
)md";

std::string_view default_template() {
  return kDefault;
}

const TemplateSection* Template::find(std::string_view name) const {
  const std::string wanted = ascii_lower(name);
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const TemplateSection& section) {
    return ascii_lower(section.name) == wanted;
  });
  return found == sections.end() ? nullptr : &*found;
}

Template read_template(std::string_view markdown) {
  constexpr std::string_view kOptional = "(optional)";
  Template form;
  for (Section& section : read_text(markdown).sections) {
    if (section.name.empty()) continue;
    TemplateSection& one = form.sections.emplace_back();
    one.text = std::move(section.text);
    one.optional = section.name.ends_with(kOptional);
    if (one.optional) section.name.resize(section.name.size() - kOptional.size());
    one.name = trim(section.name);
  }
  return form;
}

}  // namespace cairn::documents
