// The built-in distiller, as other folders use it: from a turn's facts to a summary, observations and open
// items. No I/O, no clock.
#pragma once

#include "distil/answer_lines.h"
#include "distil/likeness.h"
#include "distil/mode.h"
#include "distil/open_items.h"
#include "distil/plans.h"
#include "distil/reader.h"
#include "distil/runs.h"
#include "distil/sentences.h"
#include "distil/turn.h"
#include "distil/words.h"
#include "distil/worth.h"
