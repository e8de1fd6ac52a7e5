import Foundation

extension Int {
    /// A number from a proxy dictionary: a Swift or Foundation number or Boolean, or text.
    package init?(proxySetting value: Any?) {
        switch value {
        case let value as Bool: self = value ? 1 : 0
        case let value as any BinaryInteger: self.init(clamping: value)
        case let value as any BinaryFloatingPoint: self.init(exactly: value)
        case let value as NSNumber: self = value.intValue
        case let value as String: self.init(value)
        case _: return nil
        }
    }
}
