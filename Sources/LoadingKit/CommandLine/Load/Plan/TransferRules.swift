#if CommandLineTool
    import Foundation

    /// When a load ends early, and when it is repeated.
    struct TransferRules: Sendable, Hashable {
        /// The reaction to a status of 400 or above.
        enum ErrorStatus: Sendable, Hashable {
            case isSuccess, fails, failsWithBody
        }

        let followsRedirects: Bool
        /// Nil for the library's limit.
        let maximumRedirects: Int?
        let errorStatus: ErrorStatus
        /// Seconds; nil for no limit.
        let maximumTime: Double?
        let connectTimeout: Double?
        /// Bytes; nil for no limit.
        let maximumSize: Int64?
        /// Bytes in a second; nil for no limit.
        let rate: Int64?
        let retry: RetryRule

        init(_ options: LoadCommand) throws {
            let transfer = options.transfer
            followsRedirects = !transfer.noFollow
            maximumRedirects = transfer.maxRedirs.flatMap { $0 < 0 ? nil : $0 }
            errorStatus = options.output.fail ? .fails : options.output.failWithBody ? .failsWithBody : .isSuccess
            maximumTime = try Self.seconds(transfer.maxTime, "--max-time")
            connectTimeout = try Self.seconds(transfer.connectTimeout, "--connect-timeout")
            maximumSize = try Self.bytes(transfer.maxFilesize, "--max-filesize")
            rate = try Self.bytes(transfer.limitRate, "--limit-rate")
            retry = RetryRule(
                count: transfer.retry, afterAll: transfer.retryAllErrors, afterRefusal: transfer.retryConnrefused,
                delay: try Self.seconds(transfer.retryDelay, "--retry-delay"),
                maximumTime: try Self.seconds(transfer.retryMaxTime, "--retry-max-time"))
        }

        private static func seconds(_ value: Double?, _ name: String) throws -> Double? {
            guard let value else { return nil }
            guard value.isFinite, value >= 0 else { throw ToolFailure(.usage, "\(name) needs a number of seconds") }
            return value == 0 ? nil : value
        }

        /// A number with or without a unit: powers of 1024, as in curl.
        private static func bytes(_ text: String?, _ name: String) throws -> Int64? {
            guard let text else { return nil }
            let units: [Character: Double] = ["k": 1024, "m": 1_048_576, "g": 1_073_741_824, "b": 1]
            let unit = text.last.flatMap { units[Character($0.lowercased())] }
            guard let number = Double(unit == nil ? text[...] : text.dropLast()), number >= 0, number < 1e15 else {
                throw ToolFailure(.usage, "\(name) needs a number of bytes, such as 500, 10k or 3M")
            }
            let bytes = Int64(min(number * (unit ?? 1), 1e18))
            return bytes == 0 ? nil : bytes
        }
    }

    /// When a load is repeated, and after which time.
    struct RetryRule: Sendable, Hashable {
        let count: Int
        let afterAll: Bool
        let afterRefusal: Bool
        /// Seconds; nil for 1, 2, 4 … or `Retry-After`.
        let delay: Double?
        let maximumTime: Double?

        private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
        /// Those of curl. A name server may be out of reach for a moment.
        private static let failures: Set<ToolStatus> = [.timedOut, .couldNotResolve, .couldNotResolveProxy]
        /// The limit of the delays that the tool chooses, in seconds.
        private static let longestChoice: Double = 600
        /// The limit of the server's delays, in seconds: six hours, as curl's.
        private static let longestRetryAfter: Double = 21_600
        /// The limit of the user's delays: as nanoseconds they must fit into 64 bits.
        private static let longestDelay: Double = 1e9

        /// The number of seconds to wait; nil where the load is not repeated.
        ///
        /// - Parameters:
        ///   - attempt: the number of attempts before this one.
        ///   - elapsed: seconds since the first attempt began.
        func delay(
            after failure: ToolFailure?, status: Int?, retryAfter: Double?, attempt: Int, elapsed: Double
        ) -> Double? {
            guard attempt < count else { return nil }
            let reason = failure?.status ?? .success
            let isTransient =
                status.map(Self.statuses.contains) ?? false || Self.failures.contains(reason)
                || (afterRefusal && reason == .couldNotConnect) || (afterAll && failure != nil)
            guard isTransient else { return nil }
            let choice = min(pow(2, Double(min(attempt, 20))), Self.longestChoice)
            let wait = min(
                max(retryAfter.map { min($0, Self.longestRetryAfter) } ?? delay ?? choice, 0), Self.longestDelay)
            if let maximumTime, elapsed + wait > maximumTime { return nil }
            return wait
        }
    }

    /// How files are written.
    struct FileRules: Sendable, Hashable {
        /// The byte at which loads continue.
        enum Start: Sendable, Hashable {
            case beginning
            case byte(Int64)
            case endOfFile
        }

        let start: Start
        let makesFolders: Bool
        let keepsTime: Bool

        init(_ options: OutputOptions) throws {
            switch options.continueAt {
            case nil: start = .beginning
            case "-": start = .endOfFile
            case let text?:
                guard let byte = Int64(text), byte >= 0 else {
                    throw ToolFailure(.usage, "-C needs a number of bytes, or -")
                }
                start = .byte(byte)
            }
            (makesFolders, keepsTime) = (options.createDirs, options.remoteTime)
        }

        /// The byte at which a load begins, and the number of bytes that its file keeps.
        func start(of destination: Destination) -> (offset: Int64, kept: Int64) {
            switch start {
            case .beginning, .byte(0): return (0, 0)
            case .byte(let byte): return (byte, Self.size(of: destination))
            case .endOfFile:
                let size = Self.size(of: destination)
                return (size, size)
            }
        }

        /// The size of the destination's file; 0 if there is no file, or if its name is not known before the response.
        private static func size(of destination: Destination) -> Int64 {
            guard case .file(let path) = destination else { return 0 }
            // Of the file to which a symbolic link leads: that one is written.
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : 0
        }
    }
#endif
