/// A method of ``URLProtocolHandler`` that a subclass may override.
///
/// A handler that overrides `startLoading()` may block in it, so the override must be detected before the call. Swift
/// has no function for this. A class's metadata begins with its superclass's method table, in which an override
/// replaces the overridden method. To find the method's entry, a class that overrides only this method is compared with
/// the base class: the entry is the one that differs there, and does not differ for a class without overrides. If a
/// later Swift version changes the metadata, no entry is found, and each handler counts as one that may block, which is
/// slower, but correct.
struct HandlerMethod {
    static let startLoading = HandlerMethod(Starting.self)
    static let stopLoading = HandlerMethod(Stopping.self)

    private class Plain: URLProtocolHandler, @unchecked Sendable {}  // stateless

    private class Starting: URLProtocolHandler, @unchecked Sendable {  // stateless
        override func startLoading() {}
    }

    private class Stopping: URLProtocolHandler, @unchecked Sendable {  // stateless
        override func stopLoading() {}
    }

    private static let base = Metadata(URLProtocolHandler.self)

    /// The index of the method's entry in the metadata, in words; nil where it was not found.
    private let place: Int?

    private init(_ overriding: URLProtocolHandler.Type) {
        let (base, overriding, plain) = (Self.base, Metadata(overriding), Metadata(Plain.self))
        let places = (0..<base.count).filter { overriding[$0] != base[$0] && plain[$0] == base[$0] }
        place = places.count == 1 ? places[0] : nil
    }

    /// Whether the handler's class, or a class between it and the base class, overrides the method.
    func isOverridden(by handler: URLProtocolHandler) -> Bool {
        guard let place else { return true }
        return Metadata(type(of: handler))[place] != Self.base[place]
    }
}

extension URLProtocolHandler {
    /// Whether the handler's class overrides ``startLoading()``, and may therefore block.
    @_spi(LoadingKitPlugins)
    public var overridesStartLoading: Bool { HandlerMethod.startLoading.isOverridden(by: self) }
}

/// The runtime's metadata of a class, in words.
private struct Metadata: @unchecked Sendable {  // constant
    /// The offset in bytes of two sizes: that of the metadata, and that of the part before the class's address.
    private static let sizeOffset = 32
    /// A limit in bytes that no class with so few methods reaches.
    private static let largest = 4096

    private let words: UnsafePointer<UInt>

    init(_ type: URLProtocolHandler.Type) {
        words = unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    }

    subscript(place: Int) -> UInt { words[place] }

    /// The number of words of the class; the words of a subclass follow them.
    var count: Int {
        let sizes = UnsafeRawPointer(words)
        let whole = sizes.load(fromByteOffset: Self.sizeOffset, as: UInt32.self)
        let before = sizes.load(fromByteOffset: Self.sizeOffset + 4, as: UInt32.self)
        guard whole > before, whole <= Self.largest else { return 0 }
        return Int(whole - before) / MemoryLayout<UInt>.size
    }
}
