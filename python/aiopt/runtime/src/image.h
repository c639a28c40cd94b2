/* Memory for linked code: written first, then code that cannot be written and data that cannot be run. */
#ifndef AIOPT_IMAGE_H
#define AIOPT_IMAGE_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace aiopt {

/* In their order in memory. */
enum Segment { kCode, kConstants, kData, kSegments };

class Image {
public:
  /* Bytes by segment. Throws LoadError if there is no memory for them. */
  explicit Image(const std::array<size_t, kSegments> &sizes);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  uint8_t *segment(Segment which) const { return base_ + offsets_[which]; }

  /* From now on code can be run and data written, and nothing both. Throws LoadError if the system refuses. */
  void protect();

  static size_t page_bytes();

private:
  uint8_t *base_ = nullptr;
  std::array<size_t, kSegments + 1> offsets_{};
};

} // namespace aiopt

#endif
