// The fields of a handshake are part of this module's interface.
@_exported import LoadingKitPrimitives
