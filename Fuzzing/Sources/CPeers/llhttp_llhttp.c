#include <llhttp/llhttp.c>
