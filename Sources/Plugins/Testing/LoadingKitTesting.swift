// The module of recordings is the library's own. Its names are those of this module for programs.
@_exported import LoadingKitHAR
