import CLoadingKitShims

extension HTTPFields {
    /// The ranges of a field's name and value in the store. They are 32-bit numbers, so that an entry takes 20 bytes.
    @usableFromInline
    package struct Entry: Sendable {
        /// The form in which the C function that reads whole lines writes an entry.
        @usableFromInline var places: lk_field

        @inlinable package init(
            nameOffset: UInt32, nameLength: UInt32, valueOffset: UInt32, valueLength: UInt32, known: KnownField
        ) {
            places = lk_field(
                name_offset: nameOffset, name_length: nameLength, value_offset: valueOffset, value_length: valueLength,
                known: known.rawValue)
        }

        @inlinable package var nameOffset: UInt32 { places.name_offset }
        @inlinable package var nameLength: UInt32 { places.name_length }

        @inlinable package var valueOffset: UInt32 {
            get { places.value_offset }
            set { places.value_offset = newValue }
        }

        @inlinable package var valueLength: UInt32 {
            get { places.value_length }
            set { places.value_length = newValue }
        }

        @inlinable package var known: KnownField {
            get { KnownField(rawValue: places.known) ?? .other }
            set { places.known = newValue.rawValue }
        }

        /// The raw value of ``known``, which is faster to compare.
        @inlinable package var knownNumber: UInt8 { places.known }

        @inlinable package func name(in store: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            slice(store, nameOffset, nameLength)
        }

        @inlinable package func value(in store: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            slice(store, valueOffset, valueLength)
        }

        @inlinable func slice(
            _ store: UnsafeRawBufferPointer, _ offset: UInt32, _ length: UInt32
        ) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: store[Int(offset)..<Int(offset) + Int(length)])
        }
    }
}
