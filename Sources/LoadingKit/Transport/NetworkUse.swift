/// Over which networks a connection may go, and how its packets are marked.
package struct NetworkUse: Sendable, Hashable {
    /// Why an interface is not used.
    package enum Exclusion: Sendable, Hashable {
        case cellular, expensive
    }

    package var allowsCellular = true
    package var allowsExpensive = true
    /// The differentiated services code point (RFC 2474); 0 is ordinary traffic.
    package var codePoint: UInt8 = 0

    package init() {}

    var isRestricted: Bool { !allowsCellular || !allowsExpensive }

    /// Why the interface is not used; nil when it may be. Of the interfaces that Linux knows the cellular ones cost.
    func exclusion(of interface: NetworkInterface) -> Exclusion? {
        guard interface.isCellular else { return nil }
        return allowsCellular ? allowsExpensive ? nil : .expensive : .cellular
    }
}
