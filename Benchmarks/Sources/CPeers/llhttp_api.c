#include <llhttp/api.c>
