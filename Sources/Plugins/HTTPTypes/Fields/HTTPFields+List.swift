#if HTTPTypes
    import HTTPTypes

    extension HTTPFields {
        /// `HTTPFields` traps beyond it.
        static let maximumCount = Int(UInt16.max) - 1

        /// Fields as LoadingKit has them; those whose names HTTP does not allow are left out. Nil where there are more than
        /// ``maximumCount``.
        init?(list: [(name: String, value: String)]) {
            let fields = list.compactMap { name, value in
                HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
            }
            guard fields.count <= Self.maximumCount else { return nil }
            self.init(fields)
        }

        /// As LoadingKit has them. Several `Cookie` fields are one (RFC 9113 §8.2.3), in the first one's place.
        var list: [(name: String, value: String)] {
            var list: [(name: String, value: String)] = []
            var cookies: Int?
            for field in self {
                if field.name == .cookie, let place = cookies {
                    list[place].value += "; \(field.text)"
                } else {
                    if field.name == .cookie { cookies = list.count }
                    list.append((field.name.rawName, field.text))
                }
            }
            return list
        }
    }
#endif
