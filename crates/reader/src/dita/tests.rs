//! Tests what is read of topics and maps.

use super::*;
use crate::error::FailureKind;
use crate::testing::output_of;

#[track_caller]
fn check(xml: &str, expected: &[&str]) {
    assert_eq!(output_of(read, xml.as_bytes()).unwrap().1, expected);
}

#[test]
fn a_task_has_steps_notes_and_sections() {
    check(
        "<?xml version='1.0'?><!DOCTYPE task PUBLIC '-//OASIS//DTD DITA Task//EN' 'task.dtd'><task id='a' xml:lang='en'>\
         <title>Change the filter</title><shortdesc>Once a year.</shortdesc><prolog><author>Maren Voss</author>\
         <metadata><keywords><keyword>pump</keyword></keywords></metadata></prolog><taskbody><prereq>Stop\n the pump.</prereq>\
         <steps><step><cmd>Open <menucascade><uicontrol>Valve</uicontrol><uicontrol>Off</uicontrol></menucascade>.</cmd>\
         <info>It <codeph>hisses</codeph>.</info></step><step><cmd>Turn</cmd><substeps><substep><cmd>left</cmd></substep>\
         </substeps></step></steps><result><note type='warning'>Hot<fn>60 °C</fn>.</note></result><example><title>By hand</title>\
         <codeblock>valve\n  --off</codeblock></example></taskbody></task>",
        &[
            "# Change the filter",
            "Once a year.",
            "Stop the pump.",
            "1. Open Valve > Off.\n  It `hisses`.",
            "2. Turn\n  1. left",
            "Warning: Hot (60 °C).",
            "## By hand",
            "```\nvalve\n  --off\n```",
        ],
    );
}

#[test]
fn tables_lists_and_definitions_are_read() {
    check(
        "<dita><concept><title>Levels</title><conbody><p>Of<indexterm>water<indexterm>low</indexterm></indexterm> water:<ul><li>low</li>\
         <li><p>high</p></li></ul></p><dl><dlentry><dt>Ebb</dt><dd>The water leaves.</dd></dlentry></dl><table><title>Gauges</title>\
         <tgroup cols='2'><colspec colname='c1'/><thead><row><entry>Code</entry><entry>Place</entry></row></thead><tbody><row>\
         <entry namest='c1' nameend='c2'>All <b>dry</b></entry></row></tbody></tgroup></table></conbody>\
         <concept><title>Deeper</title><conbody><p>End.</p></conbody></concept></concept></dita>",
        &[
            "# Levels",
            "Of water:",
            "- low",
            "- high",
            "- Ebb: The water leaves.",
            "Gauges",
            "| Code | Place |\n| --- | --- |\n| All dry |  |",
            "## Deeper",
            "End.",
        ],
    );
}

#[test]
fn a_map_is_a_list_of_topics() {
    check(
        "<map><title>Pumps</title><topicref href='start.dita'><topicmeta><navtitle>Start here</navtitle></topicmeta>\
         <topicref href='filter.dita'/></topicref><topicref navtitle='Care'/><reltable><relrow><relcell>no</relcell></relrow></reltable></map>",
        &["# Pumps", "- Start here\n  - filter.dita", "- Care"],
    );
    check(
        "<bookmap><booktitle><booklibrary>Ships</booklibrary><mainbooktitle>Pumps</mainbooktitle></booktitle><chapter href='a.dita'/></bookmap>",
        &["Ships", "# Pumps", "- a.dita"],
    );
}

#[test]
fn remarks_on_a_draft_are_comments() {
    check(
        "<topic><title>A</title><body><p>Text<draft-comment author='Bo' time='2024-05-01'>Really?</draft-comment> here.</p></body></topic>",
        &["# A", "Comment by Bo, 2024-05-01: Really?", "Text here."],
    );
}

#[test]
fn other_xml_is_refused_and_a_damaged_topic_is_read_up_to_the_damage() {
    match output_of(read, b"<a/>") {
        Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, FailureKind::WrongFormat),
        other => panic!("{other:?}"),
    }
    check("<topic><title>A</title><body><p>One.</p><p>Two</body>", &["# A", "One.", "Two"]);
}
