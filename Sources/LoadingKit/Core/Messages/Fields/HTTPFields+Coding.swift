import Foundation
import LoadingKitPrimitives

/// Keyed archiving: an array of names and values in turn, so that the order is kept.
extension HTTPFields {
    func encode(with coder: NSCoder, key: String) {
        let strings = flatMap { [NSString(string: $0.name), NSString(string: $0.value)] }
        coder.encode(NSArray(array: strings), forKey: key)
    }

    /// Nil when the archive has no fields under the key.
    init?(coder: NSCoder, key: String) {
        guard let strings = coder.decodeArray(of: NSString.self, as: String.self, forKey: key) else { return nil }
        self.init()
        var iterator = strings.makeIterator()
        while let name = iterator.next(), let value = iterator.next() {
            append(name: name, value: value)
        }
    }
}
