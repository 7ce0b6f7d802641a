#include "hook/run.h"

int main(int argc, char** argv) {
  return cairn::hook::run(argc, argv);
}
