//! Knows the characters that commands stand for.

/// Commands that stand for a text.
const SYMBOLS: &[(&str, &str)] = &[
    ("LaTeX", "LaTeX"),
    ("TeX", "TeX"),
    ("LaTeXe", "LaTeX2e"),
    ("BibTeX", "BibTeX"),
    ("ldots", "…"),
    ("dots", "…"),
    ("textellipsis", "…"),
    ("ss", "ß"),
    ("o", "ø"),
    ("O", "Ø"),
    ("ae", "æ"),
    ("AE", "Æ"),
    ("oe", "œ"),
    ("OE", "Œ"),
    ("aa", "å"),
    ("AA", "Å"),
    ("l", "ł"),
    ("L", "Ł"),
    ("i", "i"),
    ("j", "j"),
    ("S", "§"),
    ("P", "¶"),
    ("copyright", "©"),
    ("pounds", "£"),
    ("euro", "€"),
    ("texteuro", "€"),
    ("textendash", "–"),
    ("textemdash", "—"),
    ("textquoteright", "’"),
    ("textquoteleft", "‘"),
    ("textquotedblleft", "“"),
    ("textquotedblright", "”"),
    ("textbackslash", "\\"),
    ("textasciitilde", "~"),
    ("textasciicircum", "^"),
    ("textunderscore", "_"),
    ("textbar", "|"),
    ("textless", "<"),
    ("textgreater", ">"),
    ("textbullet", "•"),
    ("textdegree", "°"),
    ("degree", "°"),
    ("textregistered", "®"),
    ("texttrademark", "™"),
    ("slash", "/"),
    ("quad", " "),
    ("qquad", " "),
    ("space", " "),
    ("enspace", " "),
    ("thinspace", " "),
    ("guillemotleft", "«"),
    ("guillemotright", "»"),
    ("og", "«"),
    ("fg", "»"),
    ("textmu", "µ"),
    ("textquotesingle", "'"),
    ("textdollar", "$"),
    ("newline", " "),
    ("linebreak", " "),
    ("hfill", " "),
    ("dag", "†"),
    ("checkmark", "✓"),
    ("textrightarrow", "→"),
    ("textleftarrow", "←"),
    ("hspace", " "),
];

/// Returns the text that a command stands for.
pub(super) fn symbol(name: &str) -> Option<&'static str> {
    SYMBOLS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The accents, the letters that they change, and what they become.
const ACCENTS: &[(&str, &str, &str)] = &[
    ("\"", "aeiouyAEIOUY", "äëïöüÿÄËÏÖÜŸ"),
    ("'", "aeiouycnszrlAEIOUYCNSZ", "áéíóúýćńśźŕĺÁÉÍÓÚÝĆŃŚŹ"),
    ("`", "aeiounAEIOU", "àèìòùǹÀÈÌÒÙ"),
    ("^", "aeiouwycghjsAEIOU", "âêîôûŵŷĉĝĥĵŝÂÊÎÔÛ"),
    ("~", "anoiuANO", "ãñõĩũÃÑÕ"),
    ("=", "aeiouAEIOU", "āēīōūĀĒĪŌŪ"),
    (".", "zcegZCEGI", "żċėġŻĊĖĠİ"),
    ("c", "cstgkCST", "çşţģķÇŞŢ"),
    ("v", "cszrendtCSZRENDT", "čšžřěňďťČŠŽŘĚŇĎŤ"),
    ("r", "auAU", "åůÅŮ"),
    ("H", "ouOU", "őűŐŰ"),
    ("k", "aeioAEIO", "ąęįǫĄĘĮǪ"),
    ("u", "agieuoAGIEUO", "ăğĭĕŭŏĂĞĬĔŬŎ"),
    ("d", "aeioustAEIOUST", "ạẹịọụṣṭẠẸỊỌỤṢṬ"),
    ("b", "", ""),
    ("t", "", ""),
];

/// Whether a command is an accent.
pub(super) fn is_accent(name: &str) -> bool {
    ACCENTS.iter().any(|(known, ..)| *known == name)
}

/// Returns a letter with an accent; the letter alone if there is no such character.
pub(super) fn accented(name: &str, letter: char) -> char {
    let found = ACCENTS.iter().find(|(known, ..)| *known == name);
    let accented = found.and_then(|(_, letters, accented)| {
        let idx = letters.chars().position(|known| known == letter)?;
        accented.chars().nth(idx)
    });
    accented.unwrap_or(letter)
}
