//! Tests in which encoding a text is read.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, GBK, IBM866, ISO_8859_2, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1253, WINDOWS_1254, WINDOWS_1255,
};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(bytes: &[u8], expected: Option<&str>) {
    assert_eq!(decode(bytes).as_deref(), expected);
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn utf8_is_read_with_and_without_mark() {
    check("Grüße 日本\n".as_bytes(), Some("Grüße 日本\n"));
    check("\u{FEFF}Grüße".as_bytes(), Some("Grüße"));
    check(b"", Some(""));
}

#[test]
fn utf16_is_read_with_and_without_mark() {
    let text = "A note: naïve text, two lines\r\nand more";
    let expected = Some("A note: naïve text, two lines\nand more");
    check(&utf16(&format!("\u{FEFF}{text}"), u16::to_le_bytes), expected);
    check(&utf16(&format!("\u{FEFF}{text}"), u16::to_be_bytes), expected);
    check(&utf16(text, u16::to_le_bytes), expected);
    check(&utf16(text, u16::to_be_bytes), expected);
}

#[test]
fn other_bytes_are_read_as_letters_that_are_usual_together() {
    check(b"caf\xE9 \x93quoted\x94 \x80 5", Some("café “quoted” € 5"));
    for (encoding, text) in [
        (
            WINDOWS_1252,
            "Die Tür zum Hof schließt nicht mehr, der Schlüssel hängt über dem Küchentisch.",
        ),
        (WINDOWS_1252, "De ruïne ligt één kilometer verder, vlak naast de boerderij van mijn oom."),
        (
            WINDOWS_1250,
            "Klíč od sklepa visí vedle dveří, prosím vraťte ho zpátky, než večer odejdete.",
        ),
        (ISO_8859_2, "Zażółć gęślą jaźń, a klucz do piwnicy oddaj sąsiadce, zanim wyjdziesz."),
        (
            WINDOWS_1250,
            "A pince kulcsa a hűtő mellett lóg, kérlek, tedd vissza, mielőtt elmész innen.",
        ),
        (
            WINDOWS_1254,
            "Bodrumun anahtarı kapının yanında asılı, çıkmadan önce lütfen yerine koyunuz.",
        ),
        (WINDOWS_1251, "Ключ от подвала висит у двери, верните его на место перед уходом."),
        (KOI8_R, "Ключ от подвала висит у двери, верните его на место перед уходом."),
        (WINDOWS_1253, "Το κλειδί του υπογείου κρέμεται δίπλα στην πόρτα της κουζίνας."),
        (WINDOWS_1255, "המפתח של המרתף תלוי ליד הדלת, נא להחזיר אותו לפני שיוצאים."),
        (SHIFT_JIS, "地下室の鍵は台所の扉の横に掛けてあります。"),
        (EUC_JP, "地下室の鍵は台所の扉の横に掛けてあります。"),
        (ISO_2022_JP, "地下室の鍵は台所の扉の横に掛けてあります。"),
        (GBK, "地下室的钥匙挂在厨房门旁边，离开之前请放回原处。"),
        (BIG5, "地下室的鑰匙掛在廚房門旁邊，離開之前請放回原處。"),
        (EUC_KR, "지하실 열쇠는 부엌 문 옆에 걸려 있으니 나가기 전에 돌려놓으세요."),
    ] {
        let (bytes, _, has_unknown) = encoding.encode(text);
        assert!(!has_unknown, "{text}");
        assert_eq!(decode(&bytes).as_deref(), Some(text), "{}", encoding.name());
    }
}

#[test]
fn a_named_encoding_is_used_where_all_bytes_are_its_letters() {
    for (bytes, label, expected) in [
        (&b"caf\xE9"[..], "windows-1252", "café"),
        (b"caf\xE9", "utf-8", "café"),
        ("Größe".as_bytes(), "iso-8859-1", "Größe"),
        (b"\xCA\xEB\xFE\xF7", "windows-1251", "Ключ"),
        (b"\x1B$B80\x1B(B key", "iso-2022-jp", "鍵 key"),
        (b"plain", "utf-16", "plain"),
        (b"plain", "no such name", "plain"),
    ] {
        let found = decode_as(bytes, Some(label.as_bytes()));
        assert_eq!(found.as_deref(), Some(expected), "{label}");
    }
}

#[test]
fn xml_is_read_in_the_encoding_that_it_declares() {
    let declared = b"<?xml version='1.0' encoding='windows-1251'?><a>\xCF\xF0\xE8</a>";
    assert!(decode(declared).unwrap().ends_with("<a>При</a>"));
    check(
        "<?xml version='1.0' encoding='latin1'?>é".as_bytes(),
        Some("<?xml version='1.0' encoding='latin1'?>é"),
    );
}

#[test]
fn an_encoding_that_was_only_guessed_is_named() {
    #[track_caller]
    fn encoding(bytes: &[u8], labels: &[&[u8]], expected: Option<&str>) {
        let found = read(bytes, labels).unwrap().encoding;
        assert_eq!(found.map(|encoding| encoding.describe()).as_deref(), expected);
    }
    let russian = WINDOWS_1251.encode("Ключ от подвала висит у двери.").0;
    encoding(&russian, &[], Some("windows-1251, guessed"));
    encoding(&russian, &[b"cp1251"], Some("windows-1251"));
    encoding(&russian, &[b"us-nonsense", b"utf-8", b"cp1251"], Some("windows-1251"));
    encoding(b"a \x81 b \x83", &[b"cp850"], Some("IBM850"));
    encoding(b"\xFF\xFEa\0", &[], Some("UTF-16LE"));
    encoding(b"\xC3\xA4\xC3\xB6\xC3\xBC \xC3\x9F \xFF", &[], Some("UTF-8, damaged"));
    encoding("Größe".as_bytes(), &[b"latin1"], None);
    encoding(b"plain", &[], None);
}

#[test]
fn names_of_files_are_those_of_ms_dos_or_of_another_script() {
    #[track_caller]
    fn check(names: &[&[u8]], expected: &[&str]) {
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.to_vec()).collect();
        assert_eq!(file_names(&names), expected);
    }
    check(&[b"B\x81cher/Gr\x94\xE1e.md", b"plain.md"], &["Bücher/Größe.md", "plain.md"]);
    check(&["Größe.md".as_bytes()], &["Größe.md"]);
    check(&[b"B\x81cher.md", "Größe.md".as_bytes()], &["Bücher.md", "Größe.md"]);
    let in_bytes = |encoding: &'static Encoding, names: &[&str]| {
        let bytes: Vec<Vec<u8>> =
            names.iter().map(|name| encoding.encode(name).0.into_owned()).collect();
        assert_eq!(file_names(&bytes), names, "{}", encoding.name());
    };
    in_bytes(IBM866, &["Договор аренды.txt", "Отчёт за год.md"]);
    in_bytes(WINDOWS_1251, &["Договор аренды.txt", "Отчёт за год.md"]);
    in_bytes(SHIFT_JIS, &["会議の資料.txt", "テスト.md"]);
    in_bytes(GBK, &["会议纪要.txt", "合同文本.md"]);
}

#[test]
fn escapes_of_a_terminal_are_not_japanese() {
    check(b"\x1B[1mbold\x1B[0m \x1B(B$5", Some("\u{1B}[1mbold\u{1B}[0m \u{1B}(B$5"));
    check(b"\x1B$Bx", Some("\u{1B}$Bx"));
}

#[test]
fn damaged_utf8_stays_utf8() {
    check(b"\xC3\xA4\xC3\xB6\xC3\xBC \xC3\x9F \xFF end", Some("äöü ß \u{FFFD} end"));
}

#[test]
fn every_line_end_becomes_one_newline() {
    check(b"a\r\nb\rc\nd\r\n\r\ne", Some("a\nb\nc\nd\n\ne"));
}

#[test]
fn binary_is_refused() {
    check(b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0\x01\0\0\0", None);
    check(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", None);
    check(&[1, 2, 3, 4, 5, 6, 7], None);
    let samples: Vec<u8> =
        (0..4000_u16).flat_map(|number| (number * 7 % 900).to_le_bytes()).collect();
    check(&samples, None);
    check(&[b"#!/bin/sh\n".repeat(1000).as_slice(), &[0; 5000]].concat(), None);
}

#[test]
fn a_stray_zero_byte_far_down_is_replaced() {
    let text = "line of text\n".repeat(1000);
    let bytes = [text.as_bytes(), b"\0", text.as_bytes()].concat();
    check(&bytes, Some(&format!("{text}\u{FFFD}{text}")));
}

proptest! {
    #[test]
    fn no_bytes_panic_and_no_text_has_carriage_returns(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        if let Some(text) = decode(&bytes) {
            prop_assert!(!text.contains(['\r', '\0']));
        }
    }

    #[test]
    fn text_is_read_back_unchanged(text in "[\\PC\n\t]{0,200}") {
        prop_assume!(!text.starts_with('\u{FEFF}'));
        prop_assert_eq!(decode(text.as_bytes()), Some(text));
    }
}
