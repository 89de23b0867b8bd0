//! Converts between the positions of cells in a sheet and their names, such as `AB12`.

/// Returns the column, from 0, and the row, from 1, of a reference (`AB12`).
pub(crate) fn position(reference: &str) -> Option<(usize, u64)> {
    let len = reference.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = reference.split_at(len);
    let mut column = 0_usize;
    for letter in letters.bytes() {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        column = column.checked_mul(26)?.checked_add(digit)?;
    }
    Some((column.checked_sub(1)?, digits.parse().ok()?))
}

/// Returns the reference (`AB12`) of a column, from 0, and a row, from 1.
pub(crate) fn reference(column: usize, row: u64) -> String {
    const LETTERS: usize = 26;
    let (mut rest, mut letters) = (column + 1, Vec::new());
    while rest > 0 {
        rest -= 1;
        letters.extend(u8::try_from(rest % LETTERS).ok().map(|letter| char::from(b'A' + letter)));
        rest /= LETTERS;
    }
    letters.iter().rev().collect::<String>() + &row.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_positions() {
        assert_eq!(position("A1"), Some((0, 1)));
        assert_eq!(position("AB12"), Some((27, 12)));
        for (column, row) in [(0, 1), (25, 3), (26, 12), (701, 9), (702, 9), (16_383, 1_048_576)] {
            assert_eq!(position(&reference(column, row)), Some((column, row)));
        }
        for wrong in ["", "12", "A", "AAAAAAAAAAAAAAAAAAAAAA1", "A99999999999999999999999"] {
            assert_eq!(position(wrong), None, "{wrong}");
        }
    }
}
