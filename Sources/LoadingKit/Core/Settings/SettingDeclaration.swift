import Foundation

/// What a setting of a configuration means to a background session, whose transfers another process makes: one for each stored
/// property of ``SessionSettings``, in ``all``. Its default is the property's own.
package struct SettingDeclaration: Sendable {
    /// Where the setting holds.
    package enum Reach: Sendable {
        /// Wherever the transfers are made.
        case transfers(Carrier)
        /// It is in the description of the session, beside the settings: which session it is, and where its stores are.
        case session
        /// In the program's process alone.
        case program
        /// Nowhere.
        case nothing
        /// It cannot be carried, and would be missed: a session that has it is not made.
        case refused(isSet: @Sendable (SessionSettings) -> Bool)
    }

    /// Takes a setting to the process that makes transfers.
    package struct Carrier: Sendable {
        /// Where the coded value is in the description of the session.
        package let path: ArraySlice<String>
        /// Whether the value is written also where it is the default, as the first version expects it.
        let isAlwaysWritten: Bool
        let encode: @Sendable (SessionSettings) throws -> CodedValue?
        /// False where the value is none. Nil: the default.
        let decode: @Sendable (CodedValue?, inout SessionSettings) -> Bool
    }

    /// The name of the stored property.
    package let name: String
    /// The name that a program uses; nil for what no program sets.
    package let publicName: String?
    package let reach: Reach
    /// What it does, or why it does nothing, for the page on background sessions.
    package let note: String

    static func carried<Value>(
        _ name: String, _ property: any WritableKeyPath<SessionSettings, Value> & Sendable,
        _ coding: SettingCoding<Value>,
        at path: String, always isAlwaysWritten: Bool = false, as publicName: String? = nil, _ note: String
    ) -> SettingDeclaration {
        let carrier = Carrier(
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
        return SettingDeclaration(name, .transfers(carrier), as: publicName, note)
    }

    /// Whether there is a store is carried. Which one it is decides the process that uses it.
    static func store<Store>(
        _ name: String, _ property: any WritableKeyPath<SessionSettings, Store?> & Sendable, at path: String,
        as publicName: String? = nil, _ note: String
    ) -> SettingDeclaration {
        let carrier = Carrier(
            path: path.split(separator: ".").map(String.init)[...], isAlwaysWritten: true,
            encode: { .flag($0[keyPath: property] != nil) },
            decode: { coded, settings in
                guard let isUsed = coded?.flag else { return false }
                if !isUsed { settings[keyPath: property] = nil }
                return true
            })
        return SettingDeclaration(name, .transfers(carrier), as: publicName, note)
    }

    init(_ name: String, _ reach: Reach, as publicName: String? = nil, isPublic: Bool = true, _ note: String) {
        self.name = name
        self.publicName = isPublic ? publicName ?? name : nil
        self.reach = reach
        self.note = note
    }

    /// A table's line for the page on background sessions; nil for what no program sets.
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
