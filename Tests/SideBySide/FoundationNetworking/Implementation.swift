// What the shared sources are compiled against here. The other target's file of this name imports LoadingKit instead.
@_exported import Foundation
@_exported import FoundationNetworking

let implementation = Implementation.foundationNetworking
