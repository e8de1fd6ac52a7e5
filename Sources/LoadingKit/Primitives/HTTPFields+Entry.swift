extension HTTPFields {
    /// Where a field's name and value are in the store: 32-bit numbers, so that an entry is 20 bytes.
    package struct Entry: Sendable {
        package var nameOffset: UInt32
        package var nameLength: UInt32
        package var valueOffset: UInt32
        package var valueLength: UInt32
        package var known: KnownField

        package init(
            nameOffset: UInt32, nameLength: UInt32, valueOffset: UInt32, valueLength: UInt32, known: KnownField
        ) {
            self.nameOffset = nameOffset
            self.nameLength = nameLength
            self.valueOffset = valueOffset
            self.valueLength = valueLength
            self.known = known
        }

        package func name(in store: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            slice(store, nameOffset, nameLength)
        }

        package func value(in store: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            slice(store, valueOffset, valueLength)
        }

        private func slice(
            _ store: UnsafeRawBufferPointer, _ offset: UInt32, _ length: UInt32
        ) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: store[Int(offset)..<Int(offset) + Int(length)])
        }
    }
}
