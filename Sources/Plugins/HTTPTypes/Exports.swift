#if HTTPTypes
    // As HTTPTypesFoundation does, so that one import is enough.
    @_exported import HTTPTypes
#endif
