/// A MIME type as the WHATWG MIME Sniffing standard parses and serialises it (§4, "MIME types").
///
/// Names are lower-cased, values keep their case, and of parameters with the same name the first one counts.
package struct MIMEType: Sendable, Hashable {
    /// The part before the slash, lower-cased: `text`.
    package let type: String
    /// The part after the slash, lower-cased: `html`.
    package let subtype: String
    /// The parameters in the order in which they were written, each name once.
    package private(set) var parameters: [(name: String, value: String)] = []

    /// Both parts without parameters: `text/html`.
    package var essence: String { "\(type)/\(subtype)" }

    /// The value of the parameter with this name (lower-case), or nil.
    package subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter }?.value
    }

    /// Parses `string`; nil when it has no valid type and subtype. Invalid parameters are ignored.
    package init?(_ string: some StringProtocol) {
        var rest = MIMETypeScanner(string)
        guard let type = rest.takeType(), let subtype = rest.takeSubtype() else { return nil }
        self.type = type
        self.subtype = subtype
        while let parameter = rest.takeParameter() {
            guard let (name, value) = parameter.valid, self[name] == nil else { continue }
            parameters.append((name, value))
        }
    }

    /// The type as it is written in a field: values that are not tokens are quoted.
    package var serialized: String {
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

    package static func == (a: MIMEType, b: MIMEType) -> Bool {
        a.type == b.type && a.subtype == b.subtype && a.parameters.elementsEqual(b.parameters, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
    }
}

extension MIMEType: CustomStringConvertible {
    package var description: String { serialized }
}
