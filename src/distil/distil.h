// The built-in distiller: what other folders use of it. A turn's facts in, a summary, observations and open
// items out; pure functions, no I/O, no clock.
#pragma once

#include "distil/mode.h"
#include "distil/open_items.h"
#include "distil/plans.h"
#include "distil/turn.h"
#include "distil/words.h"
#include "distil/worth.h"
