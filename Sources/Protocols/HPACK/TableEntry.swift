/// A field in one of the tables: where its name and, right behind it, its value are, and what is known about them, so
/// that nothing is looked at again when a block refers to it.
struct TableEntry: Sendable {
    /// What RFC 7541 §4.1 counts for an entry besides its bytes.
    static let overhead = 32

    /// The place of the name's first byte, counted from the first byte that the table was ever given.
    var offset: Int
    var nameCount: UInt32
    var valueCount: UInt32
    var kind: FieldNameKind
    /// What is wrong with the name.
    var nameMalformation: HPACKMalformation
    /// What is wrong with the value.
    var valueMalformation: HPACKMalformation

    var byteCount: Int { Int(nameCount) &+ Int(valueCount) }

    /// The size as RFC 7541 §4.1 counts it.
    var size: Int { byteCount &+ Self.overhead }
}

/// What a name stands for.
enum FieldNameKind: Sendable, Equatable {
    case pseudo(HPACKPseudoFieldName)
    case unknownPseudo
    /// A regular field, which may be ``KnownField/other``.
    case field(KnownField)
}
