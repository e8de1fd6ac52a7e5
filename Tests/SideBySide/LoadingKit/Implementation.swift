// What the shared sources are compiled against here. The other target's file of this name imports FoundationNetworking.
@_exported import Foundation
@_exported import LoadingKit

let implementation = Implementation.loadingKit
