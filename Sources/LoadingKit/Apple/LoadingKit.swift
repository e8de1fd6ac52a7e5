// On Apple's platforms `URLSession` is Foundation's: a package for all platforms imports LoadingKit alone.
@_exported import Foundation
