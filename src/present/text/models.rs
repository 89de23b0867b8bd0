//! Writes the models that kb knows as text.

use std::io;

use crate::app::models::{ListedModel, Models};
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, texts, words};
use crate::present::text::human::Human;

impl Human {
    /// Writes all models.
    pub fn models(&self, models: &Models, out: &mut Sheet<'_>) -> io::Result<()> {
        let columns = [
            words("NAME"),
            words("KNOWS"),
            numbers("SIZE").left_out(4),
            numbers("TOKENS").left_out(3),
            numbers("DIM").left_out(2),
            numbers("COST"),
            numbers("HERE"),
            texts("PUBLISHED").left_out(1),
            words("LICENCE").left_out(5),
            words(""),
        ];
        let rows: Vec<Vec<String>> = models.models.iter().map(row).collect();
        self.table(&columns, &rows, out)?;
        self.labelled(
            "COST is the time per passage in proportion to the default model. HERE is nDCG@10 of kb's whole search, \
             PUBLISHED that of the vectors alone, in percent. `kb init --model NAME` chooses one for a new database, \
             `kb reindex --model NAME` moves this one, and with `--dry-run` says what that takes.",
            out,
        )
    }
}

fn row(model: &ListedModel) -> Vec<String> {
    let text = |known: Option<String>| known.unwrap_or_else(|| "?".into());
    let state: Vec<&str> = [
        (model.is_used, "in use"),
        (model.is_installed && !model.is_used, "installed"),
        (model.is_untested, "untested"),
    ]
    .into_iter()
    .filter_map(|(is_so, word)| is_so.then_some(word))
    .collect();
    vec![
        model.name.to_owned(),
        match model.languages {
            1 => "English".to_owned(),
            number => format!("{number} languages"),
        },
        text(model.download_mb.map(|size| format!("{size} MB"))),
        model.max_tokens.to_string(),
        model.embedding_dim.to_string(),
        text(model.cost.map(|cost| cost.to_string())),
        text(model.measured.map(|score| format!("{score:.3}"))),
        text(
            model
                .published
                .map(|score| format!("{} {} ({})", score.score, score.benchmark, score.source)),
        ),
        model.licence.to_owned(),
        state.join(", "),
    ]
}
