// What is alive: objects of Swift's classes, and what C libraries have allocated.
#include "World.h"
#include <dlfcn.h>
#include <sys/mman.h>

extern "C" void __libc_free(void *);

namespace {

/// The metadata of an object's class, and the name of the C library that has allocated it: one of them is null.
using Kind = std::pair<const void *, const char *>;

/// A table of what is alive, by address. Each call of `free` looks into it, so it has one block of memory, and an object is in the
/// first free place from its own on.
class Table {
    struct Place {
        const void *object;
        Kind kind;
    };

    static constexpr int bits = 18;
    static constexpr size_t count = 1 << bits;
    size_t size = 0;
    Place *places = (Place *)mmap(nullptr, count * sizeof(Place), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    static size_t place(const void *object) { return (uintptr_t(object) >> 4) * 0x9E3779B97F4A7C15 >> (64 - bits); }

    size_t find(const void *object) const {
        auto index = place(object);
        while (places[index].object && places[index].object != object) index = (index + 1) % count;
        return index;
    }

public:
    /// A world has some ten thousand objects; what is beyond the table's size is not counted.
    void insert(const void *object, Kind kind) {
        auto &place = places[find(object)];
        if (!place.object && size >= count / 4 * 3) return;
        if (!place.object) size++;
        place = {object, kind};
    }

    void erase(const void *object) {
        auto hole = find(object);
        if (!places[hole].object) return;
        // Those that follow, and would not be found beyond a free place, move up.
        for (auto next = (hole + 1) % count; places[next].object; next = (next + 1) % count) {
            if ((next - place(places[next].object)) % count < (next - hole) % count) continue;
            places[hole] = places[next];
            hole = next;
        }
        places[hole].object = nullptr;
        size--;
    }

    std::map<Kind, uint32_t> counts() const {
        std::map<Kind, uint32_t> counts;
        for (size_t index = 0; index < count; index++)
            if (places[index].object) counts[places[index].kind]++;
        return counts;
    }
};

Table *living = nullptr;

bool isWatching() { return living && sim::isSimulated(); }

} // namespace

namespace sim {

void *watchAllocation(void *memory, const void *caller) {
    if (isWatching() && memory)
        if (auto library = allocator(caller)) living->insert(memory, {nullptr, library});
    return memory;
}

void forgetAllocation(void *memory) {
    if (isWatching() && memory) living->erase(memory);
}

} // namespace sim

extern "C" {

void *swift_allocObject(const void *metadata, size_t size, size_t alignment);
DECLARE_REAL(swift_allocObject);

/// The program's own objects are allocated here, and the library's.
void *swift_allocObject(const void *metadata, size_t size, size_t alignment) {
    auto object = REAL(swift_allocObject)(metadata, size, alignment);
    // A class has no kind, or a large one: the others are what closures capture, and errors.
    auto kind = *(const size_t *)metadata;
    if (isWatching() && (kind == 0 || kind > 0x7FF)) living->insert(object, {metadata, nullptr});
    return object;
}

void free(void *memory) {
    sim::forgetAllocation(memory);
    __libc_free(memory);
}

void sim_watch_objects(void) {
    // Allocates memory itself when it is called first.
    sim::allocator(nullptr);
    living = new Table;
}

void sim_living_objects(void *context, void (*body)(void *context, const void *metadata, const char *library, uint32_t count)) {
    if (!living) return;
    for (auto &[kind, count] : living->counts()) body(context, kind.first, kind.second, count);
}

} // extern "C"
