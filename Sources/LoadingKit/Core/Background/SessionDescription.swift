import Foundation

/// The description of a background session for the performer of its transfers: the identifier, and the settings for the
/// transfers. It is kept in the journal, so that transfers continue without the program.
///
/// It is made of the settings' declarations (``SettingDeclaration``), and has coded values. A later version may add some, which
/// it writes only where they are not the default. Where one of them is not known, the session is refused: nothing fails open.
package struct SessionDescription: Hashable, Sendable {
    private var values: CodedValue

    private static let identifierPath: ArraySlice<String> = ["identifier"]
    private static let programPath: ArraySlice<String> = ["program"]
    private static let storeFolderPath: ArraySlice<String> = ["stores", "folder"]

    package var identifier: String {
        get { values[path: Self.identifierPath]?.text ?? "" }
        set { values[path: Self.identifierPath] = .text(newValue) }
    }

    /// The program's path: what a person reads, and what distinguishes programs that take the same identifier.
    package var program: String {
        get { values[path: Self.programPath]?.text ?? "" }
        set { values[path: Self.programPath] = .text(newValue) }
    }

    /// The program's folder of stores (`StoreLocation`); nil where the package was built without them.
    package var storeFolder: String? { values[path: Self.storeFolderPath]?.text }

    /// The variables of the program's environment for proxies, trust and keys. A process of the program that is started for the
    /// session gets the same values.
    package var environment: [String: String] {
        guard let settings = try? settings else { return [:] }
        return settings.tlsEnvironment.values.merging(settings.proxyEnvironment?.variables ?? [:]) { $1 }
    }

    /// - Parameters:
    ///   - program: The running program's path.
    ///   - storeFolder: The program's folder of stores.
    /// - Throws: `URLError.backgroundSessionWasDisconnected`, which names the setting, where one cannot be carried.
    package init(
        _ settings: SessionSettings, identifier: String, program: String, storeFolder: String?
    ) throws {
        values = .object([:])
        values[path: Self.storeFolderPath] = storeFolder.map { .text($0) }
        let defaults = SessionSettings.elsewhere
        for setting in SettingDeclaration.all {
            switch setting.reach {
            case .transfers(let carrier):
                do {
                    let coded = try carrier.encode(settings)
                    guard try carrier.isAlwaysWritten || coded != carrier.encode(defaults) else { continue }
                    values[path: carrier.path] = coded
                } catch {
                    throw setting.failure("cannot be carried to what makes the transfers: \(error)")
                }
            case .refused(let isSet):
                guard !isSet(settings) else {
                    throw setting.failure("cannot be carried to what makes the transfers. It is \(setting.note)")
                }
            case .session, .program, .nothing: break
            }
        }
        self.identifier = identifier
        self.program = program
    }

    /// Gives settings the session's, but for its stores.
    ///
    /// - Throws: `URLError.backgroundSessionWasDisconnected` where one is missing, or is none that this version knows.
    package func apply(to settings: inout SessionSettings) throws {
        var unknown = values
        for path in [Self.identifierPath, Self.programPath, Self.storeFolderPath] {
            unknown[path: path] = nil
        }
        for setting in SettingDeclaration.all {
            guard case .transfers(let carrier) = setting.reach else { continue }
            let coded = values[path: carrier.path]
            guard coded != nil || !carrier.isAlwaysWritten else { throw setting.failure("is missing") }
            guard carrier.decode(coded, &settings) else { throw setting.failure("has a value that is not known here") }
            unknown[path: carrier.path] = nil
        }
        guard unknown == .object([:]) else {
            throw LoadFailure(
                .backgroundSessionWasDisconnected,
                "the background session has settings of a later version, which this one would not heed: \(unknown.names)"
            )
        }
        settings.waitsForConnectivity = true
    }

    /// The session's settings, but for its stores.
    package var settings: SessionSettings {
        get throws {
            var settings = SessionSettings.elsewhere
            try apply(to: &settings)
            return settings
        }
    }

    /// Takes over a setting of another description.
    package mutating func keep(_ name: String, of other: SessionDescription) {
        for setting in SettingDeclaration.all where setting.name == name {
            guard case .transfers(let carrier) = setting.reach else { continue }
            values[path: carrier.path] = other.values[path: carrier.path]
        }
    }
}

extension SessionDescription: Codable {
    package init(from decoder: any Decoder) throws {
        values = try CodedValue(from: decoder)
        for path in [Self.identifierPath, Self.programPath] where values[path: path]?.text == nil {
            let context = DecodingError.Context(
                codingPath: decoder.codingPath, debugDescription: "a background session has no \(path.joined())")
            throw DecodingError.dataCorrupted(context)
        }
    }

    package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

extension SettingDeclaration {
    fileprivate func failure(_ text: String) -> LoadFailure {
        LoadFailure(.backgroundSessionWasDisconnected, "the background session's \(publicName ?? name) \(text)")
    }
}

extension CodedValue {
    /// The names of an object's members, for a text.
    fileprivate var names: String {
        guard case .object(let members) = self else { return "\(self)" }
        return members.keys.sorted().joined(separator: ", ")
    }
}
