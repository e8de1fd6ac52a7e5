/// A method of a class that subclasses may override.
///
/// Swift has no function that detects an override. A class's metadata begins with its superclass's method table, in which
/// an override replaces the overridden method. To find the method's entry, a class that overrides only this method is
/// compared with the base class: the entry is the one that differs there, and does not differ for a class without
/// overrides. If a later Swift version changes the metadata, no entry is found, and each class counts as one that overrides
/// the method.
struct OverridableMethod {
    private let base: Metadata
    /// The index of the method's entry in the metadata, in words; nil where it was not found.
    private let place: Int?

    /// - Parameters:
    ///   - plain: a subclass without overrides.
    ///   - overriding: a subclass that overrides only this method.
    init(of base: AnyClass, plain: AnyClass, overriding: AnyClass) {
        let (base, overriding, plain) = (Metadata(base), Metadata(overriding), Metadata(plain))
        let places = (0..<base.count).filter { overriding[$0] != base[$0] && plain[$0] == base[$0] }
        self.base = base
        place = places.count == 1 ? places[0] : nil
    }

    /// Whether the object's class, or a class between it and the base class, overrides the method.
    func isOverridden(by object: some AnyObject) -> Bool {
        guard let place else { return true }
        return Metadata(type(of: object))[place] != base[place]
    }
}

/// The runtime's metadata of a class, in words.
private struct Metadata: @unchecked Sendable {  // constant
    /// The offset in bytes of two sizes: that of the metadata, and that of the part before the class's address.
    private static let sizeOffset = 32
    /// A limit in bytes that no class with so few methods reaches.
    private static let largest = 4096

    private let words: UnsafePointer<UInt>

    init(_ type: AnyClass) {
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
