#if HTTPTypes
    // As in HTTPTypesFoundation, so that one import is sufficient.
    @_exported import HTTPTypes
#endif
