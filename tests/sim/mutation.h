// Which deliberate mistake the mutated copies of the sources make; 0: none. See mutants_test.cpp.
#pragma once

namespace cairn::sim {

extern int mutation;

}  // namespace cairn::sim
