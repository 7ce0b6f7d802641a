// The records that can be found, by the ids people see: observations O12, summaries S3, prompts P7,
// texts of turns T5 (answers, remarks, messages of commits), passages of archived transcripts A9, tool calls
// E8, documents D2, open items W4.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/records.h"

namespace cairn::recall {

using Kind = store::RecordKind;
using store::load_record;
using store::Record;
using store::RecordId;
using store::summary_of;

std::string text_of(const RecordId& id);
// Reads "O12", in either case. Fails with `invalid`.
Result<RecordId> read_record_id(std::string_view text);

}  // namespace cairn::recall
