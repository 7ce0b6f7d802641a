// Which records contain text of strangers: those made from events of the web or of an MCP server. Not stored
// with the record: looked up in its events, through the index events_outside.
#pragma once

#include <string>

#include "base/text.h"
#include "event/origin.h"
#include "host/host.h"

namespace cairn::store {

// The events that brought text from outside; the same condition as in the index.
#define FROM_OUTSIDE                                                                             \
  "(tool_name IN ('WebFetch', 'WebSearch', 'web_fetch', 'web_search', 'webfetch', 'websearch', " \
  "'google_web_search') OR substr(tool_name, 1, 4) = 'mcp_')"

// The tools that brought text from outside to the observation with the id `o`, as a column.
#define TOOLS_OF_OBSERVATION(o)                                                                    \
  "(SELECT group_concat(DISTINCT tool_name) FROM observation_evidence x JOIN events e ON e.seq = " \
  "x.event_seq WHERE x.observation_id = " o " AND " FROM_OUTSIDE ")"
// The same for the turn `prompt` of the session with the row id `session`.
#define TOOLS_OF_TURN(session, prompt)                                                  \
  "(SELECT group_concat(DISTINCT tool_name) FROM events WHERE session_db_id = " session \
  " AND prompt_number = " prompt " AND " FROM_OUTSIDE ")"

// The origins of the tools in such a column.
inline Origins origins_of(std::string_view tools) {
  Origins origins;
  for (const std::string_view tool : split(tools, ','))
    if (const auto origin = host::origin_of_tool(tool)) origins.insert(*origin);
  return origins;
}

}  // namespace cairn::store
