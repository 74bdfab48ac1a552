// A driver that knows two functions; its version is what the environment says.
#include <cstdlib>

extern "C" {

int cuInit(unsigned) {
  return 0;
}

int cuDriverGetVersion(int* version) {
  const char* text = std::getenv("HOTARU_LACKING_VERSION");
  *version = text ? std::atoi(text) : 13000;
  return 0;
}
}
