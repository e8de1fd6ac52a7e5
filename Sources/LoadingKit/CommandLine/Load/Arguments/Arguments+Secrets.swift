#if CommandLineTool
    /// Arguments that other users must not see: the system shows the arguments of a process to everyone.
    extension Arguments {
        /// Options whose values may have a password, a token or a cookie.
        private static let secretNames: Set<String> = [
            "user", "oauth2-bearer", "header", "cookie", "cert", "pass", "proxy", "proxy-user", "socks5",
            "socks5-hostname", "socks4", "socks4a",
        ]

        /// How many bytes at the beginning of each argument others may see.
        static func publicLengths(of arguments: [String]) -> [Int] {
            var lengths = arguments.map(\.utf8.count)
            var index = 0
            while index < arguments.count, arguments[index] != "--" {
                let argument = arguments[index]
                index += 1
                // Of several letters the last one has the value.
                guard argument.hasPrefix("-"), argument != "-", let option = split(argument).last,
                    OptionNames.all.hasValue(option.name)
                else { continue }
                let isSecret = secretNames.contains(OptionNames.all.long(option.name))
                if let value = option.value {
                    if isSecret { lengths[index - 1] -= value.utf8.count }
                } else {
                    if isSecret, index < arguments.count { lengths[index] = 0 }
                    index += 1
                }
            }
            return lengths
        }

        /// Overwrites the secrets in the arguments of this process.
        ///
        /// - Parameter arguments: those behind the program's name, as they were before.
        static func hideSecrets(of arguments: [String]) {
            for (index, length) in publicLengths(of: arguments).enumerated() {
                guard var byte = CommandLine.unsafeArgv[index + 1] else { return }
                var place = 0
                while byte.pointee != 0 {
                    if place >= length { byte.pointee = 0x20 }
                    byte += 1
                    place += 1
                }
            }
        }
    }
#endif
