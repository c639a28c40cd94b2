/* Links relocatable objects into memory: places their sections, resolves their symbols, applies their relocations. */
#ifndef AIOPT_LINKER_H
#define AIOPT_LINKER_H

#include "architecture.h"
#include "elf_reader.h"
#include "image.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aiopt {

/* The address of a symbol that no object defines, or null. */
using Lookup = void *(*)(const char *name);

struct LinkedObjects {
  std::unique_ptr<Image> image;
  std::unordered_map<std::string, void *> symbols; /* the global ones */
};

class Linker {
public:
  Linker(const Architecture &architecture, Lookup lookup) : architecture_(architecture), lookup_(lookup) {}

  /* Throws LoadError if the bytes are no object this loader takes. They must outlive the linker. */
  void add(const void *data, size_t size);

  /* Everything added so far as memory that can be run. Throws LoadError or std::bad_alloc. */
  LinkedObjects link();

private:
  struct Place {
    Segment segment = kSegments; /* kSegments: not in memory */
    size_t offset = 0;
  };

  struct File {
    explicit File(ElfReader file) : reader(std::move(file)) {}
    ElfReader reader;
    std::vector<Place> places;            /* by section */
    std::vector<int64_t> slots;           /* by symbol: index of its slot and stub, or -1 */
  };

  /* A global symbol: which file defines it. */
  struct Definition {
    size_t file, symbol;
    bool is_weak;
  };

  void define_globals();
  void place_sections();
  void place_section(File &file, size_t index);
  void reserve_slots();
  void copy_sections(const Image &image) const;
  void fill_slots(const Image &image) const;
  void relocate(const Image &image) const;
  void relocate_entry(const Image &image, const File &file, const Elf64_Shdr &section, Place place,
                      const Elf64_Rela &entry) const;
  uint64_t target(const Image &image, const File &file, size_t symbol, Reference reference) const;
  uint64_t address(const Image &image, const File &file, size_t symbol) const;
  const Definition *definition(const File &file, const Elf64_Sym &symbol) const;
  bool is_outside(const File &file, size_t symbol) const;
  uint8_t *slot(const Image &image, int64_t index) const;
  uint8_t *stub(const Image &image, int64_t index) const;

  const Architecture &architecture_;
  Lookup lookup_;
  std::vector<File> files_;
  std::unordered_map<std::string, Definition> globals_;
  std::array<size_t, kSegments> sizes_{};
  size_t stubs_ = 0; /* offset of the stubs in the code, of the slots in the constants, and the number of each */
  size_t slots_ = 0;
  int64_t slot_count_ = 0;
};

} // namespace aiopt

#endif
