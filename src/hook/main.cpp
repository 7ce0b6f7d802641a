#include "hook/run.h"

int main(int argc, char** argv) {
  cairn::os::RealDisk disk;
  return cairn::hook::run(disk, argc, argv);
}
