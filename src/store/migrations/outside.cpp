#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kOutside = R"sql(
-- The few events that brought text from outside: what a turn's summary is labelled by.
CREATE INDEX events_outside ON events(session_db_id, prompt_number, tool_name)
  WHERE (tool_name IN ('WebFetch', 'WebSearch') OR substr(tool_name, 1, 5) = 'mcp__');
)sql";

const std::string_view kOutsideOfAgents = R"sql(
-- The same for the tools of other coding agents.
DROP INDEX events_outside;
CREATE INDEX events_outside ON events(session_db_id, prompt_number, tool_name)
  WHERE (tool_name IN ('WebFetch', 'WebSearch', 'web_fetch', 'web_search', 'webfetch', 'websearch',
                       'google_web_search') OR substr(tool_name, 1, 4) = 'mcp_');
)sql";

}  // namespace cairn::store
