/// The `Priority` field of a request (RFC 9218).
public enum RequestPriority {
    /// The field's value for a priority from 0 (lowest) to 1 (highest), or nil for 0.5, which is what no field means.
    ///
    /// The eight urgencies are spread over the range as Apple's three named priorities need it: 0.25 is 5, 0.5 is 3 and
    /// 0.75 is 2. Numbers beyond the range, and those that are no number, are taken as the nearest that is in it, or 0.5.
    public static func fieldValue(_ priority: Float, incremental: Bool = false) -> String? {
        let urgency = urgency(priority)
        switch (urgency == 3, incremental) {
        case (true, true): return "i"
        case (true, false): return nil
        case (false, true): return "u=\(urgency), i"
        case (false, false): return "u=\(urgency)"
        }
    }

    /// The urgency, 0 (first) to 7 (last), of a priority from 0 to 1.
    public static func urgency(_ priority: Float) -> Int {
        guard !priority.isNaN else { return 3 }
        let bounded = min(max(priority, 0), 1)
        // 0.5 is the default's 3; above it three steps are left, below it four.
        let steps = bounded >= 0.5 ? (1 - bounded) * 6 : 3 + (0.5 - bounded) * 8
        // Not `rounded()`, which would need the C library's mathematics from every program that links this module.
        return Int(steps + 0.5)
    }
}
