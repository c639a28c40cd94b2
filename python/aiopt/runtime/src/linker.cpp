/* Source: System V ABI, chapter 4; the psABI of each architecture is in its own file. */
#include "linker.h"

#include <cstring>

namespace aiopt {
namespace {

constexpr size_t kSlotBytes = 8;
constexpr size_t kStubAlignment = 16;
constexpr size_t kMostBytes = size_t{1} << 30; /* all of the image is within reach of a 32-bit distance */

size_t round_up(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

bool starts_with(const char *text, const char *start) { return std::strncmp(text, start, std::strlen(start)) == 0; }

bool is_global(const Elf64_Sym &symbol) {
  int binding = ELF64_ST_BIND(symbol.st_info);
  return binding == STB_GLOBAL || binding == STB_WEAK;
}

bool is_weak(const Elf64_Sym &symbol) { return ELF64_ST_BIND(symbol.st_info) == STB_WEAK; }

/* Unwinding tables are left out: nothing unwinds through compiled nets. */
bool is_loaded(const Elf64_Shdr &section, const char *name) {
  return (section.sh_flags & SHF_ALLOC) && section.sh_type != SHT_NOTE && !starts_with(name, ".eh_frame");
}

/* Sections whose pointers are set by relocation and never again are constants afterwards. */
Segment segment_of(const Elf64_Shdr &section, const char *name) {
  if (section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY || section.sh_type == SHT_PREINIT_ARRAY)
    fail("section '%s' holds functions to be run at load time, which compiled nets do not have", name);
  if (section.sh_flags & SHF_TLS)
    fail("section '%s' holds thread-local data, which compiled nets do not have", name);
  bool writable = section.sh_flags & SHF_WRITE;
  if (section.sh_flags & SHF_EXECINSTR) {
    if (writable)
      fail("section '%s' can be written and run, which is not allowed", name);
    return kCode;
  }
  return writable && !starts_with(name, ".data.rel.ro") ? kData : kConstants;
}

} // namespace

void Linker::add(const void *data, size_t size) { files_.emplace_back(ElfReader(data, size, architecture_.machine)); }

LinkedObjects Linker::link() {
  define_globals();
  place_sections();
  reserve_slots();
  auto image = std::make_unique<Image>(sizes_);
  copy_sections(*image);
  fill_slots(*image);
  relocate(*image);
  LinkedObjects linked;
  for (const auto &[name, found] : globals_)
    linked.symbols[name] = reinterpret_cast<void *>(address(*image, files_[found.file], found.symbol));
  image->protect();
  linked.image = std::move(image);
  return linked;
}

void Linker::define_globals() {
  for (size_t f = 0; f < files_.size(); ++f) {
    const ElfReader &reader = files_[f].reader;
    for (size_t s = 0; s < reader.symbols().size(); ++s) {
      const Elf64_Sym &symbol = reader.symbols()[s];
      if (symbol.st_shndx == SHN_UNDEF || !is_global(symbol))
        continue;
      const char *name = reader.symbol_name(symbol);
      Definition own{f, s, is_weak(symbol)};
      auto [known, is_new] = globals_.try_emplace(name, own);
      if (is_new || own.is_weak)
        continue;
      if (!known->second.is_weak)
        fail("symbol '%s' is defined twice", name);
      known->second = own;
    }
  }
}

void Linker::place_sections() {
  for (File &file : files_) {
    file.places.resize(file.reader.sections().size());
    for (size_t i = 0; i < file.places.size(); ++i)
      place_section(file, i);
  }
}

void Linker::place_section(File &file, size_t index) {
  const Elf64_Shdr &section = file.reader.sections()[index];
  if (section.sh_type == SHT_NULL)
    return;
  const char *name = file.reader.section_name(section);
  if (!is_loaded(section, name))
    return;
  Segment segment = segment_of(section, name);
  size_t alignment = section.sh_addralign ? section.sh_addralign : 1;
  if ((alignment & (alignment - 1)) != 0 || alignment > Image::page_bytes())
    fail("section '%s' has an alignment of %zu bytes", name, alignment);
  size_t offset = round_up(sizes_[segment], alignment);
  if (section.sh_size > kMostBytes - offset)
    fail("the objects need more than %zu MiB of memory", kMostBytes >> 20);
  file.places[index] = {segment, offset};
  sizes_[segment] = offset + section.sh_size;
}

/* One slot and one stub for each symbol that needs either. */
void Linker::reserve_slots() {
  for (File &file : files_) {
    file.slots.assign(file.reader.symbols().size(), -1);
    for (const Elf64_Shdr &section : file.reader.sections()) {
      if (section.sh_type == SHT_REL)
        fail("the object has relocations without addends");
      if (section.sh_type != SHT_RELA || section.sh_info >= file.places.size() ||
          file.places[section.sh_info].segment == kSegments)
        continue;
      for (const Elf64_Rela &entry : file.reader.relocations(section)) {
        size_t symbol = ELF64_R_SYM(entry.r_info);
        Reference reference = architecture_.reference(ELF64_R_TYPE(entry.r_info));
        bool needs = reference == Reference::kSlot || (reference == Reference::kCall && is_outside(file, symbol));
        if (needs && file.slots[symbol] < 0)
          file.slots[symbol] = slot_count_++;
      }
    }
  }
  stubs_ = round_up(sizes_[kCode], kStubAlignment);
  sizes_[kCode] = stubs_ + static_cast<size_t>(slot_count_) * architecture_.stub_bytes;
  slots_ = round_up(sizes_[kConstants], kSlotBytes);
  sizes_[kConstants] = slots_ + static_cast<size_t>(slot_count_) * kSlotBytes;
}

void Linker::copy_sections(const Image &image) const {
  for (const File &file : files_) {
    for (size_t i = 0; i < file.places.size(); ++i) {
      const Elf64_Shdr &section = file.reader.sections()[i];
      Place place = file.places[i];
      if (place.segment != kSegments && section.sh_type != SHT_NOBITS && section.sh_size)
        std::memcpy(image.segment(place.segment) + place.offset, file.reader.contents(section), section.sh_size);
    }
  }
}

void Linker::fill_slots(const Image &image) const {
  for (const File &file : files_) {
    for (size_t symbol = 0; symbol < file.slots.size(); ++symbol) {
      int64_t index = file.slots[symbol];
      if (index < 0)
        continue;
      uint64_t value = address(image, file, symbol);
      uint8_t *at = slot(image, index), *jump = stub(image, index);
      std::memcpy(at, &value, sizeof value);
      if (!architecture_.write_stub(jump, reinterpret_cast<uint64_t>(jump), reinterpret_cast<uint64_t>(at)))
        fail("the objects are too large: code cannot reach its constants");
    }
  }
}

void Linker::relocate(const Image &image) const {
  for (const File &file : files_) {
    for (const Elf64_Shdr &section : file.reader.sections()) {
      if (section.sh_type != SHT_RELA || section.sh_info >= file.places.size())
        continue;
      Place place = file.places[section.sh_info];
      if (place.segment == kSegments)
        continue;
      const Elf64_Shdr &changed = file.reader.sections()[section.sh_info];
      for (const Elf64_Rela &entry : file.reader.relocations(section))
        relocate_entry(image, file, changed, place, entry);
    }
  }
}

void Linker::relocate_entry(const Image &image, const File &file, const Elf64_Shdr &section, Place place,
                            const Elf64_Rela &entry) const {
  auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
  size_t symbol = ELF64_R_SYM(entry.r_info);
  Reference reference = architecture_.reference(type);
  if (reference == Reference::kNone)
    return;
  const char *name = file.reader.section_name(section);
  if (reference == Reference::kUnknown)
    fail("section '%s' has a relocation of type %u, which this loader does not know", name, type);
  size_t width = architecture_.width(type);
  if (section.sh_size < width || entry.r_offset > section.sh_size - width)
    fail("a relocation lies outside its section '%s'", name);
  uint8_t *at = image.segment(place.segment) + place.offset + entry.r_offset;
  uint64_t to = target(image, file, symbol, reference);
  if (!architecture_.apply({type, at, reinterpret_cast<uint64_t>(at), to, entry.r_addend}))
    fail("section '%s' refers to '%s' in a way that does not reach it (relocation type %u): code must be position "
         "independent",
         name, file.reader.symbol_name(file.reader.symbols()[symbol]), type);
}

uint64_t Linker::target(const Image &image, const File &file, size_t symbol, Reference reference) const {
  if (reference == Reference::kSlot)
    return reinterpret_cast<uint64_t>(slot(image, file.slots[symbol]));
  if (reference == Reference::kCall && is_outside(file, symbol))
    return reinterpret_cast<uint64_t>(stub(image, file.slots[symbol]));
  return address(image, file, symbol);
}

const Linker::Definition *Linker::definition(const File &file, const Elf64_Sym &symbol) const {
  if (!is_global(symbol))
    return nullptr;
  auto found = globals_.find(file.reader.symbol_name(symbol));
  return found == globals_.end() ? nullptr : &found->second;
}

bool Linker::is_outside(const File &file, size_t symbol) const {
  const Elf64_Sym &entry = file.reader.symbols()[symbol];
  return entry.st_shndx == SHN_UNDEF && !definition(file, entry);
}

uint64_t Linker::address(const Image &image, const File &file, size_t symbol) const {
  const Elf64_Sym &entry = file.reader.symbols()[symbol];
  const char *name = file.reader.symbol_name(entry);
  const Definition *known = definition(file, entry);
  if (known && (known->symbol != symbol || &files_[known->file] != &file))
    return address(image, files_[known->file], known->symbol);
  if (entry.st_shndx == SHN_UNDEF) {
    if (symbol == 0)
      return 0; /* the symbol of relocations without one */
    void *found = is_global(entry) ? lookup_(name) : nullptr;
    if (!found && !is_weak(entry))
      fail("symbol '%s' is defined neither in the objects nor in this process", name);
    return reinterpret_cast<uint64_t>(found);
  }
  if (entry.st_shndx == SHN_ABS)
    return entry.st_value;
  int type = ELF64_ST_TYPE(entry.st_info);
  if (entry.st_shndx >= file.places.size() || type == STT_TLS || type == STT_GNU_IFUNC)
    fail("symbol '%s' is of a kind this loader does not know", name);
  Place place = file.places[entry.st_shndx];
  if (place.segment == kSegments || entry.st_value > file.reader.sections()[entry.st_shndx].sh_size)
    fail("symbol '%s' lies outside what the object loads", name);
  return reinterpret_cast<uint64_t>(image.segment(place.segment) + place.offset + entry.st_value);
}

uint8_t *Linker::slot(const Image &image, int64_t index) const {
  return image.segment(kConstants) + slots_ + static_cast<size_t>(index) * kSlotBytes;
}

uint8_t *Linker::stub(const Image &image, int64_t index) const {
  return image.segment(kCode) + stubs_ + static_cast<size_t>(index) * architecture_.stub_bytes;
}

} // namespace aiopt
