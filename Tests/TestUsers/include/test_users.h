// See users.c.
#pragma once

/// Makes a socket listen at a path, as another user, so that those who connect see that user. Gives its descriptor, or -1.
int test_users_listen(const char *path, unsigned int user);

/// Connects to a socket as another user. Gives the descriptor, or -1.
int test_users_connect(const char *path, unsigned int user);
