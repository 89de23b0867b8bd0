//! Writes rows in columns that line up: fitted to a terminal, complete and stable everywhere else.

use std::io;

use crate::present::terminal::columns::{cut, padding, width};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::printable::clean_name;

/// Spaces between two columns.
const GAP: &str = "  ";

/// Columns that a cell keeps, however narrow the terminal is.
const MIN_COLUMNS: usize = 12;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::present) struct Column {
    head: &'static str,
    is_number: bool,
    is_flexible: bool,
    meaning: Meaning,
}

/// A column of words.
pub(in crate::present) fn words(head: &'static str) -> Column {
    Column { head, is_number: false, is_flexible: false, meaning: Meaning::Plain }
}

/// A column of numbers, whose digits stand below each other.
pub(in crate::present) fn numbers(head: &'static str) -> Column {
    Column { is_number: true, ..words(head) }
}

/// A column of texts, which may be cut where a terminal is too narrow.
pub(in crate::present) fn texts(head: &'static str) -> Column {
    Column { is_flexible: true, ..words(head) }
}

impl Column {
    /// Paints its cells.
    pub(in crate::present) fn painted(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }
}

impl Human {
    /// Writes a table. Whatever a cell holds stays on its line.
    pub(in crate::present) fn table(
        &self,
        columns: &[Column],
        rows: &[Vec<String>],
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let on_a_line = |row: &Vec<String>| row.iter().map(|cell| clean_name(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(on_a_line).collect();
        let widest = |idx: usize| {
            let cells = rows.iter().filter_map(|it| it.get(idx)).map(|it| width(it));
            cells.max().unwrap_or(0).max(width(columns[idx].head))
        };
        let mut widths: Vec<usize> = (0..columns.len()).map(widest).collect();
        if self.is_terminal {
            fit(&mut widths, columns, self.width);
        }
        let head: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
        let columns: Vec<(Column, usize)> = columns.iter().copied().zip(widths).collect();
        self.row(&columns, &head, Some(Meaning::Head), out)?;
        rows.iter().try_for_each(|row| self.row(&columns, row, None, out))
    }

    /// Writes a line; each column has its width.
    fn row(
        &self,
        columns: &[(Column, usize)],
        cells: &[String],
        meaning: Option<Meaning>,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let num_cells = cells.iter().rposition(|it| !it.is_empty()).map_or(0, |it| it + 1);
        for idx in 0..num_cells {
            let (column, columns_of_it) = columns[idx];
            let cell = cut(&cells[idx], columns_of_it);
            let space = columns_of_it.saturating_sub(width(&cell));
            let is_last = idx + 1 == num_cells;
            if column.is_number {
                write!(out, "{:space$}", "")?;
            }
            self.paint(meaning.unwrap_or(column.meaning), &cell, out)?;
            if !column.is_number && !is_last {
                write!(out, "{:space$}", "")?;
            }
            if !is_last {
                out.text(GAP)?;
            }
        }
        writeln!(out)
    }

    /// Writes lines of name and value, values aligned and, on a terminal, wrapped.
    pub(in crate::present) fn facts(&self, facts: &[Fact], out: &mut Sheet<'_>) -> io::Result<()> {
        let column = facts.iter().map(|it| width(it.name)).max().unwrap_or(0) + 2;
        let room = if self.is_terminal {
            self.width.saturating_sub(column).max(MIN_COLUMNS)
        } else {
            usize::MAX
        };
        for fact in facts {
            let name = format!("{}:", fact.name);
            self.paint(Meaning::Faint, &name, out)?;
            for (idx, line) in super::columns::wrap(&fact.value, room).enumerate() {
                if idx == 0 {
                    out.text(&padding(&name, column))?;
                } else {
                    write!(out, "\n{:column$}", "")?;
                }
                self.paint(fact.meaning, &fact.value[line], out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A line of name and value.
#[derive(Debug, Clone)]
pub(in crate::present) struct Fact {
    name: &'static str,
    value: String,
    meaning: Meaning,
}

/// A name with its value, which is put on one line.
pub(in crate::present) fn fact(name: &'static str, value: impl AsRef<str>) -> Fact {
    Fact { name, value: clean_name(value.as_ref()), meaning: Meaning::Plain }
}

impl Fact {
    /// Paints its value.
    pub(in crate::present) fn painted(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }
}

/// Narrows the widest of the columns that may be cut until all fit.
fn fit(widths: &mut [usize], columns: &[Column], available: usize) {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(available);
    while excess > 0 {
        let flexible = widths.iter_mut().zip(columns).filter(|it| it.1.is_flexible).map(|it| it.0);
        let Some(widest) = flexible.max_by_key(|it| **it).filter(|it| **it > MIN_COLUMNS) else {
            return;
        };
        *widest -= 1;
        excess -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(human: Human) -> String {
        let rows = [
            ["1", "東京の本", "a, b"].map(str::to_owned).to_vec(),
            ["12", "A rather long title that goes on and on", "tag"].map(str::to_owned).to_vec(),
            ["3", "cafe\u{301}", ""].map(str::to_owned).to_vec(),
        ];
        let mut out = Vec::new();
        let columns = [numbers("ID"), texts("TITLE"), texts("TAGS")];
        human.table(&columns, &rows, &mut Sheet::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_is_whole_where_no_terminal_is() {
        insta::assert_snapshot!(drawn(Human::plain(30)), @"
        ID  TITLE                                    TAGS
         1  東京の本                                 a, b
        12  A rather long title that goes on and on  tag
         3  café
        ");
    }

    #[test]
    fn a_table_is_cut_to_the_terminal() {
        let human = Human { is_terminal: true, ..Human::plain(30) };
        let text = drawn(human);
        assert!(text.lines().all(|it| width(it) <= 30), "{text}");
        insta::assert_snapshot!(text, @"
        ID  TITLE                 TAGS
         1  東京の本              a, b
        12  A rather long title…  tag
         3  café
        ");
    }

    #[test]
    fn a_long_value_is_wrapped_below_itself() {
        let human = Human { is_terminal: true, ..Human::plain(24) };
        let mut out = Vec::new();
        let facts = [fact("Name", "one two three four five"), fact("Other", "")];
        human.facts(&facts, &mut Sheet::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        Name:  one two three
               four five
        Other:
        ");
    }
}
