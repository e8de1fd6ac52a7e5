// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives
