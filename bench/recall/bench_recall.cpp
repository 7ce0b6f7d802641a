// Measures recall with the product's own index and search. `bench/recall/run` calls it.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "figures.h"

int main(int argc, char** argv) {
  using namespace cairn;
  setenv("TZ", "UTC", 1);
  Result<Json> done = Error{Code::invalid, "usage: bench_recall --locomo FILE | --own FILE | --speed ROWS"};
  if (argc == 3 && std::strcmp(argv[1], "--locomo") == 0) done = bench::run_locomo(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--own") == 0) done = bench::run_own(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--speed") == 0) done = bench::run_speed(std::atoll(argv[2]));
  if (!done) {
    fmt::print(stderr, "bench_recall: {}\n", done.error().message);
    return 1;
  }
  fmt::print("{}\n", done->dump(2));
}
