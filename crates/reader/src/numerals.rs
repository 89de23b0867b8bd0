//! Spells Roman numerals, as items of lists and pages are numbered.

const SIGNS: [(u64, &str); 13] = [
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];

/// Returns a Roman numeral in small letters; digits for 0 and above 3,999, which have no numeral.
pub(crate) fn roman(number: u64) -> String {
    if number == 0 || number > 3999 {
        return number.to_string();
    }
    let mut rest = number;
    let mut numeral = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            numeral.push_str(sign);
            rest -= value;
        }
    }
    numeral
}
