// The built-in distiller: what other folders use of it. A turn's facts in, a summary, observations and open
// items out; no I/O, no clock.
#pragma once

#include "distil/likeness.h"
#include "distil/mode.h"
#include "distil/open_items.h"
#include "distil/plans.h"
#include "distil/reader.h"
#include "distil/sentences.h"
#include "distil/turn.h"
#include "distil/words.h"
#include "distil/worth.h"
