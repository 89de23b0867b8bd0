//! Tests which numbers of a text are joined.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = joined_numbers(text).into_iter().map(|number| number.term).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn groups_of_three_are_one_number_without_its_decimal_part() {
    check("a price of 1,234,567 or 1.234.567 or 1 234 567", &["1234567"; 3]);
    check("1'234'567 and 12\u{202f}345", &["1234567", "12345"]);
    check("EUR 1,234.56, not 123456; $5,000.", &["1234", "5000"]);
    check("1.234 mm, 0.123.456, 1,23,456, 12,34 and 1,234,56", &[]);
    check("100 200 300 400 in a row: 2019 100 200", &["100200300400"]);
}

#[test]
fn accounts_and_books_have_valid_check_digits() {
    check(
        "DE89 3704 0044 0532 0130 00, GB82 WEST 1234 5698 7654 32",
        &["de89370400440532013000", "gb82west12345698765432"],
    );
    check("DE88 3704 0044 0532 0130 00", &[]);
    check(
        "ISBN 978-3-16-148410-0, 0-306-40615-2, 978-3161484100",
        &["9783161484100", "0306406152", "9783161484100"],
    );
    check("978-3-16-148410-1", &[]);
}

#[test]
fn identifiers_in_hexadecimal_are_joined() {
    check("123E4567-e89b-12d3-a456-426614174000", &["123e4567e89b12d3a456426614174000"]);
    check("00:1A:2b:3c:4d:5e 00-1a-2b-3c-4d-5e 001a.2b3c.4d5e", &["001a2b3c4d5e"; 3]);
    check("00:1a:2b:3c:4d:5e:6f:70, 2001:db8::1", &[]);
}

#[test]
fn telephone_numbers_have_their_national_part() {
    for text in [
        "+49 30 1234 5678", "+49 (0)30 1234-5678", "030 12345678", "(030) 1234 5678",
        "0049 30 12345678", "+493012345678", "030/12345678", "tel:03012345678", "030.1234.5678",
    ] {
        check(text, &["3012345678"]);
    }
    check("+1 (800) 555-0199 or (800) 555-0199", &["8005550199"; 2]);
}

#[test]
fn dates_ranges_and_addresses_are_apart() {
    for text in [
        "01.02.2024", "01/02/2024", "2024-01-02", "09:30-10:15", "10-20", "192.168.100.200",
        "10.0.0.1:8080", "0.1234567", "0.123 0.456 0.789", "v1.234.567", "(2014) and (2015)",
        "02 03 2024", "2024-01-02 03:04:05", "1/100,000/5", "0 0 0 1 2 3 4",
    ] {
        check(text, &[]);
    }
}

#[test]
fn cells_and_lines_are_apart() {
    check("| 1 | 234 | 567 |\n1\n234\n1  234", &[]);
}

proptest! {
    #[test]
    fn any_text_has_digits_and_letters_only(text in "[0-9a-fA-F+() .,:'/|\u{a0}é-]{0,80}") {
        for JoinedNumber { bytes, term } in joined_numbers(&text) {
            prop_assert!(text[bytes].starts_with(|c: char| c.is_ascii_alphanumeric()));
            prop_assert!(term.len() > 3 && term.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
    }
}
