#include "cli/shell.h"

int main(int argc, char** argv) {
  cairn::os::RealDisk disk;
  return cairn::cli::run(disk, argc, argv);
}
