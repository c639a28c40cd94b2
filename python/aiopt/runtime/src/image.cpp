#include "image.h"

#include "elf_reader.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace aiopt {

size_t Image::page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Image::Image(const std::array<size_t, kSegments> &sizes) {
  size_t page = page_bytes();
  for (int i = 0; i < kSegments; ++i)
    offsets_[i + 1] = offsets_[i] + (sizes[i] + page - 1) / page * page;
  if (offsets_[kSegments] == 0)
    fail("the objects hold no code");
  void *memory = mmap(nullptr, offsets_[kSegments], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("there is no memory for %zu bytes of code and data", offsets_[kSegments]);
  base_ = static_cast<uint8_t *>(memory);
}

Image::~Image() { munmap(base_, offsets_[kSegments]); }

void Image::protect() {
  constexpr int kModes[kSegments] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (int i = 0; i < kSegments; ++i) {
    size_t bytes = offsets_[i + 1] - offsets_[i];
    if (bytes && mprotect(base_ + offsets_[i], bytes, kModes[i]) != 0)
      fail("the system does not let code be loaded: %s", std::strerror(errno));
  }
  __builtin___clear_cache(reinterpret_cast<char *>(base_), reinterpret_cast<char *>(base_ + offsets_[1]));
}

} // namespace aiopt
