import Foundation

/// The description of a background session for the performer of its transfers: the identifier, and the settings for the
/// transfers. It is kept in the journal, so that transfers continue without the program.
///
/// It has the coded values of the settings, by their declarations (``SettingDeclaration``). A later version may add values,
/// and writes them only where they are not the default. A process that does not know one of them refuses the session.
package struct SessionDescription: Hashable, Sendable {
    private var values: CodedValue

    private static let identifierPath: ArraySlice<String> = ["identifier"]
    private static let programPath: ArraySlice<String> = ["program"]
    private static let storeFolderPath: ArraySlice<String> = ["stores", "folder"]

    package var identifier: String {
        get { values[path: Self.identifierPath]?.text ?? "" }
        set { values[path: Self.identifierPath] = .text(newValue) }
    }

    /// The program's path, for display, and to distinguish programs that use the same identifier.
    package var program: String {
        get { values[path: Self.programPath]?.text ?? "" }
        set { values[path: Self.programPath] = .text(newValue) }
    }

    /// The folder of the program's stores (`StoreLocation`); nil where the package was built without stores.
    package var storeFolder: String? { values[path: Self.storeFolderPath]?.text }

    /// The program's environment variables for proxies, trust and keys. A process of the program that is started for the
    /// session gets them, too.
    package var environment: [String: String] {
        guard let settings = try? settings else { return [:] }
        return settings.tlsEnvironment.values.merging(settings.proxyEnvironment?.variables ?? [:]) { $1 }
    }

    /// - Parameters:
    ///   - program: the running program's path.
    ///   - storeFolder: the folder of the program's stores.
    /// - Throws: `URLError.backgroundSessionWasDisconnected` with the name of a setting that cannot be transmitted.
    package init(
        _ settings: SessionSettings, identifier: String, program: String, storeFolder: String?
    ) throws {
        values = .object([:])
        values[path: Self.storeFolderPath] = storeFolder.map { .text($0) }
        let defaults = SessionSettings.elsewhere
        for setting in SettingDeclaration.all {
            switch setting.reach {
            case .transfers(let transmission):
                do {
                    let coded = try transmission.encode(settings)
                    guard try transmission.isAlwaysWritten || coded != transmission.encode(defaults) else { continue }
                    values[path: transmission.path] = coded
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

    /// Applies the session's settings, except for its stores.
    ///
    /// - Throws: `URLError.backgroundSessionWasDisconnected` where a value is missing, or this version does not know it.
    package func apply(to settings: inout SessionSettings) throws {
        var unknown = values
        for path in [Self.identifierPath, Self.programPath, Self.storeFolderPath] {
            unknown[path: path] = nil
        }
        for setting in SettingDeclaration.all {
            guard case .transfers(let transmission) = setting.reach else { continue }
            let coded = values[path: transmission.path]
            guard coded != nil || !transmission.isAlwaysWritten else { throw setting.failure("is missing") }
            guard transmission.decode(coded, &settings) else {
                throw setting.failure("has a value that is not known here")
            }
            unknown[path: transmission.path] = nil
        }
        guard unknown == .object([:]) else {
            throw LoadFailure(
                .backgroundSessionWasDisconnected,
                "the background session has settings of a later version, which this one would not heed: \(unknown.names)"
            )
        }
        settings.waitsForConnectivity = true
    }

    /// The session's settings, except for its stores.
    package var settings: SessionSettings {
        get throws {
            var settings = SessionSettings.elsewhere
            try apply(to: &settings)
            return settings
        }
    }

    /// Copies a setting of another description.
    package mutating func keep(_ name: String, of other: SessionDescription) {
        for setting in SettingDeclaration.all where setting.name == name {
            guard case .transfers(let transmission) = setting.reach else { continue }
            values[path: transmission.path] = other.values[path: transmission.path]
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
    /// The names of an object's members, for a message.
    fileprivate var names: String {
        guard case .object(let members) = self else { return "\(self)" }
        return members.keys.sorted().joined(separator: ", ")
    }
}
