// See folders.c: all but this it does by itself.
#pragma once

/// Removes a file or folder with all that is in it, also while others remove or add things there. Gives whether it is gone.
int test_folders_remove(const char *path);
