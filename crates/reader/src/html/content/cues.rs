//! Recognises short texts that are no content, or that introduce something else, in several languages.

/// Beginnings of lines above links to other pages, above comments and above offers: in English,
/// German, French, Spanish and Portuguese, and a few in other languages.
const BEGINNINGS: &str = "\
    about the author | also read | comments ( | discover more | don't miss | filed under | \
    follow us | image credit | leave a comment | leave a reply | like this | more articles | \
    more from | more in | more news | more on this | more posts | more stories | most popular | \
    most read | most viewed | next article | next post | notify me | other articles | \
    people also | photo credit | popular posts | post a comment | posted in | \
    previous article | previous post | read also | read more | read next | recent comments | \
    recent posts | recommended for | recommended reading | related articles | related content | \
    related items | related links | related news | related posts | related products | \
    related reading | related stories | related topics | share on | share this | share via | \
    sign up for | spread the word | subscribe to | support us | tagged with | \
    this entry was posted | up next | view all | what to read next | write a comment | \
    you may also | you may like | you might also | you might like | \
    aktuelle beiträge | artikel bewerten | artikel teilen | auch interessant | auch lesen | \
    beitrag teilen | beliebte beiträge | das könnte | dies könnte | diesen artikel | \
    diesen beitrag | dieser eintrag wurde | empfehlungen der redaktion | folgen sie | \
    hinterlasse | jetzt abonnieren | kommentar schreiben | kommentar verfassen | lesen sie auch | lesen sie mehr | \
    letzte beiträge | lies auch | mehr aus | mehr lesen | mehr von | mehr zu | mehr zum thema | \
    meist gelesen | meistgelesen | neueste beiträge | nächster artikel | nächster beitrag | \
    schreib einen | schreibe einen | siehe auch | teilen mit | teilen sie | verwandte artikel | \
    verwandte beiträge | verwandte themen | veröffentlicht in | vorheriger artikel | \
    vorheriger beitrag | weitere artikel | weitere beiträge | weitere meldungen | \
    weitere nachrichten | weitere news | weitere themen | zum weiterlesen | ähnliche artikel | \
    ähnliche beiträge | ähnliche themen | über den autor | über die autorin | \
    articles liés | articles similaires | dans la même rubrique | laisser un commentaire | \
    les plus lus | lire aussi | lire également | partager | sur le même sujet | voir aussi | \
    vous aimerez | à lire aussi | à lire également | \
    artículos relacionados | compartir | deja un comentario | deja una respuesta | \
    le puede interesar | lea también | lee además | lee también | leer más | leia mais | \
    leia também | mais lidas | más leídas | más leídos | más noticias | notas relacionadas | \
    noticias relacionadas | notícias relacionadas | posts relacionados | saiba mais | \
    te puede interesar | temas relacionados | veja também | \
    articoli correlati | condividi | czytaj także | czytaj też | deel dit | gerelateerde | \
    lees meer | lees ook | leggi anche | läs mer | läs också | meer over | \
    potrebbe interessarti | zobacz także | zobacz też | по теме | поделиться | читайте также | \
    推荐阅读 | 热门推荐 | 相关文章 | 相关阅读 | \
    aktualisiert am | newer post | older post | opublikowano | posted by | puedes ver | \
    release date | weitere infos | zurück zu | zurück zur";

/// Whole lines of this kind.
const LINES: &str = "\
    advertisement | anzeige | comentarios | commentaires | comments | empfehlungen | \
    etiquetas | jobs | keywords | kommentare | latest | latest news | newsletter | popular | \
    publicidad | publicité | recommended | relacionadas | relacionados | related | \
    schlagworte | schlagwörter | share | share: | sponsored | stichworte | stichwörter | tags | \
    teilen | themen | topics | trending | werbung | zum thema | \
    erschienen in | externer inhalt | permalien | permalink | rezept drucken | schon gelesen";

/// Parts of lines that offer a subscription or a program, or state who owns the page.
const OFFERS: &str = "\
    all rights reserved | alle rechte vorbehalten | already a subscriber | apps for ios | \
    first-time subscribers | may receive compensation | jetzt abonnieren | newsletter today | our newsletter | \
    please subscribe | sign up here | straight to your phone | subscribe now | subscribe to our | \
    todos los derechos reservados | tous droits réservés | unser newsletter | unseren newsletter";

/// Parts of texts about cookies, data, licences and subscriptions, without first letters that may be capitals.
const NOTICES: &str = "\
    © | atenschutz | ewsletter | kismet | ookie | reCAPTCHA | reative Commons | rivacy | \
    ubscri | uscripción";

/// Parts of the texts of buttons and links that agree to cookies.
const CONSENTS: &str = "\
    accept | agree | allow | einverstanden | akzeptieren | zustimmen | zulassen | erlauben | accepter | aceptar | \
    aceitar | accett | akceptuj | accepteren | got it";

/// How the credit of a picture begins.
const CREDITS: &str =
    "© | bild: | bilder: | foto: | fotos: | image: | photo: | photos: | photo by | titelbild:";

/// Longest credit at the end of a caption, and longest line that is an offer or a caption, in characters; a longer
/// line is a paragraph that has such words by chance.
const MAX_CREDIT: usize = 60;
const MAX_CAPTION: usize = 300;

/// Longest line, in characters, that introduces something or agrees to cookies; a longer one is a sentence.
const MAX_LEN: usize = 70;

/// Whether a line introduces something that is not content.
pub(super) fn introduces(line: &str) -> bool {
    let line = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    line.chars().count() <= MAX_LEN
        && (cues(LINES).any(|cue| cue == line)
            || cues(BEGINNINGS).any(|cue| begins_with(&line, cue)))
}

/// Whether a line begins with a cue that is not the beginning of a longer word.
fn begins_with(line: &str, cue: &str) -> bool {
    let rest = line.strip_prefix(cue);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() && c < '\u{2E80}'))
}

/// Whether a whole line is an offer.
pub(super) fn is_offer(line: &str) -> bool {
    let line = line.to_lowercase();
    line.chars().count() <= MAX_CAPTION && cues(OFFERS).any(|offer| line.contains(offer))
}

/// Whether a text is about the site, its readers' data or their subscriptions.
pub(super) fn is_notice(text: &str) -> bool {
    cues(NOTICES).any(|part| text.contains(part))
}

/// Whether the text of a button or a link agrees to something.
pub(super) fn consents(line: &str) -> bool {
    let line = line.to_lowercase();
    line.chars().count() <= MAX_LEN && cues(CONSENTS).any(|verb| line.contains(verb))
}

/// Whether a whole line describes a picture and ends with its credit.
pub(super) fn is_caption(line: &str) -> bool {
    let line = line.to_lowercase();
    let num_chars = line.chars().count();
    let tail =
        line.char_indices().nth(num_chars.saturating_sub(MAX_CREDIT)).map_or(0, |(at, _)| at);
    let tail = &line[tail..];
    num_chars <= MAX_CAPTION
        && (tail.contains('©')
            || cues(CREDITS).any(|credit| line.starts_with(credit) || has_credit(tail, credit)))
}

/// Whether a bracket or a sentence at the end of a caption begins with `credit`.
fn has_credit(tail: &str, credit: &str) -> bool {
    ["(", ". "].iter().any(|mark| {
        tail.match_indices(mark).any(|(at, _)| tail[at + mark.len()..].starts_with(credit))
    })
}

fn cues(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split('|').map(str::trim)
}
