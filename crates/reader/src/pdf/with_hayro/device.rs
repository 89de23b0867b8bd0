//! Records the glyphs and rules that a page draws on a [`DrawnPage`].

use std::collections::HashMap;

use hayro::hayro_interpret::font::{
    Glyph as DrawnGlyph, GlyphIdentifier, GlyphRun, PositionedGlyph,
};
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
};
use hayro::hayro_syntax::object::{Dict, Name, String as PdfString};
use hayro::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape};

use super::characters::Characters;
use super::hidden::{self, HiddenContent};
use super::place::{GlyphPosition, place};
use super::strings;
use super::tags::TaggedLevels;
use crate::document::{WordAccount, WordDestination};
use crate::pdf::layout;
use crate::pdf::layout::copies;
use crate::pdf::layout::sheet::{DrawnPage, Glyph, Letters, PageArea};

/// Thickest rule; a thicker one is a box.
const MAX_RULE_POINTS: f64 = 3.0;

/// Shortest rule; shorter ones are parts of pictures and of dotted lines.
const MIN_RULE_POINTS: f64 = 4.0;

/// Lightest colour of a rule, from 0 for black to 1 for white; a lighter one is the shading of rows.
const MAX_LIGHT: f32 = 0.88;

/// Most rules kept per page; maps and charts have a hundred thousand.
const MAX_RULES: usize = 5_000;

/// Most glyphs kept per page, so that a decompression bomb becomes a page of noise.
const MAX_GLYPHS: usize = 1_000_000;

/// Smallest picture that may have words, as a fraction of the page, and most kept: OCR takes a second for each.
const LARGE_PICTURE: f64 = 0.2;
const MAX_PICTURES: usize = 20;

/// Height of a bold capital's box in glyph space, used to measure ink density.
const CAPITAL_UNITS: f64 = 700.0;

/// Properties of a glyph's shape, independent of its position.
#[derive(Debug, Clone, Copy, Default)]
struct GlyphShape {
    ink: f64,
    is_bold: bool,
}

/// Shapes of the glyphs of a document, each computed once.
#[derive(Debug, Default)]
pub(super) struct Shapes(HashMap<GlyphIdentifier, GlyphShape>);

/// A page that is being drawn.
pub(super) struct PageDevice<'a> {
    pub(super) sheet: DrawnPage,
    /// Area covered by pictures.
    pub(super) image_area: f64,
    /// Where its large pictures are.
    pub(super) pictures: Vec<PageArea>,
    /// Instructions that drew text, readable or not.
    pub(super) num_text_ops: u32,
    /// Whether nothing was drawn.
    pub(super) is_blank: bool,
    /// Words that are not on the sheet.
    pub(super) left_out: WordAccount,
    /// Whether marked running heads are kept.
    pub(super) keeps_all: bool,
    running_heads: DrawnPage,
    watermarks: DrawnPage,
    hidden: HiddenContent,
    shapes: &'a mut Shapes,
    characters: &'a Characters,
    levels: Option<&'a TaggedLevels>,
    marked: Vec<MarkedContent>,
    /// Origin and length of the last run, to recognise an outline drawn around a filled run.
    last_run: Option<(Point, usize)>,
}

/// Marked content of the file.
struct MarkedContent {
    id: Option<u32>,
    /// Why it is not the content of the page.
    artifact: Option<WordDestination>,
    /// The text of its glyphs, and the index of the first of them.
    actual_text: Option<(String, usize)>,
}

impl<'a> PageDevice<'a> {
    pub(super) fn new(
        size: (f32, f32),
        shapes: &'a mut Shapes,
        characters: &'a Characters,
        levels: Option<&'a TaggedLevels>,
    ) -> Self {
        let sheet =
            DrawnPage { width: size.0.into(), height: size.1.into(), ..DrawnPage::default() };
        Self {
            running_heads: sheet.clone(),
            watermarks: sheet.clone(),
            sheet,
            image_area: 0.0,
            pictures: Vec::new(),
            num_text_ops: 0,
            is_blank: true,
            left_out: WordAccount::default(),
            keeps_all: false,
            hidden: HiddenContent::default(),
            shapes,
            characters,
            levels,
            marked: Vec::new(),
            last_run: None,
        }
    }

    /// Removes text that the page, which is drawn completely, does not show, or shows twice.
    pub(super) fn remove_hidden(&mut self) {
        let hidden = std::mem::take(&mut self.hidden).remove_from(&mut self.sheet);
        let copies = copies::remove(&mut self.sheet);
        for (reason, sheet) in [
            (WordDestination::Hidden, &hidden),
            (WordDestination::Copy, &copies),
            (WordDestination::RunningHead, &self.running_heads),
            (WordDestination::Watermark, &self.watermarks),
        ] {
            self.left_out.add_count(reason, layout::count_words(sheet));
        }
    }

    fn push_rule(&mut self, area: PageArea) {
        let (width, height) = (area.width(), area.height());
        let (thin, long) = if width < height { (width, height) } else { (height, width) };
        let on_page = area.left < self.sheet.width
            && area.right > 0.0
            && area.top < self.sheet.height
            && area.bottom > 0.0;
        if thin <= MAX_RULE_POINTS
            && long >= MIN_RULE_POINTS
            && on_page
            && self.sheet.rules.len() < MAX_RULES
        {
            self.sheet.rules.push(area);
        }
    }

    /// Adds the four sides of a box.
    fn push_sides(&mut self, area: PageArea) {
        let PageArea { left, top, right, bottom } = area;
        self.push_rule(PageArea::new(left, top, right, top));
        self.push_rule(PageArea::new(left, bottom, right, bottom));
        self.push_rule(PageArea::new(left, top, left, bottom));
        self.push_rule(PageArea::new(right, top, right, bottom));
    }

    fn push_rect(&mut self, rect: Rect, transform: Affine, is_filled: bool) {
        let area = area_of(transform.transform_rect_bbox(rect));
        if area.width().min(area.height()) <= MAX_RULE_POINTS {
            self.push_rule(area);
        } else if !is_filled {
            self.push_sides(area);
        }
    }

    fn push_strokes(&mut self, path: &BezPath, transform: Affine) {
        let (mut start, mut from) = (Point::ZERO, Point::ZERO);
        for element in path.elements() {
            let to = match *element {
                PathEl::MoveTo(to) => {
                    start = to;
                    from = to;
                    continue;
                }
                PathEl::LineTo(to) => to,
                PathEl::QuadTo(_, to) | PathEl::CurveTo(_, _, to) => {
                    from = to;
                    continue;
                }
                PathEl::ClosePath => start,
            };
            let (a, b) = (transform * from, transform * to);
            self.push_rule(PageArea::new(a.x, a.y, b.x, b.y));
            from = to;
        }
    }

    /// Adds the thin parts of a filled shape: some tables are drawn as one path of many boxes.
    fn push_fills(&mut self, path: &BezPath, transform: Affine) {
        let mut corners: Vec<Point> = Vec::new();
        for element in path.elements() {
            match *element {
                PathEl::MoveTo(to) => {
                    self.push_corners(&corners);
                    corners.clear();
                    corners.push(transform * to);
                }
                PathEl::LineTo(to) => corners.push(transform * to),
                PathEl::ClosePath => {}
                PathEl::QuadTo(..) | PathEl::CurveTo(..) => corners.clear(),
            }
        }
        self.push_corners(&corners);
    }

    fn push_corners(&mut self, corners: &[Point]) {
        if (4..=5).contains(&corners.len()) {
            let points =
                corners.iter().map(|corner| PageArea::new(corner.x, corner.y, corner.x, corner.y));
            let area = PageArea::around(points);
            if area.width().min(area.height()) <= MAX_RULE_POINTS {
                self.push_rule(area);
            }
        }
    }

    fn shape_of(&mut self, glyph: &DrawnGlyph<'_>) -> GlyphShape {
        let DrawnGlyph::Outline(glyph) = glyph else { return GlyphShape::default() };
        *self.shapes.0.entry(glyph.identifier()).or_insert_with(|| {
            let advance = f64::from(glyph.advance_width().unwrap_or_default());
            let ink = glyph.outline().area().abs() / (advance * CAPITAL_UNITS);
            let font = glyph.font_data();
            let is_bold = font.is_some_and(|font| {
                let name = font.postscript_name.unwrap_or_default().to_lowercase();
                font.weight.is_some_and(|weight| weight >= 600)
                    || ["bold", "black", "heavy"].iter().any(|word| name.contains(word))
            });
            GlyphShape { ink: if ink.is_finite() { ink } else { 0.0 }, is_bold }
        })
    }

    fn character_of_collection(&self, glyph: &DrawnGlyph<'_>) -> Option<BfString> {
        let DrawnGlyph::Outline(glyph) = glyph else { return None };
        let name = glyph.font_data()?.postscript_name?;
        self.characters.character(&name, glyph.char_code())
    }

    fn push_glyph(&mut self, glyph: &PositionedGlyph<'_>, placed: &GlyphPosition, is_pale: bool) {
        if self.sheet.glyphs.len() >= MAX_GLYPHS {
            return;
        }
        let shape = self.shape_of(glyph);
        let id = self.marked.iter().rev().find_map(|marked| marked.id);
        let tagged_level = id.and_then(|id| self.levels?.get(&id).copied()).unwrap_or_default();
        let unicode = glyph.as_unicode().or_else(|| self.character_of_collection(glyph));
        let letters = match unicode {
            Some(BfString::Char(character)) => Letters::One(character),
            Some(BfString::String(text)) if !text.is_empty() => Letters::Several(text.into()),
            _ => Letters::Unknown,
        };
        self.sheet.glyphs.push(Glyph {
            letters,
            direction: placed.direction(),
            tilt: placed.tilt(),
            x: placed.origin.x,
            y: placed.origin.y,
            advance: placed.advance,
            size: placed.size,
            ink: shape.ink,
            is_pale,
            is_bold: shape.is_bold,
            tagged_level,
            is_entry: false,
        });
    }
}

/// Whether a colour is so light that a line in it is hardly visible.
fn is_faint(paint: &Paint<'_>) -> bool {
    let Paint::Color(color) = paint else { return false };
    let [red, green, blue, opacity] = color.to_rgba().components();
    opacity < 0.1 || 0.3 * red + 0.59 * green + 0.11 * blue > MAX_LIGHT
}

/// Returns why marked content with these properties is no content of the page.
fn artifact_of(properties: &Dict<'_>) -> Option<WordDestination> {
    if properties.get::<Name<'_>>(b"Subtype").is_some_and(|name| &*name == b"Watermark") {
        return Some(WordDestination::Watermark);
    }
    let kind = properties.get::<Name<'_>>(b"Type");
    kind.is_some_and(|name| &*name == b"Pagination").then_some(WordDestination::RunningHead)
}

fn area_of(rect: Rect) -> PageArea {
    PageArea::new(rect.x0, rect.y0, rect.x1, rect.y1)
}

impl<'a> Device<'a> for PageDevice<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        self.is_blank = false;
        let placed = place(run, props.transform);
        let Some(first) = placed.first() else { return };
        let this_run = (first.origin, placed.len());
        if matches!(mode, DrawMode::Stroke(_)) && self.last_run == Some(this_run) {
            // The same run was filled just before: the outline around it makes it bold.
            let start = self.sheet.glyphs.len().saturating_sub(placed.len());
            self.sheet.glyphs[start..].iter_mut().for_each(|glyph| glyph.is_bold = true);
            self.hidden.outline_last(&props.paint);
            return;
        }
        self.last_run = Some(this_run);
        self.num_text_ops = self.num_text_ops.saturating_add(1);
        let start = self.sheet.glyphs.len();
        let is_pale = hidden::is_pale(&props.paint);
        for (glyph, placed) in run.glyphs().iter().zip(&placed) {
            self.push_glyph(glyph, placed, is_pale);
        }
        let drawn = start..self.sheet.glyphs.len();
        let artifact = self.marked.iter().find_map(|marked| marked.artifact);
        if let Some(reason) = artifact.filter(|_| !self.keeps_all) {
            let sheet = match reason {
                WordDestination::Watermark => &mut self.watermarks,
                _ => &mut self.running_heads,
            };
            sheet.glyphs.extend(self.sheet.glyphs.drain(drawn));
            return;
        }
        self.hidden.add_run(&self.sheet.glyphs, drawn, mode, &props.paint);
    }

    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.is_blank = false;
        let bounds = props.transform.transform_rect_bbox(path.bounding_box());
        match mode {
            DrawMode::Stroke(stroke) => {
                let breadth =
                    f64::from(stroke.line_width) * props.transform.determinant().abs().sqrt();
                if breadth > MAX_RULE_POINTS {
                    let around = area_of(bounds.inflate(breadth / 2.0, breadth / 2.0));
                    self.hidden.add_ground(around, &props.paint);
                }
                self.push_strokes(path, props.transform);
            }
            _ => {
                self.hidden.add_ground(area_of(bounds), &props.paint);
                self.push_fills(path, props.transform);
            }
        }
    }

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        self.is_blank = false;
        let is_filled = !matches!(mode, DrawMode::Stroke(_));
        // The shading of alternate rows is not a rule, however thin it is.
        if is_filled {
            let bounds = area_of(props.transform.transform_rect_bbox(*rect));
            self.hidden.add_ground(bounds, &props.paint);
        }
        if !(is_filled && is_faint(&props.paint)) {
            self.push_rect(*rect, props.transform, is_filled);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.is_blank = false;
        let size = (f64::from(image.width()), f64::from(image.height()));
        let corners = props.transform.transform_rect_bbox(Rect::new(0.0, 0.0, size.0, size.1));
        let page = Rect::new(0.0, 0.0, self.sheet.width, self.sheet.height);
        let area = corners.intersect(page).area();
        self.image_area += area;
        if area >= LARGE_PICTURE * page.area() && self.pictures.len() < MAX_PICTURES {
            self.pictures.push(area_of(corners.intersect(page)));
        }
        self.hidden.add_picture(corners);
    }

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        let artifact = properties.filter(|_| tag == b"Artifact").and_then(artifact_of);
        let actual_text = properties.filter(|_| tag == b"Span").and_then(|properties| {
            let text = strings::decode(&properties.get::<PdfString<'_>>(b"ActualText")?);
            Some((text, self.sheet.glyphs.len()))
        });
        let id = properties.and_then(|properties| properties.get::<u32>(b"MCID"));
        self.marked.push(MarkedContent { id, artifact, actual_text });
    }

    fn end_marked_content(&mut self) {
        let Some((text, start)) = self.marked.pop().and_then(|marked| marked.actual_text) else {
            return;
        };
        if let Some([first, rest @ ..]) = self.sheet.glyphs.get_mut(start..)
            && rest.len() < text.chars().count() + 8
        {
            first.letters = Letters::Several(text.into());
            rest.iter_mut().for_each(|glyph| glyph.letters = Letters::Several("".into()));
        }
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.hidden.clip_to(&self.sheet.glyphs, clip.path.bounding_box());
    }

    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
