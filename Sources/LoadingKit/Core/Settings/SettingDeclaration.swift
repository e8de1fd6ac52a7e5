import Foundation

/// The effect of a configuration's setting on a background session, whose transfers another process performs. There is
/// one declaration for each stored property of ``SessionSettings``, in ``all``. A setting's default is the property's
/// default.
package struct SettingDeclaration: Sendable {
    /// The part of the system in which the setting has an effect.
    package enum Reach: Sendable {
        /// Every process that performs transfers.
        case transfers(Transmission)
        /// The description of the session, beside the settings: the session's identity, and the location of its stores.
        case session
        /// Only the program's process.
        case program
        /// None.
        case nothing
        /// The setting cannot be transmitted, and its absence would be an error: a session that has it is not made.
        case refused(isSet: @Sendable (SessionSettings) -> Bool)
    }

    /// Transmits a setting to the process that performs transfers.
    package struct Transmission: Sendable {
        /// The path of the coded value in the description of the session.
        package let path: ArraySlice<String>
        /// Whether the value is also written where it is the default, as the first version expects it.
        let isAlwaysWritten: Bool
        let encode: @Sendable (SessionSettings) throws -> CodedValue?
        /// False where the coded value is not valid. Nil: the default.
        let decode: @Sendable (CodedValue?, inout SessionSettings) -> Bool
    }

    /// The name of the stored property.
    package let name: String
    /// The name that a program uses; nil for a setting that no program sets.
    package let publicName: String?
    package let reach: Reach
    /// The setting's effect, or the reason why it has none, for the page on background sessions.
    package let note: String

    static func transmitted<Value>(
        _ name: String, _ property: any WritableKeyPath<SessionSettings, Value> & Sendable,
        _ coding: SettingCoding<Value>,
        at path: String, always isAlwaysWritten: Bool = false, as publicName: String? = nil, _ note: String
    ) -> SettingDeclaration {
        let transmission = Transmission(
            path: path.split(separator: ".").map(String.init)[...], isAlwaysWritten: isAlwaysWritten,
            encode: { try coding.encode($0[keyPath: property]) },
            decode: { coded, settings in
                guard let coded else {
                    settings[keyPath: property] = SessionSettings.elsewhere[keyPath: property]
                    return true
                }
                guard let value = coding.decode(coded) else { return false }
                settings[keyPath: property] = value
                return true
            })
        return SettingDeclaration(name, .transfers(transmission), as: publicName, note)
    }

    /// Transmits whether there is a store. The process that uses the store decides which one it is.
    static func store<Store>(
        _ name: String, _ property: any WritableKeyPath<SessionSettings, Store?> & Sendable, at path: String,
        as publicName: String? = nil, _ note: String
    ) -> SettingDeclaration {
        let transmission = Transmission(
            path: path.split(separator: ".").map(String.init)[...], isAlwaysWritten: true,
            encode: { .flag($0[keyPath: property] != nil) },
            decode: { coded, settings in
                guard let isUsed = coded?.flag else { return false }
                if !isUsed { settings[keyPath: property] = nil }
                return true
            })
        return SettingDeclaration(name, .transfers(transmission), as: publicName, note)
    }

    init(_ name: String, _ reach: Reach, as publicName: String? = nil, isPublic: Bool = true, _ note: String) {
        self.name = name
        self.publicName = isPublic ? publicName ?? name : nil
        self.reach = reach
        self.note = note
    }

    /// A table line for the page on background sessions; nil for a setting that no program sets.
    package var line: String? {
        guard let publicName else { return nil }
        let place =
            switch reach {
            case .transfers, .session: "transfers"
            case .program: "program"
            case .nothing: "none"
            case .refused: "refused"
            }
        return "| `\(publicName)` | \(place) | \(note) |"
    }
}
