//! Tests which files are conversations, and how they are written.

use super::*;

#[track_caller]
fn check(text: &str, kind: Data, title: Option<&str>, expected: &str, lines: &[u32]) {
    let document = extract(text, kind).expect("a conversation");
    assert_eq!((document.title.as_deref(), document.text.as_str()), (title, expected));
    assert_eq!(document.line_numbers, lines);
}

#[test]
fn sessions_of_agents_are_conversations() {
    check(
        r#"{"type":"summary","summary":"Birds","leafUuid":"1"}
{"type":"file-history-snapshot","messageId":"1","snapshot":{}}
{"type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>"},"sessionId":"s","uuid":"0"}
{"type":"user","message":{"role":"user","content":"Wie gro\u00df ist die M\u00f6we?\nUngef\u00e4hr."},"sessionId":"s","uuid":"1","timestamp":"2026-01-01T00:00:00Z"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"x"},{"type":"text","text":"Etwa 60 cm."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls -la"}}]},"sessionId":"s"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"total 0"},{"type":"image","source":{"data":"aaaa"}}]},"sessionId":"s","toolUseResult":{"stdout":"total 0"}}
"#,
        Data::JsonLines,
        Some("Wie groß ist die Möwe?"),
        "Summary: Birds\n\nUser: <command-name>/clear</command-name>\n\nUser: Wie groß ist die Möwe?\nUngefähr.\n\nAssistant: Hm.\n\nAssistant: Etwa 60 cm.\n\nAssistant: Bash: ls -la\n\nTool: total 0",
        &[1, 1, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6],
    );
    check(
        r##"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"1","instructions":"x"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}
{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Fix the gauge"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix the gauge"}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Look first"}],"encrypted_content":"zzz"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c"}}
{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"gauge.rs\\n\",\"metadata\":{\"exit_code\":0}}"}}
{"timestamp":"2026-01-01T00:00:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"##,
        Data::JsonLines,
        Some("Fix the gauge"),
        "User: <environment_context>x\n\nUser: Fix the gauge\n\nAssistant: Look first\n\nAssistant: shell: bash\n-lc\nls\n\nTool: gauge.rs\n\nAssistant: Done.",
        &[2, 2, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 8],
    );
    let lines = "{\"role\":\"user\",\"content\":\"How high?\"}\n{\"role\":\"assistant\",\"content\":\"3 m\"}";
    let expected = "User: How high?\n\nAssistant: 3 m";
    check(lines, Data::JsonLines, Some("How high?"), expected, &[1, 1, 2]);
}

#[test]
fn exports_of_chats_are_conversations() {
    check(
        r#"[{"title": "\u0414\u043e\u0433\u043e\u0432\u043e\u0440", "mapping": {"r": {"id": "r", "message": null}, "a": {"message": {"author": {"role": "user", "name": null}, "create_time": 2.5, "content": {"content_type": "text", "parts": ["\u041a\u0442\u043e?\nx"]}}}, "b": {"message": {"author": {"role": "assistant"}, "create_time": 3.5, "content": {"parts": ["\u042f"]}}}, "s": {"message": {"author": {"role": "system"}, "metadata": {"is_visually_hidden_from_conversation": true}, "content": {"parts": ["hidden"]}}}}}]"#,
        Data::Json,
        Some("Кто?"),
        "Договор\n\nUser: Кто?\nx\n\nAssistant: Я",
        &[1, 1, 1, 1, 1, 1],
    );
    check(
        "[\n{\"type\":\"message\",\"user\":\"U1\",\"ts\":\"1.2\",\"text\":\"Wann, <@U2>? &lt;8&gt;\",\"user_profile\":{\"real_name\":\"Zo\\u00eb\"}},\n{\"type\":\"message\",\"user\":\"U2\",\"ts\":\"1.3\",\"text\":\"Um acht &amp; <http:\\/\\/a|hier>\",\"user_profile\":{\"real_name\":\"Jan\"}},\n{\"type\":\"message\",\"user\":\"U1\",\"ts\":\"1.4\",\"text\":\"Gut\"}]",
        Data::Json,
        Some("Wann, @Jan? <8>"),
        "Zoë: Wann, @Jan? <8>\n\nJan: Um acht & hier (http://a)\n\nZoë: Gut",
        &[2, 2, 3, 3, 4],
    );
    check(
        "{\"name\":\"Familie\",\"type\":\"personal_chat\",\"id\":1,\"messages\":[\n{\"id\":1,\"type\":\"service\",\"actor\":\"A\",\"text\":\"\"},\n{\"id\":2,\"type\":\"message\",\"from\":\"\\u0410\\u043d\\u043d\\u0430\",\"text\":[\"Siehe \",{\"type\":\"link\",\"text\":\"http://a\"},\" an\"]},\n{\"id\":3,\"type\":\"message\",\"from\":\"Jan\",\"text\":\"Ja\"}]}",
        Data::Json,
        Some("Siehe http://a an"),
        "Familie\n\nАнна: Siehe http://a an\n\nJan: Ja",
        &[3, 3, 3, 3, 4],
    );
    check(
        r#"{"participants":[{"name":"A"}],"messages":[{"sender_name":"Zo\u00c3\u00ab","timestamp_ms":1,"content":"Gr\u00c3\u00b6\u00c3\u009fe"}]}"#,
        Data::Json,
        Some("Größe"),
        "Zoë: Größe",
        &[1],
    );
    let requests = r#"{"requesterUsername":"me","responderUsername":"Copilot","requests":[{"message":{"text":"Why?"},"response":[{"value":"So."},{"kind":"x"}]}]}"#;
    check(requests, Data::Json, Some("Why?"), "me: Why?\n\nCopilot: So.", &[1, 1, 1]);
    let claude = r#"[{"uuid":"1","name":"Tide","chat_messages":[{"sender":"human","text":"High?","content":[]}]},{"uuid":"2","name":"Ebb","chat_messages":[{"sender":"human","text":"Low?"}]}]"#;
    let expected = "Tide\n\nHuman: High?\n\nEbb\n\nHuman: Low?";
    check(claude, Data::Json, None, expected, &[1; 7]);
}

#[test]
fn what_is_not_recognised_stays_data() {
    for (text, kind) in [
        ("", Data::JsonLines),
        ("[]", Data::Json),
        ("{\"messages\": [{\"id\": \"a\", \"text\": \"b\"}]}", Data::Json),
        ("{\"messages\": {\"hello\": \"Hallo\"}}", Data::Json),
        ("[{\"filePath\": \"a\", \"messages\": [{\"message\": \"b\", \"line\": 1}]}]", Data::Json),
        ("{\"tide\": [1, 2, 3, 4, 5, 6, 7, 8], \"messages\": []}", Data::Json),
        (
            "{\"long\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", \"messages\": [{\"from\": \"a\", \"text\": \"b\"}]}",
            Data::Json,
        ),
        ("{\"user\": \"a\", \"text\": \"b\", \"stars\": 3}\n", Data::JsonLines),
        ("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n", Data::JsonLines),
        ("{\"role\": \"user\", \"content\": \"a\"}\nno json\n", Data::JsonLines),
        ("{\"role\": \"user\", \"content\": {\"a\": 1}}\n", Data::JsonLines),
        ("[{\"type\": \"message\", \"text\": \"a\"}]", Data::Json),
        ("{", Data::Json),
    ] {
        assert!(extract(text, kind).is_none(), "{text}");
    }
}
