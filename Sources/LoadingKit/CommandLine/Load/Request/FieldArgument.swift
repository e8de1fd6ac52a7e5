#if CommandLineTool
    import Foundation
    import LoadingKit

    /// A field in an argument of `-H`.
    struct FieldArgument: Hashable {
        let name: String
        /// Nil where the field is not sent.
        let value: String?

        /// `Name: value`; `Name:` removes the field that would be sent; `Name;` sends the field without a value.
        init(_ text: String) throws {
            guard let field = text.cut(at: ":", ";"), !field.head.isEmpty,
                case let rest = field.tail.trimmingCharacters(in: .whitespaces),
                field.separator == ":" || rest.isEmpty
            else {
                throw ToolFailure(.usage, "-H needs 'Name: value', not '\(text)'")
            }
            name = field.head
            value = field.separator == ":" && rest.isEmpty ? nil : rest
        }

        /// The fields of an argument: `@FILE` has one on each line.
        static func all(_ argument: String, _ readFile: (String) throws -> Data) throws -> [FieldArgument] {
            guard argument.hasPrefix("@") else { return [try FieldArgument(argument)] }
            let path = String(argument.dropFirst())
            guard let content = try? readFile(path) else {
                throw ToolFailure(.readError, "the fields of \(path) cannot be read")
            }
            let lines = String(decoding: content, as: UTF8.self).lines.map { String($0) }
            return try lines.filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }.map(FieldArgument.init)
        }

        /// The first field with a name replaces the tool's own; further ones are sent, too.
        static func apply(_ fields: [FieldArgument], to request: inout URLRequest) {
            var seen: Set<String> = []
            for field in fields {
                if let value = field.value, !seen.insert(field.name.lowercased()).inserted {
                    request.headerFields.append((field.name, value))
                } else {
                    request.setValue(field.value, forHTTPHeaderField: field.name)
                }
            }
        }
    }
#endif
