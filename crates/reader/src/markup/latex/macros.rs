//! Defines macros: texts with arguments.

/// Longest text that a macro is replaced by, in bytes: a short macro may have its argument many times.
const MAX_EXPANDED_BYTES: usize = 4000;

pub(super) struct Macro {
    pub(super) num_arguments: usize,
    /// The first argument if it is not given.
    pub(super) default: Option<String>,
    body: String,
}

impl Macro {
    /// Returns a macro, unless its text is too long or has too many arguments.
    pub(super) fn new(num_arguments: usize, default: Option<String>, body: String) -> Option<Self> {
        // TeX has no more than nine arguments.
        let is_short = num_arguments <= 9 && body.len() <= MAX_EXPANDED_BYTES;
        is_short.then_some(Self { num_arguments, default, body })
    }

    /// Returns the text with these arguments; `None` if it is too long.
    pub(super) fn with(&self, arguments: &[String]) -> Option<String> {
        let mut body = String::with_capacity(self.body.len());
        let mut rest = self.body.as_str();
        while body.len() <= MAX_EXPANDED_BYTES
            && let Some(mark) = rest.find('#')
        {
            body.push_str(&rest[..mark]);
            let number = rest[mark + 1..].chars().next().and_then(|c| c.to_digit(10));
            let argument =
                number.and_then(|number| arguments.get((number as usize).wrapping_sub(1)));
            if let Some(argument) = argument {
                body.push_str(argument);
            }
            rest = &rest[mark + 1 + usize::from(number.is_some())..];
        }
        body.push_str(rest);
        (body.len() <= MAX_EXPANDED_BYTES).then_some(body)
    }
}
