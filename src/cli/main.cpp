#include "cli/shell.h"

int main(int argc, char** argv) {
  return cairn::cli::run(argc, argv);
}
