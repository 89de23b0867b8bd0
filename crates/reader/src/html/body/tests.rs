//! Tests how elements become blocks.

use crate::html::tests::blocks_of;

#[track_caller]
fn check(page: &str, expected: &[&str]) {
    assert_eq!(blocks_of(page.as_bytes()).1, expected, "{page}");
}

#[test]
fn headings_paragraphs_and_links_become_text() {
    check(
        "<h1>Tide\n <em>gauges</em></h1><p>See <a href=x>the table</a> of\n 1902.<br>Or not.\
         <div>loose<p>more</div>",
        &["# Tide gauges", "See the table of 1902.\nOr not.", "loose", "more"],
    );
}

#[test]
fn lists_keep_their_structure() {
    check(
        "<ul><li>one<ol start=3><li><p>a</p><p>b</p></li><li>c</ol></li>\
         <li><p>two</p><pre>x\n y</pre></ul>after",
        &["- one\n  3. a\n    b\n  4. c", "- two\n  ```\n  x\n   y\n  ```", "after"],
    );
}

#[test]
fn a_term_and_its_definition_stay_together() {
    check(
        "<dl><dt><code>-h</code><dd>Help.<p>More.<dt>-v<dd>Version.<dl><dt>in<dd>out</dl></dl>",
        &["- `-h`\n  Help.\n  More.", "- -v\n  Version.\n  - in\n    out"],
    );
}

#[test]
fn tables_of_data_become_tables() {
    check(
        "<table><caption>Codes</caption><thead><tr><th>Code<th>Meaning</tr></thead>\
         <tr><td>E23<td>Well <b>blocked</b><br>or | dry<tr><td colspan=2>none</table>",
        &[
            "Codes",
            "| Code | Meaning |\n| --- | --- |\n| E23 | Well blocked or \\| dry |\n| none |  |",
        ],
    );
}

#[test]
fn layout_tables_become_text() {
    check(
        "<table><tr><td><h2>Left</h2>words</td><td>right</td></tr><tr><td>x<td>y</table>",
        &["## Left", "words", "right", "x", "y"],
    );
    check("<table><tr><td>one<td>row</table>", &["one", "row"]);
}

#[test]
fn source_code_is_unchanged() {
    check(
        "<pre><code class='x language-sh'>if a\n  <b>then</b> b\n</code></pre>\
         <p>Call <code>kb</code><code></code> now.",
        &["```sh\nif a\n  then b\n```", "Call `kb` now."],
    );
}

#[test]
fn an_example_in_two_languages_becomes_two_blocks() {
    check(
        "<pre><code class='language-js cjs'>const a = require('a');\na();</code><code class=\
         'language-mjs'>import a from 'a';\na();</code></pre><pre><code>one</code>\n<code>two</code></pre>",
        &[
            "```js\nconst a = require('a');\na();\n```",
            "```mjs\nimport a from 'a';\na();\n```",
            "```\none\ntwo\n```",
        ],
    );
}

#[test]
fn text_that_is_not_content_is_left_out() {
    check(
        "<header><nav><a>Home</a></nav></header><script>var x</script><style>p{}</style>\
         <div class='x sidebar'>side</div><div role=navigation>go</div><p hidden>no</p>\
         <p style='display: none'>no</p><h2>Title<a href='#t'>¶</a></h2><p>Words\
         <footer>imprint</footer>",
        &["## Title", "Words"],
    );
}

#[test]
fn only_the_main_part_is_read() {
    check(
        "<div>Buy now</div><main><p>The gauge is read at noon every day.</main><div>more offers</div>",
        &["The gauge is read at noon every day."],
    );
    // A main part with almost no text is a mistake.
    check("<main>x</main><p>all the words are here", &["x", "all the words are here"]);
}

#[test]
fn pictures_and_formulas_become_text() {
    check(
        "<p>Before <img alt='a gauge  in the harbour'> and <img alt='photo.jpg'><img alt=x> after.\
         <table><tr><td>1<td><img alt='two boats'><tr><td>2<td><math><mi>x</mi></math></table>",
        &[
            "Before a gauge in the harbour and after.",
            "| 1 | two boats |\n| --- | --- |\n| 2 | x |",
        ],
    );
}

#[test]
fn readings_of_characters_are_left_out() {
    check("<p><ruby>潮<rp>(</rp><rt>しお</rt><rp>)</rp></ruby>見表", &["潮見表"]);
}

#[test]
fn cells_stay_under_their_heads_when_others_are_merged() {
    check(
        "<table><thead><tr><th rowspan=2>Area<th rowspan=2>Fish<th colspan=2>Tons<tr><th>2024<th>2025</thead>\
         <tr><td rowspan=2>North<td>cod<td>12<td>13<tr><td>hake<td>15<td>16</table>",
        &["| Area | Fish | Tons: 2024 | Tons: 2025 |\n| --- | --- | --- | --- |\n\
           | North | cod | 12 | 13 |\n| North | hake | 15 | 16 |"],
    );
    // A span ends with its group of rows, and 0 is all of the group.
    check(
        "<table><tr><th>Area<th>Fish<tbody><tr><td rowspan=0>North<td>cod<tr><td>hake\
         <tbody><tr><td rowspan=9>South<td>eel</table>",
        &["| Area | Fish |\n| --- | --- |\n| North | cod |\n| North | hake |\n| South | eel |"],
    );
}

#[test]
fn heads_of_rows_are_no_head_of_columns() {
    check(
        "<table><tr><th colspan=2>Hamnavoe<tr><th>Built<td>2002<tr><th>Length<td>112 m</table>",
        &["Hamnavoe", "|  |  |\n| --- | --- |\n| Built | 2002 |\n| Length | 112 m |"],
    );
}

#[test]
fn text_in_other_places_is_read() {
    check(
        "<p>Host.</p><div><template shadowrootmode=open><p>Shadow.</p></template></div>",
        &["Host.", "Shadow."],
    );
    check("<p>Host.</p><template><p>Not yet.</p></template>", &["Host."]);
    check(
        "<p>Host.</p><iframe srcdoc='<p>Frame.</p><iframe srcdoc=&quot;Inner.&quot;></iframe>'></iframe><p>End.",
        &["Host.", "Frame.", "End."],
    );
    check(
        "<p>Flow.</p><svg><title>Icon</title><defs><text>no</text></defs><text>Clerk <tspan>checks</tspan></text>\
         <foreignObject><div>Crane</div></foreignObject></svg>",
        &["Flow.", "Clerk checks", "Crane"],
    );
}

#[test]
fn text_for_programs_is_read_if_the_page_displays_none_of_it() {
    let article = "The tidal mill reopened on Monday after nine years of repair.";
    let data =
        format!("<script type='application/ld+json'>{{\"articleBody\": \"{article}\"}}</script>");
    check(&format!("<div id=root></div>{data}"), &[article]);
    check(&format!("<p>{article}</p>{data}"), &[article]);
    let noscript = format!("<noscript><p>{article} {article}</p></noscript>");
    check(&noscript, &[&format!("{article} {article}")]);
    check(&format!("<p>{article}</p>{noscript}"), &[article]);
    check(
        "<p>Words.</p><noscript>You need to enable JavaScript to run this app.</noscript>",
        &["Words."],
    );
}
