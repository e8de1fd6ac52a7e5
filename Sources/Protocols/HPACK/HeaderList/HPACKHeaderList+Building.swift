extension HPACKHeaderList {
    /// Makes the list empty, for the next block. Memory without other references is kept.
    mutating func removeAll() {
        fields.removeAll(keepingFields: .max, bytes: .max)
        pseudoFields = PseudoSlices()
        fieldCount = 0
        hasRegularField = false
        malformation = []
        exceedsLimits = false
        uncompressedBytes = 0
    }

    /// Removes spaces and tabs around the values of the ``fields``, which are not part of them (RFC 9110 §5.5). The
    /// values of pseudo-header fields keep theirs.
    package mutating func trimValues() {
        fields.trimValues()
        malformation.remove(.whitespaceAroundValue)
    }

    /// Counts a field and returns whether it is within the limits.
    @inline(__always)
    mutating func count(_ entry: TableEntry, limits: HPACKLimits) -> Bool {
        let (sum, isAbove) = uncompressedBytes.addingReportingOverflow(entry.size)
        uncompressedBytes = isAbove ? Int.max : sum
        fieldCount &+= 1
        let allowedBytes = min(limits.listBytes, Int(Int32.max))
        if uncompressedBytes > allowedBytes || fieldCount > limits.fieldCount { exceedsLimits = true }
        return !exceedsLimits
    }

    /// Adds a field whose name and value are at `offset` in the bytes. A field that is left out is only checked.
    @inline(__always)
    mutating func note(_ entry: TableEntry, at offset: Int?) {
        malformation.formUnion(entry.nameMalformation.union(entry.valueMalformation))
        switch entry.kind {
        case .unknownPseudo:
            if hasRegularField { malformation.insert(.misplacedPseudoField) }
        case .pseudo(let name):
            notePseudo(name, entry, at: offset)
        case .field(let known):
            hasRegularField = true
            guard let offset else { return }
            fields.append(
                HTTPFields.Entry(
                    nameOffset: UInt32(truncatingIfNeeded: offset), nameLength: entry.nameCount,
                    valueOffset: UInt32(truncatingIfNeeded: offset) &+ entry.nameCount,
                    valueLength: entry.valueCount, known: known))
        }
    }

    private mutating func notePseudo(_ name: HPACKPseudoFieldName, _ entry: TableEntry, at offset: Int?) {
        if hasRegularField { malformation.insert(.misplacedPseudoField) }
        if pseudoFields[name] != nil { return malformation.formUnion(.duplicatePseudoField) }
        guard let offset else { return }
        pseudoFields[name] = Slice(
            offset: UInt32(truncatingIfNeeded: offset) &+ entry.nameCount, length: entry.valueCount)
    }
}
