// The yardstick: a dynamic C++ program that does nothing.
#include <string>

int main(int argc, char** argv) {
  return std::string(argv[0]).empty() ? argc : 0;
}
