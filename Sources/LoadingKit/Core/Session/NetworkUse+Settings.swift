import LoadingKitTransport

extension NetworkUse {
    /// The permissions and requirements of the session's configuration together with those of a request.
    package func narrowed(by request: URLRequest) -> NetworkUse {
        var use = self
        if !request.allowsCellularAccess { use.allowsCellular = false }
        if !request.allowsExpensiveNetworkAccess { use.allowsExpensive = false }
        if request.networkServiceType != .default { use.codePoint = Self.codePoint(of: request.networkServiceType) }
        if request.requiresDNSSECValidation { use.requiresDNSSEC = true }
        return use
    }

    package init(_ settings: SessionSettings) {
        self.init()
        allowsCellular = settings.allowsCellularAccess
        allowsExpensive = settings.allowsExpensiveNetworkAccess
        codePoint = Self.codePoint(of: settings.networkServiceType)
        requiresDNSSEC = settings.requiresDNSSECValidation
        interface = settings.requiredInterface.map { RequiredInterface($0) }
        isMultipath = settings.multipathServiceType != .none
    }

    /// The DSCP code point for a kind of traffic (RFC 4594 §2.3). Background traffic has the low-priority code point,
    /// CS1.
    private static func codePoint(of type: URLRequest.NetworkServiceType) -> UInt8 {
        switch type {
        case .default: 0
        case .background: 8  // CS1
        case .responsiveData: 18  // AF21
        case .avStreaming: 26  // AF31
        case .video, .responsiveAV: 34  // AF41
        case .voip, .networkServiceTypeCallSignaling: 40  // CS5
        case .voice: 46  // EF
        }
    }
}
