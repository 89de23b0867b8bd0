//! Pictures of pages: `kb show --image` and the argument `image` of `kb_show`.

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::RgbImage;
use serde_json::json;

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// A database of the sample PDF, copied to `guide.pdf`, and a note.
fn guide() -> TestEnv {
    let env = TestEnv::new();
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/corpus/tide-station.pdf");
    fs::copy(guide, env.path("guide.pdf")).unwrap();
    env.kb(&["add", "guide.pdf"]).expect(0);
    env.kb(&["add", "--note", "The spare key hangs in the shed."]).expect(0);
    env
}

fn picture(bytes: &[u8]) -> RgbImage {
    image::load_from_memory(bytes).unwrap().into_rgb8()
}

/// Returns how many pixels the marker has coloured.
fn num_yellow(image: &RgbImage) -> usize {
    image.pixels().filter(|pixel| pixel.0[0] > 200 && pixel.0[2] < 70).count()
}

#[test]
fn a_page_is_written_as_a_picture_with_words_marked() {
    let env = guide();
    let show = ["show", "1", "--page", "2", "--image", "page.png"];
    let plain = env.kb(&show).expect(0).stdout;
    assert!(plain.starts_with("page 2 of \"") && plain.contains("1,131 × 1,600 pixels"), "{plain}");
    let bytes = fs::read(env.path("page.png")).unwrap();
    let page = picture(&bytes);
    assert_eq!((page.dimensions(), num_yellow(&page)), ((1131, 1600), 0));

    // Nothing is replaced unasked.
    let refused = env.kb(&show).expect(1).stderr;
    assert!(refused.contains("page.png already exists"), "{refused}");
    let mark = [&show[..], &["--force", "--mark", "Spring tide", "--format", "json"]].concat();
    let answer = env.json(&mark);
    assert_eq!(answer["marked"], 2);
    assert_eq!((answer["width"].as_u64(), answer["height"].as_u64()), (Some(1131), Some(1600)));
    let marked = picture(&fs::read(env.path("page.png")).unwrap());
    let yellow = num_yellow(&marked);
    assert!((1_000..6_000).contains(&yellow), "{yellow}");

    let none = env.kb(&[&mark[..7], &["--mark", "zebra"]].concat()).expect(0).stdout;
    assert!(none.ends_with("the words to mark were not found on it\n"), "{none}");
}

#[test]
fn a_chunk_is_marked_on_its_page() {
    let env = guide();
    let found = env.json(&["search", "copper float", "--top", "1", "--format", "json"]);
    let (chunk, page) = (&found["results"][0]["chunk_id"], &found["results"][0]["source"]["page"]);
    let chunk = chunk.to_string();
    let answer = env.json(&["show", "--chunk", &chunk, "--image", "c.png", "--format", "json"]);
    assert_eq!(&answer["page"], page);
    assert!(answer["marked"].as_u64().unwrap() > 20, "{answer}");
}

#[test]
fn a_picture_file_is_drawn_too() {
    let env = TestEnv::new();
    RgbImage::from_pixel(3200, 800, image::Rgb([9, 9, 9])).save(env.path("scan.png")).unwrap();
    env.kb(&["add", "scan.png"]).expect(0);
    env.kb(&["show", "1", "--image", "out.png"]).expect(0);
    assert_eq!(picture(&fs::read(env.path("out.png")).unwrap()).dimensions(), (1600, 400));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_remedy() {
    let env = guide();
    for (args, message) in [
        (&["2"][..], "document 2 is neither a PDF nor a picture"),
        (&["1", "--page", "99"], "document 1 has no page 99"),
        (&["1", "--page", "1-2"], "an image shows only one page"),
        (&["1", "--symbol", "x"], "cannot be used with"),
    ] {
        let args = [&["show"], args, &["--image", "out.png"]].concat();
        let errors = env.kb(&args).expect(1).stderr;
        assert!(errors.contains(message), "{args:?}: {errors}");
        assert!(!env.path("out.png").exists());
    }
    // Only what was indexed is drawn, and only where the file may be followed.
    let draw = ["show", "1", "--image", "out.png"];
    let bytes = fs::read(env.path("guide.pdf")).unwrap();
    fs::write(env.path("guide.pdf"), [&bytes[..], b"\n% more\n"].concat()).unwrap();
    let errors = env.kb(&draw).expect(1).stderr;
    assert!(errors.contains("has changed since it was added"), "{errors}");
    assert!(errors.contains("kb update"), "{errors}");
    fs::remove_file(env.path("guide.pdf")).unwrap();
    env.kb(&draw).expect(1);
    fs::write(env.path("real.pdf"), bytes).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(env.path("real.pdf"), env.path("guide.pdf")).unwrap();
        let errors = env.kb(&draw).expect(1).stderr;
        assert!(errors.contains("is a symbolic link"), "{errors}");
    }
    assert!(!env.path("out.png").exists());
}

#[test]
fn an_imported_document_has_no_file_to_draw() {
    let env = guide();
    env.kb(&["export", "all.jsonl"]).expect(0);
    env.kb(&["--data-dir", "other", "import", "all.jsonl"]).expect(0);
    let args = ["--data-dir", "other", "show", "1", "--image", "out.png"];
    let errors = env.kb(&args).expect(1).stderr;
    assert!(errors.contains("document 1 has no file"), "{errors}");
}

#[test]
fn an_agent_gets_the_size_and_the_picture() {
    let env = guide();
    let mut client = Client::start(&env, "", &[]);
    let arguments = json!({ "document": 1, "page": 2, "image": true, "mark": "spring tide" });
    let answer = client.request("tools/call", json!({ "name": "kb_show", "arguments": arguments }));
    let content = answer["result"]["content"].as_array().unwrap();
    let text = content[0]["text"].as_str().unwrap();
    assert!(text.contains("1,131 × 1,600 pixels, 2 words marked"), "{text}");
    assert_eq!(
        (&content[1]["type"], &content[1]["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    let bytes = BASE64_STANDARD.decode(content[1]["data"].as_str().unwrap()).unwrap();
    assert!(num_yellow(&picture(&bytes)) > 1_000);
    assert_eq!(content.len(), 2);
}
