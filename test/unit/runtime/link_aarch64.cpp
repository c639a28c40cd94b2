/* Links an AArch64 object, whatever this machine is, and prints its memory: link_aarch64 OBJECT SYMBOL...
 *
 * First the address of the image, then that of each symbol, then the image's three pages in hex. The symbol `outside`,
 * which the object does not define, is at 0x123456789ab0. */
#include "linker.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

static void *look_up(const char *name) {
  return std::strcmp(name, "outside") == 0 ? reinterpret_cast<void *>(0x123456789ab0) : nullptr;
}

int main(int count, char **words) {
  std::ifstream file(words[1], std::ios::binary);
  std::string object{std::istreambuf_iterator<char>(file), {}};
  try {
    aiopt::Linker linker(aiopt::kAArch64, look_up);
    linker.add(object.data(), object.size());
    aiopt::LinkedObjects linked = linker.link();
    const uint8_t *base = linked.image->segment(aiopt::kCode);
    std::printf("%llu\n", reinterpret_cast<unsigned long long>(base));
    for (int i = 2; i < count; ++i)
      std::printf("%llu\n", reinterpret_cast<unsigned long long>(linked.symbols.at(words[i])));
    for (size_t i = 0; i < 3 * aiopt::Image::page_bytes(); ++i)
      std::printf("%02x", base[i]);
  } catch (const aiopt::LoadError &error) {
    std::printf("error: %s", error.what());
  }
}
