// What functions of files tell the disk.
#pragma once
#include "World.h"
#include <functional>
#include <sys/types.h>

namespace sim {

/// Whether there is a folder whose files are lost in part where the power is.
bool usesDisk();
/// Before bytes are written; with an offset below 0, where the descriptor is.
void willWrite(int descriptor, const void *bytes, size_t count, off_t offset);
void willTruncate(int descriptor, off_t length);
void didSynchronize(int descriptor);

enum class NameChangeKind { making, makingFolder, removing, removingFolder, moving };
/// Does what makes or removes the name.
int changingNames(const char *path, const std::function<int()> &body, NameChangeKind kind);
int movingFile(const char *path, const char *target, const std::function<int()> &body);

} // namespace sim
