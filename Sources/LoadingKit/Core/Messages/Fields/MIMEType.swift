extension URLResponse {
    /// A MIME type, parsed and serialised by the WHATWG MIME Sniffing standard (§4, "MIME types").
    ///
    /// Names are lower-cased, values keep their case, and of parameters with the same name the first one counts.
    ///
    /// ```swift
    /// let type = URLResponse.MIMEType("text/HTML; charset=UTF-8")
    /// type?.essence      // text/html
    /// type?["charset"]   // UTF-8
    /// ```
    public struct MIMEType: Sendable, Hashable {
        /// The largest number of parameters: each name is compared with all names before it.
        private static let mostParameters = 100

        /// The part before the slash, lower-cased: `text`.
        public let type: String
        /// The part after the slash, lower-cased: `html`.
        public let subtype: String
        /// The parameters in the order in which they were written, each name once.
        public private(set) var parameters: [(name: String, value: String)] = []

        /// Both parts without parameters: `text/html`.
        public var essence: String { "\(type)/\(subtype)" }

        /// The value of the parameter with this name (lower-case), or nil.
        public subscript(parameter: String) -> String? {
            parameters.first { $0.name == parameter }?.value
        }

        /// Parses `string`; nil when it has no valid type and subtype. Invalid parameters are ignored, and those after the
        /// hundredth.
        public init?(_ string: some StringProtocol) {
            var rest = MIMETypeScanner(string)
            guard let type = rest.takeType(), let subtype = rest.takeSubtype() else { return nil }
            self.type = type
            self.subtype = subtype
            while parameters.count < Self.mostParameters, let parameter = rest.takeParameter() {
                guard let (name, value) = parameter.valid, self[name] == nil else { continue }
                parameters.append((name, value))
            }
        }

        /// The type as it is written in a field: values that are not tokens are quoted.
        public var serialized: String {
            var result = essence
            for (name, value) in parameters {
                result += ";\(name)="
                if !value.isEmpty, value.unicodeScalars.allSatisfy(\.isHTTPToken) {
                    result += value
                } else {
                    result += "\""
                    for scalar in value.unicodeScalars {
                        if scalar == "\"" || scalar == "\\" { result += "\\" }
                        result.unicodeScalars.append(scalar)
                    }
                    result += "\""
                }
            }
            return result
        }

        /// Whether type, subtype and parameters are the same, parameters in the same order.
        public static func == (a: MIMEType, b: MIMEType) -> Bool {
            a.type == b.type && a.subtype == b.subtype && a.parameters.elementsEqual(b.parameters, by: ==)
        }

        /// Type and subtype.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(type)
            hasher.combine(subtype)
        }
    }
}

/// The type's name within LoadingKit: many programs have a type named `MIMEType`.
package typealias MIMEType = URLResponse.MIMEType

extension URLResponse.MIMEType: CustomStringConvertible {
    /// The same as ``serialized``.
    public var description: String { serialized }
}
