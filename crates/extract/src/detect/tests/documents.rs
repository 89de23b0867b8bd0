//! Checks which documents of office programs, books, mail and pictures are recognised, and by what.

use super::*;

#[test]
fn html_office_documents_books_and_pictures_are_recognised() {
    check("x.HTML", b"<p>words", "html");
    check("x.htm", b"<!DOCTYPE html>", "html");
    check("x.docx", b"PK\x03\x04\x14\0\x06\0_rels/", "docx");
    check("x.epub", b"PK\x03\x04\x14\0\x06\0mimetypeapplication/epub+zip", "epub");
    check("x.ipynb", b"{\"cells\": []}", "notebook");
    check("x.docx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "docx");
    check("x.png", PNG_HEAD, "png");
    check("x.tif", b"MM\0*\0\0\0\x08", "tiff");
    check("x.jpeg", b"\xFF\xD8\xFF\xE0\0\x10JFIF\0", "jpeg");
    check("x.bmp", b"BM\x36\0\0\0\0\0\0\0", "bmp");
    check("x.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "webp");
    // The bytes override the name.
    check("x.jpg", PNG_HEAD, "png");
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.png", b"<html>", &format!("{wrong}HTML"));
    check("x.html", PNG_HEAD, &format!("{wrong}a PNG image"));
}

#[test]
fn office_documents_are_recognised_by_their_content() {
    let zip = |entry: &str| format!("PK\x03\x04\x14\0\x06\0{entry}").into_bytes();
    let odt = "mimetypeapplication/vnd.oasis.opendocument.text";
    for (name, head, expected) in [
        ("x.pptx", zip("[Content_Types].xml"), "pptx"),
        ("x.XLSM", zip("xl/workbook.xml"), "xlsx"),
        ("x.odt", zip(odt), "odt"),
        ("x.odp", zip("content.xml"), "odp"),
        ("x.rtf", b"{\\rtf1 words}".to_vec(), "rtf"),
        ("x.fb2", b"<?xml version='1.0'?><FictionBook>".to_vec(), "fb2"),
        ("x.mht", b"From: <Saved>\r\nMIME-Version: 1.0\r\n".to_vec(), "mhtml"),
        ("x.eml", b"From: a@example.org\r\n".to_vec(), "eml"),
        ("x.MBOX", b"From a Mon Feb 26 10:30:00 2024\n".to_vec(), "mbox"),
        // Which document an archive is, its reader finds.
        ("x.docx", zip("xl/worksheets/sheet1.xml"), "docx"),
        // Other bytes override the name, and decide without one.
        ("x.docx", b"{\\rtf1 words}".to_vec(), "rtf"),
        ("letter", b"{\\rtf1 words}".to_vec(), "rtf"),
        ("letter.doc", b"{\\rtf1 words}".to_vec(), "rtf"),
        ("x.xlsx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0".to_vec(), "xlsx"),
        ("x.MSG", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0".to_vec(), "msg"),
    ] {
        check(name, &head, expected);
    }
    let unsupported = "unsupported_format: unsupported file type: ";
    let old = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0";
    check("x.doc", old, &format!("{unsupported}x.doc (an old Office document)"));
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.rtf", &zip("a.txt"), &format!("{wrong}a ZIP archive"));
    check("x.odt", old, &format!("{wrong}an old Office document"));
    check("x.fb2", PNG_HEAD, "png");
}

#[test]
fn names_of_documents_are_read_as_what_they_hold() {
    for (name, head, expected) in [
        ("x.doc", &b"<html><body>Leave"[..], "html"),
        ("x.doc", b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n", "mhtml"),
        ("x.xls", b"Plant\tStock\nHull\t318\n", "tsv"),
        ("x.xls", b"<meta charset=utf-8><table>", "html"),
        ("x.ppt", b"words", "text"),
        ("x.docx", b"words", "text"),
        ("x.pptx", b"%PDF-1.4\n", "pdf"),
        ("x.rtf", b"From: the office\nto the quay", "text"),
        ("x.eml", b"<html><body>Leave", "html"),
        // The head of a message may begin with any field.
        ("x.eml", b"X-Sent: a,b\nX-Seen: c,d\n", "eml"),
        ("x.mbox", b"From ada Mon Feb 26 10:30:00 2024\n", "mbox"),
        ("x.msg", b"From: ada@example.org\nSubject: Ropes\n\nLow", "eml"),
        // Robots define their messages in such files.
        ("Pose.msg", b"float64 x\nfloat64 y\n", "text"),
    ] {
        check(name, head, expected);
    }
}

#[test]
fn only_an_archive_whose_name_does_not_say_what_it_is_may_be_any_document() {
    let archive = b"PK\x03\x04\x14\0\x06\0word/document.xml";
    for (name, expected) in [
        ("letter", true),
        ("letter.doc", true),
        ("letter.zip", true),
        ("letter.rtf", true),
        ("letter.docx", false),
        ("letter.txt", false),
        ("letter.jar", false),
    ] {
        assert_eq!(may_be_package(Path::new(name), archive), expected, "{name}");
    }
    assert!(!may_be_package(Path::new("letter"), b"words"));
}
