/// A method of ``URLProtocolHandler`` that a class may have of its own.
///
/// A handler that overrides `startLoading()` may block in it, so it has to be known before it is called. Swift has no way to
/// ask. But a class's metadata begins with its superclass's method table, in which an override takes the place of what it
/// overrides. The place is found as the one in which a class that overrides the method, and nothing else, differs from the
/// base class besides where every class does. Should the metadata look otherwise one day, no place is found, and each
/// handler counts as one that may block: slower, but right.
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

    /// The method's place in the metadata, in words; nil where it was not found.
    private let place: Int?

    private init(_ overriding: URLProtocolHandler.Type) {
        let (base, overriding, plain) = (Self.base, Metadata(overriding), Metadata(Plain.self))
        let places = (0..<base.count).filter { overriding[$0] != base[$0] && plain[$0] == base[$0] }
        place = places.count == 1 ? places[0] : nil
    }

    /// Whether the handler's class, or one between it and the base class, has the method of its own.
    func isOverridden(by handler: URLProtocolHandler) -> Bool {
        guard let place else { return true }
        return Metadata(type(of: handler))[place] != Self.base[place]
    }
}

/// What the runtime knows of a class, in words.
private struct Metadata: @unchecked Sendable {  // constant
    /// Where its own size, and that of what stands before it, are stored, in bytes.
    private static let sizeOffset = 32
    /// More than any class of so few methods has.
    private static let largest = 4096

    private let words: UnsafePointer<UInt>

    init(_ type: URLProtocolHandler.Type) {
        words = unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    }

    subscript(place: Int) -> UInt { words[place] }

    /// How many words the class has; those of a subclass come behind them.
    var count: Int {
        let sizes = UnsafeRawPointer(words)
        let whole = sizes.load(fromByteOffset: Self.sizeOffset, as: UInt32.self)
        let before = sizes.load(fromByteOffset: Self.sizeOffset + 4, as: UInt32.self)
        guard whole > before, whole <= Self.largest else { return 0 }
        return Int(whole - before) / MemoryLayout<UInt>.size
    }
}
