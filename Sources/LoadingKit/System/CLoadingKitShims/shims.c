#include "CLoadingKitShims.h"
