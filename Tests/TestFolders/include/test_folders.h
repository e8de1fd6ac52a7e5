// Nothing to call: see folders.c.
#pragma once
