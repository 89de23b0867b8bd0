//! Says which lines of its file a chunk is from, also where a line of its text is not a line of the file.

use super::LineRange;

/// The lines of a file that a chunk is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLines {
    /// From its first to its last line.
    pub lines: LineRange,
    /// Where its lines are; `None` if lines of its text are lines of the file.
    pub map: Option<ChunkLineMap>,
}

/// Where the lines of a chunk are, in a document whose lines are not those of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLineMap {
    /// Its lines in the text of the document.
    pub in_text: LineRange,
    /// How far below the first line in the file each of its lines is; empty if they follow one another.
    pub offsets: Vec<u32>,
}

impl FileLines {
    /// Returns lines that are the same in the text and in the file.
    pub fn verbatim(lines: LineRange) -> Self {
        Self { lines, map: None }
    }

    /// Returns the line in the file of line `number`, counted from 0, of a text of `num_lines` lines that ends with the
    /// chunk: a head that the chunk repeats may be missing. `None` if it is not known.
    pub fn line(&self, number: usize, num_lines: usize) -> Option<u32> {
        let offset = match &self.map {
            Some(map) if !map.offsets.is_empty() => {
                let number = number + map.offsets.len().saturating_sub(num_lines);
                *map.offsets.get(number).or(map.offsets.last())?
            }
            _ => {
                let is_complete = self.lines.count() as usize == num_lines;
                u32::try_from(number).ok().filter(|_| is_complete)?
            }
        };
        Some(self.lines.first().saturating_add(offset))
    }

    /// Returns the lines in the text of the document.
    pub fn in_text(&self) -> LineRange {
        self.map.as_ref().map_or(self.lines, |map| map.in_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_counted_or_looked_up() {
        let verbatim = FileLines::verbatim(LineRange::between(5, 7));
        assert_eq!((verbatim.line(2, 3), verbatim.line(0, 2)), (Some(7), None));
        let in_text = LineRange::between(9, 12);
        let map = ChunkLineMap { in_text, offsets: vec![0, 0, 0, 2] };
        let decoded = FileLines { map: Some(map), ..verbatim };
        let lines: Vec<_> = (0..5).map(|number| decoded.line(number, 4)).collect();
        assert_eq!(lines, [5, 5, 5, 7, 7].map(Some));
        // Without its first line, which repeats a head.
        assert_eq!((decoded.line(2, 3), decoded.in_text()), (Some(7), in_text));
    }
}
