#if HTTPTypes
    import HTTPTypes

    /// Fields with one line for each name, as a dictionary has them, in the order in which the names come first.
    struct FieldCombining {
        private(set) var lines: [(name: HTTPField.Name, value: String)] = []
        private var places: [HTTPField.Name: Int] = [:]

        /// - Parameter joinsCookies: whether `Cookie` is joined as its syntax has it, by semicolons (RFC 9113 §8.2.3).
        init(_ fields: HTTPFields, joinsCookies: Bool) {
            for field in fields {
                guard let place = places[field.name] else {
                    places[field.name] = lines.count
                    lines.append((field.name, field.text))
                    continue
                }
                let separator = joinsCookies && field.name == .cookie ? "; " : ", "
                lines[place].value += separator + field.text
            }
        }
    }
#endif
